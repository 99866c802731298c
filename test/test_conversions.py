"""A robot as a free graph of its own, and values by name to and from it."""

from ik_node.conversions import robot_to_ik_root, set_ik_from_urdf, set_urdf_from_ik
from ik_node.errors import OptionError, ShapeError, TopologyError, UnknownFrameError
from ik_node.gallery.description_path import description_path
from ik_node.model.constraint import Constraint
from ik_node.model.dof import DOF
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.robot import from_dh, load_robot
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
from naive import frames_of, Naive, pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

# A four-bar with a mimic joint, a ball joint, and a branch that only looks nice.
MACHINE = """<robot name="machine">
  <link name="ground"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <link name="lamp"/><link name="shade"/><link name="paint"><inertial><mass value="3"/>
  <origin xyz="0 0 1"/></inertial></link><link name="gloss"/><link name="hand"/>
  <joint name="rock" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="1 0 0" rpy="0 0 1.9"/><axis xyz="0 0 1"/></joint>
  <joint name="drive" type="revolute"><parent link="ground"/><child link="crank"/>
    <axis xyz="0 0 1"/><limit lower="0.2" upper="2.8" effort="1" velocity="3"/></joint>
  <joint name="middle" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="nod" type="revolute"><parent link="ground"/><child link="lamp"/>
    <origin xyz="0 1 0"/><axis xyz="0.6 0.8 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="2"/></joint>
  <joint name="shake" type="prismatic"><parent link="lamp"/><child link="shade"/>
    <axis xyz="0 0 1"/><limit lower="-0.3" upper="0.3" effort="1" velocity="2"/>
    <mimic joint="nod" multiplier="0.5" offset="0.1"/></joint>
  <joint name="wrist" type="ball"><parent link="shade"/><child link="hand"/>
    <origin xyz="0 0 0.2"/></joint>
  <joint name="painted" type="fixed"><parent link="crank"/><child link="paint"/></joint>
  <joint name="glossed" type="fixed"><parent link="paint"/><child link="gloss"/></joint>
  <loop_joint name="tie" type="revolute">
    <link1 link="coupler" xyz="1.1 0 0" rpy="0 0 0"/>
    <link2 link="rocker" xyz="0.9 0 0" rpy="0 0 0"/></loop_joint>
</robot>"""
SIX = [f'__world_joint__.{name}' for name in ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')]


@pytest.fixture
def machine():
    """Return the four-bar, its loop closed."""
    return load_robot(MACHINE)


def by_name(root):
    """Return the frames below a root by name."""
    return {frame.name: frame for frame in frames_of([root])}


def rigid(seed=0):
    """Draw a pose as (position, quat_xyzw)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, 3), Rotation.random(random_state=seed).as_quat()


def facts_of(frame):
    """Return what a frame is, in comparable types."""
    facts = {'type': type(frame), 'position': tuple(frame.position)}
    for name in (
        'quaternion',
        'dof_values',
        'dof_target',
        'dof_rest_pose',
        'min_dof_limit',
        'max_dof_limit',
        'max_velocity',
        'locked',
        'dof',
        'offset_position',
        'offset_quaternion',
        'centre_of_mass',
    ):
        facts[name] = tuple(getattr(frame, name, ()))
    for name in (
        'target_set',
        'rest_pose_set',
        'is_closure',
        'enabled',
        'kind',
        'axes',
        'weight',
        'tolerance',
        'distance',
        'priority',
        'track_joint_wrap',
        'mass',
    ):
        facts[name] = getattr(frame, name, None)
    facts['child'] = frame.child.name if isinstance(frame, Joint) and frame.child else None
    facts['parent'] = frame.parent.name if frame.parent else None
    facts['children'] = [child.name for child in frame.children]
    facts['closures'] = [joint.name for joint in getattr(frame, 'closure_joints', ())]
    facts['couplings'] = {
        dof: (coupling.master.name, coupling.master_dof, coupling.coefficients)
        for dof, coupling in getattr(frame, 'couplings', {}).items()
    }
    return facts


def test_root_is_free_and_named(machine):
    """Six axes without limits, at zero, over the first link."""
    root = robot_to_ik_root(machine)
    assert isinstance(root, Joint)
    assert root.name == '__world_joint__'
    assert root.dof == list(DOF)
    assert root.dof_values.tolist() == [0] * 6
    assert np.isinf(root.max_dof_limit).all()
    assert np.isinf(root.min_dof_limit).all()
    assert root.child.name == 'ground'
    assert Solver(root).joint_names[:6] == SIX


def test_everything_is_copied(machine):
    """Every frame with all that is set on it, tied to copies only."""
    drive, nod = machine.joints['drive'], machine.joints['nod']
    drive.set_rest_pose_values(1.1)
    drive.set_target_values(0.9)
    drive.track_joint_wrap = True
    nod.lock()
    machine.joints['wrist'].set_dof_values(0.1, 0.2, 0.3)
    machine.closures['tie'].tolerance = (1e-4, 1e-3)
    goal = machine.add_goal('coupler', name='pen', dof='X Y', offset=((0.1, 0, 0), (0, 0, 0, 1)))
    goal.weight, goal.priority = 3.0, 2
    machine.add_goal('hand', name='grip', base='rocker', axes='goal')
    root = robot_to_ik_root(machine)
    copies = by_name(root)
    originals = {f.name: f for f in frames_of(machine.description.roots)}
    for name, original in originals.items():
        copied = copies[name]
        wanted = facts_of(original)
        if name == 'ground':
            wanted['parent'] = '__world_joint__'
        assert facts_of(copied) == wanted, name
        assert copied is not original
        np.testing.assert_array_equal(copied.matrix_world, original.matrix_world)
    assert set(copies) == {*originals, '__world_joint__'}
    assert copies['hand'].closure_joints[0] is copies['grip']
    assert copies['shake'].couplings[DOF.Z].master is copies['nod']
    # A goal in the root frame is a root of its own; the link it closes on knows it.
    pen = copies['coupler'].closure_joints[1]
    assert facts_of(pen) == facts_of(goal)
    assert pen is not goal
    mine, theirs = set(map(id, frames_of([root]))), set(map(id, originals.values()))
    assert not mine & theirs
    for frame in copies.values():
        for tied in (getattr(frame, 'child', None), *getattr(frame, 'closure_joints', ())):
            assert tied is None or id(tied) in mine | {id(pen)}


def test_matrices_of_the_copy_are_read_only(machine):
    """As everywhere: what is read cannot be written into by mistake."""
    copied = by_name(robot_to_ik_root(machine))['crank']
    for array in (copied.matrix, copied.matrix_world, copied.parent.matrix_dof):
        with pytest.raises(ValueError, match='read-only'):
            array[0, 0] = 5.0


def test_solving_the_copy_moves_only_the_copy(machine):
    """The robot keeps its values, goals and solver; the copy's loop is closed."""
    machine.add_goal('crank')
    before = {f.name: facts_of(f) for f in frames_of(machine.roots)}
    root = robot_to_ik_root(machine)
    copies = by_name(root)
    copies['drive'].set_max_limits(2.0)
    copies['crank'].closure_joints[0].set_position(0.5, 2, 3)
    results = Solver(root).solve()
    assert {result.status for result in results} == {Status.CONVERGED}
    assert {f.name: facts_of(f) for f in frames_of(machine.roots)} == before
    assert np.abs(root.dof_values).max() > 0.1
    there = Naive([root])
    assert max(there.error(there.closers['tie'])) <= 1e-6
    # And the other way round: the copy stays when the robot moves.
    values = {name: f.matrix_world.tolist() for name, f in copies.items()}
    machine.q = machine.q + 0.2
    assert {name: f.matrix_world.tolist() for name, f in copies.items()} == values


def test_a_free_root_is_free():
    """What an arm of 0.5 m cannot reach is reached by moving its root, with all axes."""
    arm = from_dh([(0.2, 0, np.pi / 2, 0), (0, 0.3, 0, 0)], limits=[(-0.5, 0.5)] * 2)
    position, quat = (4.0, -3.0, 7.0), Rotation.from_euler('xyz', (2.5, 0.6, -2.0)).as_quat()
    assert Solver(arm).solve_pose({'link2': (position, quat)}).status is not Status.CONVERGED
    root = robot_to_ik_root(arm)
    goal = Goal('far')
    goal.make_closure(by_name(root)['link2'])
    goal.set_position(*position)
    goal.set_quaternion(*quat)
    (result,) = Solver(root).solve()
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(
        Naive([root]).world(by_name(root)['link2']), pose(position, quat), atol=1e-5
    )
    assert np.count_nonzero(np.abs(root.dof_values) > 1e-3) == 6


def test_trimming(machine):
    """Branches that do nothing go, their masses stay; those with a closure or goal stay."""
    machine.add_goal('gloss')
    kept = by_name(robot_to_ik_root(machine, trim_unused=True))
    assert {'paint', 'gloss', 'glossed'} <= set(kept)
    machine.remove_goal('gloss')
    machine.add_goal('coupler', base='gloss')
    assert 'gloss' in by_name(robot_to_ik_root(machine, trim_unused=True))
    machine.remove_goal('coupler')
    before = [*machine.links]
    trimmed = by_name(robot_to_ik_root(machine, trim_unused=True))
    assert not {'paint', 'painted', 'gloss', 'glossed'} & set(trimmed)
    assert {'rock', 'drive', 'middle', 'nod', 'shake', 'wrist', 'tie'} <= set(trimmed)
    assert trimmed['crank'].mass == 3.0
    assert trimmed['crank'].centre_of_mass.tolist() == [0, 0, 1]
    assert [*machine.links] == before
    assert machine.links['paint'].parent is machine.joints['painted']
    assert machine.links['crank'].mass == 0.0


def test_a_floating_robot_has_its_root_already():
    """It is copied as it is, its values with it."""
    floating = load_robot(MACHINE, root='floating')
    floating.joints['__world_joint__'].set_dof_values(1, 2, 3, 0.1, 0.2, 0.3)
    root = robot_to_ik_root(floating)
    assert root.name == '__world_joint__'
    assert root is not floating.root
    assert root.dof_values.tolist() == [1, 2, 3, 0.1, 0.2, 0.3]
    assert Solver(root).joint_names[:6] == SIX


TWO = """<robot name="two"><link name="a"/><link name="a1"/><link name="b"/><link name="b1"/>
  <joint name="ja" type="continuous"><parent link="a"/><child link="a1"/></joint>
  <joint name="jb" type="continuous"><parent link="b"/><child link="b1"/></joint></robot>"""


def test_several_roots_move_together():
    """Both trees hang on the one free joint, where they are."""
    robot = load_robot(TWO)
    robot.links['b'].set_position(1, 0, 0)
    root = robot_to_ik_root(robot)
    frames = by_name(root)
    root.set_dof_values(0, 0, 5, 0, 0, 0)
    assert frames['a1'].matrix_world[:3, 3].tolist() == [0, 0, 5]
    assert frames['b1'].matrix_world[:3, 3].tolist() == [1, 0, 5]
    assert sorted(Solver(root).joint_names) == sorted([*SIX, 'ja', 'jb'])
    with pytest.raises(TopologyError, match="roots '__world_joint__', '__world_joint__:b' cannot"):
        robot_to_ik_root(load_robot(TWO, root='floating'))


def test_a_long_chain_is_copied():
    """Depth is no matter: a chain of 600 joints."""
    arm = from_dh(np.tile((0, 0.01, 0.1, 0), (600, 1)))
    q = np.random.default_rng(0).uniform(-1, 1, 600)
    root = robot_to_ik_root(arm)
    set_ik_from_urdf(root, dict(zip(arm.joint_names, q, strict=True)))
    np.testing.assert_allclose(
        by_name(root)['link600'].matrix_world, arm.forward(q, 'link600'), atol=1e-9
    )


# -- values


def test_values_to_the_graph_and_back(machine):
    """Joints and the root's pose make the round trip; every link is where the robot has it."""
    root = robot_to_ik_root(machine)
    machine.q = [0.3, 1.2, -0.4, 0.3, 0.25, 0.1, -0.2, 0.4]
    values = dict(zip(machine.joint_names, machine.q, strict=True))
    position, quat = rigid()
    set_ik_from_urdf(root, {**values, 'root': (position, quat)})
    world = Naive([root])
    for name in machine.links:
        wanted = pose(position, quat) @ machine.forward(machine.q, name)
        np.testing.assert_allclose(world.world(by_name(root)[name]), wanted, atol=1e-12)
    found = {}
    set_urdf_from_ik(found, root)
    assert set(found) == {*machine.joint_names, 'root'}
    assert {name: found[name] for name in values} == values
    np.testing.assert_allclose(found['root'][0], position, atol=1e-12)
    np.testing.assert_allclose(pose(*found['root']), pose(position, quat), atol=1e-12)
    again = robot_to_ik_root(machine)
    set_ik_from_urdf(again, found)
    np.testing.assert_allclose(again.dof_values, root.dof_values, atol=1e-12)


@pytest.mark.parametrize('seed', range(5))
@pytest.mark.parametrize('form', ['pair', 'matrix'])
@pytest.mark.parametrize('placed', [False, True])
def test_the_root_is_turned_as_well(machine, seed, form, placed):
    """Position and rotation, in either form, wherever the joint's own frame has been put."""
    root = robot_to_ik_root(machine)
    if placed:
        root.set_position(1, 2, 3)
        root.set_euler(0.3, -0.4, 0.5)
    position, quat = rigid(seed)
    wanted = pose(position, quat)
    set_ik_from_urdf(root, {'root': wanted if form == 'matrix' else (position, quat)})
    np.testing.assert_allclose(root.matrix_world, wanted, atol=1e-12)
    np.testing.assert_allclose(Naive([root]).world(root.child), wanted, atol=1e-12)


def test_a_joint_of_several_axes(machine):
    """A sequence under its name, or each axis by its own; what is asked for comes back."""
    root = robot_to_ik_root(machine)
    wrist = by_name(root)['wrist']
    set_ik_from_urdf(root, {'wrist': (0.1, 0.2, 0.3)})
    assert wrist.dof_values.tolist() == [0, 0, 0, 0.1, 0.2, 0.3]
    set_ik_from_urdf(root, {'wrist.EY': -0.5})
    assert wrist.dof_values.tolist() == [0, 0, 0, 0.1, -0.5, 0.3]
    values = {'wrist': None, '__world_joint__.Z': None, 'mine': 'kept'}
    set_urdf_from_ik(values, root)
    assert values['wrist'].tolist() == [0.1, -0.5, 0.3]
    assert not {'wrist.EX', '__world_joint__.X'} & set(values)
    assert values['__world_joint__.Z'] == 0.0
    assert values['mine'] == 'kept'
    values['wrist'][0] = 9.0
    assert wrist.dof_values[DOF.EX] == 0.1


def test_values_that_are_not_named_stay(machine):
    """A part of the values will do; limits clamp."""
    root = robot_to_ik_root(machine)
    frames = by_name(root)
    before = {name: frames[name].dof_values.copy() for name in ('rock', 'middle', 'wrist')}
    set_ik_from_urdf(root, {'drive': 9.0})
    assert frames['drive'].dof_values[DOF.EZ] == 2.8
    for name, values in before.items():
        np.testing.assert_array_equal(frames[name].dof_values, values)
    set_ik_from_urdf(root, {})
    assert frames['drive'].dof_values[DOF.EZ] == 2.8


def test_mimic_joints_follow(machine):
    """The master decides, within what its follower's limits allow it."""
    root = robot_to_ik_root(machine)
    frames = by_name(root)
    set_ik_from_urdf(root, {'nod': 0.2, 'shake': -0.3})
    assert frames['nod'].dof_values[DOF.EZ] == 0.2
    assert frames['shake'].dof_values[DOF.Z] == pytest.approx(0.2)
    set_ik_from_urdf(root, {'nod': 1.0})  # shake ends at 0.3, so nod at 0.4
    assert frames['nod'].dof_values[DOF.EZ] == pytest.approx(0.4)
    assert frames['shake'].dof_values[DOF.Z] == pytest.approx(0.3)
    assert Naive([root]).coupling_gap() <= 1e-12
    assert Naive([root]).limit_excess() <= 0.0


def test_values_reach_what_hangs_on_closures():
    """Any frame will do: a tree that is tied by a closure only is found."""
    left, right = Link('left'), Link('right')
    joints = []
    for at, base in enumerate((left, right)):
        joint, end = Joint(f'j{at}'), Link(f'end{at}')
        joint.set_dof('EZ')
        base.add_child(joint)
        joint.add_child(end)
        joints.append(joint)
    tie = Constraint('tie')
    joints[0].child.add_child(tie)
    tie.make_closure(joints[1].child)
    set_ik_from_urdf(left, {'j0': 0.1, 'j1': 0.2})
    values = {}
    set_urdf_from_ik(values, right)
    assert values == {'j0': 0.1, 'j1': 0.2}


def test_a_solved_copy_tells_the_robot(machine):
    """Copy, solve there, write the values into the robot: its loop is closed as in the copy."""
    root = robot_to_ik_root(machine)
    root.lock()
    frames = by_name(root)
    goal = Goal('wish')
    goal.set_goal_dof('X', 'Y')
    goal.make_closure(frames['coupler'])
    goal.set_position(0.4 * np.cos(1.0), 0.4 * np.sin(1.0), 0)
    results = Solver(root, SolverOptions(seed=3)).solve()
    assert {result.status for result in results} == {Status.CONVERGED}
    values = {}
    set_urdf_from_ik(values, root)
    machine.q = [values[name] for name in machine.joint_names]
    there = Naive(machine.roots)
    assert max(there.error(machine.closures['tie'])) <= 1e-6
    np.testing.assert_allclose(
        there.world(machine.links['coupler'])[:2, 3], goal.position[:2], atol=1e-6
    )


def test_hexapod():
    """Our own hexapod is free with its loops: it is carried away and tilted as a whole."""
    robot = load_robot(description_path('hexapod.urdf'))
    root = robot_to_ik_root(robot, trim_unused=True)
    goal = Goal('platform')
    goal.make_closure(by_name(root)['platform_link'])
    goal.set_position(0.4, -0.3, 0.8)
    goal.set_euler(1.0, 0.5, 2.0)
    results = Solver(root).solve()
    assert {result.status for result in results} == {Status.CONVERGED}
    there = Naive([root])
    for name in robot.closures:
        assert max(there.error(there.closers[name])) <= 1e-6
    assert there.limit_excess() <= 0.0
    assert robot.q.tolist() == load_robot(description_path('hexapod.urdf')).q.tolist()


# -- refusals


@pytest.mark.parametrize(
    ('values', 'error', 'reason'),
    [
        ({'knee': 1.0}, UnknownFrameError, "no movable joint named 'knee'; known: .*drive"),
        ({'painted': 0.0}, UnknownFrameError, "no movable joint named 'painted'"),
        ({'tie': 0.0}, UnknownFrameError, "no movable joint named 'tie'"),
        ({'drive': (1, 2)}, ShapeError, r'drive: expected 1 finite number, got \(1, 2\)'),
        ({'drive': np.nan}, ShapeError, 'drive: expected 1 finite number'),
        ({'drive': 'fast'}, ShapeError, "drive: expected 1 finite number, got 'fast'"),
        ({'wrist': 1.0}, ShapeError, 'wrist: expected 3 finite numbers, got 1.0'),
        ({'wrist': (0, 0, np.inf)}, ShapeError, 'wrist: expected 3 finite numbers'),
        ({'wrist': ((0, 0), 0)}, ShapeError, 'wrist: expected 3 finite numbers'),
        ({'root': 5}, ShapeError, r'root: expected \(position \(3,\), quat_xyzw \(4,\)\) or'),
        ({'root': np.eye(3)}, ShapeError, 'root: expected'),
        ({'root': np.zeros((4, 4))}, ShapeError, 'root: expected'),
        ({'root': np.diag((1, 1, -1, 1))}, ShapeError, 'root: expected'),
        ({'root': np.full((4, 4), np.nan)}, ShapeError, 'root: expected'),
        ({'root': ((0, 0, 0), (0, 0, 0, 0))}, ShapeError, 'root'),
        ({'root': ((0, 0, np.nan), (0, 0, 0, 1))}, ShapeError, 'root'),
        ({'root': ((0, 0), (0, 0, 0, 1))}, ShapeError, 'root'),
    ],
)
def test_values_that_are_refused(machine, values, error, reason):
    """It is told by name, and no value has been changed."""
    root = robot_to_ik_root(machine)
    before = Solver(root).q
    with pytest.raises(error, match=reason):
        set_ik_from_urdf(root, {'drive': 1.0, 'root': rigid(), **values})
    np.testing.assert_array_equal(Solver(root).q, before)


def test_a_root_that_cannot_move(machine):
    """A pose of the root needs a free joint; without one, values have none."""
    with pytest.raises(TopologyError, match="'ground' is no joint with all six axes"):
        set_ik_from_urdf(machine.root, {'root': rigid()})
    values = {}
    set_urdf_from_ik(values, machine.root)
    assert list(values) == Solver(machine.root).joint_names


def test_arguments_the_wrong_way_round(machine):
    """The order is said."""
    root, values = robot_to_ik_root(machine), {}
    with pytest.raises(OptionError, match=r'the order is set_ik_from_urdf\(ik_root, values\)'):
        set_ik_from_urdf(values, root)
    with pytest.raises(OptionError, match=r'the order is set_urdf_from_ik\(values, ik_root\)'):
        set_urdf_from_ik(root, values)
