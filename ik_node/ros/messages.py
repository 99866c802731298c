"""Messages as numbers, names of topics and frames, and rows of diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
from dataclasses import dataclass
import math
import re
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ik_node.description.description import WORLD
from ik_node.errors import IkError, MOST_TEXT, OptionError, plain, shown
from ik_node.kernels.layout import LARGEST
from ik_node.model.link import Link
from ik_node.model.rotation import Array, pose_from_matrix, pose_matrix, quat_from_euler
from ik_node.robot import Robot
import numpy as np
from numpy.typing import NDArray


class RefusedInputError(IkError):
    """A message cannot be used; the node only counts and logs it."""

    def __init__(self, topic: str, field: str, value: object, reason: str) -> None:
        self.topic = topic  # Topic of the message.
        self.field = field  # Name of the invalid field.
        self.value = value  # Value of the field.
        super().__init__(f'{topic}: {field} = {shown(value)} refused: {reason}')


class Refusals:
    """
    A counter of refused messages per topic, which limits the rate of log lines.

    Many bad messages on one topic must neither fill the log nor hide the first bad message on
    another topic. `pause`: shortest time between two log lines about one topic [s].
    """

    def __init__(self, pause: float = 2.0) -> None:
        self.pause = pause
        self.counts: dict[str, int] = {}
        self.last = ''
        self._logged_at: dict[str, float] = {}

    def add(self, topic: str, reason: str, now: float) -> bool:
        """Count one refusal at `now` [s] of a steady clock; return True if it should be logged."""
        self.counts[topic] = self.counts.get(topic, 0) + 1
        self.last = reason
        logged_at = self._logged_at.get(topic)
        if logged_at is not None and now - logged_at < self.pause:
            return False
        self._logged_at[topic] = now
        return True

    @property
    def total(self) -> int:
        """Return the number of refusals since the start."""
        return sum(self.counts.values())


def quat_xyzw_from_rpy(rpy: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the quaternion of roll, pitch and yaw [rad] about fixed axes."""
    try:
        from tf_transformations import quaternion_from_euler
    except ImportError:
        x, y, z, w = quat_from_euler(*rpy).tolist()
    else:
        x, y, z, w = map(float, quaternion_from_euler(*rpy, axes='sxyz'))
    return (x, y, z, w)


Pose = tuple[tuple[float, float, float], tuple[float, float, float, float]]

# A shorter quaternion has no direction; a longer one is normalised.
_SMALLEST_QUATERNION = 1e-6


def pose_from_message(topic: str, pose: Any) -> Pose:
    """
    Read a geometry_msgs/Pose into position [m] and unit quaternion xyzw.

    Raise RefusedInputError if a number is not finite, the position is beyond the solver's limit,
    or the quaternion is zero.
    """
    point, quat = pose.position, pose.orientation
    position = (point.x, point.y, point.z)
    x, y, z, w = quat.x, quat.y, quat.z, quat.w
    check_position(topic, position)
    # The sum is not finite if any of the numbers is not finite; only then search for it.
    if not math.isfinite(x + y + z + w):
        _refuse_unusable(topic, 'pose.orientation', 'xyzw', (x, y, z, w))
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if norm < _SMALLEST_QUATERNION:
        raise RefusedInputError(
            topic,
            'pose.orientation',
            (x, y, z, w),
            'a zero quaternion is no orientation; send (0, 0, 0, 1) for none',
        )
    if not math.isfinite(norm):
        raise RefusedInputError(topic, 'pose.orientation', (x, y, z, w), 'too large')
    return position, (x / norm, y / norm, z / norm, w / norm)


def check_position(topic: str, position: tuple[float, float, float]) -> None:
    """Raise RefusedInputError unless the solver accepts a position [m]."""
    _refuse_unusable(topic, 'pose.position', 'xyz', position, 'm')


def twist_from_message(topic: str, twist: Any) -> tuple[list[float], list[float]]:
    """Read a geometry_msgs/Twist into linear [m/s] and angular [rad/s] velocity, or refuse it."""
    parts = []
    for field, unit in (('linear', 'm/s'), ('angular', 'rad/s')):
        vector = getattr(twist, field)
        parts.append([vector.x, vector.y, vector.z])
        _refuse_unusable(topic, f'twist.{field}', 'xyz', parts[-1], unit)
    return parts[0], parts[1]


def _refuse_unusable(
    topic: str, field: str, parts: str, values: Sequence[float], unit: str = ''
) -> None:
    """Refuse numbers that are not finite or, with a unit, larger than the solver's limit."""
    for part, value in zip(parts, values, strict=True):
        reason = '' if math.isfinite(value) else 'not a finite number'
        if unit and abs(value) > LARGEST:
            reason = reason or f'not within {LARGEST:g} {unit}'
        if reason:
            raise RefusedInputError(topic, f'{field}.{part}', value, reason)


@dataclass(frozen=True)
class JointValues:
    """What is known of joints that were measured, or that a command names, by joint."""

    positions: Mapping[str, float]  # [rad or m]
    velocities: Mapping[str, float] = dataclasses.field(default_factory=dict)  # [rad/s or m/s]
    efforts: Mapping[str, float] = dataclasses.field(default_factory=dict)  # [N m or N]

    @property
    def names(self) -> set[str]:
        """Return all joints of which something is known."""
        return {*self.positions, *self.velocities, *self.efforts}


def positions_from_message(
    topic: str, message: Any, leave_out: Callable[[float], bool] = lambda value: False
) -> dict[str, float]:
    """Return the positions of a sensor_msgs/JointState by joint; refuse it if there are none."""
    positions = _numbers(topic, 'position', message, leave_out)
    if message.name and not positions:
        reason = f'{len(message.name)} names need as many positions'
        raise RefusedInputError(topic, 'position', list(message.position), reason)
    return positions


def command_from_message(topic: str, message: Any) -> JointValues:
    """
    Read a sensor_msgs/JointState with commanded values; empty parts and NaN are not commanded.

    Raise RefusedInputError if sizes differ, a number is infinite, or nothing is commanded.
    """
    parts = [
        _numbers(topic, each, message, math.isnan) for each in ('position', 'velocity', 'effort')
    ]
    command = JointValues(*parts)
    if not command.names:
        raise RefusedInputError(topic, 'name', list(message.name), 'it commands nothing')
    return command


def measurement_from_message(topic: str, message: Any) -> JointValues:
    """
    Read a sensor_msgs/JointState with measured values.

    Numbers that are NaN, velocities and efforts that are infinite, as some drivers send them for a
    motor that is off, and empty velocities and efforts are unknown. Raise RefusedInputError if
    sizes differ, a position is infinite, or all positions are NaN.
    """
    return JointValues(
        positions_from_message(topic, message, math.isnan),
        *(_numbers(topic, each, message, _is_not_finite) for each in ('velocity', 'effort')),
    )


def _is_not_finite(value: float) -> bool:
    return not math.isfinite(value)


def _numbers(
    topic: str, field: str, message: Any, leave_out: Callable[[float], bool]
) -> dict[str, float]:
    """Return the numbers of a field, which may be empty, by joint; refuse infinite ones."""
    names, values = message.name, getattr(message, field)
    if len(values) not in (0, len(names)):
        reason = f'{len(names)} names need as many'
        raise RefusedInputError(topic, field, f'{len(values)} numbers', reason)
    numbers = {n: v for n, v in zip(names, values, strict=False) if not leave_out(v)}
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise RefusedInputError(topic, f'{field} of {name}', value, 'not a finite number')
    return numbers


def pose_in_root(pose: Pose, frame: NDArray[np.float64]) -> Pose:
    """Transform a pose from a frame to its parent; `frame` is the frame's pose (4, 4)."""
    return pose_from_matrix(frame @ pose_matrix(*pose))


def seconds_from_stamp(stamp: Any) -> float:
    """Return a builtin_interfaces/Time as [s]; 0 if the sender set no stamp."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def fill_pose(pose: Any, matrix: NDArray[np.float64]) -> None:
    """Write a pose (4, 4) to a geometry_msgs/Pose."""
    put_pose(pose.position, pose.orientation, pose_from_matrix(matrix))


def put_pose(place: Any, quat: Any, pose: Pose) -> None:
    """Write a pose to a position or translation, and to a quaternion, of geometry_msgs."""
    (place.x, place.y, place.z), (quat.x, quat.y, quat.z, quat.w) = pose


_OUTSIDE = re.compile(r'[^A-Za-z0-9_]')


def topic_part(name: str) -> str:
    """
    Return a name as one part of a topic name.

    Characters outside [A-Za-z0-9_] become `_`; a leading digit gets an `n` before it.
    """
    part = _OUTSIDE.sub('_', name)
    return f'n{part}' if part[:1].isdigit() else part


def topic_parts(names: Iterable[str], kind: str) -> dict[str, str]:
    """Map each name to its part of a topic name; raise OptionError if two have the same."""
    owners: dict[str, str] = {}
    for name in names:
        part = topic_part(name)
        if part in owners:
            other = owners[part]
            raise OptionError(
                f'{kind} names',
                [other, name],
                f'names that give different topic names; both become {part!r}',
            )
        owners[part] = name
    return {name: part for part, name in owners.items()}


def check_parameter_part(parameter: str, name: str) -> str:
    """Return a name; raise OptionError if a parameter's name cannot have it as a part."""
    if any(character in './' or character.isspace() for character in name):
        raise OptionError(parameter, name, 'names without dots, slashes and spaces')
    return name


# Candidates for the name of the world frame; the first that is not a link is used.
_WORLD = (WORLD, 'map', 'odom', 'ik_node_world')


class FrameNames:
    """
    The names of a robot's frames in messages and on /tf.

    `frame_prefix` is the prefix of link names. Without one, a `base_frame` such as left/base_link,
    whose last part is a link of the robot, defines it. The `root` frame is the root link, or the
    world if the root moves.
    """

    def __init__(self, robot: Robot, frame_prefix: str = '', base_frame: str = '') -> None:
        self._robot = robot
        self.base = base_frame  # Frame of messages without one; '' = the root frame.
        links = self._links = frozenset(robot.links)
        before, slash, link = base_frame.lstrip('/').rpartition('/')
        known = link in links and before + slash + link not in links
        self.prefix = frame_prefix or (before + slash if known else '')
        root, roots = robot.description.root, robot.description.roots
        if isinstance(root, Link) and at_origin(root):
            self.root = root.name
        elif any(each.name == WORLD for each in roots):
            # The description has a link that represents the world.
            self.root = WORLD
        else:
            self.root = next((name for name in _WORLD if name not in links), root.name)

    def frame(self, name: str) -> str:
        """Return the frame name of a link, with the prefix; any other name unchanged."""
        return self.prefix + name if name in self._links else name

    def link(self, frame_id: str) -> str:
        """Return the link name of a frame; any other frame name without a leading slash."""
        name = frame_id.lstrip('/')
        own = name.removeprefix(self.prefix)
        return own if own in self._links else name

    def pose(self, frame_id: str, q: Array, lookup: Callable[[str, str], Array]) -> Array | None:
        """
        Return the (4, 4) pose of a message's frame in the root frame.

        A `frame_id` of '' stands for the base frame; if that is '' too, for the root frame. Links
        are also known by their names without the prefix. `lookup` finds other frames: (target,
        source) -> pose (4, 4), or LookupError. Return None if the frame is the root frame.
        """
        name = self.link(frame_id or self.base)
        if name in ('', self.root):
            return None
        if name in self._links:
            pose: Array = self._robot.forward(q, name)
            return pose
        return lookup(self.frame(self.root), name)


def at_origin(root: Link) -> bool:
    """Return True if a root link is at the root frame; in SDFormat it may be elsewhere."""
    return bool(np.allclose(root.matrix, np.eye(4), atol=1e-12))


# Longest value, long enough for the names of a large robot.
MOST_VALUE = 100_000


def fill_diagnostics(
    message: DiagnosticArray, node: str, rows: Sequence[StatusRow], stamp: Any, hardware_id: str
) -> None:
    """Write one status of a node per row, reusing the objects in the message to save time."""
    message.header.stamp = stamp
    _resize(message.status, len(rows), DiagnosticStatus)
    for status, row in zip(message.status, rows, strict=True):
        status.level = row.level
        status.name = plain(f'{node}: {row.name}', MOST_TEXT)
        status.message = plain(row.message, MOST_TEXT)
        status.hardware_id = hardware_id
        _resize(status.values, len(row.values), KeyValue)
        for pair, (key, value) in zip(status.values, row.values.items(), strict=True):
            pair.key, pair.value = plain(key, MOST_TEXT), plain(value, MOST_VALUE)


def _resize(parts: list[Any], size: int, kind: type) -> None:
    del parts[size:]
    parts += [kind() for _ in range(size - len(parts))]


OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


@dataclass
class StatusRow:
    """The content of one diagnostic_msgs/DiagnosticStatus."""

    level: bytes  # OK, WARN or ERROR.
    name: str  # Subject of the status; its name in the message begins with that of the node.
    message: str  # One sentence.
    values: dict[str, str] = dataclasses.field(default_factory=dict)  # Text by label.
