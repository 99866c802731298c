"""Closures, goals and links with equal names are distinguished."""

import numpy as np
from support.mechanisms import MECHANISMS


def test_closure_with_name_of_goal_link_stays_closed():
    """The result reports the closure and the goal."""
    m = MECHANISMS['fivebar']()
    (closure,) = m.closures.values()
    link = next(iter(m.goals.values())).child.name
    closure.name = link
    solver = m.solver()
    (goal,) = m.goals
    position, quat = m.pose_of(link)
    asked = {link: (np.add(position, (0.0, -0.02, 0.0)), quat)}
    solution = solver.solve_pose(asked)
    assert set(solution.goal_errors) == set(solution.closure_errors) == {link}
    there = m.naive(solver.joint_names, solution.q)
    assert max(there.error(closure)) <= 1e-6
    assert max(solution.closure_errors[link]) <= 1e-6
    assert goal not in solution.goal_errors
