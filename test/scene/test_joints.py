"""Axes and limits of a scene: where joints move, and what is drawn at their limits."""

from math import pi

from ik_node.model.dof import DOF
from ik_node.scene import Cylinder, IKRootsHelper, Sector, Segment, Sphere
from ik_node.scene.look import AT_LIMIT, LOCKED
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
from support.mechanisms import MECHANISMS
from support.open_mechanisms import ball


def axis_of(shape):
    return Rotation.from_quat(shape.quat_xyzw).as_matrix()[:, 2]


def screw(m, names, q, name, step=0.3):
    """Return how the joint's frame moves, (4, 4), root frame, when one value grows by a step."""
    more = q.copy()
    more[names.index(name)] += step
    joint = m.joints[name.partition('.')[0]]
    return m.naive(names, more).world(joint) @ np.linalg.inv(m.naive(names, q).world(joint))


@pytest.mark.parametrize('name', ['ball', 'mixed', 'fourbar_pinned', 'hexapod', 'two_arms'])
def test_axes_are_where_joints_move(name):
    """A step of any value turns about its cylinder, slides along its line, or turns its ball."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers='axes')
    names = helper.joint_names
    q = m.random_q(names, np.random.default_rng(4))
    shapes = {shape.of: shape for shape in helper.shapes(q)}
    assert len(shapes) == len(helper.shapes(q))
    for value in names:
        joint_name, _, dof = value.partition('.')
        joint = m.joints[joint_name]
        is_turn = (DOF[dof] if dof else joint.dof[0]).is_rotation
        moved = screw(m, names, q, value)
        if is_turn and joint.rotation_dof_count == 3:
            shape = shapes[joint.name]
            assert isinstance(shape, Sphere)
        else:
            shape = shapes[value]
            assert isinstance(shape, Cylinder if is_turn else Segment)
        centre = np.array(shape.position)
        if not is_turn:
            np.testing.assert_allclose(moved[:3, :3], np.eye(3), atol=1e-12)
            np.testing.assert_allclose(moved[:3, 3], 0.3 * axis_of(shape), atol=1e-12)
            continue
        np.testing.assert_allclose(moved @ [*centre, 1], [*centre, 1], atol=1e-12)
        if isinstance(shape, Cylinder):
            vector = Rotation.from_matrix(moved[:3, :3]).as_rotvec()
            np.testing.assert_allclose(vector, 0.3 * axis_of(shape), atol=1e-12)


def test_locked_axes_are_grey():
    """An axis that the solver leaves alone says so; a ball when all of its turns are locked."""
    m = ball()
    helper = IKRootsHelper(m.roots, layers='axes')

    def grey():
        return {shape.of for shape in helper.shapes() if shape.rgba == LOCKED}

    assert grey() == set()
    m.joints['elbow'].lock()
    m.joints['wrist'].lock('EX')
    assert grey() == {'elbow'}
    m.joints['wrist'].lock()
    assert grey() == {'elbow', 'wrist'}
    m.joints['elbow'].unlock()
    assert grey() == {'wrist'}


def rim(sector, angle):
    turn = Rotation.from_quat(sector.quat_xyzw).as_matrix()
    at = sector.radius * np.array((np.cos(angle), np.sin(angle), 0.0))
    return turn @ at + sector.position


def hinge(lower, upper, value=0.0, offset=(0.0, 0.3, 0.2)):
    """Return a hinge whose link goes off sidewards, and the sector that is drawn of it."""
    m = Mechanism('hinge')
    m.root('base')
    m.joint('joint', 'base', 'EZ', (0.1, 0, 0.2), (0.3, 0.5, 0.7), (lower, upper))
    m.tip('tip', 'joint_link', offset)
    m.joints['joint'].set_dof_values(value)
    sectors = [s for s in IKRootsHelper(m.roots).shapes() if isinstance(s, Sector)]
    return m, sectors[0] if sectors else None


@pytest.mark.parametrize('name', ['ball', 'mixed', 'fourbar_pinned', 'hexapod', 'two_arms'])
def test_a_joint_brought_to_its_limit_ends_at_the_edge(name):
    """What is at the hand now is at the sector's edge when the joint is at its limit."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers='limits')
    names = helper.joint_names
    q = m.random_q(names, np.random.default_rng(5))
    for sector in (shape for shape in helper.shapes(q) if isinstance(shape, Sector)):
        index = names.index(sector.of)
        assert sector.value == q[index]
        np.testing.assert_allclose(sector.hand, rim(sector, q[index]), atol=1e-12)
        for limit in (sector.lower, sector.upper):
            moved = screw(m, names, q, sector.of, limit - q[index])
            np.testing.assert_allclose(
                (moved @ [*sector.hand, 1])[:3], rim(sector, limit), atol=1e-12
            )
    limited = {
        name
        for joint in m.naive().movable
        for name, dof in zip(joint.value_names, joint.dof, strict=True)
        if joint.min_dof_limit[dof] > -np.inf
    }
    assert {shape.of for shape in helper.shapes(q)} == limited


@pytest.mark.parametrize(('dof', 'value'), [('EZ', -0.9), ('EZ', 0.4), ('EX EY', 0.0)], ids=str)
def test_sector_hand_points_along_carried_link(dof, value):
    m = Mechanism('arm')
    m.root('base')
    m.joint('joint', 'base', dof, (0.1, 0, 0.2), (0.3, 0.5, 0.7), (-1.0, 1.0))
    m.tip('tip', 'joint_link', (0.3, 0.2, 0.4))
    if value:
        m.joints['joint'].set_dof_values(value)
    to_tip = m.naive().world(m.links['tip'])[:3, 3] - m.naive().world(m.joints['joint'])[:3, 3]
    sectors = [s for s in IKRootsHelper(m.roots).shapes() if isinstance(s, Sector)]
    assert [s.of for s in sectors] == (['joint'] if dof == 'EZ' else ['joint.EY', 'joint.EX'])
    for sector in sectors:
        axis = axis_of(sector)
        seen = to_tip - (to_tip @ axis) * axis
        hand = (np.array(sector.hand) - sector.position) / sector.radius
        np.testing.assert_allclose(hand, seen / np.linalg.norm(seen), atol=1e-12)


@pytest.mark.parametrize(
    ('lower', 'upper', 'value', 'drawn'),
    [
        (-6.2, 6.2, 0.0, (-pi, pi)),
        (-6.2, 6.2, 5.0, (5.0 - pi, 6.2)),
        (-6.2, 6.2, -6.2, (-6.2, pi - 6.2)),
        (-pi, pi, 3.0, (-pi, pi)),
        (-3.1416, 3.1416, 1.0, (-3.1416, 2.0 * pi - 3.1416)),
        (-0.5, np.inf, 0.2, (-0.5, 0.2 + pi)),
        (-np.inf, 0.5, -9.0, (-9.0 - pi, -9.0 + pi)),
    ],
)
def test_range_of_more_than_a_turn_is_cut(lower, upper, value, drawn):
    """Of a range beyond a turn, half a turn either way of the hand is drawn, within the limits."""
    _, sector = hinge(lower, upper, value)
    np.testing.assert_allclose((sector.lower, sector.upper), drawn, atol=1e-12)
    assert sector.upper - sector.lower <= 2 * pi + 1e-12


def test_slider_stops_are_at_its_limits():
    """The mark is where the frame is now; what it touches changes colour, and the mark."""
    m = MECHANISMS['mixed']()
    helper = IKRootsHelper(m.roots, layers='limits')
    slide = m.joints['slide']

    def parts():
        return {shape.name: shape for shape in helper.shapes() if shape.of == 'slide'}

    def red():
        return [name for name, shape in parts().items() if shape.rgba[:3] == AT_LIMIT[:3]]

    slide.set_dof_values(0.3)
    shapes = parts()
    assert [*shapes] == [f'limits/slide/{part}' for part in ('value', 'lower', 'upper')]
    assert red() == []
    for shape, value, kind in zip(
        shapes.values(), (0.3, -0.5, 0.5), (Sphere, Cylinder, Cylinder), strict=True
    ):
        slide.set_dof_values(value)
        np.testing.assert_allclose(shape.position, m.naive().world(slide)[:3, 3], atol=1e-12)
        assert isinstance(shape, kind)
    axis = axis_of(shapes['limits/slide/upper'])
    np.testing.assert_allclose(axis, m.naive().world(slide)[:3, 0], atol=1e-12)
    assert red() == ['limits/slide/value', 'limits/slide/upper']
    slide.set_limits('X', -np.inf, 0.5)
    assert [*parts()] == ['limits/slide/value', 'limits/slide/upper']
