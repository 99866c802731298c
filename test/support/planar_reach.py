"""The workspace of an arm of two bars and of the five-bar in closed form."""

import numpy as np

UPPER, FORE = 0.5, 0.3
ARM = """<robot name="two_r">
<link name="base"/><link name="upper"/><link name="fore"/><link name="tip"/>
<joint name="shoulder" type="{kind}"><parent link="base"/><child link="upper"/>
  <axis xyz="0 0 1"/>{shoulder}</joint>
<joint name="elbow" type="{kind}"><parent link="upper"/><child link="fore"/>
  <origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>{elbow}</joint>
<joint name="end" type="fixed"><parent link="fore"/><child link="tip"/>
  <origin xyz="0.3 0 0.1"/></joint>
</robot>"""
FREE = ARM.format(kind='continuous', shoulder='', elbow='')
LIMIT = '<limit lower="{}" upper="{}" effort="1" velocity="1"/>'
# Of fivebar.urdf: half the way between the motors, the bars, and the angles at zero.
HALF, CRANK, ROD = 0.08, 0.18, 0.24
CRANK_AT, ROD_AT, MOST = 2.0943951023932, -1.3107330535954, 1.2


def wrapped(angle):
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def two_bars(x, y, first, second):
    """Return the angles of both solutions of two bars for points; NaN if there is none."""
    square = (x**2 + y**2 - first**2 - second**2) / (2.0 * first * second)
    with np.errstate(invalid='ignore'):
        bend = np.arccos(square)
    for bent in (bend, -bend):
        yield (
            np.arctan2(y, x) - np.arctan2(second * np.sin(bent), first + second * np.cos(bent)),
            bent,
        )


def in_annulus(x, y):
    return (np.hypot(x, y) <= UPPER + FORE) & (np.hypot(x, y) >= UPPER - FORE)


def in_limits(x, y):
    found = np.zeros(np.shape(x), dtype=bool)
    for shoulder, elbow in two_bars(x, y, UPPER, FORE):
        found |= (np.abs(wrapped(shoulder)) <= 1.1) & (elbow >= -2.0) & (elbow <= 2.6)
    return found


def in_fivebar(x, y):
    """Return which points the five-bar reaches, with each arm within its limits."""
    sides = []
    for sign in (-1.0, 1.0):  # the right arm is the left one in a mirror
        here = np.zeros(np.shape(x), dtype=bool)
        for crank, rod in two_bars(-sign * x + HALF, y, CRANK, ROD):
            here |= (np.abs(wrapped(crank - CRANK_AT)) <= MOST) & (
                np.abs(wrapped(rod - ROD_AT)) <= MOST
            )
        sides.append(here)
    return sides[0] & sides[1]
