"""Arms from public data sheets, with random reachable goals."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, radians

import numpy as np
from tasks.judge import Array
from tasks.mechanism import Mechanism, Triple
from tasks.task import Form, Task


def ur5() -> Mechanism:
    """Return the arm with the Denavit-Hartenberg table of a UR5."""
    m = Mechanism('ur5')
    rows = (
        (0.089159, 0.0, pi / 2),
        (0.0, -0.425, 0.0),
        (0.0, -0.39225, 0.0),
        (0.10915, 0.0, pi / 2),
        (0.09465, 0.0, -pi / 2),
        (0.0823, 0.0, 0.0),
    )
    link, xyz, rpy = 'base', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for at, (d, a, alpha) in enumerate(rows):
        link = m.add(f'j{at + 1}', link, 'z', xyz, rpy, (-2 * pi, 2 * pi))
        xyz, rpy = (a, 0.0, d), (alpha, 0.0, 0.0)
    m.add('tool_fixed', link, '-', xyz, rpy, child='tool')
    m.home = {'j2': -pi / 2, 'j3': pi / 2, 'j4': -pi / 2, 'j5': -pi / 2}
    return m


def irb2400() -> Mechanism:
    """Return an arm with the measures and limits of an ABB IRB 2400-12/1.55."""
    m = Mechanism('irb2400')
    rows: tuple[tuple[str, Triple, float, float], ...] = (
        ('z', (0.0, 0.0, 0.0), -180.0, 180.0),
        ('y', (0.1, 0.0, 0.615), -100.0, 110.0),
        ('y', (0.0, 0.0, 0.705), -60.0, 65.0),
        ('x', (0.0, 0.0, 0.135), -200.0, 200.0),
        ('y', (0.755, 0.0, 0.0), -120.0, 120.0),
        ('x', (0.0, 0.0, 0.0), -400.0, 400.0),
    )
    link = 'base'
    for at, (axis, xyz, lower, upper) in enumerate(rows):
        limits = (radians(lower), radians(upper))
        link = m.add(f'j{at + 1}', link, axis, xyz, limits=limits)
    m.add('tool_fixed', link, '-', (0.085, 0.0, 0.0), (0.0, pi / 2, 0.0), child='tool')
    m.home = {'j2': 0.3, 'j3': -0.2, 'j5': 0.8}
    return m


def panda() -> Mechanism:
    """Return the arm with Craig's table and the limits of a Franka Panda."""
    m = Mechanism('panda')
    quarter = pi / 2
    rows = (
        (0.0, 0.333, 0.0, -2.8973, 2.8973),
        (0.0, 0.0, -quarter, -1.7628, 1.7628),
        (0.0, 0.316, quarter, -2.8973, 2.8973),
        (0.0825, 0.0, quarter, -3.0718, -0.0698),
        (-0.0825, 0.384, -quarter, -2.8973, 2.8973),
        (0.0, 0.0, quarter, -0.0175, 3.7525),
        (0.088, 0.0, quarter, -2.8973, 2.8973),
    )
    link = 'base'
    for at, (a, d, alpha, lower, upper) in enumerate(rows):
        # Rx(alpha) Tx(a) Tz(d), quarter turns only: no rounding of their cosines.
        turn = round(alpha / quarter)
        xyz = (a, -turn * d, 0.0) if turn else (a, 0.0, d)
        link = m.add(f'j{at + 1}', link, 'z', xyz, (alpha, 0.0, 0.0), (lower, upper))
    m.add('tool_fixed', link, '-', (0.0, 0.0, 0.107), child='tool')
    m.home = {'j2': -pi / 4, 'j4': -3 * pi / 4, 'j6': pi / 2, 'j7': pi / 4}
    return m


def chain(count: int) -> Mechanism:
    """Return a chain of hinges about y and z in turn, 5 m long for any number of hinges."""
    m = Mechanism(f'chain{count}')
    link, step = 'base', (5.0 / count, 0.0, 0.0)
    for at in range(count):
        link = m.add(f'j{at}', link, 'z' if at % 2 else 'y', step, limits=(-1.0, 1.0))
        m.home[f'j{at}'] = 0.02 * (1.0 if at // 3 % 2 else -1.0)
    m.add('tool_fixed', link, '-', step, child='tool')
    return m


def within_limits(m: Mechanism, count: int, rng: np.random.Generator) -> Array:
    """Draw values (count, joints) between the limits, evenly."""
    lower = np.array([max(joint.lower, -pi) for joint in m.movable])
    upper = np.array([min(joint.upper, pi) for joint in m.movable])
    for at, joint in enumerate(m.movable):
        if np.isfinite((joint.lower, joint.upper)).all():
            lower[at], upper[at] = joint.lower, joint.upper
    return rng.uniform(lower, upper, (count, len(lower)))


def arm_tasks(count: int, seed: int) -> Iterator[Task]:
    """Yield each arm from random starts and from home."""
    arms = {
        'arm6': (ur5(), 'UR5'),
        'arm6_abb': (irb2400(), 'IRB 2400'),
        'arm7': (panda(), 'Panda'),
    }
    for name, (arm, what) in arms.items():
        rng = np.random.default_rng((seed, len(name), len(arm.names)))
        witness, starts = within_limits(arm, count, rng), within_limits(arm, count, rng)
        home = np.tile(arm.home_q, (count, 1))
        for ending, at, words in (('random', starts, 'a random start'), ('home', home, 'home')):
            form = Form(arm, [('tool', 'pose')], at, witness)
            yield Task(f'{name}_{ending}', f'{what}, pose, from {words}', {'tree': form})


def chain_tasks(count: int, seed: int) -> Iterator[Task]:
    """Yield chains of 10, 100 and 1000 joints that bend to a pose."""
    for joints in (10, 30, 100, 300, 1000):
        arm = chain(joints)
        rng = np.random.default_rng((seed, joints))
        some = max(5, min(count, 5000 // joints))
        home = np.tile(arm.home_q, (some, 1))
        # A random walk of angles bends ever less per joint, so that chains stay stretched alike.
        bend = rng.normal(0.0, 1.0, (some, joints)) / np.sqrt(joints)
        witness = np.clip(home + bend, -0.99, 0.99)
        form = Form(arm, [('tool', 'pose')], home, witness)
        about = f'{joints} hinges in a chain, pose, from home'
        yield Task(f'chain{joints}', about, {'tree': form}, 'chain', joints)
