"""Platforms on legs of universal joint, slider and ball, with leg values in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from math import acos, atan2, cos, pi, sin

import numpy as np
from tasks.judge import Array, pose_matrix, rpy_matrix
from tasks.mechanism import Loop, Mechanism, POINT, Triple
from tasks.task import Form, Task

HEIGHT = 0.6
SHIFT, TURN = ('px', 'py', 'pz'), ('pc', 'pb', 'pa')


def anchors(leg: int, legs: int) -> tuple[Triple, Triple]:
    """Return the anchors of a leg on the base, and on the platform in its own frame."""
    pairs, side = legs // 2, 1.0 if leg % 2 else -1.0
    middle = 2 * pi / pairs * (leg // 2)
    low, high = middle + side * 0.51 / pairs, middle + side * (pi - 0.51) / pairs
    return (0.5 * cos(low), 0.5 * sin(low), 0.0), (0.3 * cos(high), 0.3 * sin(high), 0.0)


def stance(leg: int, legs: int) -> tuple[Triple, Triple, Triple, float]:
    """Return foot, anchor, the rotation of z from foot to anchor at home, and its length."""
    foot, top = anchors(leg, legs)
    x, y, z = top[0] - foot[0], top[1] - foot[1], top[2] + HEIGHT - foot[2]
    length = (x * x + y * y + z * z) ** 0.5
    return foot, top, (0.0, acos(z / length), atan2(y, x)), length


def add_leg(m: Mechanism, leg: int, legs: int, ball: bool, child: str = '') -> str:
    """Add universal joint and slider, and optionally the ball; return the last link."""
    foot, _, rpy, length = stance(leg, legs)
    link = m.add(f'uy{leg}', 'base', 'y', foot, rpy, (-0.7, 0.7))
    link = m.add(f'ux{leg}', link, 'x', limits=(-0.7, 0.7))
    link = m.add(f'p{leg}', link, 'Z', (0.0, 0.0, length), limits=(-0.2, 0.2))
    if not ball:
        return link
    for axis in 'zyx':
        last = child if axis == 'x' else ''
        link = m.add(f'b{axis}{leg}', link, axis, limits=(-1.0, 1.0), child=last)
    return link


def floating(legs: int) -> Mechanism:
    """Return a platform on six joints, every leg welded to it: 6 + 6 * legs joints."""
    m = Mechanism(f'platform{legs}')
    link = 'base'
    for name, axis in zip((*SHIFT, *TURN), 'XYZzyx', strict=True):
        xyz = (0.0, 0.0, HEIGHT) if name == 'px' else (0.0, 0.0, 0.0)
        most = 0.2 if name in SHIFT else 0.8
        child = 'platform' if axis == 'x' else ''
        link = m.add(name, link, axis, xyz, limits=(-most, most), child=child)
    for leg in range(legs):
        _, top, rpy, _ = stance(leg, legs)
        end = add_leg(m, leg, legs, ball=True)
        m.loops.append(Loop(f'leg{leg}', end, 'platform', xyz_b=top, rpy_b=rpy))
    return m


def carried(legs: int) -> Mechanism:
    """Return a platform at the end of leg 0, other legs closed by points: 3 + 3 * legs joints."""
    m = Mechanism(f'carried{legs}')
    _, top, rpy, _ = stance(0, legs)
    end = add_leg(m, 0, legs, ball=True, child='foot')
    back = np.linalg.inv(pose_matrix(top, rpy))
    # The platform seen from its anchor on leg 0: Rz Ry Rx of the inverse turn.
    turn = (
        atan2(back[2, 1], back[2, 2]),
        float(np.arcsin(-back[2, 0])),
        atan2(back[1, 0], back[0, 0]),
    )
    m.add('platform_fixed', end, '-', tuple(back[:3, 3].tolist()), turn, child='platform')
    for leg in range(1, legs):
        end = add_leg(m, leg, legs, ball=False)
        m.loops.append(Loop(f'leg{leg}', end, 'platform', POINT, xyz_b=anchors(leg, legs)[1]))
    return m


def legs_for(poses: Array, legs: int) -> Array:
    """Return uy, ux, p, bz, by, bx of every leg, (n, legs, 6), for platform poses (n, 4, 4)."""
    values = np.zeros((len(poses), legs, 6))
    for leg in range(legs):
        foot, top, rpy, length = stance(leg, legs)
        standing, lying = rpy_matrix(rpy), pose_matrix(top, rpy)
        anchor = poses @ lying
        reach = (anchor[:, :3, 3] - foot) @ standing
        far = np.linalg.norm(reach, axis=1)
        ux = -np.arcsin(reach[:, 1] / far)
        uy = np.arctan2(reach[:, 0], reach[:, 2])
        along = np.array([rpy_matrix((a, b, 0.0)) for a, b in zip(ux, uy, strict=True)])
        # rpy_matrix turns about x first in the fixed frame: Ry(uy) Rx(ux), as the joints do.
        ball = np.swapaxes(standing @ along, 1, 2) @ anchor[:, :3, :3]
        bz = np.arctan2(ball[:, 1, 0], ball[:, 0, 0])
        by = np.arcsin(-ball[:, 2, 0])
        bx = np.arctan2(ball[:, 2, 1], ball[:, 2, 2])
        values[:, leg] = np.stack((uy, ux, far - length, bz, by, bx), axis=1)
    return values


def answers(m: Mechanism, platform: Array, legs: int) -> Array:
    """Return q (n, joints) for platform values (n, 6): px, py, pz, pc, pb, pa."""
    poses = np.array([pose_matrix(tuple(p[:3]), (p[5], p[4], p[3])) for p in platform])
    poses[:, 2, 3] += HEIGHT
    values = legs_for(poses, legs)
    column = dict(zip((*SHIFT, *TURN), platform.T, strict=True))
    for leg in range(legs):
        for at, name in enumerate(('uy', 'ux', 'p', 'bz', 'by', 'bx')):
            column[f'{name}{leg}'] = values[:, leg, at]
    return np.stack([column[name] for name in m.names], axis=1)


def inside(m: Mechanism, q: Array) -> Array:
    """Return which answers keep all limits with a small margin."""
    lower = np.array([joint.lower for joint in m.movable])
    upper = np.array([joint.upper for joint in m.movable])
    return ((q > lower + 1e-3) & (q < upper - 1e-3)).all(axis=1)


def reachable(legs: int, count: int, rng: np.random.Generator) -> Array:
    """Draw platform values (count, 6) that all legs reach."""
    m, most = floating(legs), np.array([0.1, 0.1, 0.08, 0.35, 0.25, 0.25])
    found = np.zeros((0, 6))
    while len(found) < count:
        drawn = rng.uniform(-most, most, (count, 6))
        found = np.concatenate((found, drawn[inside(m, answers(m, drawn, legs))]))
    return found[:count]


def forms(legs: int, starts: Array, platform: Array, legs_given: bool = False) -> dict[str, Form]:
    """Return both forms of a platform task, with platform values at start and goal."""
    made = {}
    for name, m in (('floating', floating(legs)), ('carried', carried(legs))):
        made[name] = Form(
            m,
            [] if legs_given else [('platform', 'pose')],
            answers(m, starts, legs),
            answers(m, platform, legs),
            [f'p{leg}' for leg in range(legs)] if legs_given else [],
        )
    return made


def stewart_tasks(count: int, seed: int) -> Iterator[Task]:
    """Yield a six-legged platform: pose from home, small steps, and given leg lengths."""
    rng = np.random.default_rng((seed, 6))
    home = np.zeros((count, 6))
    poses = reachable(6, count, rng)
    about = 'Stewart platform'
    yield Task('stewart_pose', f'{about}, pose from home', forms(6, home, poses))
    phase = 2 * pi * np.arange(count + 1)[:, None] / 400 * np.array([1, 2, 3, 1, 2, 3])
    size = np.array([0.06, 0.06, 0.04, 0.15, 0.1, 0.1])
    path = size * np.sin(phase + np.arange(6))
    yield Task('stewart_track', f'{about}, a step on a path', forms(6, path[:-1], path[1:]))
    given = forms(6, home, poses, legs_given=True)
    yield Task('stewart_legs', f'{about}, lengths of legs given, from home', given)


def legs_tasks(count: int, seed: int) -> Iterator[Task]:
    """Yield platforms with 6 to 60 legs."""
    for legs in (6, 12, 24, 36, 60):
        rng = np.random.default_rng((seed, 60, legs))
        some = max(20, min(count, 1200 // legs))
        made = forms(legs, np.zeros((some, 6)), reachable(legs, some, rng))
        yield Task(f'legs{legs}', f'{legs} legs, pose from home', made, 'legs', legs)
