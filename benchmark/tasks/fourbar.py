"""A planar crank-rocker whose answers are two circles that meet."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np
from tasks.judge import Array
from tasks.mechanism import HINGE, Loop, Mechanism
from tasks.task import Form, Task

CRANK, COUPLER, ROCKER, GROUND = 0.4, 1.1, 0.9, 1.0
HOME = 1.2


def fourbar() -> Mechanism:
    """Return the crank with its coupler, and the rocker, to be closed by a hinge."""
    m = Mechanism('fourbar')
    m.add('crank', 'base', 'z', child='crank_link')
    m.add('coupler', 'crank_link', 'z', (CRANK, 0.0, 0.0), child='coupler_link')
    m.add('rocker', 'base', 'z', (GROUND, 0.0, 0.0), child='rocker_link')
    m.add('pen_fixed', 'coupler_link', '-', (0.55, 0.3, 0.0), child='pen')
    ends = {'xyz_a': (COUPLER, 0.0, 0.0), 'xyz_b': (ROCKER, 0.0, 0.0)}
    m.loops.append(Loop('pin', 'coupler_link', 'rocker_link', HINGE, **ends))
    m.home = dict(zip(m.names, assembled(np.array([HOME]), np.ones(1))[0], strict=True))
    return m


def assembled(crank: Array, branch: Array) -> Array:
    """Return crank, coupler and rocker angles (n, 3); branch +1 is the upper assembly."""
    ax, ay = CRANK * np.cos(crank), CRANK * np.sin(crank)
    dx, dy = GROUND - ax, -ay
    d = np.hypot(dx, dy)
    along = (COUPLER**2 - ROCKER**2 + d * d) / (2 * d)
    up = branch * np.sqrt(COUPLER**2 - along**2)
    bx, by = ax + (along * dx - up * dy) / d, ay + (along * dy + up * dx) / d
    coupler = np.arctan2(by - ay, bx - ax) - crank
    return np.stack((crank, wrapped(coupler), np.arctan2(by, bx - GROUND)), axis=1)


def wrapped(angle: Array) -> Array:
    """Return angles between -pi and pi."""
    return np.mod(angle + pi, 2 * pi) - pi


def fourbar_tasks(count: int, seed: int) -> Iterator[Task]:
    """Yield a driven crank, cold and along a sweep, and points of the coupler in any branch."""
    m = fourbar()
    rng = np.random.default_rng((seed, 4))
    home = np.tile(m.home_q, (count, 1))
    upper = np.ones(count)
    witness = assembled(HOME + rng.uniform(-pi, pi, count), upper)
    form = Form(m, [], home, witness, ['crank'])
    yield Task('fourbar_crank', 'four-bar, crank angle given, from home', {'tree': form})
    path = assembled(HOME + 2 * pi * np.arange(count + 1) / count, np.ones(count + 1))
    form = Form(m, [], path[:-1], path[1:], ['crank'])
    yield Task('fourbar_sweep', 'four-bar, crank goes round in small steps', {'tree': form})
    branch = np.where(rng.random(count) < 0.5, 1.0, -1.0)
    witness = assembled(rng.uniform(-pi, pi, count), branch)
    form = Form(m, [('pen', 'position')], home, witness)
    yield Task('fourbar_point', 'four-bar, coupler point of either branch', {'tree': form})
