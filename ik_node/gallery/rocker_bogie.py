"""A rover that drives in a circle on bumpy ground with six wheels."""

from __future__ import annotations

from math import atan2, cos, hypot, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose, ramp, ramped

SPEED = 0.7  # of the chassis [m/s]
RADIUS = 3.0  # of the circle that it drives, to the left [m]

# From rocker_bogie.urdf [m]: the wheels' radius, and their positions on the chassis.
WHEEL = 0.25
WHEELS = {
    'left_front': (1.18502, 1.0625),
    'left_middle': (0.0, 1.18450),
    'left_rear': (-1.07498, 1.0625),
    'right_front': (1.18502, -1.0625),
    'right_middle': (0.0, -1.18450),
    'right_rear': (-1.07498, -1.0625),
}
# The bumps of the ground: (x, y, height) of caps of spheres with radius BALL [m].
BALL = 1.5
BUMPS = (
    (3.02, 0.08, 0.2),
    (1.98, 2.47, 0.22),
    (4.2, 3.15, 0.26),
    (1.45, 4.45, 0.24),
    (3.22, 5.7, 0.22),
    (0.64, 6.03, 0.18),
    (-1.16, 7.04, 0.25),
    (-1.52, 4.37, 0.22),
    (-3.64, 5.1, 0.26),
    (-1.9, 2.23, 0.2),
    (-4.08, 1.98, 0.22),
)


def ground(x: float, y: float) -> float:
    """Return the height of the ground [m] at x, y [m]."""
    height = 0.0
    for bump_x, bump_y, top in BUMPS:
        inside = BALL**2 - (x - bump_x) ** 2 - (y - bump_y) ** 2
        if inside > 0.0:
            height = max(height, top - BALL + inside**0.5)
    return height


def motion(time: float) -> dict[str, Pose]:
    """
    Return the chassis' pose relative to its start at a time [s].

    The goal constrains x, y and the angle about z; the wheels determine height and tilt.
    """
    angle = SPEED / RADIUS * ramped(time)
    position = (RADIUS * sin(angle), RADIUS * (1.0 - cos(angle)), 0.0)
    return {'chassis': (position, (0.0, 0.0, sin(0.5 * angle), cos(0.5 * angle)))}


def joint_targets(time: float) -> dict[str, float]:
    """Return the drive and steering angles [rad] of rolling wheels at a time [s]."""
    angle = SPEED / RADIUS * ramped(time)
    values = {}
    for wheel, (x, y) in WHEELS.items():
        # Every wheel is perpendicular to the line to the middle of the circle.
        values[f'{wheel}_drive'] = angle * hypot(x, RADIUS - y) / WHEEL
        if 'middle' not in wheel:
            values[f'{wheel}_steer'] = ramp(time) * atan2(x, RADIUS - y)
    return values


ROCKER_BOGIE = GalleryItem(
    name='rocker_bogie',
    goals={'chassis': 'chassis_link', **{wheel: f'{wheel}_wheel_link' for wheel in WHEELS}},
    motion=motion,
    dof={'chassis': 'X Y EZ', **dict.fromkeys(WHEELS, 'Z')},
    about='a rover of rockers, bogies and differential that drives over bumpy ground',
    ground=ground,
    standing=dict.fromkeys(WHEELS, WHEEL),
    joint_targets=joint_targets,
)
