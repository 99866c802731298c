"""
The sampling rule of ros2_controllers' joint_trajectory_controller, and a servo with a lag.

The rule is that of `Trajectory::sample` and `JointTrajectoryController::update`: a message whose
first point lies ahead is entered from a state before it, which is the measured one, or the last
commanded one with `interpolate_from_desired_state`; between points, and up to the first, positions
and velocities are cubic splines; at the last point the position stays.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

# What a controller manager usually runs at [s].
PERIOD = 0.001


@dataclass
class State:
    """A time [s], and positions and velocities of joints at it."""

    time: float
    position: np.ndarray
    velocity: np.ndarray


def spline(before, after, time):
    span = after.time - before.time
    s = (time - before.time) / span
    way = after.position - before.position
    b = 3.0 * way - span * (2.0 * before.velocity + after.velocity)
    c = -2.0 * way + span * (before.velocity + after.velocity)
    position = before.position + s * (span * before.velocity + s * (b + s * c))
    velocity = before.velocity + (2.0 * s * b + 3.0 * s * s * c) / span
    return State(time, position, velocity)


class TrajectoryController:
    """Samples the last trajectory at every update."""

    def __init__(self, position, interpolate_from_desired_state=False):
        self.from_desired = interpolate_from_desired_state
        self.desired = State(0.0, np.array(position), np.zeros(len(position)))
        self.points = []
        self.before = self.desired
        self._message = None

    def take(self, message):
        """Take a trajectory_msgs/JointTrajectory with stamp 0, which begins at the next update."""
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
        spans = [_seconds(point.time_from_start) for point in message.points]
        assert all(after > before for before, after in pairwise(spans))
        self._message = message

    def update(self, now, measured):
        if self._message is not None:
            self.points = [
                State(
                    now + _seconds(point.time_from_start),
                    np.array(point.positions),
                    np.array(point.velocities),
                )
                for point in self._message.points
            ]
            self._message = None
            self.before = self.desired if self.from_desired else measured
        self.desired = self._sample(now + PERIOD)
        return self.desired

    def _sample(self, time):
        if not self.points:
            return State(time, self.desired.position, np.zeros_like(self.desired.position))
        ways = [self.before, *self.points]
        for before, after in pairwise(ways):
            if before.time <= time < after.time:
                return spline(before, after, time)
        return State(time, self.points[-1].position, self.points[-1].velocity)


def rms_acceleration(messages, period, lag, start, **options):
    """
    Return the root mean square acceleration of the commands [rad/s^2], the worst joint's.

    One message arrives at each period [s]; None is lost. `lag` is the time constant of the servo
    that follows commands [s], `start` where the joints begin; options are those of
    `TrajectoryController`.
    """
    controller = TrajectoryController(start, **options)
    measured = State(0.0, np.array(start), np.zeros(len(start)))
    commands = []
    waiting = list(messages)
    for update in range(round(len(messages) * period / PERIOD)):
        now = update * PERIOD
        if waiting and now >= (len(messages) - len(waiting)) * period - 1e-9:
            message = waiting.pop(0)
            if message is not None:
                controller.take(message)
        command = controller.update(now, measured).position
        commands.append(command)
        velocity = (command - measured.position) / lag
        position = measured.position + PERIOD * velocity
        measured = State(now + PERIOD, position, velocity)
    accelerations = np.diff(commands, 2, axis=0) / PERIOD**2
    return float(np.sqrt((accelerations**2).mean(axis=0)).max()), np.array(commands)


def _seconds(duration):
    return duration.sec + 1e-9 * duration.nanosec


def objection(message, joints, now, nonzero_end=False):
    """
    Return why a joint_trajectory_controller refuses a trajectory; '' if it accepts it.

    The rules are those of `JointTrajectoryController::validate_trajectory_msg` with the default
    parameters: no partial joints, no integration, no efforts. `now` is the time of the controller
    [s], `nonzero_end` its parameter `allow_nonzero_velocity_at_trajectory_end`.
    """
    names, points = list(message.joint_names), message.points
    if not names or sorted(names) != sorted(joints):
        return f'joints {names} are not those of the controller'
    if not points:
        return 'empty trajectory'
    stamp = _seconds(message.header.stamp)
    if stamp != 0.0 and stamp + _time(points[-1]) < now:
        return 'the trajectory ends in the past'
    if not nonzero_end and any(abs(each) > 1e-12 for each in points[-1].velocities):
        return 'velocity of last trajectory point is not zero'
    for before, after in pairwise(points):
        if _time(after) <= _time(before):
            return 'time_from_start does not increase'
    for point in points:
        sizes = {len(point.velocities), len(point.accelerations)}
        if len(point.positions) != len(names) or not sizes <= {0, len(names)}:
            return 'sizes differ from the number of joints'
        if len(point.effort):
            return 'efforts are not supported'
    return ''


def _time(point):
    return _seconds(point.time_from_start)
