"""What the reference library's steps, limits and loop do wrong, one test each: ours do not."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ik_node.model.dof import DOF
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import Mechanism
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)
ONE_START = SolverOptions(restarts=0)
# What is nearest to the reference library's own loop.
PLAIN = replace(ONE_START, adaptive_damping=False)


def arm(count, limits=None, values=None):
    """Return a planar arm of hinges, 1 m each, asked for a position of its end."""
    m = Mechanism('arm')
    m.root('base')
    parent = 'base'
    for k in range(count):
        m.joint(f'j{k}', parent, 'EZ', (1.0 if k else 0.0, 0, 0), limits=limits)
        m.joints[f'j{k}'].set_dof_values(values[k] if values else 0.0)
        parent = f'j{k}_link'
    m.tip('end', parent, (1, 0, 0))
    m.goal('goal', 'end', 'X Y')
    return m


def solve(m, x, y, options=ONE_START):
    """Ask for a position and return the one result."""
    m.goals['goal'].set_position(x, y, 0)
    (result,) = m.solver(options).solve()
    return result


# -- the step


@pytest.mark.parametrize('change', [{'damping_factor': 0.5}, {'translation_factor': 0.1}])
def test_an_option_counts_from_the_next_solve_on(change):
    """There a kept pseudo-inverse is used again after the damping was changed."""
    m = arm(3, values=(0.3, 0.5, -0.4))
    solver = m.solver(replace(PLAIN, max_iterations=1))
    goals = {'goal': ((2.4, 0.9, 0), UNIT)}
    before = solver.solve_pose(goals).q
    assert np.abs(before - solver.q).max() > 1e-3
    np.testing.assert_array_equal(solver.solve_pose(goals).q, before)
    solver.options = replace(solver.options, **change)
    changed = solver.solve_pose(goals).q
    assert np.abs(changed - before).max() > 1e-3
    fresh = m.solver(solver.options).solve_pose(goals).q
    np.testing.assert_array_equal(changed, fresh)


@pytest.mark.parametrize('bend', [0.4, 1e-3, 1e-4, 0.0])
@pytest.mark.parametrize('damping', [0.05, 0.5])
def test_singular_values_are_damped_like_all_else(bend, damping):
    """In version A small ones are dropped and the others not damped; there is a jump between."""
    m = arm(3)
    goals, start = {'goal': ((2.7, 0.5, 0), UNIT)}, (0.1, bend, bend)
    options = replace(PLAIN, max_iterations=1, damping_factor=damping)
    solver = m.solver(options)
    plain = solver.solve_pose(goals, start).q
    solver.options = replace(options, use_svd=True)
    by_svd = solver.solve_pose(goals, start).q
    solver.options = options
    again = solver.solve_pose(goals, start).q
    assert np.abs(plain - start).max() > 1e-3
    np.testing.assert_allclose(by_svd, plain, atol=1e-9)
    np.testing.assert_array_equal(again, plain)


@pytest.mark.parametrize('held', ['lock', 'limit'])
def test_a_locked_axis_before_a_free_one_does_not_shift_the_rest_pose(held):
    """There every later joint is drawn to the rest value of the one before it."""
    m = Mechanism('row')
    m.root('base')
    parent, wanted = 'base', {}
    for k, rest in enumerate((0.4, -0.5, 0.6)):
        joint = m.joint(f'j{k}', parent, 'X EZ')
        joint.set_rest_pose_values(0.2, rest)
        wanted[f'j{k}.EZ'], parent = rest, f'j{k}_link'
    if held == 'lock':
        m.joints['j0'].lock('X')
    else:
        m.joints['j0'].set_limits('X', 0.0, 0.0)
    m.goal('goal', parent, 'Z')
    solver = m.solver()
    for _ in range(10):
        assert solver.solve()[0].status is Status.CONVERGED
    found = dict(zip(solver.joint_names, solver.q, strict=True))
    assert found['j0.X'] == 0.0
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-3)


def test_the_rest_pose_does_not_leak_into_the_goal():
    """There the damped projector lets a little of it through."""
    m = arm(3, values=(0.3, 0.5, -0.4))
    for joint in m.joints.values():
        if joint.dof:
            joint.set_rest_pose_values(2.0)
    solver = m.solver(SolverOptions(translation_converge_threshold=1e-9))
    m.goals['goal'].set_position(1.0, 1.5, 0)
    for _ in range(10):
        (result,) = solver.solve()
        assert result.goal_errors['goal'].position <= 1e-9


# -- limits


def test_a_joint_comes_off_the_limit_it_hit():
    """There a value that was clamped once is locked for the rest of the call."""
    m = arm(3, (-1.2, 1.2))
    start = np.array((-0.4, -0.8, -0.1))
    goals = {'goal': m.pose_of('end', ['j0', 'j1', 'j2'], (0.7, -0.6, -1.0))}
    first = m.solver(replace(ONE_START, max_iterations=1)).solve_pose(goals, start)
    assert first.active_limits == ('j0', 'j1', 'j2')
    whole = m.solver(ONE_START).solve_pose(goals, start)
    assert whole.status is Status.CONVERGED
    assert whole.active_limits == ()


@pytest.mark.parametrize('bound', [-1.0, 1.0])
def test_a_start_exactly_on_a_limit(bound):
    """There a zero step, or the first one outwards, locks the joint where it is."""
    m = arm(3, (-1.0, 1.0), (bound, bound, bound))
    x, y = np.cos((0.2, 0.6, 0.7)).sum(), np.sin((0.2, 0.6, 0.7)).sum()
    result = solve(m, x, -np.sign(bound) * y)
    assert result.status is Status.CONVERGED, result.message
    assert all(abs(j.get_dof_value('EZ')) < 1.0 for j in m.joints.values() if j.dof)


@pytest.mark.parametrize('held', ['lock', 'limits'])
def test_nothing_that_may_move_is_no_exception(held):
    """There a chain whose joints are all locked throws a TypeError."""
    m = arm(2, values=(0.1, 0.2))
    for joint in m.joints.values():
        if joint.dof and held == 'lock':
            joint.lock()
        elif joint.dof:
            joint.set_limits('EZ', *(2 * [joint.get_dof_value('EZ')]))
    result = solve(m, 0.0, 1.0)
    assert result.status is Status.STALLED
    assert m.joints['j1'].get_dof_value('EZ') == 0.2


# -- the loop


@pytest.mark.parametrize('options', [ONE_START, PLAIN], ids=['adaptive', 'plain'])
@pytest.mark.parametrize('most', [1, 2, 3, 4])
def test_iterations_are_counted_exactly(most, options):
    """In version B one step more is taken than was allowed: asked 3, got 4."""
    clamped = replace(options, max_iterations=most, translation_error_clamp=0.05)
    result = solve(arm(3, values=(0.3, 0.5, -0.4)), -1.0, -1.0, clamped)
    assert result.status is Status.TIMEOUT
    assert result.iterations == most


def test_a_coarse_stall_threshold_does_not_hide_convergence():
    """There the default thresholds contradict each other: fine solves end STALLED."""
    options = replace(ONE_START, stall_threshold=0.1, rotation_converge_threshold=1e-9)
    m = MECHANISMS['arm6']()
    solver = m.solver(options)
    q = solver.q + 0.02
    solution = solver.solve_pose({'hand_goal': m.pose_of('hand', solver.joint_names, q)})
    assert solution.status is Status.CONVERGED


@pytest.mark.parametrize('adaptive', [True, False])
@pytest.mark.parametrize('most', [1, 2, 3, 5, 8])
def test_the_answer_is_the_best_that_was_seen(most, adaptive):
    """There STALLED and TIMEOUT leave the last state, however bad."""
    m = arm(3)
    goals = {'goal': ((2.0, 0.3, 0), UNIT)}
    start = np.array((0, 1e-2, 1e-2))
    before = m.naive(['j0', 'j1', 'j2'], start).error(m.goals['goal'], goals['goal'])[0]
    wild = replace(ONE_START, damping_factor=0.0, diverge_threshold=1e9, max_iterations=most)
    wild = replace(wild, adaptive_damping=adaptive)
    solution = m.solver(wild).solve_pose(goals, start)
    assert solution.goal_errors['goal'].position <= before


@pytest.mark.parametrize('name', ['fivebar', 'hexapod', 'two_arm_box'])
def test_out_of_reach_is_not_divergence(name):
    """There an unreachable goal ends DIVERGED, with the loops open."""
    m = MECHANISMS[name]()
    (goal,) = m.goals.values()
    goal.set_position(4.0, 3.0, 2.0)
    (result,) = m.solver().solve()
    assert result.status is Status.STALLED
    there = m.naive()
    assert max(max(there.error(closure)) for closure in m.closures.values()) <= 1e-6


def test_out_of_reach_is_stretched_out():
    """An arm of 3 m asked for a point 5 m away: 2 m are missing, and it is no divergence."""
    result = solve(arm(3, values=(0.3, 0.5, -0.4)), 3.0, 4.0)
    assert result.status is Status.STALLED
    assert result.goal_errors['goal'].position == pytest.approx(2.0, abs=1e-6)


def test_a_straight_arm_is_pulled_inwards():
    """There nothing moves at first order, and that is STALLED at once."""
    result = solve(arm(3), 1.5, 0.0)
    assert result.status is Status.CONVERGED, result.message


@pytest.mark.parametrize('move', [3e-6, 1e-8])
def test_small_moves_of_a_goal_are_followed(move):
    """There a goal moved by less than 1e-5 m has not moved at all, however often."""
    m = arm(2, values=(0.4, 0.8))
    solver = m.solver(SolverOptions(translation_converge_threshold=1e-12))
    position = m.pose_of('end')[0]
    for _ in range(5):
        position = position + np.array((move, 0, 0))
        m.goals['goal'].set_position(*position)
        assert solver.solve()[0].status is Status.CONVERGED
    np.testing.assert_allclose(m.pose_of('end')[0], position, atol=1e-12)


def test_solvers_are_re_entrant():
    """There work lists are shared by all solvers of the process."""
    names = ('fivebar', 'arm7', 'hexapod')
    rng = np.random.default_rng(4)

    def work(name):
        m = MECHANISMS[name]()
        solver = m.solver(SolverOptions(restarts=1))
        (goal,) = m.goals
        return solver, [{goal: (p, UNIT)} for p in rng.uniform(-0.5, 0.8, (40, 3))]

    parts = [work(name) for name in names]

    def run(part):
        solver, goals = part
        return [solver.solve_pose(goal, solver.q).q for goal in goals]

    alone = [run(part) for part in parts]
    with ThreadPoolExecutor(len(parts)) as pool:
        for first, second in zip(alone, pool.map(run, parts), strict=True):
            np.testing.assert_array_equal(first, second)


def test_answers_are_in_double_precision():
    """There joint values are rounded to 32 bits: 1e-5 rad is near the noise."""
    m = MECHANISMS['arm6']()
    tight = SolverOptions(translation_converge_threshold=1e-11, rotation_converge_threshold=1e-11)
    solver = m.solver(tight)
    wanted = m.pose_of('hand', solver.joint_names, solver.q + 0.1)
    m.goals['hand_goal'].set_position(*wanted[0])
    m.goals['hand_goal'].set_quaternion(*wanted[1])
    (result,) = solver.solve()
    assert result.status is Status.CONVERGED
    assert solver.q.dtype == np.float64
    assert max(m.naive().error(m.goals['hand_goal'])) <= 2e-11


def test_a_multi_axis_hexapod_converges():
    """There joints with several axes cost steps and, by default, convergence: 1 of 200."""
    m = MECHANISMS['hexapod']()
    assert m.joints['float'].dof == list(DOF)
    solver, rng = m.solver(ONE_START), np.random.default_rng(6)
    for _ in range(20):
        move = np.concatenate((rng.uniform(-0.08, 0.08, 3), rng.uniform(-0.2, 0.2, 3)))
        m.joints['float'].set_dof_values(*move)
        pose = m.pose_of('platform')
        m.joints['float'].set_dof_values(*np.zeros(6))
        solution = solver.solve_pose({'pose': pose})
        assert solution.status is Status.CONVERGED, solution.message
        assert solution.iterations <= 6
