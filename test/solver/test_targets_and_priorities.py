"""Weights and priorities of goals; targets and rest poses, also modulo a turn."""

from itertools import pairwise

from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.optimize import minimize
from support.building import Mechanism
from support.kernel_calls import Rows
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


def nearest(mechanism, wanted, start):
    """Return the squared distance of the nearest q to `wanted` that meets all rows (SLSQP)."""
    rows = Rows(mechanism)
    bounds = [(j.min_dof_limit[d], j.max_dof_limit[d]) for j, d in rows.tree.owner]
    found = minimize(
        lambda q: np.sum((q - wanted) ** 2),
        start,
        bounds=bounds,
        constraints={'type': 'eq', 'fun': lambda q: np.concatenate([*rows.at(q)[0].values()])},
        method='SLSQP',
        options={'maxiter': 200, 'ftol': 1e-14},
    )
    return found.fun


def set_goal(mechanism, name, pose):
    """Write a pose to a goal."""
    mechanism.goals[name].set_position(*pose[0])
    mechanism.goals[name].set_quaternion(*pose[1])


@pytest.mark.parametrize(
    ('name', 'wish'), [('planar', 'rest'), ('arm7', 'target'), ('two_arm_box', 'rest')]
)
def test_targets_and_rest_pose_are_approached_in_null_space(name, wish):
    """The goal stays met, and the distance is minimal."""
    m = MECHANISMS[name]()
    solver = m.solver()
    q = solver.q
    if name == 'two_arm_box':
        m.goals['box_goal'].set_goal_dof('X', 'Y', 'Z')
        solver.update_structure()
    (goal,) = m.goals
    set_goal(m, goal, m.pose_of(m.goals[goal].child.name))
    wanted = q + np.linspace(-0.4, 0.4, q.size)
    for joint_name, value in zip(solver.joint_names, wanted, strict=True):
        joint = m.joints[joint_name]
        (joint.set_rest_pose_values if wish == 'rest' else joint.set_target_values)(value)
    distance = [np.sum((q - wanted) ** 2)]
    for _ in range(10):
        assert all(result.status is Status.CONVERGED for result in solver.solve())
        distance.append(np.sum((solver.q - wanted) ** 2))
    assert all(late <= early + 1e-9 for early, late in pairwise(distance))
    there = m.naive()
    assert all(max(there.error(closer)) <= 1e-6 for closer in there.closers.values())
    least = nearest(m, wanted, solver.q)
    assert np.sqrt(distance[-1]) <= 1.01 * np.sqrt(least) + 1e-4
    assert distance[-1] < 0.99 * distance[0]


def test_rest_pose_applies_after_unreachable_goal():
    """The goal is missed by the least first."""
    m = MECHANISMS['arm7']()
    m.goals['hand_goal'].set_goal_dof('X', 'Y', 'Z')
    set_goal(m, 'hand_goal', ((2.0, 0, 0.36), UNIT))
    for joint in m.joints.values():
        if joint.dof:
            joint.set_rest_pose_values(0.3)
    solver = m.solver()
    missed, turned = 2.0 - (0.42 + 0.40 + 0.126), 0.1
    for _ in range(4):
        (result,) = solver.solve()
        assert result.status is Status.STALLED
        assert result.goal_errors['hand_goal'].position == pytest.approx(missed, abs=1e-6)
        # turns about the stretched arm's own line are free
        now = m.joints['j3'].dof_values[5] + m.joints['j5'].dof_values[5]
        assert turned < now < 0.6
        turned = now


def conflict(**settings):
    """Set contradicting goals for two points of one arm."""
    m = MECHANISMS['planar']()
    m.goals['end_goal'].set_position(2.0, 1.5, 0)
    elbow = m.goal('elbow', 'p3_link', 'X Y')
    elbow.set_position(-0.5, 1.0, 0)
    for name, value in settings.items():
        goal, _, field = name.partition('__')
        setattr(m.goals[goal], field, value)
    (result,) = m.solver().solve()
    assert result.status is Status.STALLED
    return m, result.goal_errors


@pytest.mark.parametrize('first', ['end_goal', 'elbow'])
def test_lower_priority_number_is_met_first(first):
    """The other goal is approached in the null space."""
    second = 'elbow' if first == 'end_goal' else 'end_goal'
    _, errors = conflict(**{f'{second}__priority': 3})
    assert errors[first].position <= 1e-6
    assert errors[second].position > 0.1


def test_second_priority_reaches_constrained_minimum():
    """SLSQP finds no better answer."""
    m, errors = conflict(elbow__priority=1)
    rows = Rows(m)
    q = m.solver().q
    other = minimize(
        lambda q: np.sum(rows.at(q)[0]['elbow'] ** 2),
        q,
        constraints={'type': 'eq', 'fun': lambda q: rows.at(q)[0]['end_goal']},
        method='SLSQP',
    )
    assert np.sqrt(other.fun) >= 0.99 * errors['elbow'].position


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
