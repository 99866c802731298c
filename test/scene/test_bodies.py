"""Links, frames and visuals of a scene: where they are, and that each is there once."""

from ik_node.description.files import description_path
from ik_node.description.mesh_path import Visual
from ik_node.description.visuals import read_visuals
from ik_node.model.constraint import Closure, Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.robot import load_robot
from ik_node.scene import Capsule, Cylinder, IKRootsHelper, Solid, Sphere, Triad
from ik_node.scene.bodies import RADIUS, TRIAD
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mechanisms import MECHANISMS
from support.naive import pose


def moved(name, seed):
    """Return a mechanism, what to draw of it, a random q, and the oracle at that q."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers='frames links')
    q = m.random_q(helper.joint_names, np.random.default_rng(seed))
    return m, helper, q, m.naive(helper.joint_names, q)


def ends(shape):
    half = 0.5 * shape.length * Rotation.from_quat(shape.quat_xyzw).as_matrix()[:, 2]
    return np.array(shape.position) - half, np.array(shape.position) + half


def spans(m, naive):
    """Return, by the oracle, the ends of everything that is rigid and has a length."""
    found = []
    for frame in naive.frames:
        if frame.parent is not None and not isinstance(frame, Goal):
            above = naive.world(frame.parent)
            found.append((above, above @ pose(frame.position, frame.quaternion)))
        if isinstance(frame, Closure):
            on = naive.world(frame.child)
            found.append((on, on @ pose(frame.offset_position, frame.offset_quaternion)))
    pairs = [(a[:3, 3], b[:3, 3]) for a, b in found]
    return [pair for pair in pairs if np.linalg.norm(pair[1] - pair[0]) > 1e-9]


def same_pair(one, other):
    flat = np.concatenate(one)
    return np.allclose(flat, np.concatenate(other), atol=1e-9) or np.allclose(
        flat, np.concatenate(other[::-1]), atol=1e-9
    )


@pytest.mark.parametrize('name', ['ball', 'mixed', 'fourbar_pinned', 'hexapod', 'two_arms'])
def test_every_link_is_drawn_once_and_has_its_frame(name):
    """Capsules and triads are where the oracle has something rigid and links, one for each."""
    m, helper, q, naive = moved(name, seed=1)
    wanted = []
    for pair in spans(m, naive):
        if not any(same_pair(pair, kept) for kept in wanted):
            wanted.append(pair)
    links = [frame for frame in naive.frames if isinstance(frame, Link)]
    rods, triads = (
        [shape for shape in helper.shapes(q) if isinstance(shape, kind)]
        for kind in (Capsule, Triad)
    )
    assert len(rods) == len(wanted)
    for pair in wanted:
        assert sum(same_pair(pair, ends(shape)) for shape in rods) == 1
    assert {shape.radius for shape in rods} <= {RADIUS * helper.joint_scale}
    assert {shape.of for shape in rods} <= {link.name for link in links}
    poses = [pose(shape.position, shape.quat_xyzw) for shape in triads]
    for link in links:
        assert sum(np.allclose(naive.world(link), drawn, atol=1e-9) for drawn in poses) == 1
    places = [naive.world(frame) for frame in (*links, *(f for f in naive.frames if f.is_joint))]
    for drawn in poses:
        assert any(np.allclose(world, drawn, atol=1e-9) for world in places)
    assert {shape.length for shape in triads} == {TRIAD[0] * helper.joint_scale}


def test_coincident_joints_share_rod_and_links_share_triad():
    base = Link('base')
    for name in ('left', 'right'):
        joint, link = Joint(name), Link(f'{name}_link')
        joint.set_position(0, 0, 0.5)
        base.add_child(joint)
        joint.add_child(link)
    helper = IKRootsHelper(base, layers='frames links')
    assert [s.name for s in helper.shapes()] == [
        'frames/base',
        'frames/left_link',
        'links/base/left',
    ]
    base.children[1].set_dof('EZ')
    helper.update_structure()
    assert 'frames/right_link' in {s.name for s in helper.shapes()}


TURN = (0.0, 0.0, 0.5**0.5, 0.5**0.5)
PLACE = (0.1, 0.2, 0.3)


@pytest.fixture
def robot():
    return load_robot(description_path('arm6.urdf'))


def drawn(robot, seen, **how):
    helper = IKRootsHelper(robot, layers='visuals', seen=lambda: seen, **how)
    return helper.shapes(robot.q + 0.1)


def test_all_visuals_of_a_description_are_drawn(robot):
    path = description_path('arm6.urdf')
    seen = read_visuals(path.read_bytes(), str(path))
    shapes = drawn(robot, seen)
    assert len(shapes) == len(seen) > 5
    for visual, shape in zip(seen, shapes, strict=True):
        pose = robot.forward(robot.q + 0.1, visual.link)
        at = (pose @ [*visual.position, 1.0])[:3]
        np.testing.assert_allclose(shape.position, at, atol=1e-12)
        assert (shape.of, shape.rgba, shape.layer) == (visual.link, visual.rgba, 'visuals')


@pytest.mark.parametrize(
    ('kind', 'size', 'wanted'),
    [
        ('sphere', (0.1,), (Sphere, ('radius', 0.1))),
        ('cylinder', (0.1, 0.5), (Cylinder, ('length', 0.5))),
        ('capsule', (0.1, 0.5), (Capsule, ('length', 0.5))),
        ('box', (1.0, 2.0, 3.0), (Solid, ('size', (1.0, 2.0, 3.0)))),
        ('ellipsoid', (1.0, 2.0, 3.0), (Solid, ('kind', 'ellipsoid'))),
        ('plane', (1.0, 2.0), (Solid, ('size', (1.0, 2.0)))),
        ('mesh', (1.0, 1.0, 1.0), (Solid, ('file', 'f.stl'))),
    ],
)
def test_every_kind_of_visual_is_drawn(robot, kind, size, wanted):
    """What there is a shape for is that, anything else a solid; what says no colour is grey."""
    visual = Visual('tool_link', PLACE, TURN, kind, size, 'f.stl')
    (shape,) = drawn(robot, [visual])
    form, (field, value) = wanted
    assert type(shape) is form
    assert getattr(shape, field) == value
    assert shape.rgba == (0.72, 0.74, 0.78, 1.0)
    assert (not isinstance(shape, Solid)) or shape.own_colours


def test_unread_visuals_and_unknown_links_are_left_out(robot):
    seen = [Visual.unread('tool_link', 'x'), Visual('nobody', PLACE, TURN, 'sphere', (1.0,))]
    assert list(drawn(robot, seen)) == []
    assert IKRootsHelper(robot, layers='visuals').shapes() == ()
