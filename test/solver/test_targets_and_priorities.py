"""Weights and priorities of goals; joint targets and rest pose in the null space."""

from itertools import pairwise

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.optimize import minimize
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


def test_target_takes_precedence_over_rest_pose():
    """In a redundant arm."""
    m = MECHANISMS['planar']()
    set_goal(m, 'end_goal', ((1.5, 1.0, 0), UNIT))
    m.joints['p1'].set_rest_pose_values(-1.0)
    m.joints['p3'].set_target_values(0.5)
    solver = m.solver()
    for _ in range(5):
        assert solver.solve()[0].status is Status.CONVERGED
    assert m.joints['p3'].dof_values[5] == pytest.approx(0.5, abs=1e-2)


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


def test_rest_pose_factor_zero_switches_off_drift():
    """With factor 0 the rest pose draws nothing."""
    m = MECHANISMS['arm7']()
    set_goal(m, 'hand_goal', m.pose_of('hand'))
    for joint in m.joints.values():
        if joint.dof:
            joint.set_rest_pose_values(0.3)
    solver = m.solver(SolverOptions(rest_pose_factor=0.0))
    q = solver.q
    solver.solve()
    np.testing.assert_array_equal(solver.q, q)


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


def test_three_priority_levels_are_met_in_order():
    """After a loop."""
    m = MECHANISMS['two_arm_box']()
    solver = m.solver()
    closed = solver.solve_pose({}, solver.q + np.linspace(-0.2, 0.2, 12)).q
    pose = m.pose_of('box', solver.joint_names, closed)
    m.goals['box_goal'].set_goal_dof('X', 'Y', 'Z')
    set_goal(m, 'box_goal', pose)
    m.goal('tilt', 'box', 'EX EY EZ').priority = 1
    set_goal(m, 'tilt', pose)
    m.goal('far', 'l3_link', 'X').priority = 2
    m.goals['far'].set_position(5, 0, 0)
    (result,) = m.solver().solve()
    assert result.closure_errors['grasp'].position <= 1e-6
    assert result.goal_errors['box_goal'].position <= 1e-6
    assert result.goal_errors['tilt'].orientation <= 1e-6
    assert result.goal_errors['far'].position > 1.0


def test_goal_of_weight_zero_is_ignored():
    """It has no error in the result."""
    m = MECHANISMS['planar']()
    m.goal('elbow', 'p3_link', 'X Y').weight = 0.0
    set_goal(m, 'end_goal', ((1.0, 1.0, 0), UNIT))
    (result,) = m.solver().solve()
    assert result.status is Status.CONVERGED
    assert set(result.goal_errors) == {'end_goal'}
