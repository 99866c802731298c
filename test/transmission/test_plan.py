"""Plans in the joint space as plans of actuators: limits, loops and times."""

from itertools import pairwise

from ik_node.errors import PlanError, ShapeError
from ik_node.robot import load_robot
from ik_node.solver import Solver
from ik_node.transmission.plan import actuator_plan
from ik_node.transmission.transmission import Transmission
import numpy as np
import pytest
from support.transmissions import gallery_robot

CASES = {
    'ankle': (['ankle_pitch', 'ankle_roll'], [0.4, 0.2]),
    'delta': (['platform_x', 'platform_y', 'platform_z'], [0.03, 0.02, 0.03]),
}


def quintic(begin, end, duration, count):
    """Return times, positions, velocities and accelerations from rest to rest."""
    times = np.linspace(0.0, duration, count)
    s = (times / duration)[:, None]
    way = np.array(end) - begin
    position = begin + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
    velocity = way * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
    acceleration = way * (60 * s - 180 * s**2 + 120 * s**3) / duration**2
    return times, position, velocity, acceleration


class Case:
    """A robot with its transmission, and a quintic for it."""

    def __init__(self, name, count=200, duration=1.0):
        joints, end = CASES[name]
        self.robot = gallery_robot(name)
        self.transmission = Transmission(Solver(self.robot), self.robot.actuated, joints)
        self.at = [self.robot.joint_names.index(joint) for joint in joints]
        self.quintic = quintic(self.robot.q[self.at], end, duration, count)

    def plan(self, *parts, **options):
        """Return the plan of the actuators."""
        return actuator_plan(self.transmission, *parts, **{'q0': self.robot.q, **options})

    def widest_opening(self, plan):
        """Return by how much loops are open between points, with straight interpolation."""
        return max(
            self.transmission.loop_error(before + share * (after - before))
            for before, after in pairwise(plan.q)
            for share in np.linspace(0.0, 1.0, 11)
        )


@pytest.mark.parametrize('name', CASES)
@pytest.mark.parametrize('count', [2, 200])
def test_loops_stay_closed_between_points(name, count):
    """Points are added where they are needed, and nowhere else; given times are kept."""
    case = Case(name, count)
    plan = case.plan(*case.quintic, tolerance=1e-5)
    assert case.widest_opening(plan) <= 1.1e-5
    assert plan.times[plan.given].tolist() == case.quintic[0].tolist()
    assert plan.q[plan.given][:, case.at] == pytest.approx(case.quintic[1], abs=1e-9)
    assert (len(plan.times) > count) == (count < 50)


@pytest.mark.parametrize('name', CASES)
@pytest.mark.parametrize('parts', [2, 4])
def test_velocities_and_accelerations_are_those_of_the_positions(name, parts):
    """Also if the plan has none; it begins and ends at rest."""
    case = Case(name)
    plan = case.plan(*case.quintic[:parts])
    step = plan.times[1]
    slope = (plan.position[2:] - plan.position[:-2]) / (2 * step)
    assert plan.velocity[1:-1] == pytest.approx(slope, abs=0.003)
    bend = (plan.velocity[2:] - plan.velocity[:-2]) / (2 * step)
    assert plan.acceleration[2:-2] == pytest.approx(bend[1:-1], abs=0.1)
    assert plan.velocity[[0, -1]] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize('name', CASES)
def test_accelerations_are_those_of_the_loops_also_at_the_ends(name):
    """Those of the given points are known exactly, by the motion of the loops."""
    case = Case(name)
    times, position, velocity, acceleration = case.quintic
    for part in (slice(None), slice(60, 140)):
        begin = times[part][0]
        q0 = case.transmission.to_actuators(position[part][0], q0=case.robot.q).q
        moved = times[part] - begin, position[part], velocity[part], acceleration[part]
        plan = case.plan(*moved, q0=q0)
        for at in (0, 1, 40, -1):
            wanted = case.transmission.to_actuators(
                moved[1][at], moved[2][at], acceleration=moved[3][at], q0=plan.q[at]
            )
            found = plan.acceleration[plan.given][at]
            assert found == pytest.approx(wanted.actuator_acceleration, abs=2e-4)


WHEEL = """
<robot name="wheel"><link name="base"/><link name="rim"/><link name="arm"/>
<joint name="wheel" type="continuous"><parent link="base"/><child link="rim"/><axis xyz="0 0 1"/>
<limit effort="1" velocity="50"/></joint>
<joint name="elbow" type="revolute"><parent link="rim"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9" effort="1" velocity="50"/></joint></robot>"""
TURN = 2.0 * np.pi


def test_plan_of_an_unlimited_angle_is_shifted_by_whole_turns():
    """As with angle_wraparound; an angle with limits and the turns within the plan stay."""
    for start, way, wanted in [
        (3 * TURN + 0.3, (0.3, 0.6), (3 * TURN + 0.3, 3 * TURN + 0.6)),
        (-4 * TURN - 1.0, (-1.0, -1.4), (-4 * TURN - 1.0, -4 * TURN - 1.4)),
        (3.1, (3.1 - TURN, -3.0), (3.1, TURN - 3.0)),
        (0.2, (0.2 + 5 * TURN, 0.2 + 7 * TURN), (0.2, 0.2 + 2 * TURN)),
        (1.0, (1.0, 1.5), (1.0, 1.5)),
    ]:
        robot = load_robot(WHEEL)
        transmission = Transmission(Solver(robot), ['wheel', 'elbow'], ['wheel', 'elbow'])
        position = np.array([[way[0], 0.0], [way[1], 0.5]])
        plan = actuator_plan(transmission, [0.5, 9.0], position, q0=[start, 0.0])
        assert plan.position[plan.given][:, 0] == pytest.approx(wanted, abs=1e-9)
        assert np.ptp(plan.position[:, 0]) == pytest.approx(abs(way[1] - way[0]), abs=1e-9)
        assert plan.position[-1, 1] == pytest.approx(0.5)


def test_plan_that_is_too_fast_between_its_points_is_refused():
    """Also if it rests at all of them."""
    transmission = load_robot(WHEEL).transmission(['wheel', 'elbow'])
    rest = np.zeros((2, 2))
    with pytest.raises(PlanError, match='at 0 s the mean velocity of elbow is 100, and its limit'):
        actuator_plan(transmission, [0.0, 0.01], [[0.0, 0.0], [0.0, 1.0]], rest, q0={})


def test_plan_begins_at_the_present_configuration():
    """The way to a first point after time 0 is divided as well, without a point at time 0."""
    case = Case('ankle')
    plan = case.plan([1.0], [[0.4, 0.2]], tolerance=1e-5)
    assert plan.times[0] > 0.0
    assert len(plan.times) > 3
    assert plan.given.tolist() == [False] * (len(plan.times) - 1) + [True]
    assert plan.q[-1][case.at] == pytest.approx([0.4, 0.2])


def test_efforts_do_the_same_work():
    """They are interpolated at points that were added."""
    case = Case('ankle', 3)
    effort = [[0.0, 0.0], [2.0, 0.5], [4.0, 1.0]]
    plan = case.plan(*case.quintic, effort=effort)
    wanted = np.interp(plan.times, case.quintic[0], [0.0, 2.0, 4.0])
    for at, time in enumerate(plan.times):
        rates = case.transmission.jacobian(plan.q[at])
        joint = [wanted[at], wanted[at] / 4.0]
        assert plan.effort[at] == pytest.approx(rates.T @ joint, abs=1e-9), time


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'duration': 0.02}, 'the velocity of motor_left is'),
        ({'end': [0.4, 0.45]}, 'ankle_roll cannot be at'),
        ({'shift': 0.2}, 'the first point is at time 0, but ankle_pitch is 0.2 from it'),
    ],
)
def test_plan_beyond_limits_is_refused(change, words):
    """The reason names time, joint and limit."""
    case = Case('ankle')
    begin = case.robot.q[case.at] + change.get('shift', 0.0)
    parts = quintic(begin, change.get('end', [0.4, 0.2]), change.get('duration', 1.0), 50)
    with pytest.raises(PlanError, match=words):
        case.plan(*parts)


def test_plan_beyond_effort_limits_is_refused():
    """The share of the limits is an option."""
    case = Case('ankle', 5)
    for name in case.robot.actuated:
        case.robot.joints[name].max_effort.fill(45.0)
    effort = [[20.0, 0.0]] * 5
    case.plan(*case.quintic, effort=effort)
    with pytest.raises(PlanError, match='the effort of motor_left is'):
        case.plan(*case.quintic, effort=effort, effort_scale=0.1)


@pytest.mark.parametrize(
    ('times', 'position'),
    [([], np.zeros((0, 2))), ([1.0], [[0.0]]), ([1.0], [[np.nan, 0.0]]), ([np.inf], [[0.0, 0.0]])],
)
def test_wrong_shapes_are_refused(times, position):
    """And numbers that are not finite."""
    with pytest.raises(ShapeError):
        Case('ankle').plan(times, position)


def test_times_that_go_back_are_refused():
    with pytest.raises(PlanError, match='increase'):
        Case('ankle').plan([1.0, 0.5], np.zeros((2, 2)))
