"""Many problems for a mechanism of the catalogue."""

from ik_node.native import is_compiled
from ik_node.solver.result import Solution
import numpy as np
from scipy.spatial.transform import Rotation
from support.mechanisms import MECHANISMS

# Plain Python is a thousand times slower.
COUNT = 12 if is_compiled() else 4


def batch_of(name, count=COUNT, seed=0, far=0.6):
    """
    Return a mechanism, its solver, some problems and starts.

    Goals are (positions, quats_xyzw) by name; starts (N, nq) are random. Poses are shaken, and
    every third one is thrown out of reach.
    """
    rng = np.random.default_rng((seed, len(name)))
    mechanism = MECHANISMS[name]().go_home()
    solver = mechanism.solver()
    size = np.where(np.arange(count) % 3 == 2, far, 0.03)[:, None]
    goals = {}
    for goal_name, goal in mechanism.goals.items():
        position, quat = mechanism.pose_of(goal.child.name)
        positions = position + size * rng.normal(size=(count, 3))
        turns = Rotation.from_rotvec(size * rng.normal(size=(count, 3))) * Rotation.from_quat(quat)
        # Not of unit length: that is the solver's to see to.
        goals[goal_name] = (positions, turns.as_quat() * rng.uniform(0.5, 2.0, (count, 1)))
    starts = np.array(
        [mechanism.random_q(solver.joint_names, rng, 0.3) for _ in range(count)]
    ).reshape(count, -1)
    return mechanism, solver, goals, starts


def one_by_one(solver, goals, starts, **options) -> list[Solution]:
    count = len(next(iter(goals.values()))[0]) if goals else len(starts)
    found = {}
    for n in reversed(range(count)):
        poses = {name: (positions[n], quats[n]) for name, (positions, quats) in goals.items()}
        start = starts if starts is None or np.ndim(starts) == 1 else starts[n]
        found[n] = solver.solve_pose(poses, start, **options)
    return [found[n] for n in range(count)]


def same(batch, singles):
    assert len(batch) == len(singles)
    for n, single in enumerate(singles):
        np.testing.assert_array_equal(batch.q[n], single.q, err_msg=f'problem {n}')
        assert batch.status[n] == single.status
        assert (batch.iterations[n], batch.starts[n]) == (single.iterations, single.starts)
        for ours, theirs in (
            (batch.goal_errors, single.goal_errors),
            (batch.closure_errors, single.closure_errors),
        ):
            assert {k: (e.position[n], e.orientation[n]) for k, e in ours.items()} == theirs
