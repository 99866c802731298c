"""Axes of a scene: each is where the joint does turn or slide."""

from ik_node.model.dof import DOF
from ik_node.scene import Cylinder, IKRootsHelper, Segment, Sphere
from ik_node.scene.joint_axes import AXIS, BALL, LONGEST
from ik_node.scene.look import LOCKED
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mechanisms import MECHANISMS
from support.open_mechanisms import ball


def axis_of(shape):
    """Return the direction of a shape's z axis."""
    return Rotation.from_quat(shape.quat_xyzw).as_matrix()[:, 2]


def screw(m, names, q, name, step=0.3):
    """Return how the joint's frame moves, (4, 4), root frame, when one value grows by a step."""
    more = q.copy()
    more[names.index(name)] += step
    joint = m.joints[name.partition('.')[0]]
    return m.naive(names, more).world(joint) @ np.linalg.inv(m.naive(names, q).world(joint))


@pytest.mark.parametrize('name', MECHANISMS)
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


def test_axis_of_slider_spans_its_limits():
    """The line goes from limit to limit, whatever the value."""
    m = MECHANISMS['mixed']()
    helper = IKRootsHelper(m.roots, layers='axes')
    slide = m.joints['slide']
    for value in (-0.5, 0.0, 0.31):
        slide.set_dof_values(value)
        (line,) = [shape for shape in helper.shapes() if shape.of == 'slide']
        for at, end in ((-0.5, line.start), (0.5, line.end)):
            slide.set_dof_values(at)
            np.testing.assert_allclose(m.naive().world(slide)[:3, 3], end, atol=1e-12)


@pytest.mark.parametrize('value', [-3.0, 0.0, 3.0])
def test_axis_of_slider_without_limits_spans_zero_to_value(value):
    """The line covers the way from zero to the value, and half an axis on either side."""
    m = MECHANISMS['free_body']()
    m.joints['float'].set_dof_value('X', value)
    helper = IKRootsHelper(m.roots, layers='axes', joint_scale=0.2)
    line = {shape.name: shape for shape in helper.shapes()}['axes/float.X']
    start = m.naive().world(m.links['world']) @ [0.1, 0.2, 0.3, 1]
    reach = sorted(axis_of(line) @ (np.array(end) - start[:3]) for end in (line.start, line.end))
    np.testing.assert_allclose(reach, (min(value, 0) - 0.1, max(value, 0) + 0.1), atol=1e-12)


def test_axis_of_very_long_slider_is_cut():
    """A range that would dwarf the robot is drawn around the value only."""
    m = MECHANISMS['mixed']()
    m.joints['slide'].set_limits('X', -1e6, 2e6)
    m.joints['slide'].set_dof_values(5e5)
    helper = IKRootsHelper(m.roots, layers='axes')
    (line,) = [shape for shape in helper.shapes() if shape.of == 'slide']
    assert line.length == pytest.approx(2 * LONGEST * helper.joint_scale)
    now = m.naive().world(m.joints['slide'])[:3, 3]
    np.testing.assert_allclose(line.position, now, rtol=1e-9)


def test_axis_sizes_grow_with_scale():
    """Axes are as long as the scale, balls as wide as their share of it."""
    helper = IKRootsHelper(ball().roots, layers='axes', joint_scale=0.25)
    shapes = {shape.name: shape for shape in helper.shapes()}
    assert set(shapes) == {'axes/shoulder', 'axes/elbow', 'axes/wrist'}
    assert shapes['axes/elbow'].length == 0.25 * AXIS[0]
    assert shapes['axes/elbow'].radius == 0.25 * AXIS[1]
    assert shapes['axes/wrist'].radius == 0.25 * BALL


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
