"""Robots with random joints of random DoF, open and closed."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.model.dof import DOF, DOF_NAMES
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
from support.building import Mechanism, split

some = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def random_chain(rng, least):
    """Return a chain with a minimum number of DoF, and values within their limits."""
    m = Mechanism('random')
    m.root('base')
    parent, total, values = 'base', 0, {}
    while total < least:
        name = f'j{len(m.joints)}'
        dofs = [dof for dof in DOF if rng.random() < 0.4]
        joint = m.joint(
            name,
            parent,
            ' '.join(DOF_NAMES[dof] for dof in dofs),
            rng.uniform(-0.4, 0.4, 3),
            rng.uniform(-3, 3, 3),
        )
        limited = rng.random() < 0.6
        for dof in dofs:
            size = 1.5 if dof.is_rotation else 0.5
            low, high = np.sort(rng.uniform(-size, size, 2))
            if limited:
                joint.set_limits(dof, low - 0.3, high + 0.3)
            value_name = name if len(dofs) == 1 else f'{name}.{dof.name}'
            values[value_name] = rng.uniform(low, high)
        parent, total = f'{name}_link', total + len(dofs)
    m.tip('end', parent, rng.uniform(-0.3, 0.3, 3))
    return m, values


def start_near(m, solver, values, rng, spread):
    """Return q near the values, within limits."""
    q = np.array([values[name] for name in solver.joint_names])
    lower = np.array([j.min_dof_limit[d] for j, d in solver.tree.owner])
    upper = np.array([j.max_dof_limit[d] for j, d in solver.tree.owner])
    return q, np.clip(q + rng.uniform(-spread, spread, q.size), lower, upper)


def random_loop(rng):
    """Return a welded chain with its weld, an open start, and a distant goal."""
    m, values = random_chain(rng, 9)
    solver = m.solver()
    q, start = start_near(m, solver, values, rng, 0.1)
    position, quat = split(m.naive(solver.joint_names, q).world(m.links['end']))
    weld = m.closure('weld', 'base', 'end', xyz=position)
    weld.set_quaternion(*quat)
    m.goal('goal', list(m.links)[len(m.links) // 2], 'X Y Z')
    return m, weld, start, {'goal': (rng.uniform(-2, 2, 3), (0, 0, 0, 1))}


@some
@given(seeds)
def test_random_chain_reaches_pose_from_nearby_start(seed):
    """The pose belongs to random joint values."""
    rng = np.random.default_rng(seed)
    m, values = random_chain(rng, 6)
    m.goal('goal', 'end')
    solver = m.solver()
    q, start = start_near(m, solver, values, rng, 0.2)
    wanted = m.pose_of('end', solver.joint_names, q)
    solution = solver.solve_pose({'goal': wanted}, start)
    there = m.naive(solver.joint_names, solution.q)
    assert solution.status is Status.CONVERGED, solution.message
    assert max(there.error(m.goals['goal'], wanted)) <= 1e-6
    assert there.limit_excess() <= 0.0


@some
@given(seeds)
def test_random_loop_closes_and_stays_closed(seed):
    """A distant goal does not open the loop."""
    m, weld, start, wild = random_loop(np.random.default_rng(seed))
    solver = m.solver(SolverOptions(restarts=3))
    closed = solver.solve_pose({}, start)
    assert closed.status is Status.CONVERGED, closed.message
    for solution in (closed, solver.solve_pose(wild, closed.q)):
        there = m.naive(solver.joint_names, solution.q)
        assert max(there.error(weld)) <= 1e-6
        assert there.limit_excess() <= 0.0
