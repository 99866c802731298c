"""Goals dragged outside the workspace: the answer moves continuously with loops closed."""

from itertools import pairwise

from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.gallery_mechanisms import GALLERY
from support.mechanisms import MECHANISMS

MADE = {**MECHANISMS, **GALLERY}
MILLIMETRE = 1e-3
NEAR = SolverOptions(restarts=0)


def settled(mechanism, solver, asked):
    """Return the answer to an unreachable goal after repeated solves."""
    q = mechanism.solver().solve_pose(asked).q
    for _ in range(5):
        q = solver.solve_pose(asked, q).q
    return q


def drag(mechanism, solver, goal, start, direction, quat_xyzw, count):
    """Move a goal by a millimetre per step with loops closed; yield status and change."""
    q = settled(mechanism, solver, {goal: (start, quat_xyzw)})
    for k in range(1, count):
        at = np.add(start, MILLIMETRE * k * np.array(direction))
        solution = solver.solve_pose({goal: (at, quat_xyzw)}, q)
        there = mechanism.naive(solver.joint_names, solution.q)
        assert all(max(there.error(c)) <= 1e-6 for c in mechanism.closures.values())
        assert there.limit_excess() <= 0.0
        yield solution.status, np.abs(solution.q - q).max()
        q = solution.q


# A line outside: start, direction, restarts; 20 % beyond what can be reached.
LINES = {
    'planar': ('end_goal', (3.6, -1.5, 0), (0, 1, 0), 50),
    'arm6': ('hand_goal', (1.3, -0.4, 0.5), (0, 1, 0), 0),
    'arm7': ('hand_goal', (1.15, -0.4, 0.5), (0, 1, 0), 50),
    'fivebar': ('tool', (-0.2, 1.08, 0), (1, 0, 0), 50),
    'two_arm_box': ('box_goal', (1.1, -0.3, 0.4), (0, 1, 0), 0),
    'hexapod': ('pose', (-0.3, 0.0, 1.0), (1, 0, 0), 50),
    'gallery_fivebar': ('goal', (-0.1, 0.55, 0), (1, 0, 0), 0),
}


def test_goal_dragged_outside_causes_no_jump():
    """At most 0.05 rad per step of 1 mm."""
    for name in LINES:
        m = MADE[name]()
        goal, start, direction, restarts = LINES[name]
        solver = m.solver(SolverOptions(restarts=restarts))
        _, quat = m.pose_of(m.goals[goal].child.name)
        found = list(drag(m, solver, goal, start, direction, quat, 200 if is_compiled() else 5))
        assert {status for status, _ in found} == {Status.STALLED}
        assert max(change for _, change in found) <= 0.05


OUT_AND_BACK = {
    'planar': ('end_goal', (1.5, -1.0, 0), (3.6, -1.0, 0)),
    'arm7': ('hand_goal', (0.5, 0.2, 0.5), (1.4, 0.3, 0.6)),
    'fivebar': ('tool', (0.2, 0.6, 0), (0.2, 1.3, 0)),
    'hexapod': ('pose', (0, 0, 0.6), (0.1, 0.1, 1.1)),
    'gallery_hexapod': ('goal', (0, 0, 0.09), (0.04, 0.02, 0.14)),
    'two_arm_box': ('box_goal', (0.55, 0, 0.5), (1.2, 0.1, 0.6)),
    'coupled': ('tool_goal', (0.5, 0.2, 0), (1.2, 0.5, 0)),
}


@pytest.mark.skipif(not is_compiled(), reason='thousands of solves')
@pytest.mark.parametrize('name', OUT_AND_BACK)
def test_goal_dragged_out_and_back_keeps_branch(name):
    """In steps of 1 mm."""
    m = MADE[name]()
    goal, inside, outside = OUT_AND_BACK[name]
    solver = m.solver(NEAR)
    _, quat = m.pose_of(m.goals[goal].child.name)
    way = np.subtract(outside, inside)
    count = int(np.linalg.norm(way) / 1e-3)
    q = solver.solve_pose({goal: (inside, quat)}).q
    statuses = []
    for k in [*range(count), *range(count, -1, -1)]:
        solution = solver.solve_pose({goal: (inside + way * k / count, quat)}, q)
        assert np.abs(solution.q - q).max() <= 0.15, k
        q = solution.q
        statuses.append(solution.status)
    changes = [a for a, b in pairwise([*statuses, None]) if a is not b]
    assert changes == [Status.CONVERGED, Status.STALLED, Status.CONVERGED]
