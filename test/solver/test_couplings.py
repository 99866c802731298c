"""Coupled joints: followers of one master limit it, and sums of several are exact."""

from ik_node.errors import OptionError, TopologyError
from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER
from ik_node.model.rotation import matrix_to_quat
from ik_node.robot import load_robot
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import Mechanism
from support.sums import chained, corexy, planetary, wrist


def pair(coefficients, master=(-9, 9), follower=(-9, 9)):
    """Return two perpendicular sliders, the second driven by the first."""
    m = Mechanism('pair')
    m.root('base')
    first = m.joint('a', 'base', 'X', limits=master)
    second = m.joint('b', 'a_link', 'Y', limits=follower)
    second.couple('Y', first, 'X', coefficients)
    m.goal('goal', 'b_link', 'X')
    return m


def solve_for(m, x):
    """Solve for x and return the result with the values of both sliders."""
    m.goals['goal'].set_position(x, 0, 0)
    (result,) = m.solver().solve()
    assert m.naive().coupling_gap() <= 1e-12
    return result, m.joints['a'].dof_values[0], m.joints['b'].dof_values[1]


@pytest.mark.parametrize(
    ('coefficients', 'follower', 'wanted'),
    [
        ((0, 2), (-9, 1.0), 0.5),
        ((0.2, -2), (-1.0, 9), 0.6),
        ((0, 0, 1), (-9, 0.25), 0.5),
        ((0, 1, 0, 1), (-9, 0.625), 0.5),
    ],
)
def test_limits_of_follower_limit_its_master(coefficients, follower, wanted):
    """For linear and polynomial couplings."""
    m = pair(coefficients, follower=follower)
    result, a, b = solve_for(m, 2.0)
    assert result.status is Status.STALLED
    assert a == pytest.approx(wanted, abs=1e-9)
    assert follower[0] - 1e-12 <= b <= follower[1] + 1e-12
    assert result.active_limits == ('a',)


def test_contradicting_limits_of_follower_and_master_are_refused():
    """The message names both joints."""
    m = pair((0, 1), master=(-1, 1), follower=(2, 3))
    with pytest.raises(OptionError, match=r"limits of 'b': .*that leave 'a', which it follows"):
        m.solver()


# A knee whose sliding and rolling are curves in its angle, fitted to tables; the limits are the
# tables' own, which the curves miss by up to 0.7 % of their range. As in musculoskeletal models.
KNEE = """<mujoco model="knee"><compiler angle="radian"/>
<worldbody><body name="thigh" pos="0 0 1">
 <joint name="hip" axis="0 1 0" range="-1 1"/>
 <body name="shin" pos="0 0 -0.4">
  <joint name="slide" type="slide" axis="1 0 0" range="0 0.0016"/>
  <joint name="knee" axis="0 1 0" range="0 2.0944"/>
  <joint name="roll" axis="1 0 0" range="-0.00168 0.0335"/>
  <joint name="turn" axis="0 0 1" range="0 0.2628"/>
  <body name="foot" pos="0 0 -0.4"/></body></body></worldbody>
<equality>
 <joint joint1="slide" joint2="knee" polycoef="0 0.00312879 -0.00230804 0.000561561 5.68e-07"/>
 <joint joint1="roll" joint2="knee" polycoef="0 0.0791 -0.0328478 -0.0252183 0.0108321"/>
 <joint joint1="turn" joint2="knee" polycoef="0 0.369499 -0.169478 0.0251643 3.505e-07"/>
</equality></mujoco>"""


def test_rounding_beyond_follower_limits_does_not_limit_master():
    """The knee uses its whole range, couplings stay exact, and notes report it."""
    robot = load_robot(KNEE)
    assert any("joint 'roll': its coupling takes it 0.00028 beyond" in n for n in robot.notes)
    solver = Solver(robot)
    names, random = robot.joint_names, np.random.default_rng(0)
    knee = names.index('knee')
    for angle in (0.0, *random.uniform(0.0, 2.0944, 40), 2.0944):
        q = robot.q
        q[names.index('hip')], q[knee] = random.uniform(-1.0, 1.0), angle
        for name, joint in robot.joints.items():
            for coupling in joint.couplings.values():
                q[names.index(name)] = coupling.value(angle)
        pose = robot.forward(q, 'foot')
        solution = solver.solve_pose({'foot': (pose[:3, 3], matrix_to_quat(pose))})
        assert solution.status is Status.CONVERGED
        np.testing.assert_allclose(robot.forward(solution.q, 'foot'), pose, atol=2e-6)
        assert (robot.lower <= solution.q).all()
        assert (solution.q <= robot.upper).all()
        robot.q = solution.q
        np.testing.assert_array_equal(robot.q, solution.q)
        for name, joint in robot.joints.items():
            for coupling in joint.couplings.values():
                value = coupling.value(solution.q[knee])
                assert solution.q[names.index(name)] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(('start', 'kept'), [(0.0, (-2, 0.5)), (3.0, (2.5, 4)), (1.4, (-2, 0.5))])
def test_master_stays_in_the_interval_of_its_start(start, kept):
    """A start between two allowed intervals moves to the nearest one, with a note."""
    # 2 - (x - 1.5)^2 is above 1 between 0.5 and 2.5.
    m = pair((-0.25, 3.0, -1.0), master=(-2, 4), follower=(-99, 1.0))
    m.joints['a'].set_dof_value('X', start)
    table = JointTable(m.solver().tree)
    assert table.rows[JOINT_LOWER, 0] == pytest.approx(kept[0])
    assert table.rows[JOINT_UPPER, 0] == pytest.approx(kept[1])
    (note,) = table.notes
    assert note.startswith(
        "joint 'a': joints that follow it are within their limits only in [-2, 0.5],"
    )
    assert f'it stays in [{kept[0]:g}, {kept[1]:g}], where it starts' in note


ALL = (wrist, corexy, planetary, chained)


def gap(m, q):
    """Return by how much the worst value misses its coupling."""
    return m.naive(m.solver().joint_names, q).coupling_gap()


def targets(m, count, seed=0):
    """Return configurations that keep couplings and limits, and the poses of the goal there."""
    solver, rng = m.solver(), np.random.default_rng(seed)
    found = []
    while len(found) < count:
        q = m.random_q(solver.joint_names, rng, 0.8)
        there = m.naive(solver.joint_names, q, follow=True)
        followed = np.array([there.values[j][dof] for j, dof in solver.tree.owner])
        low, high = solver.limits()
        if (followed >= low).all() and (followed <= high).all():
            found.append((followed, m.pose_of('tool', solver.joint_names, followed)))
    return found


def test_goals_are_reached_with_exact_couplings():
    """Each pose comes from a configuration within limits."""
    for mechanism in ALL:
        m = mechanism()
        solver = m.solver()
        low, high = solver.limits()
        for _, pose in targets(m, 20):
            solution = solver.solve_pose({'goal': pose})
            assert solution.status is Status.CONVERGED, solution.message
            assert gap(m, solution.q) <= 1e-14 * max(1.0, np.abs(solution.q).max())
            assert (solution.q >= low).all()
            assert (solution.q <= high).all()
            assert max(m.naive(solver.joint_names, solution.q).error(m.goals['goal'], pose)) < 1e-6


def test_limit_of_follower_binds():
    """A goal beyond the limit of a value with several masters leaves that value at its limit."""
    for mechanism in ALL:
        m = mechanism()
        solver = m.solver()
        name = next(
            n for n, joint in m.joints.items() if any(c.others for c in joint.couplings.values())
        )
        at = solver.joint_names.index(name)
        q, pose = max(targets(m, 20), key=lambda found: found[0][at])
        joint = m.joints[name]
        most = 0.5 * (q[at] + joint.dof_values[joint.dof[0]])
        joint.set_max_limit(joint.dof[0], most)
        solution = solver.solve_pose({'goal': pose})
        assert solution.q[at] <= most
        assert gap(m, solution.q) <= 1e-14


def test_motors_drive_the_wrist_and_the_wrist_its_motors():
    """Both the joints that follow and those that they follow can be driven."""
    m = wrist()
    solver = m.solver()
    names = solver.joint_names
    forward = dict(zip(names, solver.drive({'left': 0.9, 'right': 0.5}).q, strict=True))
    assert forward['pitch'] == pytest.approx((0.9 + 0.5) / 4.0, abs=1e-12)
    assert forward['roll'] == pytest.approx((0.9 - 0.5 - 0.2) / 2.0, abs=1e-12)
    assert gap(m, solver.drive({'left': 0.9, 'right': 0.5}).q) <= 2e-15
    back = solver.drive({'pitch': 0.35, 'roll': 0.1})
    assert back.status is Status.CONVERGED
    assert back.q[names.index('left')] == pytest.approx(0.9, abs=1e-14)


def test_transmission_has_the_matrix_of_the_couplings():
    """Positions, velocities and efforts, the last by virtual work."""
    for mechanism, motors, joints, ratio in [
        (wrist, 'left right', 'pitch roll', [[0.25, 0.25], [0.5, -0.5]]),
        (wrist, 'pitch roll', 'left right', [[2.0, 1.0], [2.0, -1.0]]),
        (corexy, 'motor0 motor1', 'x y', [[0.01, 0.01], [0.01, -0.01]]),
        (planetary, 'sun ring', 'carrier planet', [[1 / 3, 2 / 3], [-4 / 3, 4 / 3]]),
    ]:
        from ik_node.transmission.transmission import Transmission

        m = mechanism()
        solver = m.solver()
        between = Transmission(solver, motors.split(), joints.split())
        start = solver.q
        np.testing.assert_allclose(between.jacobian(start), ratio, atol=1e-12)
        rates, efforts = np.array((0.3, -0.2)), np.array((2.0, 5.0))
        position, moved = np.array((0.3, 0.4)), np.array((0.5, 0.3))
        here, there = between.to_joints(position, rates), between.to_joints(moved)
        np.testing.assert_allclose(here.joint_velocity, np.array(ratio) @ rates, atol=1e-12)
        np.testing.assert_allclose(
            there.joint_position - here.joint_position, ratio @ (moved - position), atol=1e-10
        )
        back = between.to_actuators(here.joint_position, effort=efforts)
        np.testing.assert_allclose(back.actuator_effort, np.array(ratio).T @ efforts, atol=1e-12)
        np.testing.assert_allclose(back.actuator_position, position, atol=1e-10)


def test_velocities_keep_couplings():
    """Rates of followers are those of finite differences."""
    for mechanism in ALL:
        m = mechanism()
        solver = m.solver()
        q, _ = targets(m, 1)[0]
        twist = (np.array((0.01, 0.02, 0.0)), np.array((0.0, 0.0, 0.0)))
        rates = solver.velocity({'goal': twist}, q).velocity
        ahead, behind = q + 1e-6 * rates, q - 1e-6 * rates
        assert np.abs(rates).max() > 1e-3
        assert max(gap(m, ahead), gap(m, behind)) < 1e-10


def test_circle_through_a_sum_is_refused():
    """The error names the joints."""
    m = wrist()
    with pytest.raises(TopologyError, match=r"'pitch' follows 'left' follows 'pitch'"):
        m.joints['pitch'].couple_sum(
            'EY', [(m.joints['left'], 'EY', 0.5), (m.joints['right'], 'EY', 0.5)]
        )


def test_followers_of_several_masters_move_with_the_one_that_may_move():
    solver = wrist().solver()
    start = solver.solve_pose({}).q
    place = (0.35, 0.05, 0.1), (0, 0, 0, 1)
    answer = solver.solve_pose({'goal': place}, start, joints=['pitch'])
    moved = {name for name, d in zip(solver.joint_names, answer.q - start, strict=True) if d}
    assert moved == {'pitch', 'left', 'right'}
