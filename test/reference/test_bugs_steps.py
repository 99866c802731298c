"""Faults of the reference library's steps, limits and main loop that ik_node does not have."""

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
    """Return a planar arm of hinges, 1 m each, with a position goal for its end."""
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
    """Solve for a position and return the only result."""
    m.goals['goal'].set_position(x, y, 0)
    (result,) = m.solver(options).solve()
    return result


# -- the step


@pytest.mark.parametrize('change', [{'damping_factor': 0.5}, {'translation_factor': 0.1}])
def test_changed_option_applies_to_next_solve(change):
    """The reference library reuses a pseudo-inverse after a change of the damping."""
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
def test_small_singular_values_are_damped(bend, damping):
    """Version A drops small ones and does not damp the others."""
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
def test_locked_axis_does_not_shift_rest_pose_of_later_joints(held):
    """In the reference library each later joint uses the rest value of the one before."""
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


def test_rest_pose_does_not_change_goal_error():
    """The damped projector of the reference library lets a part through."""
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


def test_joint_leaves_limit_within_one_solve():
    """The reference library locks a clamped value for the rest of the call."""
    m = arm(3, (-1.2, 1.2))
    start = np.array((-0.4, -0.8, -0.1))
    goals = {'goal': m.pose_of('end', ['j0', 'j1', 'j2'], (0.7, -0.6, -1.0))}
    first = m.solver(replace(ONE_START, max_iterations=1)).solve_pose(goals, start)
    assert first.active_limits == ('j0', 'j1', 'j2')
    whole = m.solver(ONE_START).solve_pose(goals, start)
    assert whole.status is Status.CONVERGED
    assert whole.active_limits == ()


@pytest.mark.parametrize('bound', [-1.0, 1.0])
def test_joint_leaves_limit_that_it_starts_on(bound):
    """The reference library locks the joint at the first step."""
    m = arm(3, (-1.0, 1.0), (bound, bound, bound))
    x, y = np.cos((0.2, 0.6, 0.7)).sum(), np.sin((0.2, 0.6, 0.7)).sum()
    result = solve(m, x, -np.sign(bound) * y)
    assert result.status is Status.CONVERGED, result.message
    assert all(abs(j.get_dof_value('EZ')) < 1.0 for j in m.joints.values() if j.dof)


@pytest.mark.parametrize('held', ['lock', 'limits'])
def test_fully_locked_chain_raises_no_exception(held):
    """The reference library throws a TypeError."""
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
def test_solve_makes_no_more_iterations_than_requested(most, options):
    """Version B makes one more: 4 instead of 3."""
    clamped = replace(options, max_iterations=most, translation_error_clamp=0.05)
    result = solve(arm(3, values=(0.3, 0.5, -0.4)), -1.0, -1.0, clamped)
    assert result.status is Status.TIMEOUT
    assert result.iterations == most


def test_default_thresholds_allow_convergence():
    """Those of the reference library contradict each other: it stalls before it converges."""
    options = replace(ONE_START, rotation_converge_threshold=1e-9)
    m = MECHANISMS['arm6']()
    solver = m.solver(options)
    q = solver.q + 0.02
    solution = solver.solve_pose({'hand_goal': m.pose_of('hand', solver.joint_names, q)})
    assert solution.status is Status.CONVERGED


@pytest.mark.parametrize('adaptive', [True, False])
@pytest.mark.parametrize('most', [1, 2, 3, 5, 8])
def test_best_iterate_is_returned(most, adaptive):
    """The reference library returns the last state after STALLED and TIMEOUT."""
    m = arm(3)
    goals = {'goal': ((2.0, 0.3, 0), UNIT)}
    start = np.array((0, 1e-2, 1e-2))
    before = m.naive(['j0', 'j1', 'j2'], start).error(m.goals['goal'], goals['goal'])[0]
    wild = replace(ONE_START, damping_factor=0.0, diverge_threshold=1e9, max_iterations=most)
    wild = replace(wild, adaptive_damping=adaptive)
    solution = m.solver(wild).solve_pose(goals, start)
    assert solution.goal_errors['goal'].position <= before


@pytest.mark.parametrize('name', ['fivebar', 'hexapod', 'two_arm_box'])
def test_unreachable_goal_is_not_diverged(name):
    """In the reference library it is, and loops stay open."""
    m = MECHANISMS[name]()
    (goal,) = m.goals.values()
    goal.set_position(4.0, 3.0, 2.0)
    (result,) = m.solver().solve()
    assert result.status is Status.STALLED
    there = m.naive()
    assert max(max(there.error(closure)) for closure in m.closures.values()) <= 1e-6


def test_arm_stretches_towards_unreachable_goal():
    """An arm of 3 m misses a point 5 m away by 2 m."""
    result = solve(arm(3, values=(0.3, 0.5, -0.4)), 3.0, 4.0)
    assert result.status is Status.STALLED
    assert result.goal_errors['goal'].position == pytest.approx(2.0, abs=1e-6)


def test_straight_arm_bends_towards_inward_goal():
    """The reference library stalls at once, as nothing moves at first order."""
    result = solve(arm(3), 1.5, 0.0)
    assert result.status is Status.CONVERGED, result.message


@pytest.mark.parametrize('move', [3e-6, 1e-8])
def test_small_goal_motions_are_followed(move):
    """The reference library ignores motions below 1e-5 m."""
    m = arm(2, values=(0.4, 0.8))
    solver = m.solver(SolverOptions(translation_converge_threshold=1e-12))
    position = m.pose_of('end')[0]
    for _ in range(5):
        position = position + np.array((move, 0, 0))
        m.goals['goal'].set_position(*position)
        assert solver.solve()[0].status is Status.CONVERGED
    np.testing.assert_allclose(m.pose_of('end')[0], position, atol=1e-12)


def test_solvers_in_one_process_are_independent():
    """The reference library shares work lists between all solvers."""
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


def test_solution_has_double_precision():
    """The reference library rounds joint values to 32 bits."""
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


def test_hexapod_of_multi_axis_joints_converges():
    """With its defaults the reference library solves 1 of 200."""
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
