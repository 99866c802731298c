"""
Velocity Jacobians of mechanisms with loops in closed form, d joint / d actuator.

Each formula is the textbook's for its kind of mechanism, with the dimensions written here. Nothing
of `ik_node` is used but the robots that the formulas are compared with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import cos, hypot, pi, sin, sqrt

from ik_node import load_robot
import numpy as np

from benchmark import hand_written_ankle

UP = np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class ClosedForm:
    """A robot, and the Jacobian of its transmission in closed form."""

    load: Callable  # Returns the robot for the folder `shared`
    actuators: tuple[str, ...]  # Joints with a motor: the columns
    # The rows: joints, and links for six rows each (linear velocity of the origin, then angular
    # velocity, root axes)
    joints: tuple[str, ...]
    # Returns the Jacobian, shape (rows, actuators), at closed joint values by name
    jacobian: Callable[[Mapping[str, float]], np.ndarray]
    # Joints that determine the configuration, and their ranges [rad or m]: the robot can be driven
    # from its start to every combination
    reach: Mapping[str, tuple[float, float]]


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def bar(length, angle):
    return np.array((length * cos(angle), length * sin(angle)))


def across(vector):
    return np.array((-vector[1], vector[0]))


def crank_and_slider(shared):
    folder = shared / 'models' / 'slider_crank_offset'
    return load_robot(folder / 'model.urdf', closures=folder / 'closures.yaml')


def gallery(name):
    return lambda shared: load_robot(name)


# -- four-bar: crank + coupler = ground + rocker


def four_bar(crank, coupler, rocker):
    """
    Return the angular velocities of coupler and rocker for a crank that turns with 1 rad/s.

    The crank's and the coupler's vectors lead from pin to pin to the rocker's end. The derivative
    of the loop is multiplied by the vector of the bar that is not asked for.
    """
    across_pins = cross(rocker, coupler)
    return cross(crank, rocker) / across_pins, cross(crank, coupler) / across_pins


def knee(q):
    """Return knee and rod by the crank: in x, z, with angles about y, which turn z to x."""
    crank, lever = about_y((-0.04, -0.03), q['crank']), about_y((-0.032, -0.024), q['knee'])
    rod = np.add((0.21 - 0.03, -0.28 + 0.04), lever) - crank
    rod_rate, knee_rate = four_bar(crank, rod, lever)
    return np.array([[knee_rate], [rod_rate - 1.0]])


def about_y(point, angle):
    x, z = point
    return np.array((cos(angle) * x + sin(angle) * z, cos(angle) * z - sin(angle) * x))


# -- five-bar: the tool is at fixed distances from both elbows


def five_bar(q):
    """
    Return the turns of the elbows (2, 2), then the twist of the tool (6, 2).

    s . (v - u' w) = 0 for each forearm s and each upper arm u, which turns with w. Its motors are
    0.08 m left and right of the middle, its bars 0.18 and 0.24 m long.
    """
    zeros = (2.0943951023932, 1.0471975511966)  # angles of the upper arms at zero
    left, right = (bar(0.18, zero + q[motor]) for zero, motor in zip(zeros, MOTORS, strict=True))
    elbow = zeros[0] + q[MOTORS[0]] - 1.3107330535954 + q['left_elbow']
    left_fore = bar(0.24, elbow)
    right_fore = np.add((-0.16, 0.0), left) + left_fore - right
    directions = np.array((left_fore, right_fore))
    elbows = np.array((across(left), across(right)))
    tool = np.linalg.solve(directions, np.diag(np.sum(directions * elbows, axis=1)))
    fores = [
        cross(fore, tool - elbows[side][:, None] * np.eye(2)[side]) / (fore @ fore)
        for side, fore in enumerate((left_fore, right_fore))
    ]
    turns = np.array(fores)
    return np.vstack((turns - np.eye(2), tool, np.zeros((3, 2)), turns[:1]))


# -- delta: the platform's centre is at a rod's length from three moving points


def delta(q):
    """Return the platform's twist by the arms: upper arms of 0.15 m, rods of 0.33 m."""
    centres, rates = [], []
    for k, motor in enumerate(ARMS):
        turn, angle = 2.0 * pi * k / 3.0, q[motor]
        out = np.array((cos(turn), sin(turn), 0.0))
        # Positive angles turn the upper arm down.
        centres.append((0.06 + 0.15 * cos(angle)) * out - 0.15 * sin(angle) * UP)
        rates.append(-0.15 * (sin(angle) * out + cos(angle) * UP))
    rods = lower_meeting(np.array(centres), 0.33) - centres
    # s . (v - e') = 0 for each rod s and elbow e.
    velocity = np.linalg.solve(rods, np.diag(np.sum(rods * rates, axis=1)))
    return np.vstack((velocity, np.zeros((3, 3))))


def lower_meeting(centres, radius):
    a, b = centres[1] - centres[0], centres[2] - centres[0]
    normal = np.cross(a, b)
    # The centre of the circle through the three centres, relative to the first one.
    middle = np.cross((a @ a) * b - (b @ b) * a, normal) / (2.0 * normal @ normal)
    up = normal / np.linalg.norm(normal)
    up = up if up[2] > 0.0 else -up
    return centres[0] + middle - sqrt(radius**2 - middle @ middle) * up


# -- hexapod: the rate of a leg is its line in Pluecker coordinates times the platform's twist


def hexapod(q):
    """Return the platform's twist by the legs; it is 0.088326 m above the base at zero."""
    position = np.array([q[f'platform_{name}'] for name in 'xyz'])
    yaw, pitch, roll = (q[f'platform_{name}'] for name in ('yaw', 'pitch', 'roll'))
    levers = PLATFORM @ (about(2, yaw) @ about(1, pitch) @ about(0, roll)).T
    legs = position + 0.088326 * UP + levers - BASE
    legs /= np.linalg.norm(legs, axis=1)[:, None]
    # The platform's origin is the point of the twist.
    return np.linalg.inv(np.hstack((legs, np.cross(levers, legs))))


def about(axis, angle):
    c, s = cos(angle), sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turned = np.eye(3)
    turned[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return turned


def mirrored(*points):
    """Return three points and their mirror images, as the anchors are numbered, (6, 3) [m]."""
    plane = [*points, *((x, -y) for x, y in reversed(points))]
    return np.column_stack((plane, np.zeros(6)))


BASE = mirrored((0.055774, 0.012802), (-0.0168, 0.054702), (-0.038973, 0.041901))
PLATFORM = mirrored((0.029355, 0.025682), (0.007564, 0.038264), (-0.036919, 0.012581))


# -- the ankle with two rods, and the excavator


def ankle(q):
    """Return pitch and roll by the motors: the inverse of the derivative of the rods."""
    return np.linalg.inv(
        hand_written_ankle.motors_by_ankle(
            (q['ankle_pitch'], q['ankle_roll']), (q['motor_left'], q['motor_right'])
        )
    )


def by_cylinder(foot, pin, angle):
    """
    Return the angular velocity of a lever whose cylinder gets longer by 1 m/s.

    With the cylinder's foot and its pin on the lever relative to the hinge, (x, z) [m], the
    length l has l l' = pin' . (pin - foot). Positive angles turn x to z.
    """
    pin = turned(pin, angle)
    length = np.subtract(pin, foot)
    return hypot(*length) / (across(pin) @ length)


def turned(point, angle):
    x, y = point
    return np.array((cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y))


def excavator(q):
    rocker = turned((0.32, -0.04), q['rocker'])
    ear = turned((0.26, -0.02), q['bucket'])
    push = np.add((0.06 - 0.1, -1.42 + 1.14), ear) - rocker
    push_rate, bucket_rate = four_bar(rocker, push, ear)
    found = np.zeros((5, 3))
    found[0, 0] = by_cylinder((0.42, -0.38), (1.05, 0.72), q['boom'])
    found[1, 1] = by_cylinder((-1.4, 0.45), (0.03, 0.38), q['arm'])
    found[3, 2] = by_cylinder((0.24, 1.02), (0.32, -0.04), q['rocker'])
    found[2, 2] = bucket_rate * found[3, 2]
    found[4, 2] = (push_rate - 1.0) * found[3, 2]
    return found


def slider_crank(q):
    """Return rod and slide by the crank; crank 0.08 m, rod 0.24 m, the slide 0.03 m above."""
    crank = bar(0.08, q['crank_joint'])
    rod = np.array((q['slide_joint'], 0.03)) - crank
    # The rod's end moves along x: rod' = slide' - crank', and its z part vanishes.
    rate = -across(crank)[1] / across(rod)[1]
    return np.array([[rate - 1.0], [across(crank)[0] + rate * across(rod)[0]]])


LEGS = tuple(f'leg{k}' for k in range(6))
ARMS = tuple(f'arm{k}' for k in range(3))
MOTORS = ('left_shoulder', 'right_shoulder')

CLOSED_FORMS = {
    'knee_leg': ClosedForm(
        gallery('knee_leg'), ('crank',), ('knee', 'rod'), knee, {'crank': (-0.7, 0.8)}
    ),
    'slider_crank_offset': ClosedForm(
        crank_and_slider,
        ('crank_joint',),
        ('rod_joint', 'slide_joint'),
        slider_crank,
        {'crank_joint': (-3.0, 3.0)},
    ),
    'fivebar': ClosedForm(
        gallery('fivebar'),
        MOTORS,
        ('left_elbow', 'right_elbow', 'tool_link'),
        five_bar,
        dict.fromkeys(MOTORS, (-0.5, 0.5)),
    ),
    'delta': ClosedForm(
        gallery('delta'), ARMS, ('platform_link',), delta, dict.fromkeys(ARMS, (-0.3, 0.5))
    ),
    'hexapod': ClosedForm(
        gallery('hexapod'),
        LEGS,
        ('platform_link',),
        hexapod,
        {
            **dict.fromkeys(('platform_x', 'platform_y'), (-0.008, 0.008)),
            'platform_z': (-0.004, 0.008),
            **dict.fromkeys(('platform_yaw', 'platform_pitch', 'platform_roll'), (-0.15, 0.15)),
        },
    ),
    'ankle': ClosedForm(
        gallery('ankle'),
        ('motor_left', 'motor_right'),
        ('ankle_pitch', 'ankle_roll'),
        ankle,
        {'ankle_pitch': (-0.79, 0.79), 'ankle_roll': (-0.39, 0.39)},
    ),
    'excavator': ClosedForm(
        gallery('excavator'),
        ('boom_cylinder', 'arm_cylinder', 'bucket_cylinder'),
        ('boom', 'arm', 'bucket', 'rocker', 'push'),
        excavator,
        {
            'boom_cylinder': (-0.32, 0.29),
            'arm_cylinder': (-0.26, 0.29),
            'bucket_cylinder': (-0.15, 0.23),
        },
    ),
}
