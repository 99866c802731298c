"""Goals and loop closures of a scene: where they are, and how far from met."""

from ik_node.errors import OptionError, ShapeError, UnknownFrameError
from ik_node.model.constraint import Closure
from ik_node.model.dof import DOF_NAMES
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
from ik_node.model.user_goal import UserGoal
from ik_node.scene import Arrow, Cylinder, IKRootsHelper, Sector, Segment, Sphere, Text, Triad
from ik_node.scene.constraint_marks import ConstraintFrames, LINE, OPEN_LINE
from ik_node.scene.look import AXIS_COLOURS, COLOURS, FREE, OPEN, UNMET, UNUSED
from ik_node.scene.skeleton import Skeleton
from ik_node.solver.options import SolverOptions
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mechanisms import held, MECHANISMS
from support.open_mechanisms import arm6, two_arms


def parts_of(shapes, name):
    return {shape.name.rpartition('/')[2]: shape for shape in shapes if shape.of == name}


def turn_of(shape):
    return Rotation.from_quat(shape.quat_xyzw).as_matrix()


@pytest.mark.parametrize(
    ('axes', 'dof'), [('world', 'X Y'), ('goal', 'Z EX EY'), ('link', 'X Y Z EX EY EZ')]
)
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


@pytest.mark.parametrize('name', ['ball', 'mixed', 'fourbar_pinned', 'hexapod', 'two_arms'])
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


def test_invalid_goal_poses_are_refused():
    m = arm6()
    helper = IKRootsHelper(m.roots)
    with pytest.raises(UnknownFrameError, match=r"goal or link named 'elbow'.*hand_goal"):
        helper.shapes(goals={'elbow': ((0, 0, 0), (0, 0, 0, 1))})
    with pytest.raises(ShapeError, match="pose of 'hand'"):
        helper.shapes(goals={'hand': ((0, 0), (0, 0, 0, 1))})
    m.links['base'].name = 'hand'
    helper.update_structure()
    with pytest.raises(OptionError, match=r"link: 'hand' cannot be used.*only one link"):
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


def test_cylinder_goal_is_drawn_as_ring_about_its_axis():
    m = arm6()
    goal = m.goals['hand_goal']
    goal.kind, goal.distance = 'cylinder', 0.4
    goal.set_euler(0.5, 0.2, 0.0)
    parts = parts_of(
        IKRootsHelper(m.roots, layers='goals', joint_scale=0.02).shapes(), 'hand_goal'
    )
    assert parts['distance'].inner_radius == pytest.approx(0.4)
    for name in ('distance', 'axis'):
        np.testing.assert_allclose(turn_of(parts[name])[:, 2], goal.matrix[:3, 2], atol=1e-12)


class Height(UserGoal):
    """The hand is 1 m above the root."""

    def residual(self, frames):
        return frames['hand'][2, 3] - 1.0


def test_goal_of_user_is_drawn_as_handle_with_line_while_unmet():
    m = arm6()
    goal = Height('height')
    goal.make_closure(m.links['hand'])
    helper = IKRootsHelper([*m.roots, goal], layers='goals')
    met = m.solver().q
    assert set(parts_of(helper.shapes(), 'height')) == {'handle', 'reached', 'way'}
    goal.residual = lambda frames: frames['hand'][2, 3] - m.naive().world(m.links['hand'])[2, 3]
    assert set(parts_of(helper.shapes(met), 'height')) == {'handle'}


def test_line_of_sight_is_drawn_as_arrow():
    m = arm6()
    m.goals['hand_goal'].kind = 'look_at'
    shape = parts_of(IKRootsHelper(m.roots, layers='goals').shapes(), 'hand_goal')['sight']
    hand = m.naive().world(m.links['hand'])
    assert isinstance(shape, Arrow)
    np.testing.assert_allclose(shape.position, hand[:3, 3], atol=1e-12)
    np.testing.assert_allclose(turn_of(shape)[:, 2], hand[:3, 2], atol=1e-12)


def test_line_leads_to_centre_of_mass():
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


WITH_LOOPS = ['mixed', 'fourbar_pinned', 'hexapod', 'walker']
GREEN = COLOURS['closures']


def drawn(m):
    return parts_of(IKRootsHelper(m.roots, layers='closures').shapes(), 'closure')


def two_points(type_name, offset=(0, 0, 0), turn=(0, 0, 0)):
    """Return two bodies tied by a closure, the first away from the second by a pose."""
    m = held('goal', (), kind=type_name if type_name in ('universal', 'distance') else 'distance')
    closure = next(c for c in m.links['left'].children if c.is_closure)
    if type_name not in ('universal', 'distance'):
        closure.kind, dofs = Closure.rows_of_type(type_name)
        closure.set_dof(*dofs)
    link = m.naive().world(closure.child)
    wanted = np.eye(4)
    wanted[:3, :3] = Rotation.from_euler('xyz', turn).as_matrix()
    wanted[:3, 3] = offset
    # Frame A is to be at this pose in frame B.
    b = m.naive().world(closure)
    offset_in_link = np.linalg.inv(link) @ b @ wanted
    closure.set_offset(
        offset_in_link[:3, 3], Rotation.from_matrix(offset_in_link[:3, :3]).as_quat()
    )
    return m, closure


@pytest.mark.parametrize('name', WITH_LOOPS)
def test_frames_and_gaps_of_every_mechanism_are_right(name):
    """Balls at frames A and B where the oracle has them, a red line where a loop is open."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers='closures')
    q = m.random_q(helper.joint_names, np.random.default_rng(10))
    naive = m.naive(helper.joint_names, q)
    shapes = {shape.name: shape for shape in helper.shapes(q)}
    for closer in m.closures.values():
        a, b = (frame[:3, 3] for frame in naive.ends(closer))
        parts = parts_of(shapes.values(), closer.name)
        np.testing.assert_allclose(parts['b'].position, b, atol=1e-12)
        is_open = max(naive.error(closer)) > 1e-6
        assert parts['b'].rgba == (OPEN if is_open else GREEN)
        if np.linalg.norm(a - b) > 1e-3:
            np.testing.assert_allclose(parts['a'].position, a, atol=1e-12)
            np.testing.assert_allclose(parts['line'].start, b, atol=1e-12)
            np.testing.assert_allclose(parts['line'].end, a, atol=1e-12)
            assert parts['line'].width == (OPEN_LINE if is_open else LINE) * helper.joint_scale
    for seed, closer in enumerate([*m.closures.values(), *m.goals.values()]):
        compare(m, closer, seed)


def test_a_loop_that_opens_turns_red():
    """Moving one motor opens its loops, and only those; solving turns all green again."""
    m = MECHANISMS['hexapod']()
    helper = IKRootsHelper(m.roots, layers='closures')

    def red():
        return {shape.of for shape in helper.shapes() if shape.rgba == OPEN}

    assert red() == set()
    m.joints['p3'].set_dof_values(0.05)
    assert red() == {'leg3'}
    (text,) = [shape for shape in helper.shapes() if isinstance(shape, Text)]
    assert (text.of, text.text) == ('leg3', '50 mm')
    m.joints['float'].set_dof_value('Z', 0.01)
    assert red() == {f'leg{k}' for k in range(6)}
    m.joints['float'].set_dof_value('Z', 0.0)
    m.joints['p3'].set_dof_values(0.0)
    assert red() == set()


def test_gap_text_is_above_the_gap():
    """It says millimetres and degrees; a weld that is only turned shows both frames."""
    m, closure = two_points('weld', (0.02, 0.0, 0.0), (0, 0, np.radians(3)))
    gap = drawn(m)['gap']
    a, b = m.naive().ends(closure)
    np.testing.assert_allclose(gap.position[:2], 0.5 * (a[:2, 3] + b[:2, 3]), atol=1e-12)
    assert gap.position[2] > max(a[2, 3], b[2, 3])
    assert (gap.text, gap.rgba) == ('20 mm, 3 deg', OPEN)
    m, closure = two_points('weld', turn=(0.5, 0, 0))
    parts = drawn(m)
    assert set(parts) == {'b', 'frame_a', 'frame_b', 'gap'}
    for part, frame in zip(('frame_a', 'frame_b'), m.naive().ends(closure), strict=True):
        np.testing.assert_allclose(turn_of(parts[part]), frame[:3, :3], atol=1e-12)
    assert parts['gap'].text == '28.6 deg'


@pytest.mark.parametrize(
    ('type_name', 'free'),
    [
        ('weld', {'frame_b': Triad}),
        ('point', {}),
        ('hinge', {'EZ': Cylinder}),
        ('slider', {'Z': Segment, 'frame_b': Triad}),
        ('planar', {'X': Segment, 'Y': Segment, 'EZ': Cylinder}),
        ('universal', {'EX': Cylinder, 'EY': Cylinder}),
    ],
)
def test_free_axes_of_closure_are_drawn(type_name, free):
    """The axes that it does not hold are drawn; where no turn is free, its frame."""
    # A universal joint is closed however it is turned about its first axis.
    turn = (0.5, 0, 0) if type_name == 'universal' else (0, 0, 0)
    m, closure = two_points(type_name, turn=turn)
    parts = drawn(m)
    assert {part: type(shape) for part, shape in parts.items()} == {'b': Sphere, **free}
    a, b = m.naive().ends(closure)
    for part, kind in free.items():
        shape = parts[part]
        turn = turn_of(shape)
        if kind is Triad:
            np.testing.assert_allclose(turn, b[:3, :3], atol=1e-12)
            continue
        frame = a if (type_name, part) == ('universal', 'EY') else b
        np.testing.assert_allclose(turn[:, 2], frame[:3, 'XYZ'.index(part[-1])], atol=1e-12)
        np.testing.assert_allclose(shape.position, b[:3, 3], atol=1e-12)
        assert shape.rgba == GREEN


def test_rod_closure_shows_its_length_or_difference():
    """A distance that is kept is a green line of that length, else the text has the difference."""
    m, closure = two_points('distance', (0.3, 0, 0))
    closure.distance = 0.3
    parts = drawn(m)
    assert set(parts) == {'a', 'b', 'line'}
    assert parts['line'].length == pytest.approx(0.3)
    assert {shape.rgba for shape in parts.values()} == {GREEN}
    closure.distance = 0.28
    parts = drawn(m)
    assert parts['gap'].text == '20 mm'
    assert {shape.rgba for shape in parts.values()} == {OPEN}


def test_disabled_closure_is_grey():
    """It complains of nothing but says how far it is open; it joins in again when enabled."""
    m, closure = two_points('weld', (0.1, 0, 0))
    closure.enabled = False
    parts = drawn(m)
    assert set(parts) == {'a', 'b', 'line', 'gap'}
    assert parts['gap'].text == '100 mm'
    assert {shape.rgba for shape in parts.values()} == {UNUSED}
    helper = IKRootsHelper(m.roots)
    assert parts['line'].width == LINE * helper.joint_scale
    closure.enabled = True
    assert drawn(m)['b'].rgba == OPEN
    closure.weight = 0.0
    assert drawn(m)['b'].rgba == UNUSED


def compare(m, closer, seed):
    """Hold the gap at random values against the oracle's and the object's residual."""
    tree = build_tree(m.roots)
    q = m.random_q(tree.names, np.random.default_rng(seed))
    skeleton = Skeleton(tree)
    frames = ConstraintFrames(skeleton, request_of(closer))
    snapshot = skeleton.at(q)
    a, b = frames.frame_a(snapshot), frames.frame_b(snapshot)
    naive = m.naive(tree.names, q)
    for found, wanted in zip((a, b), naive.ends(closer), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    gap = frames.gap(snapshot, a, b, SolverOptions()).norms
    np.testing.assert_allclose(gap, naive.error(closer), atol=1e-9)
    for name, value in zip(tree.names, q, strict=True):
        joint = m.joints[name.partition('.')[0]]
        joint.set_dof_value(name.partition('.')[2] or joint.dof[0], value)
    if hasattr(closer, 'get_residual'):
        assert np.hypot(*gap) == pytest.approx(np.linalg.norm(closer.get_residual()), abs=1e-9)


@pytest.mark.parametrize(
    ('tolerance', 'options', 'met', 'text'),
    [
        (None, {}, False, '5 mm, 2 deg'),
        (None, {'translation_converge_threshold': 0.01}, False, '2 deg'),
        (None, {'rotation_converge_threshold': 0.1}, False, '5 mm'),
        ((0.01, 0.1), {}, True, ''),
        ((0.001, 0.1), {'translation_converge_threshold': 1.0}, False, '5 mm'),
    ],
)
def test_tolerance_of_constraint_decides_if_it_is_met(tolerance, options, met, text):
    """The tolerance of its own, else the solver's; the text names what is beyond."""
    m = MECHANISMS['arm6']()
    goal = m.goals['hand_goal']
    position, quat = m.pose_of('hand')
    goal.set_position(*np.add(position, (0, 0.003, 0.004)))
    goal.set_quaternion(*quat)
    turn = np.radians(2.0)
    goal.set_offset((0, 0, 0), (0, 0, np.sin(turn / 2), np.cos(turn / 2)))
    goal.tolerance = tolerance
    skeleton = Skeleton(build_tree(m.roots))
    frames, snapshot = ConstraintFrames(skeleton, request_of(goal)), skeleton.at(None)
    a, b = frames.frame_a(snapshot), frames.frame_b(snapshot)
    gap = frames.gap(snapshot, a, b, SolverOptions(**options))
    assert (gap.met, gap.text) == (met, text)
