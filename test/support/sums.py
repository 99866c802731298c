"""Mechanisms with joints that follow several masters."""

from support.building import Mechanism

LIMITS = (-1.2, 1.2)


def wrist():
    """Return a wrist whose two motors turn by the sum and the difference of pitch and roll."""
    m = Mechanism('wrist')
    m.root('base')
    m.joint('lift', 'base', 'Z', limits=(0.0, 0.4))
    pitch = m.joint('pitch', 'lift_link', 'EY', xyz=(0.3, 0, 0), limits=LIMITS)
    roll = m.joint('roll', 'pitch_link', 'EX', limits=LIMITS)
    m.tip('tool', 'roll_link', xyz=(0.1, 0.05, 0))
    for name, sign in (('left', 1.0), ('right', -1.0)):
        motor = m.joint(name, 'lift_link', 'EY', xyz=(0.1, sign * 0.05, 0))
        motor.couple_sum('EY', [(pitch, 'EY', 2.0), (roll, 'EX', sign)], 0.1 * sign)
    m.goal('goal', 'tool')
    return m


def corexy():
    """Return a CoreXY stage: x and y follow two motors, and a knob follows x as a cam."""
    m = Mechanism('corexy')
    m.root('base')
    motors = [m.joint(f'motor{k}', 'base', 'EZ', xyz=(0.1 * k, 0.5, 0)) for k in range(2)]
    y = m.joint('y', 'base', 'Y', limits=(-0.2, 0.2))
    x = m.joint('x', 'y_link', 'X', limits=(-0.2, 0.2))
    y.couple_sum('Y', [(motors[0], 'EZ', 0.01), (motors[1], 'EZ', -0.01)])
    x.couple_sum('X', [(motors[0], 'EZ', 0.01), (motors[1], 'EZ', 0.01)])
    knob = m.joint('knob', 'x_link', 'EZ', xyz=(0, 0, 0.1))
    knob.couple('EZ', x, 'X', (0.1, 3.0, 5.0))
    m.tip('tool', 'knob_link', xyz=(0.05, 0, 0))
    m.goal('goal', 'tool', 'X Y')
    return m


def planetary():
    """Return a planetary gear: the sun follows its carrier and a planet that turns on it."""
    m = Mechanism('planetary')
    m.root('base')
    carrier = m.joint('carrier', 'base', 'EZ')
    planet = m.joint('planet', 'carrier_link', 'EZ', xyz=(0.3, 0, 0))
    sun = m.joint('sun', 'base', 'EZ')
    sun.couple_sum('EZ', [(carrier, 'EZ', 1.0), (planet, 'EZ', -0.5)])
    ring = m.joint('ring', 'base', 'EZ', limits=(-3.0, 3.0))
    ring.couple_sum('EZ', [(carrier, 'EZ', 1.0), (planet, 'EZ', 0.25)])
    m.tip('tool', 'planet_link', xyz=(0.1, 0, 0))
    m.goal('goal', 'tool', 'X Y')
    return m


def chained():
    """Return an arm in which a sum has a mimic, a polynomial and another sum as masters."""
    m = Mechanism('chained')
    m.root('base')
    a = m.joint('a', 'base', 'EZ', limits=(-2, 2))
    b = m.joint('b', 'a_link', 'EZ', xyz=(0.4, 0, 0), limits=(-2, 2))
    mimic = m.joint('mimic', 'base', 'EZ')
    mimic.couple('EZ', a, 'EZ', (0.2, -1.5))
    first = m.joint('first', 'b_link', 'EZ', xyz=(0.3, 0, 0), limits=(-1.5, 1.5))
    first.couple_sum('EZ', [(mimic, 'EZ', (0.0, 0.5, 0.1)), (b, 'EZ', 0.7)], -0.1)
    second = m.joint('second', 'first_link', 'EY', xyz=(0.2, 0, 0))
    second.couple_sum('EY', [(first, 'EZ', 1.0), (a, 'EZ', 0.5), (b, 'EZ', -1.0)])
    m.tip('tool', 'second_link', xyz=(0.1, 0, 0))
    m.goal('goal', 'tool', 'X Y')
    return m
