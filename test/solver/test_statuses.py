"""Each status is reached on purpose, and results report it with the steps that were made."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


def solve(name, goals, **options):
    """Solve and return the solution."""
    m = MECHANISMS[name]()
    return m.solver(SolverOptions(**options)).solve_pose(goals)


def test_status_is_printed_as_its_name():
    """It is also a number, which says nothing to a reader."""
    assert str(Status.CONVERGED) == 'CONVERGED'
    assert f'{Status.STALLED:>8}' == ' STALLED'
    assert Status.CONVERGED == 0


def test_spent_time_budget_ends_as_timeout():
    """At the next check of the clock."""
    goals = {'hand_goal': ((9, 9, 9), UNIT)}
    endless = {'max_iterations': 10**6, 'restarts': 10**6, 'stall_threshold': 0.0}
    solution = solve('arm7', goals, time_budget=1e-9, **endless)
    assert solution.status is Status.TIMEOUT
    assert 'the time budget is spent' in solution.message
    assert solution.iterations < 200


def test_undamped_overshoot_is_diverged():
    """Near a singularity, with adaptive damping off."""
    m = MECHANISMS['planar']()
    options = SolverOptions(
        adaptive_damping=False, damping_factor=0.0, diverge_threshold=0.0, restarts=0
    )
    start = np.array((0, 1e-2, 1e-2))
    solution = m.solver(options).solve_pose({'end_goal': ((2.0, 0.3, 0), UNIT)}, start)
    assert solution.status is Status.DIVERGED
    assert 'the error grew; raise damping_factor or use adaptive_damping' in solution.message
    # the best iterate, not the worst one, is what comes back
    before = m.naive(['p1', 'p2', 'p3'], start).error(m.goals['end_goal'], ((2, 0.3, 0), UNIT))
    assert solution.goal_errors['end_goal'].position <= before[0]


def test_status_is_that_of_worst_chain():
    """Each chain has its own result."""
    m = MECHANISMS['two_arms']()
    solver = m.solver(SolverOptions(restarts=2))
    near = m.pose_of('left_hand')
    solution = solver.solve_pose({'left_goal': near, 'right_goal': ((5, 0, 0), UNIT)})
    assert solution.status is Status.STALLED
    assert [chain.status for chain in solution.chains] == [Status.CONVERGED, Status.STALLED]
    assert [list(chain.goal_errors) for chain in solution.chains] == [
        ['left_goal'],
        ['right_goal'],
    ]
    assert solution.chains[1].worst == 'right_goal'
    assert "goal 'right_goal'" in solution.message


def test_reported_residuals_equal_oracle():
    """Errors in the result are those of an independent recomputation, met or not."""
    for name in MECHANISMS:
        m = MECHANISMS[name]()
        solver, rng = m.solver(SolverOptions(restarts=1)), np.random.default_rng(9)
        goals = {n: (rng.uniform(-1, 1, 3), rng.normal(size=4)) for n in m.goals}
        solution = solver.solve_pose(goals)
        there = m.naive(solver.joint_names, solution.q)
        found = {**solution.goal_errors, **solution.closure_errors}
        assert set(found) == {*m.goals, *m.closures}
        for error_name, error in found.items():
            wanted = there.error(there.closers[error_name], goals.get(error_name))
            np.testing.assert_allclose(error, wanted, atol=1e-10, err_msg=error_name)
        assert there.limit_excess() <= 0.0
        met = max((max(e) for e in found.values()), default=0.0) <= 1e-6
        assert met == (solution.status is Status.CONVERGED)


def test_result_and_message_name_active_limits():
    """Joints at a bound are listed, and are in the message."""
    m = MECHANISMS['coupled']()
    solution = m.solver(SolverOptions(restarts=0)).solve_pose({'tool_goal': ((-5, 0.5, 0), UNIT)})
    at_limit = [n for n, j in m.joints.items() if j.dof and n in solution.active_limits]
    assert at_limit
    assert 'at limits: ' + ', '.join(solution.active_limits) in solution.message


def test_message_names_closure_that_cannot_close():
    """STALLED, with the gap."""
    m = MECHANISMS['fourbar_pinned']()
    m.links['coupler_end'].parent.set_position(0.1, 0, 0)
    m.closures['pin'].set_position(0.3, 0, 0)
    solution = m.solver(SolverOptions(restarts=3)).solve_pose({})
    assert solution.status is Status.STALLED
    assert "closure 'pin' is 0." in solution.message
    assert solution.goal_errors == {}


def far_away(mechanism, rng):
    """Return mostly unreachable poses of all goals."""
    return {name: (rng.uniform(-2.0, 2.0, 3), rng.normal(size=4)) for name in mechanism.goals}


def test_solve_keeps_max_iterations_per_start():
    """Including random pushes and best efforts."""
    for most, restarts in [(1, 0), (5, 2), (40, 2)]:
        for name in ['arm7', 'ball_limited', 'coupled', 'hexapod', 'two_arm_box']:
            m = MECHANISMS[name]()
            solver = m.solver(SolverOptions(max_iterations=most, restarts=restarts))
            rng = np.random.default_rng(3)
            for _ in range(4):
                solution = solver.solve_pose(far_away(m, rng))
                assert solution.iterations <= most * (1 + restarts)
                assert solution.starts <= 1 + restarts or m.closures
                if not m.closures:
                    assert solution.closing_iterations == 0
