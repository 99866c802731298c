"""A robot as a separate free graph: copies, motion and trimming."""

from ik_node.conversions import robot_to_ik_root
from ik_node.description.files import description_path
from ik_node.errors import TopologyError
from ik_node.model.constraint import Goal
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.fourbar_urdf import MACHINE
from support.naive import by_name, frames_of, Naive


@pytest.fixture
def machine():
    """Return the four-bar with its loop closed."""
    return load_robot(MACHINE)


# Attributes that refer to other frames, and those that only say what was computed.
REFERENCES = {'_parent', '_children', '_child', '_closure_joints', '_couplings', '_followed'}
COMPUTED = {'_matrix', '_matrix_world', '_matrix_dof', '_pose_checked', 'revision'}


def facts_of(frame):
    """Return the properties of a frame in comparable types."""
    facts = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(frame).items()
        if name not in REFERENCES | COMPUTED and not name.endswith('needs_update')
    }
    facts['type'] = type(frame)
    facts['child'] = frame.child.name if isinstance(frame, Joint) and frame.child else None
    facts['parent'] = frame.parent.name if frame.parent else None
    facts['children'] = [child.name for child in frame.children]
    facts['closures'] = [joint.name for joint in getattr(frame, 'closure_joints', ())]
    facts['couplings'] = {
        dof: (coupling.master.name, coupling.master_dof, coupling.coefficients)
        for dof, coupling in getattr(frame, 'couplings', {}).items()
    }
    return facts


def test_copy_contains_every_frame_and_setting(machine):
    """References in the copy lead to copies only."""
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


def test_trimming_removes_branches_without_closure_or_goal(machine):
    """The masses of removed branches stay."""
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


def test_copied_hexapod_moves_as_a_whole():
    """Its platform is moved and tilted with all loops closed."""
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


def test_several_roots_are_carried_by_one_joint():
    """Loaded with a floating root, they cannot be: there is one free joint for each."""
    links = '<robot name="two"><link name="left"/><link name="right"/></robot>'
    root = robot_to_ik_root(load_robot(links))
    root.set_position(1.0, 2.0, 3.0)
    for name in ('left', 'right'):
        np.testing.assert_allclose(by_name(root)[name].matrix_world[:3, 3], [1.0, 2.0, 3.0])
    with pytest.raises(TopologyError, match='fixed'):
        robot_to_ik_root(load_robot(links, root='floating'))
