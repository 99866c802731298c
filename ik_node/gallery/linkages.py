"""Linkages: machines whose bars form loops."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, sin

from ik_node.gallery.gallery_item import cycle, GalleryItem, moving, Pose, ramp, ramped, Vector
from ik_node.model.rotation import quat_from_euler, quat_multiply

STRAIGHT = (0.0, 0.0, 0.0, 1.0)

# Its platform circles and dips, and cannot turn.
DELTA = GalleryItem(
    name='delta',
    motion=moving(
        platform=cycle(3.0, lambda p: (0.07 * cos(p), 0.07 * sin(p), 0.025 * sin(3.0 * p)))
    ),
    dof={'platform': 'X Y Z'},
    about='three motors move a platform that cannot turn, through six rods',
)

# From fivebar.urdf [m]: half the distance between the motors, the bars, and the tool's start.
MOTOR, UPPER, FORE = 0.08, 0.18, 0.24
TOOL = (0.0, UPPER * sin(2.0 * pi / 3.0) + (FORE**2 - (MOTOR + 0.5 * UPPER) ** 2) ** 0.5)


def forearm(x: float, y: float) -> float:
    """Return the angle of the left forearm with its end at x, y and its elbow outwards."""
    reach = hypot(x + MOTOR, y)
    bend = acos((reach**2 + FORE**2 - UPPER**2) / (2.0 * reach * FORE))
    return atan2(y, x + MOTOR) - bend


def figure_of_eight(time: float) -> Pose:
    """Return the pose of the five-bar's tool at a time [s]; it turns with the left forearm."""
    phase, size = pi * time / 2.0, ramp(time)
    x, y = size * 0.05 * sin(phase), size * 0.03 * sin(2.0 * phase)
    half = 0.5 * (forearm(TOOL[0] + x, TOOL[1] + y) - forearm(*TOOL))
    return (x, y, 0.0), (0.0, 0.0, sin(half), cos(half))


FIVEBAR = GalleryItem(
    name='fivebar',
    motion=moving(tool=figure_of_eight),
    dof={'tool': 'X Y'},
    about='two motors, one loop: the tool draws a figure of eight',
)

# From gripper.urdf: length of the bars [m], and their inclination at the start [rad].
BAR, LEAN = 0.06, 0.5


def grip(time: float) -> Pose:
    """Return the pose of the gripper's left tip at a time [s], on an arc without turning."""
    lean = LEAN + ramp(time) * 0.35 * sin(2.0 * pi * time / 3.0)
    return (BAR * (sin(lean) - sin(LEAN)), 0.0, BAR * (cos(lean) - cos(LEAN))), STRAIGHT


GRIPPER = GalleryItem(
    name='gripper',
    goals={'grip': 'left_tip_link'},
    motion=moving(grip=grip),
    dof={'grip': 'X'},
    about='two fingers of four bars; gears make one follow the other, one motor opens both',
)

# From palletizer.urdf and excavator.urdf: distance of tool and teeth from the vertical axis at the
# start [m].
TOOL_REACH, TEETH_REACH = 0.81, 2.61


def around(axis: float, swing: float, reach: float, height: float) -> Vector:
    """Return a position relative to (axis, 0, 0) after a swing [rad] to another reach [m]."""
    return reach * cos(swing) - axis, reach * sin(swing), height


def carried_box(time: float) -> Pose:
    """Return the pose of the palletizer's tool at a time [s]: from side to side, not turning."""
    phase, size = 2.0 * pi * time / 5.0, ramp(time)
    reach = TOOL_REACH - size * 0.16 * sin(phase) ** 2
    height = size * 0.1 * cos(2.0 * phase)
    return around(TOOL_REACH, size * 0.7 * sin(phase), reach, height), STRAIGHT


PALLETIZER = GalleryItem(
    name='palletizer',
    motion=moving(tool=carried_box),
    dof={'tool': 'X Y Z EZ'},
    about='three parallelograms drive an arm from below and keep its tool level; four motors',
)

SCISSOR_LIFT = GalleryItem(
    name='scissor_lift',
    motion=moving(platform=cycle(6.0, lambda p: (0.0, 0.0, 0.36 * sin(p)))),
    dof={'platform': 'Z'},
    about='four crossed stages, nine hinges that follow, one slide that lifts them all',
)


def crank(time: float) -> Pose:
    """Return the pose of the strandbeest's crank at a time [s]; it turns continuously."""
    half = pi * ramped(time) / 6.0
    return (0.0, 0.0, 0.0), (0.0, sin(half), 0.0, cos(half))


STRANDBEEST = GalleryItem(
    name='strandbeest',
    motion=moving(crank=crank),
    dof={'crank': 'EY'},
    about="four of Theo Jansen's legs, twelve loops, that walk while one crank turns",
)

# From peaucellier.urdf [m]: the long bars, the sides of the rhombus, the position of the line.
LONG, SIDE, LINE = 0.37, 0.2, 0.51


def rhombus(y: float) -> float:
    """Return the angle of the rhombus' lower far side with the pen at y on its line."""
    reach = hypot(LINE, y)
    bar = atan2(y, LINE) - acos((reach**2 + LONG**2 - SIDE**2) / (2.0 * reach * LONG))
    return atan2(y - LONG * sin(bar), LINE - LONG * cos(bar))


def pen(time: float) -> Pose:
    """Return the pose of the pen at a time [s], on a straight line; it turns with its side."""
    y = ramp(time) * 0.2 * sin(pi * time / 2.0)
    half = 0.5 * (rhombus(y) - rhombus(0.0))
    return (0.0, y, 0.0), (0.0, 0.0, sin(half), cos(half))


PEAUCELLIER = GalleryItem(
    name='peaucellier',
    motion=moving(pen=pen),
    dof={'pen': 'Y'},
    about='seven bars, three loops: hinges alone draw an exact straight line',
)

TWO_ARMS_ONE_BOX = GalleryItem(
    name='two_arms_one_box',
    motion=moving(
        box=cycle(
            5.0,
            lambda p: (0.05 * sin(2.0 * p), 0.1 * sin(p), 0.1 * cos(p)),
            lambda p: (0.3 * sin(p), 0.3 * sin(2.0 * p), 0.3 * cos(p)),
        )
    ),
    about='two arms of seven hinges hold one box: the box has a goal, and both arms follow',
)

# From knee_leg.urdf [m]: offset of the leg from the hip axis, length of thigh and shank, foot
# start.
ASIDE, BONE, FOOT = 0.1, 0.35, (0.0, 0.1, -0.56)


def shank(x: float, y: float, z: float) -> tuple[float, float]:
    """Return roll and pitch of the shank with the foot at x, y, z in the hip frame."""
    down = (y * y + z * z - ASIDE**2) ** 0.5
    roll = atan2(y, -z) - atan2(ASIDE, down)
    # The knee is in front of the line from hip to foot.
    return roll, acos(hypot(x, down) / (2.0 * BONE)) - atan2(x, down)


def step(time: float) -> Pose:
    """Return the pose of the leg's foot at a time [s]; it turns with the shank."""
    phase, size = 2.0 * pi * time / 2.5, ramp(time)
    x, y, z = size * 0.12 * sin(phase), size * 0.06 * sin(0.5 * phase), size * 0.05 * cos(phase)
    roll, pitch = shank(FOOT[0] + x, FOOT[1] + y, FOOT[2] + z)
    first_roll, first_pitch = shank(*FOOT)
    turned = quat_from_euler(roll - first_roll, 0.0, 0.0)
    return (x, y, z), quat_multiply(turned, quat_from_euler(0.0, pitch - first_pitch, 0.0))


KNEE_LEG = GalleryItem(
    name='knee_leg',
    motion=moving(foot=step),
    dof={'foot': 'X Y Z'},
    about='a leg whose knee is driven from the hip, through crank, rod and lever',
)

# The toes draw an ellipse. The foot rolls about its own x axis: R_y(pitch) R_x(roll).
ANKLE = GalleryItem(
    name='ankle',
    motion=moving(foot=cycle(3.0, angles=lambda p: (0.28 * cos(p), 0.55 * sin(p), 0.0))),
    dof={'foot': 'EX EY'},
    about="a humanoid's ankle: two motors pitch and roll the foot through cranks and rods",
)


def teeth(time: float) -> Pose:
    """Return the pose of the excavator's teeth at a time [s]: from the hole to the heap."""
    phase, size = 2.0 * pi * time / 8.0, ramp(time)
    swing = size * 0.7 * sin(phase)
    reach, height = TEETH_REACH + size * 0.7 * cos(phase), size * 0.4 * (1.0 - sin(phase))
    quat = quat_from_euler(0.0, -size * 0.5 * cos(phase), swing)
    return around(TEETH_REACH, swing, reach, height), quat


EXCAVATOR = GalleryItem(
    name='excavator',
    goals={'teeth': 'tip_link'},
    motion=moving(teeth=teeth),
    dof={'teeth': 'X Y Z EX EY'},
    about='cylinders move boom, arm and, through a four-bar, the bucket; the house swings',
)
