"""Results report condition number, worst constraint, active limits and reason."""

from ik_node.kernels import layout
from ik_node.solver.options import SolverOptions
from ik_node.solver.result import ChainNames, SolvedChain, SolveResult, tolerances_in
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import Mechanism
from support.kernel_calls import Rows
from support.mechanisms import MECHANISMS


def at_home(name):
    """Return a mechanism with goals at its links, and the result of a solve."""
    m = MECHANISMS[name]().go_home()
    for goal in m.goals.values():
        position, quat = m.pose_of(goal.child.name)
        goal.set_position(*position)
        goal.set_quaternion(*quat)
    solver = m.solver()
    return m, solver, solver.solve()


def test_condition_number_equals_numpy():
    """Largest over smallest singular value of the Jacobian."""
    m, solver, (result,) = at_home('arm6')
    jacobian = np.vstack([*Rows(m).at(solver.q)[1].values()])
    assert result.condition_number == pytest.approx(np.linalg.cond(jacobian), rel=1e-6)


@pytest.mark.parametrize('name', ['fourbar', 'two_arm_box'])
def test_condition_number_ignores_redundant_rows(name):
    """A planar loop in space has three of them."""
    _, solver, results = at_home(name)
    assert all(1.0 <= result.condition_number < 1e4 for result in results)
    solution = solver.solve_pose({})
    assert solution.condition_number >= 1.0


def test_condition_number_belongs_to_q_of_result():
    """Also if it is computed after other solves."""
    m, solver, (result,) = at_home('arm6')
    now = at_home('arm6')[2][0].condition_number
    (goal,) = m.goals.values()
    goal.set_position(*(goal.position * 0.7))
    solver.solve()
    assert result.condition_number == now


def result_of(**errors):
    """Return a result with these errors; 'pin' is a closure."""
    names = ChainNames(tuple(errors), tuple(name != 'pin' for name in errors), ((0, 'elbow'),))
    record, joints = np.zeros((len(errors), layout.CON_COLUMNS)), np.zeros((layout.JOINT_ROWS, 1))
    joints[layout.JOINT_UPPER] = 1.0
    tolerances_in(record)[:] = (1e-6, 1e-1)
    head = np.zeros(layout.RECORD)
    head[layout.RECORD_STATUS] = Status.STALLED
    record = np.concatenate((head, *errors.values(), record.ravel()))
    return SolveResult(SolvedChain(names, 1.0, 1.0, ''), record, joints, np.zeros(1), np.zeros(1))


def test_worst_constraint_is_relative_to_tolerances():
    """0.1 rad may count less than 0.1 mm."""
    result = result_of(left=(1e-4, 0.0), right=(0.0, 0.09))
    assert result.worst == 'left'
    assert "goal 'left' is 0.0001 m, 0 rad off" in result.message
    assert 'at limits: elbow' in result.message


def test_worst_constraint_is_named_if_all_are_within_tolerance():
    """The closure or the goal, but not both."""
    result = result_of(left=(1e-8, 0.0), right=(0.0, 0.05), pin=(4e-7, 0.0))
    assert "; goal 'right' is 0 m, 0.05 rad off; at limits" in result.message
    assert 'pin' not in result.message
    result = result_of(left=(1e-8, 0.0), right=(0.0, 0.05), pin=(6e-7, 0.0))
    assert "; closure 'pin' is 6e-07 m, 0 rad off; at limits" in result.message
    assert 'right' not in result.message


def test_worst_uses_tolerances_of_goals():
    """Else the thresholds of the options."""
    m = MECHANISMS['two_arms']()
    one, other = m.goals.values()
    one.tolerance = (1e-3, 1e-2)
    options = SolverOptions(translation_converge_threshold=1e-5)
    results = m.solver(options).solve()
    allowed = {name: t for result in results for name, t in result.tolerances.items()}
    assert allowed[one.name] == (1e-3, 1e-2)
    assert allowed[other.name] == (1e-5, 1e-6)


def test_open_loop_is_named_before_the_goal():
    """For any error of the goal."""
    m = Mechanism('open')
    m.root('base')
    m.joint('slide', 'base', 'X')
    m.closure('pin', 'base', 'slide_link', 'point', xyz=(0, 0.14, 0))
    m.goal('tip', 'slide_link', 'Y')
    m.goals['tip'].set_position(0, 5, 0)
    (result,) = m.solver().solve()
    assert result.status is not Status.CONVERGED
    assert result.worst == 'tip'
    assert "; closure 'pin' is 0.14 m, 0 rad off; goal 'tip' is 5 m, 0 rad off" in result.message
