"""Properties of every method: limits, true status, best iterate, budgets."""

from dataclasses import replace
from itertools import product

from ik_node.errors import OptionError
from ik_node.model.request import request_of
from ik_node.solver.methods import run_method, trace
from ik_node.solver.options import METHODS, SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)
VARIANTS = {
    **{name: SolverOptions(method=name) for name in METHODS},
    'dls_svd': SolverOptions(use_svd=True),
    'dls_numeric': SolverOptions(jacobian='numeric'),
    'dls_fixed': SolverOptions(use_svd=True, adaptive_damping=False),
    'slsqp_numeric': SolverOptions(method='slsqp', jacobian='numeric'),
    'fixed_rates': SolverOptions(method='gradient_descent', learning_rate=0.01),
    'fixed_alpha': SolverOptions(method='jacobian_transpose', alpha=0.05),
    'ccd_limited': SolverOptions(method='ccd', ccd_step_limit=0.1),
}
# Those that get there on closed chains within a few dozen steps.
# An arm, ball joints, couplings, a relative goal, and closed chains in the plane and in space.
SAMPLE = ('mixed', 'ball', 'ball_limited', 'coupled', 'relative', 'fivebar', 'hexapod')
NEWTON_LIKE = ('dls_svd', 'dls_numeric', 'sdls', 'pseudo_inverse', 'slsqp', 'slsqp_numeric')


def solve(mechanism, options, goals, q0=None):
    """Solve once by a method in Python."""
    if options == SolverOptions():
        options = replace(options, use_svd=True)
    solver = mechanism.solver()
    return trace(solver.tree, solver.q if q0 is None else q0, options, goals)


def refuses(name, mechanism):
    """Return True if a variant has to refuse a mechanism."""
    return name.startswith('ccd') and bool(mechanism.closures)


def goals_at(mechanism, q):
    """Return the link poses of all goals at q, for goals without a parent."""
    names = mechanism.solver().joint_names
    return {
        name: mechanism.pose_of(goal.child.name, names, q)
        for name, goal in mechanism.goals.items()
        if goal.parent is None
    }


def within_tolerances(mechanism, solution, goals):
    """Return True if the oracle finds every residual within its tolerance."""
    for name, (position, quat) in goals.items():
        mechanism.goals[name].set_position(*position)
        mechanism.goals[name].set_quaternion(*quat)
    there = mechanism.naive(mechanism.solver().joint_names, solution.q)
    sizes = [
        np.linalg.norm(part)
        for closer in there.closers.values()
        for part in there.residual(closer)
    ]
    return max(sizes) <= 1.0000001e-6


# SciPy before 1.16, all there is for Python 3.10, says so of what rounding adds to a bound.
@pytest.mark.filterwarnings('ignore:Values in x were outside bounds:RuntimeWarning')
def test_methods_keep_limits_and_report_true_status():
    """The oracle verifies limits, couplings and CONVERGED for any goal."""
    for variant in VARIANTS:
        rng = np.random.default_rng(3)
        for name, reach in product(SAMPLE, (0.1, 3.0)):
            m = MECHANISMS[name]()
            if refuses(variant, m):
                continue
            solver = m.solver()
            goals = {
                goal: (position + rng.uniform(-reach, reach, 3), quat)
                for goal, (position, quat) in goals_at(m, solver.q).items()
            }
            found = solve(m, replace(VARIANTS[variant], max_iterations=15), goals)
            there = m.naive(solver.joint_names, found.solution.q, follow=False)
            assert there.limit_excess() <= 0.0
            assert there.coupling_gap() <= 1e-12
            converged = found.solution.status is Status.CONVERGED
            assert converged == within_tolerances(m, found.solution, goals)


def test_methods_reach_nearby_poses_with_closed_loops():
    """Open and closed: a pose near the start is reached, the loops being closed."""
    for variant in NEWTON_LIKE:
        for name in SAMPLE:
            m = MECHANISMS[name]()
            solver = m.solver()
            q = solver.q + 0.1 * (
                m.random_q(solver.joint_names, np.random.default_rng(4)) - solver.q
            )
            goals = goals_at(m, solver.solve_pose({}, q).q if m.closures else q)
            found = solve(m, VARIANTS[variant], goals)
            assert found.solution.status is Status.CONVERGED, name
            assert within_tolerances(m, found.solution, goals), name


def test_methods_move_joint_off_its_limit():
    """A joint that starts on a limit moves off it when the goal lies inwards."""
    for variant in VARIANTS:
        m = MECHANISMS['planar']()
        for joint in ('p1', 'p2', 'p3'):
            m.joints[joint].set_limits('EZ', -2.0, 2.0)
        solver = m.solver()
        goals = goals_at(m, np.array([1.2, 1.0, 0.8]))
        options = replace(VARIANTS[variant], max_iterations=600)
        found = solve(m, options, goals, np.array([2.0, 0.3, 0.8]))
        assert found.solution.goal_errors['end_goal'].position < 0.05
        assert found.solution.q[0] < 1.9
        assert m.naive(solver.joint_names, found.solution.q).limit_excess() <= 0.0


def test_methods_do_not_move_locked_joints():
    """The other joints approach the goal."""
    for variant in VARIANTS:
        m = MECHANISMS['arm7']()
        m.joints['j2'].lock()
        m.joints['j5'].lock()
        q = m.solver().q
        goals = goals_at(m, q + np.array([0.2, 0, -0.2, 0.2, 0, 0.1, 0.3]))
        found = solve(m, replace(VARIANTS[variant], max_iterations=20), goals)
        assert found.solution.q[[1, 4]].tolist() == q[[1, 4]].tolist()
        start = found.points[0]
        assert found.solution.goal_errors['hand_goal'].position < start.position


def parts(mechanism, options):
    """Return the arguments of `run_method`: problem, start and joint table."""
    solver = mechanism.solver()
    problem = Problem(solver.tree, [request_of(closer) for closer in solver.tree.closers])
    problem.refresh(options)
    return problem, solver.q, JointTable(solver.tree).rows


def test_stop_flag_and_time_budget_end_method():
    """After the current iteration."""
    for variant in VARIANTS:
        m = MECHANISMS['arm6']()
        m.goals['hand_goal'].set_position(0.5, 0.2, 0.5)
        for options, stop in (
            (VARIANTS[variant], [True]),
            (replace(VARIANTS[variant], time_budget=1e-9), []),
        ):
            problem, q, rows = parts(m, options)
            (answer,) = run_method(problem, q, rows, options, stop)
            assert answer.status is Status.TIMEOUT
            assert answer.iterations == 1


def test_methods_miss_heavier_goal_by_less():
    """Both goals cannot be met together."""
    for method in METHODS:
        missed = []
        for weight in (0.3, 3.0):
            m = MECHANISMS['free_body']()
            m.joints['float'].lock()
            m.goal('second', 'hand', 'Z')
            m.goals['hand_goal'].set_goal_dof('X', 'Y', 'Z')
            m.goals['second'].weight = weight
            goals = {'hand_goal': ((0.3, 0.4, 0.5), UNIT), 'second': ((0, 0, 0.8), UNIT)}
            found = solve(m, SolverOptions(method=method, max_iterations=300), goals)
            missed.append(found.solution.goal_errors['second'].position)
        assert missed[1] < 0.9 * missed[0], method


def test_ccd_error_names_methods_for_closed_chains():
    """The error also names the closure."""
    m = MECHANISMS['fourbar']()
    with pytest.raises(OptionError, match='method') as caught:
        solve(m, SolverOptions(method='ccd'), {})
    for word in ("'ccd'", "'weld'", 'dls', 'sdls', 'pseudo_inverse', 'slsqp'):
        assert word in str(caught.value)
