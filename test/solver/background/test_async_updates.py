"""Background solver: updates during a solve, and rounds."""

from concurrent.futures import wait

from ik_node.description.files import description_path
from ik_node.errors import TopologyError, UnknownFrameError
from ik_node.model.constraint import Goal
from ik_node.model.link import Link
from ik_node.robot import load_robot
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.async_cases import FAR, FAR_OF, out_of_reach, reachable, values
from support.mechanisms import MECHANISMS
from support.waiting import PATIENCE

# -- changes while it runs


def test_update_redirects_running_solve_to_new_goal(at_work, gate):
    """It continues at the values found, and the same future resolves."""
    m = out_of_reach('fivebar')
    home = values(m)
    solver, future = at_work(m.roots)
    goal = m.goals['tool']
    position, _ = m.pose_of(goal.child.name)
    goal.set_position(*position)
    assert solver.update_frame_state(goal)
    gate.let(2)
    (result,) = future.result(PATIENCE)
    assert solver.future is future
    assert result.status is Status.CONVERGED
    (first, second) = gate.runs
    np.testing.assert_array_equal(first[0], home)
    assert np.abs(first[1].q - home).max() > 0.01
    np.testing.assert_array_equal(second[0], first[1].q)
    np.testing.assert_array_equal(values(m), second[1].q)


def test_update_takes_value_of_moved_locked_joint(at_work, gate):
    """Its value is the caller's, not one that was found: the update takes it."""
    m = out_of_reach('arm7')
    m.joints['j1'].lock()
    solver, future = at_work(m.roots)
    m.joints['j1'].set_dof_values(-0.7)
    m.joints['j2'].set_dof_values(0.1)
    assert solver.update_frame_state(m.joints['j1'])
    gate.let()
    gate.wait()
    solver.stop()
    gate.let()
    future.result(PATIENCE)
    (first, second) = gate.runs
    np.testing.assert_array_equal(second[0], [-0.7, *first[1].q[1:]])
    assert values(m)[0] == -0.7


def test_joints_move_despite_frequent_updates(at_work, gate):
    """Updates are more frequent than complete solves."""
    m = out_of_reach('fivebar')
    before = values(m)
    solver, _ = at_work(m.roots)
    for _ in range(3):
        assert solver.update_frame_state()
        gate.let()
        gate.wait()
    assert solver.running
    assert solver.results_ready
    assert np.abs(values(m) - before).max() > 0.01
    assert max(max(m.naive().error(c)) for c in m.closures.values()) <= 1e-6
    gate.let()
    solver.stop()


def test_update_of_foreign_frame_is_refused(make_async):
    """The error lists the known frames."""
    m = MECHANISMS['arm6']()
    solver = make_async(m.roots)
    with pytest.raises(UnknownFrameError, match=r"no frame named 'stranger'; known: base, j1"):
        solver.update_frame_state(m.joints['j1'], Link('stranger'))


def test_update_structure_restarts_running_solve(at_work, gate):
    """With the same future."""
    robot = load_robot(description_path('hexapod.urdf'))
    robot.add_goal('platform_link').set_position(*FAR)
    before = robot.q
    solver, future = at_work(robot)
    robot.remove_goal('platform_link')
    assert solver.update_structure()
    gate.let()
    gate.wait()
    assert not solver.results_ready  # what was found for the old one is not wanted
    gate.let()
    (result,) = future.result(PATIENCE)
    assert result.status is Status.CONVERGED
    assert result.goal_errors == {}
    np.testing.assert_array_equal(gate.runs[1][0], before)
    np.testing.assert_allclose(robot.q, before, atol=1e-6)


def test_answer_of_old_structure_is_not_written_to_joints(make_async):
    """Joints that may have other axes now are left alone; q speaks of the new ones."""
    m = MECHANISMS['arm6']()
    reachable(m, 5)
    solver, before = make_async(m.roots), values(m)
    wait([solver.solve()], PATIENCE)
    m.joints['j6'].set_dof()
    solver.update_structure()
    assert solver.results[0].status is Status.CONVERGED
    np.testing.assert_array_equal(values(m), before[:5])
    np.testing.assert_array_equal(solver.q, before[:5])
    assert len(solver.joint_names) == 5


def test_unreadable_structure_raises_error_until_repaired(make_async):
    """The graph's error is raised at once, by every command until it is mended."""
    m = MECHANISMS['arm6']()
    reachable(m, 6)
    solver = make_async(m.roots)
    twin = Goal('hand_goal')
    twin.make_closure(m.links['hand'])
    for command in (solver.update_structure, solver.solve):
        with pytest.raises(TopologyError, match='two closures or goals are named'):
            command()
    twin.remove_child(m.links['hand'])
    assert solver.solve().result(PATIENCE)[0].status is Status.CONVERGED


# -- going on after a TIMEOUT


def test_rounds_continue_until_solved(make_async):
    """Without rounds the answer is that of `Solver`."""
    options = SolverOptions(max_iterations=1, restarts=0)
    m, there = MECHANISMS['planar'](), MECHANISMS['planar']()
    for each in (m, there):
        each.goals['end_goal'].set_position(1.0, 1.5, 0)
    solver = make_async(m.roots, options)
    (once,) = solver.solve(until_done=False).result(PATIENCE)
    (wanted,) = there.solver(options).solve()
    assert once.status is wanted.status is Status.TIMEOUT
    assert once.goal_errors == wanted.goal_errors
    np.testing.assert_array_equal(values(m), values(there))
    assert solver.solve().result(PATIENCE)[0].status is Status.CONVERGED


@pytest.mark.parametrize('name', ['arm7', 'hexapod'])
def test_rounds_end_for_unreachable_goal(make_async, name):
    """An unreachable goal with few steps a round: TIMEOUT again and again, and then it ends."""
    m = out_of_reach(name)
    solver = make_async(m.roots, SolverOptions(max_iterations=3, restarts=2))
    (result,) = solver.solve().result(PATIENCE)
    assert result.status in (Status.TIMEOUT, Status.STALLED)
    best = out_of_reach(name).solver().solve()[0].goal_errors[FAR_OF[name]].position
    assert result.goal_errors[FAR_OF[name]].position <= 1.05 * best
