"""Plans that are converted while other plans arrive, or while the robot moves."""

from types import SimpleNamespace

from ik_node.ros.messages import RefusedInputError
from ik_node.ros.plans import PlanConversion
import numpy as np
import pytest
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

MOTORS = ['motor_left', 'motor_right']
JOINTS = ['ankle_pitch', 'ankle_roll']


class Slow:
    """Background work that ends when the test says so."""

    def __init__(self):
        self.waiting = []

    async def run(self, work):
        released = Future()
        self.waiting.append(released)
        await released
        return work()


class Conversion:
    """The conversion of one plan."""

    def __init__(self, conversion, message):
        self.plan = self.refused = None
        self._steps = conversion.convert('plans', message)
        self.step()

    def step(self):
        try:
            self._steps.send(None)
        except StopIteration as end:
            self.plan = end.value
        except RefusedInputError as error:
            self.refused = str(error)


@pytest.fixture
def ankle(moving):
    """Provide an ankle with measured motors, and the conversion of its plans."""
    robot = moving(
        'ankle', actuated_joints=MOTORS, transmission__joints=JOINTS, output__type='commands'
    )
    robot.measure(motor_left=0.0, motor_right=0.0)
    robot.work = Slow()
    time = SimpleNamespace(now=lambda: robot.now, of=robot.of)
    robot.conversion = PlanConversion(robot.motion, lambda: robot.settings, time, robot.work)
    return robot


def plan(first=0.0, joints=JOINTS):
    message = JointTrajectory(joint_names=joints)
    message.points.append(JointTrajectoryPoint(positions=[0.0, 0.0]))
    message.points.append(JointTrajectoryPoint(positions=[0.2, 0.1]))
    message.points[0].time_from_start.nanosec = round(1e9 * first)
    message.points[1].time_from_start.sec = 2
    return message


@pytest.mark.parametrize('order', [(0, 1), (1, 0)])
def test_newest_plan_wins_whatever_its_conversion_takes(ankle, order):
    conversions = [Conversion(ankle.conversion, plan()) for _ in range(2)]
    for at in order:
        ankle.work.waiting[at].set_result(None)
        conversions[at].step()
    assert 'a newer plan has arrived' in conversions[0].refused
    assert conversions[1].plan is not None


def test_plan_that_the_node_cannot_read_replaces_none(ankle):
    first = Conversion(ankle.conversion, plan())
    assert Conversion(ankle.conversion, plan(joints=JOINTS[:1])).refused
    ankle.work.waiting[0].set_result(None)
    first.step()
    assert first.plan is not None


@pytest.mark.parametrize('first', [0.0, 0.5])
@pytest.mark.parametrize(('moved', 'refused'), [(0.004, False), (0.05, True)])
def test_start_is_compared_with_the_robot_before_a_plan_is_sent(ankle, first, moved, refused):
    conversion = Conversion(ankle.conversion, plan(first))
    ankle.measure(motor_left=moved, motor_right=0.0)
    ankle.work.waiting[0].set_result(None)
    conversion.step()
    assert (conversion.refused is not None) == refused
    if refused:
        assert 'has moved by' in conversion.refused
        assert 'while the plan was converted' in conversion.refused


def test_plan_that_ends_during_its_conversion_is_refused(ankle):
    """As the controller would refuse it."""
    message = plan()
    message.header.stamp.sec = int(ankle.now) - 1
    conversion = Conversion(ankle.conversion, message)
    ankle.now += 1.5
    ankle.work.waiting[0].set_result(None)
    conversion.step()
    assert 'the plan ended 0.5 s ago' in conversion.refused


def test_velocities_in_some_points_are_taken(ankle):
    message = plan()
    message.points[-1].velocities = [0.0, 0.0]
    message.points[0].accelerations = [0.0, 0.0]
    conversion = Conversion(ankle.conversion, message)
    ankle.work.waiting[0].set_result(None)
    conversion.step()
    assert list(conversion.plan.trajectory.points[-1].velocities) == [0.0, 0.0]


@pytest.mark.parametrize(
    ('field', 'values', 'words'),
    [
        ('velocities', [0.0], '1 numbers'),
        ('velocities', [float('nan'), 0.0], 'not a finite number'),
        ('accelerations', [float('inf'), 0.0], 'not a finite number'),
        ('effort', [0.0, 0.0], '0 numbers'),
    ],
)
def test_points_that_cannot_be_read_are_refused(ankle, field, values, words):
    message = plan()
    setattr(message.points[1], field, values)
    if field == 'accelerations':
        message.points[0].accelerations = [0.0, 0.0]
    refused = Conversion(ankle.conversion, message).refused
    assert words in refused
    assert f'.{field}' in refused


def line(ankle, motors):
    """Return a plan of two seconds along which the motors move at constant velocity."""
    conversion = Conversion(ankle.conversion, plan())
    ankle.work.waiting[0].set_result(None)
    conversion.step()
    made = conversion.plan.made
    columns = [made.actuators.index(name) for name in motors]
    return conversion.plan, made.times, made.position[:, columns]


@pytest.mark.parametrize(
    ('behind', 'ahead'),
    [
        pytest.param(0.0, 0.1, id='no lag'),
        pytest.param(0.1, 0.0, id='a lag'),
        pytest.param(0.7, -0.7, id='a controller that was deactivated'),
    ],
)
def test_plan_is_stopped_where_the_motors_are(ankle, behind, ahead):
    found, times, path = line(ankle, MOTORS)
    at = {
        name: np.interp(1.5 - behind, times, each)
        for name, each in zip(MOTORS, path.T, strict=True)
    }
    (point,) = found.braking(found.begin + 1.5, at).points
    order = [found.trajectory.joint_names.index(name) for name in MOTORS]
    wanted = [np.interp(1.5 + ahead, times, each) for each in path.T]
    assert [point.positions[each] for each in order] == pytest.approx(wanted, abs=1e-3)
    assert list(point.velocities) == [0.0, 0.0]
    assert found.behind(found.begin + 1.5, at) == pytest.approx(behind, abs=0.02)


def test_plan_is_stopped_where_motors_were_moved_to_by_something_else(ankle):
    found, times, path = line(ankle, MOTORS)
    at = {MOTORS[0]: 0.4, MOTORS[1]: -0.4}
    (point,) = found.braking(found.begin + 1.5, at).points
    names = found.trajectory.joint_names
    assert dict(zip(names, point.positions, strict=True)) == at
    (point,) = found.braking(found.begin + 1.5, {}).points
    order = [names.index(name) for name in MOTORS]
    wanted = [np.interp(1.6, times, each) for each in path.T]
    assert [point.positions[each] for each in order] == pytest.approx(wanted)
