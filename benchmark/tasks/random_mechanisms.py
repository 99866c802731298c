"""Random arms, loops and walkers with tied feet, with random goals that they reach."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import ik_node as ik
import numpy as np
from tasks.arms import within_limits
from tasks.judge import Array, errors, forward, limit_excess
from tasks.mechanism import ALL, HINGE, Loop, Mechanism, POINT, Triple

Rng = np.random.Generator
# A closed configuration has gaps below this [m], [rad].
CLOSED = 1e-9
# Draws of joint values for each goal that is wanted; some have no closed configuration near them.
DRAWS = 4


def random_arm(rng: Rng) -> tuple[Mechanism, str, str]:
    """Return an arm of 4 to 7 axes in general directions, some of them slides, and its goal."""
    m, link = Mechanism('arm'), 'base'
    for at in range(rng.integers(4, 8)):
        axis = rng.choice(list('xyzXYZ'), p=[0.3, 0.3, 0.3, 0.03, 0.03, 0.04])
        most = rng.uniform(1.0, 3.1) if axis.islower() else 0.3
        rpy = _triple(rng, pi) if rng.random() < 0.3 else (0.0, 0.0, 0.0)
        link = m.add(f'j{at}', link, axis, _triple(rng, 0.3), rpy, (-most, most))
    return m, _tip(m, link, rng), ALL


def planar_loop(rng: Rng) -> tuple[Mechanism, str, str]:
    """Return a closed chain of 4 to 7 hinges about y, maybe with a second loop, and its goal."""
    m, link, links = Mechanism('planar'), 'base', []
    for at in range(rng.integers(3, 7)):
        link = m.add(f'j{at}', link, 'y', _flat(rng), limits=_limits(rng))
        links.append(link)
    _close(m, link, _flat(rng), str(rng.choice(['X Z', POINT, HINGE])))
    if rng.random() < 0.5:
        arm = m.add(
            'k1', m.add('k0', str(rng.choice(links[:-1])), 'y', _flat(rng)), 'y', _flat(rng)
        )
        _close(m, arm, _flat(rng), 'X Z')
    return m, _tip(m, links[len(links) // 2], rng), 'X Z'


def spatial_loop(rng: Rng) -> tuple[Mechanism, str, str]:
    """Return a closed chain of hinges in general directions with mobility 1 to 3, and its goal."""
    m, link, links = Mechanism('spatial'), 'base', []
    dof = ALL if rng.random() < 0.5 else POINT
    for at in range(len(dof.split()) + rng.integers(1, 4)):
        xyz = _triple(rng, 0.3)
        link = m.add(f'j{at}', link, str(rng.choice(list('xyz'))), xyz, limits=_limits(rng))
        links.append(link)
    _close(m, link, _triple(rng, 0.3), dof)
    return m, _tip(m, links[len(links) // 2], rng), POINT


def walker(rng: Rng) -> tuple[Mechanism, str, str]:
    """Return a floating body on 2 to 4 legs whose feet are points on the floor, and its goal."""
    m, body = Mechanism('walker'), 'base'
    for axis in 'XYZzyx':
        most = 0.3 if axis.isupper() else 0.6
        height = (0.0, 0.0, 0.6 if axis == 'X' else 0.0)
        body = m.add(f'body_{axis}{"xyz".find(axis)}', body, axis, height, limits=(-most, most))
    hinges = rng.choice(['xyy', 'zyy', 'zyyy', 'xyyx', 'zxyyx'])
    for leg in range(rng.integers(2, 5)):
        around = 2 * pi * leg / 4 + rng.uniform(-0.3, 0.3)
        link, xyz = body, (0.25 * np.cos(around), 0.25 * np.sin(around), 0.0)
        for at, axis in enumerate(hinges):
            most = rng.uniform(0.8, 1.8)
            link = m.add(f'leg{leg}_{at}', link, axis, xyz, limits=(-most, most))
            xyz = (rng.uniform(-0.12, 0.12), 0.02, rng.uniform(-0.35, -0.1))
        _close(m, link, xyz, POINT)
    return m, body, ALL


MAKERS: dict[str, Callable[[Rng], tuple[Mechanism, str, str]]] = {
    each.__name__: each for each in (random_arm, planar_loop, spatial_loop, walker)
}


def closed_values(m: Mechanism, count: int, rng: Rng) -> Array:
    """
    Return up to `count` random values (n, joints) within the limits, with closed loops.

    The solver closes the loops; only what `tasks.judge` finds closed is returned.
    """
    if not m.loops:
        return within_limits(m, count, rng)
    solver = ik.Solver(ik.load_robot(m.urdf(), closures=m.closures(), assemble=False))
    order = [solver.joint_names.index(name) for name in m.names]
    starts = np.zeros((DRAWS * count, len(order)))
    starts[:, order] = within_limits(m, len(starts), rng)
    q = solver.solve_batch({}, starts).q[:, order]
    gaps = errors(m, [], np.zeros((len(q), 0, 7)), q).max(axis=1)
    inside = np.array([limit_excess(m, values[None])[0] <= 0.0 for values in q])
    return q[(gaps < CLOSED) & inside][:count]


def _triple(rng: Rng, size: float) -> Triple:
    x, y, z = rng.uniform(-size, size, 3).tolist()
    return x, y, z


def _flat(rng: Rng) -> Triple:
    x, z = rng.uniform(-0.4, 0.4, 2).tolist()
    return x, 0.0, z


def _limits(rng: Rng) -> tuple[float, float]:
    """Return limits of a hinge: none in half of all cases."""
    most = np.inf if rng.random() < 0.5 else rng.uniform(1.0, 3.0)
    return -most, most


def _tip(m: Mechanism, link: str, rng: Rng) -> str:
    xyz = _flat(rng) if m.name == 'planar' else _triple(rng, 0.2)
    return m.add('tip_fixed', link, '-', xyz, child='tip')


def _close(m: Mechanism, link: str, xyz: Triple, dof: str) -> None:
    """Tie a point of a link to where it is with all values 0; hinges are about y."""
    pose = forward(m, np.zeros(len(m.names)))[link][0]
    x, y, z = (pose[:3, 3] + pose[:3, :3] @ xyz).tolist()
    rpy = (-pi / 2, 0.0, 0.0) if dof == HINGE else (0.0, 0.0, 0.0)
    m.loops.append(Loop(f'loop{len(m.loops)}', link, 'base', dof, xyz, rpy, (x, y, z), rpy))
