"""A goal is called out of reach only if it is."""

from ik_node.kernels.layout import open_solve
from ik_node.kernels.out_of_reach import out_of_reach
from ik_node.kernels.start import evaluate, start_solve
from ik_node.solver.options import SolverOptions
import numpy as np
import pytest
from support.gallery_mechanisms import GALLERY
from support.mechanisms import MECHANISMS

ALL = {**MECHANISMS, **GALLERY}
WITH_GOALS = (
    'arm6',
    'mixed',
    'ball_limited',
    'coupled',
    'relative',
    'fivebar',
    'hexapod',
    'walker',
)


def proven(mechanism, poses, q):
    """Return True if the kernel proves for a chain that the poses are out of reach."""
    solver = mechanism.solver()
    problem, table, packed = solver.arrays_for(tuple(poses))
    found = False
    for chain in problem.chains:
        state = open_solve(*chain.arrays, q.copy(), table.rows, packed)
        goals = [poses[name] for _, name in chain.names.goals]
        for (row, _), (position, quat) in zip(chain.names.goals, goals, strict=True):
            chain.table[row, 0:3], chain.table[row, 3:7] = position, quat
        assert start_solve(state)
        evaluate(state)
        found = found or out_of_reach(state)
    return found


def test_no_pose_of_the_robot_is_out_of_reach():
    """Poses of configurations with closed loops, at the limits as well."""
    for name in WITH_GOALS:
        m = ALL[name]()
        solver, rng = m.solver(), np.random.default_rng(1)
        low, high = solver.limits()
        low, high = np.maximum(low, -3.0), np.minimum(high, 3.0)
        for _ in range(10):
            q = rng.uniform(low, high)
            q = np.where(
                rng.uniform(size=q.size) < 0.3,
                np.where(rng.uniform(size=q.size) < 0.5, low, high),
                q,
            )
            closed = solver.solve_pose({}, q)
            if m.closures and max(max(e) for e in closed.closure_errors.values()) > 1e-7:
                continue
            poses = {
                goal: m.pose_of(closer.child.name, solver.joint_names, closed.q)
                for goal, closer in m.goals.items()
            }
            assert not proven(m, poses, closed.q)


@pytest.mark.parametrize('name', ['arm7', 'gallery_hexapod', 'two_arm_box'])
def test_distant_pose_is_proven_out_of_reach(name):
    """By the lengths of the links, through loops as well."""
    m = ALL[name]()
    solver = m.solver()
    poses = dict.fromkeys(m.goals, ((30.0, 4.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
    assert proven(m, poses, solver.q)
    assert solver.solve_pose(poses).starts < 50


@pytest.mark.parametrize('dof', [('X', 'Y', 'Z'), ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')])
def test_proof_stands_at_the_very_length_of_an_arm(dof):
    """Nothing further away is reached, with any number of starts."""
    m = ALL['arm6']()
    (goal,) = m.goals
    m.goals[goal].set_goal_dof(*dof)
    solver = m.solver(SolverOptions(restarts=300))
    turns = [(0.0, 0.0, 0.0, 1.0), (0.0, 0.6, 0.0, 0.8), (0.6, 0.0, 0.0, 0.8)]
    for turn in turns:
        reach = 0.0
        for way in np.linspace(0.2, 3.0, 400):
            if not proven(m, {goal: ((way, 0.0, 0.4), turn)}, solver.q):
                reach = way
        beyond = {goal: ((reach + 0.01, 0.0, 0.4), turn)}
        assert reach < 2.9
        assert not solver.solve_pose(beyond).converged


@pytest.mark.parametrize('axis', ['X', 'Y', 'Z'])
def test_component_of_a_position_is_proven_out_of_reach(axis):
    """Components that the goal leaves open prove nothing, however large they are."""
    m = ALL['arm6']()
    (goal,) = m.goals
    m.goals[goal].set_goal_dof(axis)
    solver = m.solver()
    for component in 'XYZ':
        far = 30.0 * np.eye(3)['XYZ'.index(component)]
        pose = {goal: (tuple(far), (0.0, 0.0, 0.0, 1.0))}
        assert proven(m, pose, solver.q) == (component == axis)
