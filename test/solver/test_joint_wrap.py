"""Target and rest pose angles count modulo a turn, unless turns are tracked."""

import numpy as np
import pytest
from support.building import Mechanism


def hinge(dofs='EZ', limits=None):
    """Return a mechanism with one joint and a distant goal that does not affect it."""
    m = Mechanism('hinge')
    m.root('base')
    joint = m.joint('joint', 'base', dofs, limits=limits)
    m.goal('free', 'joint_link', 'Z')
    return m, joint


def test_target_angle_is_reached_at_nearest_turn_within_limits():
    """A turn more or less is the same place; the nearest is meant."""
    for wish, start, wanted, limits, expected in [
        ('target', 0.0, 2 * np.pi + 0.1, None, 0.1),
        ('rest_pose', 6.0, 0.2, None, 2 * np.pi + 0.2),
        ('target', 6.0, 0.2, (-6.1, 6.1), 0.2),
        ('rest_pose', 3.0, -3.0, (-3.1, 3.1), -3.0),
        # The nearest turn to 0 is 11.5 - 4 pi = -1.07, beyond the limit at -1.
        ('target', 0.0, 11.5, (-1.0, 12.0), 11.5 - 2 * np.pi),
    ]:
        m, joint = hinge(limits=limits)
        joint.set_dof_values(start)
        getattr(joint, f'set_{wish}_values')(wanted)
        solver = m.solver()
        for _ in range(60):
            solver.solve()
        assert joint.get_dof_value('EZ') == pytest.approx(expected, abs=1e-3)


def test_track_joint_wrap_moves_through_all_turns():
    """With track_joint_wrap full turns count."""
    m, joint = hinge()
    joint.track_joint_wrap = True
    joint.set_target_values(2 * np.pi + 0.1)
    m.solver().solve()
    assert joint.get_dof_value('EZ') == pytest.approx(2 * np.pi + 0.1, abs=1e-6)


def test_limited_ball_uses_nearest_equivalent_triple():
    """(pi, pi - y, pi) equals (0, y, 0), so the ball does not move."""
    m, joint = hinge('EX EY EZ', (-1.0, 1.0))
    joint.set_max_limit('EX', 4.0)
    joint.set_max_limit('EY', 4.0)
    joint.set_max_limit('EZ', 4.0)
    joint.set_target_values(np.pi, np.pi - 0.4, np.pi)
    m.solver().solve()
    np.testing.assert_allclose(joint.dof_values[3:], (0.0, 0.4, 0.0), atol=1e-6)


def test_nearest_turn_is_relative_to_q0():
    """Not to the present joint values."""
    m, joint = hinge()
    joint.set_target_values(0.1)
    solution = m.solver().solve_pose({}, (4 * np.pi,))
    # nothing is asked of it: it just goes to its target as written
    assert solution.q[0] == pytest.approx(0.1)
    pose = {'free': ((0, 0, 0), (0, 0, 0, 1))}
    m2, other = hinge()
    other.set_target_values(0.1)
    m2.goals['free'].set_goal_dof('EX')
    solution = m2.solver().solve_pose(pose, (4 * np.pi,))
    assert solution.q[0] == pytest.approx(4 * np.pi + 0.1, abs=1e-6)
