"""Coupled joints share a variable, and limits of followers limit their masters."""

from ik_node.errors import OptionError
from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER
from ik_node.model.rotation import matrix_to_quat
from ik_node.robot import load_robot
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import Mechanism
from support.mechanisms import MECHANISMS


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


def test_locked_follower_locks_its_master():
    """A locked joint does not move, so its master cannot move either."""
    m = pair((0, 1))
    m.joints['b'].lock()
    result, a, b = solve_for(m, 1.0)
    assert result.status is Status.STALLED
    assert (a, b) == (0.0, 0.0)


def test_joint_table_lists_followers_with_master_and_polynomial():
    """Followers are listed with place, master and polynomial."""
    m = MECHANISMS['coupled']()
    solver = m.solver()
    table = JointTable(solver.tree)
    names = solver.joint_names
    assert {names[f]: names[master] for f, master, _ in table.followers} == {
        'k2': 'k1',
        'k3': 'k1',
        'cam': 'k1',
    }
    q = np.array((0.0, 0.5, 9, 9, 9))
    table.follow(q)
    assert q == pytest.approx((0.0, 0.5, 0.5, 0.3, 0.145))


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
