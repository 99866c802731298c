"""Goals beyond a pose: look-at, plane, line, distance, relative pose, centre of mass."""

from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

STARTS = 20


def random_starts(mechanism, solver, seed=0):
    """Return random joint values between the limits."""
    rng = np.random.default_rng(seed)
    return [mechanism.random_q(solver.joint_names, rng, 3.0) for _ in range(STARTS)]


def two_arms():
    """Return two arms without goals, and the names of their hands."""
    m = MECHANISMS['two_arms']()
    left, right = (g.child.name for g in m.goals.values())
    for goal in m.goals.values():
        goal.enabled = False
    return m, left, right


def solved(mechanism, solver, goal, q0):
    """Solve for a goal at its pose and return the oracle at the answer."""
    (result,) = [r for r in start_at(solver, q0).solve() if goal.name in r.goal_errors]
    assert result.status is Status.CONVERGED, result.message
    there = mechanism.naive()
    assert max(there.error(goal)) <= 1e-6
    assert there.limit_excess() <= 0.0
    for closure in mechanism.closures.values():
        assert max(there.error(closure)) <= 1e-6
    return there


def start_at(solver, q0):
    """Set the joints to values, and return a solver."""
    solver.q = q0
    return solver


@pytest.mark.parametrize('name', ['arm7', 'two_arm_box', 'hexapod'])
def test_look_at_axis_points_at_target_from_any_start(name):
    """Including half a turn away."""
    m = MECHANISMS[name]().go_home()
    (old,) = m.goals.values()
    old.enabled = False
    goal = m.goal('look', old.child.name)
    goal.kind = 'look_at'
    point, _ = m.pose_of(old.child.name)
    sight = m.naive().world(old.child)[:3, 2]
    aside = 0.3 if m.closures else 2.0
    goal.set_position(*(point + 3.0 * sight + aside * np.array((0.3, 0.5, 0.1))))
    solver = m.solver()
    starts = [solver.q] if m.closures else random_starts(m, solver)
    for q0 in starts:
        there = solved(m, solver, goal, q0)
        link = there.world(goal.child)
        towards = goal.position - link[:3, 3]
        assert link[:3, 2] @ towards == pytest.approx(np.linalg.norm(towards))


@pytest.mark.parametrize(('dof', 'free'), [('Z', [0, 1]), ('X Y', [2])])
def test_point_reaches_plane_or_line(dof, free):
    """In the goal's axes, Z is its xy plane and X Y its z axis."""
    m = MECHANISMS['arm6']()
    (goal,) = m.goals.values()
    goal.set_goal_dof(*dof.split())
    goal.axes = 'goal'
    goal.set_position(0.3, 0.1, 0.5)
    goal.set_euler(0.4, 0.3, 0.2)
    solver = m.solver()
    slid = []
    for q0 in random_starts(m, solver):
        there = solved(m, solver, goal, q0)
        local = np.linalg.inv(there.world(goal)) @ there.world(goal.child)[:, 3]
        slid.append(local[free])
    assert np.ptp(slid, axis=0).min() > 0.05


def test_distance_goal_is_met_in_any_direction():
    """Between a point of a link and another link."""
    m, left, right = two_arms()
    goal = m.goal('apart', left, parent=right)
    goal.kind, goal.distance = 'distance', 0.35
    solver = m.solver()
    for q0 in random_starts(m, solver):
        there = solved(m, solver, goal, q0)
        gap = there.world(m.links[left])[:3, 3] - there.world(m.links[right])[:3, 3]
        assert np.linalg.norm(gap) == pytest.approx(0.35, abs=1e-6)


@pytest.mark.parametrize('name', ['walker', 'hexapod'])
def test_centre_of_mass_goal_is_met_with_loops_closed(name):
    """Masses of the whole tree count."""
    m, rng = MECHANISMS[name]().go_home(), np.random.default_rng(3)
    for link in m.links.values():
        link.mass = rng.uniform(0.5, 2.0)
        link.centre_of_mass = rng.normal(size=3) * 0.02
    for old in m.goals.values():
        old.enabled = False
    root = next(iter(m.links))
    goal = m.goal('balance', root, 'X Y')
    goal.kind = 'centre_of_mass'
    now = m.naive().centre_of_mass(m.links[root])
    goal.set_position(*np.add(now, (0.01, -0.015, 5.0)))
    solver = m.solver()
    there = solved(m, solver, goal, solver.q)
    centre = there.centre_of_mass(m.links[root])
    np.testing.assert_allclose(centre[:2], goal.position[:2], atol=1e-6)
    np.testing.assert_allclose(goal.get_residual(), 0.0, atol=1e-6)


def test_cylinder_keeps_a_point_at_its_distance_from_an_axis():
    """From any start, about the root's or another link's tilted axis, beside a goal along it."""
    m = MECHANISMS['arm7']().go_home()
    (old,) = m.goals.values()
    old.enabled = False
    goal = m.goal('pipe', old.child.name)
    goal.kind, goal.distance = 'cylinder', 0.25
    goal.set_position(0.3, 0.1, 0.2)
    goal.set_euler(0.5, 0.3, 0.0)
    solver = m.solver()
    for q0 in random_starts(m, solver):
        there = solved(m, solver, goal, q0)
        across = (np.linalg.inv(goal.matrix) @ there.world(goal.child))[:2, 3]
        assert abs(np.hypot(*across) - 0.25) <= 1e-6
