"""A humanoid with four-bar knees and ankles on two rods each: six loops."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np
from tasks.judge import Array, forward
from tasks.mechanism import HINGE, Loop, Mechanism, POINT
from tasks.task import Form, Task

SIDES = (('l', 1.0), ('r', -1.0))
KNEE_CRANK, KNEE_LEVER, KNEE_ROD = 0.05, 0.06, 0.3
ANKLE_CRANK, ANKLE_ROD, ANKLE_DROP = 0.05, 0.28, 0.12


def humanoid() -> Mechanism:
    """Return pelvis on six joints, two legs, waist, two arms, neck: 52 joints, 22 loop rows."""
    m = Mechanism('humanoid')
    link = 'base'
    for name, axis in zip(('px', 'py', 'pz', 'yaw', 'pitch', 'roll'), 'XYZzyx', strict=True):
        xyz = (0.0, 0.0, 0.9) if name == 'px' else (0.0, 0.0, 0.0)
        most = 1.0 if axis.isupper() else 1.5
        child = 'pelvis' if name == 'roll' else ''
        link = m.add(name, link, axis, xyz, limits=(-most, most), child=child)
    link = m.add('waist_z', 'pelvis', 'z', (0.0, 0.0, 0.1), limits=(-1.2, 1.2))
    torso = m.add('waist_y', link, 'y', (0.0, 0.0, 0.05), limits=(-0.6, 0.9), child='torso')
    link = m.add('neck_z', torso, 'z', (0.0, 0.0, 0.45), limits=(-1.5, 1.5))
    m.add('neck_y', link, 'y', (0.0, 0.0, 0.05), limits=(-0.7, 0.7), child='head')
    for side, sign in SIDES:
        add_leg(m, side, sign)
        add_arm(m, side, sign)
    rest = {'hip_y': -0.35, 'knee': 0.7, 'ankle_y': -0.35, 'shoulder_y': 0.2, 'elbow': -0.9}
    posture = {f'{side}_{name}': value for side, _ in SIDES for name, value in rest.items()}
    q = np.array([[posture.get(name, 0.0) for name in m.names]])
    m.home = dict(zip(m.names, with_loops(m, q)[0].tolist(), strict=True))
    return m


def add_leg(m: Mechanism, side: str, sign: float) -> None:
    """Add hip, knee with its crank and rod, ankle with two cranks and rods."""
    link = m.add(f'{side}_hip_z', 'pelvis', 'z', (0.0, 0.1 * sign, -0.05), limits=(-0.8, 0.8))
    link = m.add(f'{side}_hip_x', link, 'x', limits=(-0.6, 0.6))
    thigh = m.add(f'{side}_hip_y', link, 'y', limits=(-1.6, 0.8), child=f'{side}_thigh')
    shin = m.add(
        f'{side}_knee', thigh, 'y', (0.0, 0.0, -0.4), limits=(0.1, 1.5), child=f'{side}_shin'
    )
    # The crank and the lever of the shin point backwards, the rod goes down between them.
    crank = m.add(f'{side}_knee_crank', thigh, 'y', (0.0, 0.0, -0.1), limits=(-0.6, 2.2))
    rod = m.add(f'{side}_knee_rod', crank, 'y', (-KNEE_CRANK, 0.0, 0.0), limits=(-2.6, 1.6))
    upright = (-pi / 2, 0.0, 0.0)
    m.loops.append(
        Loop(
            f'{side}_knee_pin',
            rod,
            shin,
            HINGE,
            (0.0, 0.0, -KNEE_ROD),
            upright,
            (-KNEE_LEVER, 0.0, 0.0),
            upright,
        )
    )
    link = m.add(f'{side}_ankle_y', shin, 'y', (0.0, 0.0, -0.4), limits=(-0.9, 0.7))
    foot = m.add(f'{side}_ankle_x', link, 'x', limits=(-0.5, 0.5), child=f'{side}_foot')
    m.add(f'{side}_sole_fixed', foot, '-', (0.03, 0.0, -0.05), child=f'{side}_sole')
    for rod_side, across in (('in', -0.04), ('out', 0.04)):
        name = f'{side}_{rod_side}'
        place = (0.0, across * sign, -ANKLE_DROP)
        crank = m.add(f'{name}_crank', shin, 'y', place, limits=(-1.4, 1.4))
        link = m.add(f'{name}_rod_y', crank, 'y', (-ANKLE_CRANK, 0.0, 0.0), limits=(-1.6, 1.6))
        rod = m.add(f'{name}_rod_x', link, 'x', limits=(-0.7, 0.7))
        end, at = (0.0, 0.0, -ANKLE_ROD), (-ANKLE_CRANK, across * sign, 0.0)
        m.loops.append(Loop(f'{name}_ball', rod, foot, POINT, end, xyz_b=at))


def add_arm(m: Mechanism, side: str, sign: float) -> None:
    """Add an arm of seven hinges."""
    place = (0.0, 0.22 * sign, 0.4)
    link = m.add(f'{side}_shoulder_y', 'torso', 'y', place, limits=(-2.8, 1.5))
    reach = (-0.3, 2.0) if sign > 0 else (-2.0, 0.3)
    link = m.add(f'{side}_shoulder_x', link, 'x', limits=reach)
    link = m.add(f'{side}_shoulder_z', link, 'z', limits=(-1.8, 1.8))
    link = m.add(f'{side}_elbow', link, 'y', (0.0, 0.0, -0.28), limits=(-2.4, 0.0))
    link = m.add(f'{side}_wrist_z', link, 'z', (0.0, 0.0, -0.25), limits=(-1.8, 1.8))
    link = m.add(f'{side}_wrist_y', link, 'y', limits=(-1.0, 1.0))
    link = m.add(f'{side}_wrist_x', link, 'x', limits=(-0.8, 0.8))
    m.add(f'{side}_hand_fixed', link, '-', (0.0, 0.0, -0.08), child=f'{side}_hand')


def with_loops(m: Mechanism, q: Array) -> Array:
    """Return q with the cranks and rods where knees and ankles want them; NaN where they jam."""
    q, column = q.copy(), {name: at for at, name in enumerate(m.names)}
    poses = forward(m, q)
    for side, sign in SIDES:
        # In the thigh's xz plane: the lever's end, and the crank's end a rod's length from it.
        knee = q[:, column[f'{side}_knee']]
        zero = np.zeros_like(knee)
        lever = np.stack(
            (-KNEE_LEVER * np.cos(knee), zero, -0.3 + KNEE_LEVER * np.sin(knee)), axis=1
        )
        crank, turned = crank_and_direction(lever, KNEE_CRANK, KNEE_ROD)
        q[:, column[f'{side}_knee_crank']] = crank
        q[:, column[f'{side}_knee_rod']] = np.arctan2(-turned[:, 0], -turned[:, 2])
        shin = np.linalg.inv(poses[f'{side}_shin'])
        for rod, across in (('in', -0.04), ('out', 0.04)):
            end = np.array((-ANKLE_CRANK, across * sign, 0.0, 1.0))
            seen = (shin @ poses[f'{side}_foot'] @ end)[:, :3]
            seen -= (0.0, across * sign, -ANKLE_DROP)
            crank, turned = crank_and_direction(seen, ANKLE_CRANK, ANKLE_ROD)
            q[:, column[f'{side}_{rod}_crank']] = crank
            q[:, column[f'{side}_{rod}_rod_y']] = np.arctan2(-turned[:, 0], -turned[:, 2])
            q[:, column[f'{side}_{rod}_rod_x']] = np.arcsin(turned[:, 1])
    return q


def crank_and_direction(end: Array, crank: float, rod: float) -> tuple[Array, Array]:
    """
    Return the crank's angle and the rod's unit direction in the crank's frame.

    The crank turns about y at the origin and points to -x at 0; the rod ends at `end` (n, 3).
    """
    x, _, z = end.T
    far = (rod**2 - (end**2).sum(axis=1) - crank**2) / (2 * crank)
    with np.errstate(invalid='ignore'):
        half = np.arccos(far / np.hypot(x, z))
    middle = np.arctan2(-z, x)
    both = np.stack((middle + half, middle - half))
    both = np.mod(both + pi, 2 * pi) - pi
    angle = np.where(np.abs(both[0]) < np.abs(both[1]), both[0], both[1])
    sine, cosine = np.sin(angle), np.cos(angle)
    tip = np.stack((-crank * cosine, np.zeros_like(x), crank * sine), axis=1)
    dx, dy, dz = (end - tip).T / rod
    return angle, np.stack((cosine * dx - sine * dz, dy, sine * dx + cosine * dz), axis=1)


def humanoid_tasks(count: int, seed: int) -> Iterator[Task]:
    """Yield goals for both soles and both hands, from a crouch."""
    m = humanoid()
    rng = np.random.default_rng((seed, 52))
    home = np.array(m.home_q)
    lower = np.array([joint.lower for joint in m.movable])
    upper = np.array([joint.upper for joint in m.movable])
    most = np.array([0.1 if name in ('px', 'py', 'pz') else 0.35 for name in m.names])
    found = np.zeros((0, len(home)))
    while len(found) < count:
        drawn = home + rng.uniform(-most, most, (count, len(home)))
        drawn = with_loops(m, np.clip(drawn, lower + 0.02, upper - 0.02))
        good = np.isfinite(drawn).all(axis=1)
        good &= ((drawn > lower + 1e-3) & (drawn < upper - 1e-3)).all(axis=1)
        found = np.concatenate((found, drawn[good]))
    goals = [(f'{side}_{end}', 'pose') for side, _ in SIDES for end in ('sole', 'hand')]
    form = Form(m, goals, np.tile(home, (count, 1)), found[:count])
    yield Task('humanoid', '52 joints, 6 loops, soles and hands, from a crouch', {'tree': form})
