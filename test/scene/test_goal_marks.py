"""Goals of a scene: where they are, what they ask for, and how far off their links are."""

from ik_node.errors import OptionError, ShapeError, UnknownFrameError
from ik_node.model.dof import DOF_NAMES
from ik_node.scene import Arrow, IKRootsHelper, Sector, Sphere
from ik_node.scene.look import AXIS_COLOURS, COLOURS, FREE, UNMET, UNUSED
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mechanisms import AXES, held, MECHANISMS
from support.open_mechanisms import arm6, two_arms


def parts_of(shapes, name):
    """Return the shapes of a goal by their parts."""
    return {shape.name.rpartition('/')[2]: shape for shape in shapes if shape.of == name}


def turn_of(shape):
    """Return the orientation of a shape, (3, 3)."""
    return Rotation.from_quat(shape.quat_xyzw).as_matrix()


@pytest.mark.parametrize('axes', AXES)
@pytest.mark.parametrize('dof', ['X Y Z EX EY EZ', 'X Y', 'Z EX EY', 'EZ'])
def test_constrained_axes_of_goal_are_coloured(axes, dof):
    """Arrows and rings lie in the axes that count, coloured where they are asked for."""
    m = held(axes, dof.split())
    helper = IKRootsHelper(m.roots, layers='goals')
    q = m.random_q(helper.joint_names, np.random.default_rng(11))
    a, b = m.naive(helper.joint_names, q).ends(m.goals['goal'])
    counted = {'world': np.eye(3), 'goal': b[:3, :3], 'link': a[:3, :3]}[axes]
    parts = parts_of(helper.shapes(q), 'goal')
    for at, name in enumerate(DOF_NAMES):
        shape = parts[name]
        assert isinstance(shape, Sector if at >= 3 else Arrow)
        np.testing.assert_allclose(turn_of(shape)[:, 2], counted[:, at % 3], atol=1e-12)
        np.testing.assert_allclose(shape.position, b[:3, 3], atol=1e-12)
        assert shape.rgba == (AXIS_COLOURS[at % 3] if name in dof.split() else FREE)
        if at >= 3:
            assert shape.upper - shape.lower == pytest.approx(2 * np.pi)
            assert 0 < shape.inner_radius < shape.radius


@pytest.mark.parametrize('name', MECHANISMS)
def test_line_connects_goal_handle_with_link(name):
    """The handle is at frame B; from there a way leads to frame A where they differ."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers='goals')
    q = m.random_q(helper.joint_names, np.random.default_rng(12))
    naive = m.naive(helper.joint_names, q)
    shapes = helper.shapes(q)
    for goal in m.goals.values():
        a, b = naive.ends(goal)
        parts = parts_of(shapes, goal.name)
        np.testing.assert_allclose(parts['handle'].position, b[:3, 3], atol=1e-12)
        assert parts['handle'].rgba == COLOURS['goals']
        assert max(naive.error(goal)) > 1e-6
        np.testing.assert_allclose(parts['reached'].position, a[:3, 3], atol=1e-12)
        np.testing.assert_allclose(parts['way'].start, b[:3, 3], atol=1e-12)
        np.testing.assert_allclose(parts['way'].end, a[:3, 3], atol=1e-12)
        assert parts['way'].rgba == parts['reached'].rgba == UNMET


def test_met_goal_has_no_line():
    """It has no way to go, and is where it is asked for without any new structure."""
    m = arm6()
    goal = m.goals['hand_goal']
    helper = IKRootsHelper(m.roots, layers='goals')
    position, quat = m.pose_of('hand')
    goal.set_position(*position)
    goal.set_quaternion(*quat)
    parts = parts_of(helper.shapes(), 'hand_goal')
    assert set(parts) == {'handle', *DOF_NAMES}
    np.testing.assert_allclose(parts['handle'].position, position, atol=1e-12)
    goal.set_goal_dof('X', 'Y')
    helper.update_structure()
    goal.set_position(*np.add(position, (0, 0, 0.5)))
    assert set(parts_of(helper.shapes(), 'hand_goal')) == {'handle', *DOF_NAMES}
    goal.set_position(*np.add(position, (0, 0.5, 0)))
    assert 'way' in parts_of(helper.shapes(), 'hand_goal')


def test_goal_poses_of_call_replace_those_of_goals():
    """As in solve_pose: only these goals, a goal's name before a link's, no object is touched."""
    m = two_arms()
    helper = IKRootsHelper(m.roots, layers='goals')
    before = m.goals['left_goal'].position.copy()
    quat = Rotation.from_euler('xyz', (0.3, 0.2, 0.1)).as_quat()
    shapes = helper.shapes(goals={'left_goal': ((0.1, 0.2, 0.3), 2 * quat)})
    assert {shape.of for shape in shapes} == {'left_goal'}
    assert parts_of(shapes, 'left_goal')['handle'].position == (0.1, 0.2, 0.3)
    np.testing.assert_array_equal(m.goals['left_goal'].position, before)
    shapes = helper.shapes(goals={'left_j4_link': ((0.1, 0.2, 0.3), quat)})
    parts = parts_of(shapes, 'left_j4_link')
    hand, _ = m.pose_of('left_j4_link')
    np.testing.assert_allclose(parts['way'].end, hand, atol=1e-12)
    for at in range(6):
        assert parts[DOF_NAMES[at]].rgba == AXIS_COLOURS[at % 3]
    assert helper.shapes(goals={}) == ()
    assert {shape.of for shape in helper.shapes()} == {'left_goal', 'right_goal'}
    again = helper.shapes(goals={'left_j4_link': ((0.5, 0.2, 0.3), quat)})
    assert [shape.name for shape in again] == [shape.name for shape in shapes]


def test_goal_pose_is_relative_to_parent_of_goal():
    """The pose of a goal that hangs under a link is one in that link."""
    m = held('goal', ('X',))
    helper = IKRootsHelper(m.roots, layers='goals')
    q = m.random_q(helper.joint_names, np.random.default_rng(13))
    wanted = (np.array((0.3, 0.2, 0.1)), Rotation.from_euler('xyz', (0.5, 0.2, 0.1)).as_quat())
    _, b = m.naive(helper.joint_names, q).ends(m.goals['goal'], wanted)
    parts = parts_of(helper.shapes(q, {'goal': wanted}), 'goal')
    np.testing.assert_allclose(parts['handle'].position, b[:3, 3], atol=1e-12)
    np.testing.assert_allclose(turn_of(parts['Z']), b[:3, :3], atol=1e-12)


def test_invalid_goal_poses_are_refused():
    """Names and numbers are checked, and said."""
    m = arm6()
    helper = IKRootsHelper(m.roots)
    with pytest.raises(UnknownFrameError, match=r"goal or link named 'elbow'.*hand_goal"):
        helper.shapes(goals={'elbow': ((0, 0, 0), (0, 0, 0, 1))})
    with pytest.raises(ShapeError, match="pose of 'hand'"):
        helper.shapes(goals={'hand': ((0, 0), (0, 0, 0, 1))})
    m.links['base'].name = 'hand'
    helper.update_structure()
    with pytest.raises(OptionError, match=r"link: 'hand' is not allowed.*only one link"):
        helper.shapes(goals={'hand': ((0, 0, 0), (0, 0, 0, 1))})


def test_disabled_goal_is_grey_handle():
    """It is a grey handle, until it is enabled again; a pose given for it makes it count."""
    m = arm6()
    goal = m.goals['hand_goal']
    goal.enabled = False
    helper = IKRootsHelper(m.roots, layers='goals')
    (handle,) = helper.shapes()
    assert (handle.name, handle.rgba) == ('goals/hand_goal/handle', UNUSED)
    assert len(helper.shapes(goals={'hand_goal': ((0, 0, 0), (0, 0, 0, 1))})) > 1
    goal.enabled, goal.weight = True, 0.0
    assert len(helper.shapes()) == 1
    goal.weight = 1.0
    assert len(helper.shapes()) > 1


def test_distance_goal_is_drawn_as_ball():
    """Its radius is the distance, whatever the scale; it can be seen through."""
    m = arm6()
    goal = m.goals['hand_goal']
    goal.kind, goal.distance = 'distance', 0.7
    helper = IKRootsHelper(m.roots, layers='goals', joint_scale=0.02)
    goal.set_position(0.3, 0.1, 0.2)
    shape = parts_of(helper.shapes(), 'hand_goal')['distance']
    assert isinstance(shape, Sphere)
    assert shape.radius == pytest.approx(0.7)
    assert shape.position == (0.3, 0.1, 0.2)
    assert shape.rgba[3] < 0.5


def test_line_of_sight_is_drawn_as_arrow():
    """An arrow on the link points where it looks."""
    m = arm6()
    m.goals['hand_goal'].kind = 'look_at'
    shape = parts_of(IKRootsHelper(m.roots, layers='goals').shapes(), 'hand_goal')['sight']
    hand = m.naive().world(m.links['hand'])
    assert isinstance(shape, Arrow)
    np.testing.assert_allclose(shape.position, hand[:3, 3], atol=1e-12)
    np.testing.assert_allclose(turn_of(shape)[:, 2], hand[:3, 2], atol=1e-12)


def test_line_leads_to_centre_of_mass():
    """The way leads to the centre of mass; turns are not spoken of."""
    m = arm6()
    for number, link in enumerate(m.links.values()):
        link.mass, link.centre_of_mass = 1.0 + number, np.array((0.01 * number, 0.1, 0.0))
    goal = m.goals['hand_goal']
    goal.remove_child(m.links['hand'])
    goal.make_closure(m.links['base'])
    goal.kind = 'centre_of_mass'
    helper = IKRootsHelper(m.roots, layers='goals')
    q = m.random_q(helper.joint_names, np.random.default_rng(14))
    parts = parts_of(helper.shapes(q), 'hand_goal')
    centre = m.naive(helper.joint_names, q).centre_of_mass(m.links['base'])
    np.testing.assert_allclose(parts['reached'].position, centre, atol=1e-12)
    assert set(parts) == {'handle', 'X', 'Y', 'Z', 'reached', 'way'}
