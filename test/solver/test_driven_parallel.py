"""Driven joints of mechanisms with several motors, or with crossing branches."""

from math import atan2, cos, hypot, pi, remainder, sin, sqrt

from ik_node.errors import OptionError, ShapeError, UnknownFrameError
from ik_node.native import is_compiled
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import Mechanism
from support.mechanisms import MECHANISMS

COUNT = 50 if is_compiled() else 3


def driven(m, solver, values, q0):
    """Drive, verify loops and driven values by the oracle, and return the values."""
    solution = solver.drive(values, q0)
    assert solution.status is Status.CONVERGED, solution.message
    there = m.naive(solver.joint_names, solution.q)
    assert all(max(there.error(closure)) <= 1e-6 for closure in m.closures.values())
    assert there.limit_excess() <= 0.0
    found = dict(zip(solver.joint_names, solution.q.tolist(), strict=True))
    for name, value in values.items():
        assert found[name] == pytest.approx(value, abs=1e-9)
    return found


def in_order(solver, values):
    """Return the values by name in the order of q."""
    return [values[name] for name in solver.joint_names]


# -- a parallelogram: flat, it could go on as an anti-parallelogram


def crossed(angle):
    """Return the follower's angle of the anti-parallelogram with bars of 0.5 and 1."""
    end = (0.5 * cos(angle), 0.5 * sin(angle))
    # The diagonal from the crank's end to the far hinge is a mirror line.
    dx, dy = 1.0 - end[0], -end[1]
    straight = (1.0 + 0.5 * cos(angle) - end[0], 0.5 * sin(angle) - end[1])
    far = hypot(dx, dy)
    ux, uy = dx / far, dy / far
    along, aside = straight[0] * ux + straight[1] * uy, -straight[0] * uy + straight[1] * ux
    mirrored = (end[0] + along * ux + aside * uy, end[1] + along * uy - aside * ux)
    return atan2(mirrored[1], mirrored[0] - 1.0)


def test_antiparallelogram_keeps_its_branch():
    """Up to its flat poses."""
    for end in [0.3, 2.8]:
        m = MECHANISMS['parallelogram']()
        solver = m.solver()
        start = {'a': 1.0, 'b': 0.0, 'c': crossed(1.0)}
        tip = (1.0 + 0.5 * cos(start['c']), 0.5 * sin(start['c']))
        start['b'] = atan2(tip[1] - 0.5 * sin(1.0), tip[0] - 0.5 * cos(1.0)) - 1.0
        found = driven(m, solver, {'a': end}, in_order(solver, start))
        assert abs(remainder(found['c'] - crossed(end), 2 * pi)) <= 1e-6
        assert abs(remainder(found['c'] - end, 2 * pi)) > 0.1


# -- a five-bar with two cranks


def tool_of(left, right, side):
    """Return the intersection of the distal bars, above (1) or below (-1) the elbows."""
    a = (0.4 * cos(left), 0.4 * sin(left))
    b = (0.4 + 0.4 * cos(right), 0.4 * sin(right))
    dx, dy = b[0] - a[0], b[1] - a[1]
    up = side * sqrt(0.25 / (dx * dx + dy * dy) - 0.25)
    return np.array((0.5 * (a[0] + b[0]) - up * dy, 0.5 * (a[1] + b[1]) + up * dx)), a, b


def elbows_apart(left, right):
    """Return the distance between the elbows of the five-bar."""
    return hypot(0.4 + 0.4 * (cos(right) - cos(left)), 0.4 * (sin(right) - sin(left)))


def test_driven_five_bar_closes_loops_and_keeps_branch():
    """It arrives in its branch if the straight path avoids singular poses."""
    m = MECHANISMS['fivebar']()
    for name in ('l1', 'l2', 'r1', 'r2'):
        m.joints[name].set_limits('EZ', -np.inf, np.inf)
    solver, rng = m.solver(), np.random.default_rng(1)
    clear = 0
    for _ in range(4 * COUNT):
        start, end = rng.uniform(-3, 3, (2, 2))
        side = int(rng.choice([1, -1]))
        apart = [elbows_apart(*(start + t * (end - start))) for t in np.linspace(0, 1, 200)]
        if not 0.02 < apart[0] < 0.98:
            continue
        left, right = start.tolist()
        tool, a, b = tool_of(left, right, side)
        q0 = {'l1': left, 'r1': right}
        q0['l2'] = atan2(tool[1] - a[1], tool[0] - a[0]) - left
        q0['r2'] = atan2(tool[1] - b[1], tool[0] - b[0]) - right
        wanted = dict(zip(('l1', 'r1'), end.tolist(), strict=True))
        solution = solver.drive(wanted, in_order(solver, q0))
        there = m.naive(solver.joint_names, solution.q)
        assert max(there.error(m.closures['close'])) <= 1e-6
        if min(apart) > 0.02 and max(apart) < 0.98:
            clear += 1
            assert solution.status is Status.CONVERGED, solution.message
            at = there.world(m.links['l_end'])[:2, 3]
            np.testing.assert_allclose(at, tool_of(*end, side)[0], atol=1e-6)
    assert clear >= COUNT // 2


# -- a slider-crank


# -- a delta robot

BASE, PLATFORM, UPPER, FORE = 0.2, 0.05, 0.3, 0.6


def delta():
    """Build three motors with an arm each, and rods with two balls to a platform."""
    m = Mechanism('delta')
    m.root('base')
    m.joint('float', 'base', 'X Y Z', (0, 0, -0.5), link='platform')
    for k in range(3):
        turn = 2 * pi / 3 * k
        foot = (BASE * cos(turn), BASE * sin(turn), 0)
        m.joint(f'motor{k}', 'base', 'EY', foot, (0, 0, turn), (-0.6, 1.4))
        m.joint(f'rod{k}', f'motor{k}_link', 'EX EY', (UPPER, 0, 0))
        m.tip(f'rod{k}_end', f'rod{k}_link', (0, 0, -FORE))
        ball = (PLATFORM * cos(turn), PLATFORM * sin(turn), 0)
        m.closure(f'ball{k}', 'platform', f'rod{k}_end', 'point', xyz=ball)
    return m


def platform_of(motors):
    """Return the platform's position: the lower intersection of three spheres (trilateration)."""
    centres = []
    for k, angle in enumerate(motors):
        out = BASE - PLATFORM + UPPER * cos(angle)
        turn = 2 * pi / 3 * k
        centres.append((out * cos(turn), out * sin(turn), -UPPER * sin(angle)))
    a, b, c = np.array(centres)
    # Same radius: the point is on the line through the circumcentre, square to the triangle.
    normal = np.cross(b - a, c - a)
    square = normal @ normal
    centre = a + (
        np.cross(normal, b - a) * ((c - a) @ (c - a))
        + np.cross(c - a, normal) * ((b - a) @ (b - a))
    ) / (2 * square)
    height = sqrt(FORE**2 - (centre - a) @ (centre - a))
    unit = normal / sqrt(square)
    return min(centre + height * unit, centre - height * unit, key=lambda point: point[2])


def test_delta_platform_follows_driven_motors():
    """The forward kinematics of a parallel robot."""
    m = delta()
    solver, rng = m.solver(), np.random.default_rng(10)
    motors = [f'motor{k}' for k in range(3)]
    q = solver.solve_pose({'platform': ((0, 0, -0.5), (0, 0, 0, 1))}).q
    for _ in range(COUNT):
        angles = rng.uniform(-0.5, 1.2, 3).tolist()
        found = driven(m, solver, dict(zip(motors, angles, strict=True)), q)
        q = in_order(solver, found)
        at = m.naive(solver.joint_names, q).world(m.links['platform'])[:3, 3]
        np.testing.assert_allclose(at, platform_of(angles), atol=1e-6)


# -- what else there is to say


def test_drive_changes_no_targets_locks_or_other_chains():
    """Values, targets and locks of the objects stay; joints in other chains stay in q."""
    m = MECHANISMS['fivebar']()
    m.joint('lamp', 'ground', 'EX')
    m.joints['lamp'].set_dof_values(0.3)
    m.joints['lamp'].set_target_values(0.9)
    m.joints['l1'].lock()
    solver = m.solver()
    before = solver.q
    index = solver.joint_names.index
    solution = solver.drive({'l1': before[index('l1')] + 0.1, 'r1': before[index('r1')]})
    assert solution.status is Status.CONVERGED, solution.message
    assert solution.q[index('lamp')] == 0.3
    np.testing.assert_array_equal(solver.q, before)
    assert m.joints['l1'].locked[5]
    assert m.joints['lamp'].target_set
    assert not m.joints['l1'].target_set


def test_followers_of_driven_joint_keep_their_coupling():
    """The first joint of a finger is driven."""
    m = MECHANISMS['coupled']()
    solver = m.solver()
    solution = solver.drive({'k1': 0.5})
    assert solution.status is Status.CONVERGED
    there = m.naive(solver.joint_names, solution.q)
    assert there.coupling_gap() <= 1e-12
    assert there.values[m.joints['k2']][4] == pytest.approx(0.1 + 0.8 * 0.5)


def test_unknown_follower_and_nan_cannot_be_driven():
    """Unknown joints, joints that follow others, and values that are not numbers."""
    for values, error, message in [
        ({'nobody': 0.1}, UnknownFrameError, "no joint named 'nobody'"),
        ({'k2': 0.1}, OptionError, 'the joint it follows: k1'),
        ({'k1': np.nan}, ShapeError, "value of driven joint 'k1'"),
    ]:
        with pytest.raises(error, match=message):
            MECHANISMS['coupled']().solver().drive(values)


def test_one_value_of_several_is_driven_by_its_name():
    """NAME.DOF drives one value; NAME alone is refused."""
    m = MECHANISMS['mixed']()
    solver = m.solver()
    assert driven(m, solver, {'screw.EZ': 0.4}, solver.q)['screw.X'] == 0.0
    with pytest.raises(OptionError, match=r'one value of it: screw.X screw.EZ'):
        solver.drive({'screw': 0.4})
