"""
Generate motions of people: walking, reaching and squatting, with fourteen key points.

`python benchmark/human_motion.py FOLDER` writes clips as .npz, or as .bvh with --bvh, for
`ik_node motion`. Every clip has a person of its own, whose limbs have other proportions than those
of the humanoid of the gallery, so that its key points conflict.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from math import pi
from pathlib import Path
import sys

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

RATE = 60.0  # [Hz]
KINDS = ('walk', 'reach', 'squat')
# Joint -> the joint that carries it, and its place in it [m]: x forward, y left, z up. A person of
# 1.75 m whose arms and legs hang straight down when no joint is turned.
SKELETON: dict[str, tuple[str, tuple[float, float, float]]] = {
    'pelvis': ('', (0.0, 0.0, 0.95)),
    'chest': ('pelvis', (0.0, 0.0, 0.12)),
    'head': ('chest', (0.03, 0.0, 0.50)),
    'left_shoulder': ('chest', (0.0, 0.19, 0.34)),
    'left_elbow': ('left_shoulder', (0.0, 0.0, -0.30)),
    'left_wrist': ('left_elbow', (0.0, 0.0, -0.26)),
    'right_shoulder': ('chest', (0.0, -0.19, 0.34)),
    'right_elbow': ('right_shoulder', (0.0, 0.0, -0.30)),
    'right_wrist': ('right_elbow', (0.0, 0.0, -0.26)),
    'left_hip': ('pelvis', (0.0, 0.095, -0.02)),
    'left_knee': ('left_hip', (0.0, 0.0, -0.43)),
    'left_foot': ('left_knee', (0.0, 0.0, -0.42)),
    'left_toe': ('left_foot', (0.17, 0.0, -0.06)),
    'right_hip': ('pelvis', (0.0, -0.095, -0.02)),
    'right_knee': ('right_hip', (0.0, 0.0, -0.43)),
    'right_foot': ('right_knee', (0.0, 0.0, -0.42)),
    'right_toe': ('right_foot', (0.17, 0.0, -0.06)),
}
KEY_POINTS = tuple(name for name in SKELETON if name not in ('chest', 'left_hip', 'right_hip'))
SIDES = (('left', 1.0), ('right', -1.0))
ANKLE = 0.08  # height of the ankle of a standing foot [m]
STANCE = 0.6  # share of a gait cycle in which a foot stands


@dataclass
class Clip:
    """
    A motion of a skeleton.

    Attributes
    ----------
    name : str
        Kind and number.
    offsets : dict of str to ndarray, shape (3,)
        Place of each joint in the one that carries it [m].
    positions : dict of str to ndarray, shape (N, 3)
        Place of each joint [m]; z is up.
    turns : dict of str to Rotation
        Orientation of each joint, N rotations.

    """

    name: str
    offsets: dict[str, Array]
    positions: dict[str, Array]
    turns: dict[str, Rotation]

    @property
    def poses(self) -> dict[str, Array]:
        """Return position and quaternion xyzw of every key point, shape (N, 7)."""
        return {
            name: np.hstack((self.positions[name], self.turns[name].as_quat()))
            for name in KEY_POINTS
        }


def clips(count: int, frames: int = 1000, seed: int = 0) -> Iterator[Clip]:
    """Yield clips of all kinds in turn, each with variations of its own."""
    for number in range(count):
        yield clip(
            KINDS[number % len(KINDS)], frames, np.random.default_rng((seed, number)), number
        )


def clip(kind: str, frames: int, rng: np.random.Generator, number: int = 0) -> Clip:
    """Return a clip of one kind at 60 Hz."""
    body = _Body(frames, rng)
    {'walk': _walk, 'reach': _reach, 'squat': _squat}[kind](body, np.arange(frames) / RATE, rng)
    return Clip(f'{kind}{number:03d}', body.offsets, body.positions, body.turns)


class _Body:
    """A person with varied proportions whose joints are placed one after the other."""

    def __init__(self, frames: int, rng: np.random.Generator) -> None:
        self.frames = frames
        factors = {part: rng.uniform(0.94, 1.06) for part in ('arm', 'trunk', 'leg')}
        self.offsets = {}
        for name, (_, offset) in SKELETON.items():
            part = name.rpartition('_')[2]
            kind = {'elbow': 'arm', 'wrist': 'arm', 'knee': 'leg', 'foot': 'leg'}.get(
                part, 'trunk'
            )
            factor = 1.0 if name == 'pelvis' else factors[kind]
            self.offsets[name] = factor * np.array(offset)
        legs = self.offsets['left_knee'][2] + self.offsets['left_foot'][2]
        # Straight legs, and 2 cm that the knees are bent.
        self.height = ANKLE - legs - self.offsets['left_hip'][2] - 0.02
        self.positions: dict[str, Array] = {}
        self.turns: dict[str, Rotation] = {}

    def place(self, name: str, local: Rotation) -> None:
        """Place a joint, turned by `local` in the joint that carries it."""
        above = SKELETON[name][0]
        self.positions[name] = self.positions[above] + self.turns[above].apply(self.offsets[name])
        self.turns[name] = self.turns[above] * local

    def trunk(self, position: Array, pelvis: Rotation, chest: Rotation, gaze: Rotation) -> None:
        """Place pelvis, chest and head."""
        self.positions['pelvis'], self.turns['pelvis'] = position, pelvis
        self.place('chest', chest)
        self.place('head', gaze)

    def arm(self, side: str, shoulder: Rotation, elbow: Array, wrist: Rotation) -> None:
        """Place an arm; positive angles of the elbow bend it [rad]."""
        self.place(f'{side}_shoulder', shoulder)
        self.place(f'{side}_elbow', _turn(y=-elbow))
        self.place(f'{side}_wrist', wrist)

    def leg(self, side: str, ankle: Array, foot: Rotation) -> None:
        """Place a leg from pelvis to ankle, with the knee in front."""
        self.place(f'{side}_hip', Rotation.identity(self.frames))
        hip = self.positions[f'{side}_hip']
        thigh, shank = (-float(self.offsets[f'{side}_{part}'][2]) for part in ('knee', 'foot'))
        way = ankle - hip
        far = np.minimum(np.linalg.norm(way, axis=1), 0.999 * (thigh + shank))
        down = way / np.linalg.norm(way, axis=1)[:, None]
        ankle = hip + far[:, None] * down
        across = np.cross(-down, self.turns['pelvis'].apply((1.0, 0.0, 0.0)))
        across /= np.linalg.norm(across, axis=1)[:, None]
        ahead = np.cross(across, -down)
        along = (far**2 + thigh**2 - shank**2) / (2.0 * far)
        knee = hip + along[:, None] * down + np.sqrt(thigh**2 - along**2)[:, None] * ahead
        for name, start, end in ((f'{side}_hip', hip, knee), (f'{side}_knee', knee, ankle)):
            up = (start - end) / np.linalg.norm(start - end, axis=1)[:, None]
            axes = np.stack((np.cross(across, up), across, up), axis=2)
            self.turns[name] = Rotation.from_matrix(axes)
        self.positions[f'{side}_knee'], self.positions[f'{side}_foot'] = knee, ankle
        self.turns[f'{side}_foot'] = foot
        self.place(f'{side}_toe', Rotation.identity(self.frames))


def _walk(body: _Body, time: Array, rng: np.random.Generator) -> None:
    """Walk on an arc: feet stand where they are put down, and arms swing against the legs."""
    speed, bend = rng.uniform(0.4, 1.1), rng.uniform(0.25, 0.6) * rng.choice((-1.0, 1.0))
    cycle, lift = rng.uniform(1.0, 1.4), rng.uniform(0.04, 0.09)

    def path(at: Array) -> tuple[Array, Array]:
        """Return place (N, 3) and heading (N,) at times."""
        heading = bend * speed * at
        place = np.stack((np.sin(heading), 1.0 - np.cos(heading), np.zeros_like(at)), axis=1)
        return place / bend, heading

    here, heading = path(time)
    phase = 2.0 * pi * time / cycle
    here[:, 2] = body.height - 0.05 + 0.015 * np.cos(2.0 * phase)
    here += _turn(z=heading).apply((0.0, 1.0, 0.0)) * (0.02 * np.sin(phase))[:, None]
    sway = rng.uniform(0.05, 0.12)
    pelvis = _turn(z=heading + sway * np.sin(phase), x=0.03 * np.sin(phase), y=0.05)
    chest = _turn(z=-2.0 * sway * np.sin(phase), y=0.03 + 0.02 * np.cos(2.0 * phase))
    body.trunk(here, pelvis, chest, _turn(z=sway * np.sin(phase), y=0.1 * np.sin(0.3 * phase)))
    swing, elbow = rng.uniform(0.25, 0.5), rng.uniform(0.25, 0.7)
    for side, sign in SIDES:
        beat = sign * np.cos(phase)
        shoulder = _turn(x=0.12 * sign, y=swing * beat)
        body.arm(side, shoulder, elbow - 0.2 * beat, _turn(y=0.1 * beat))
        steps = time / cycle + (0.0 if sign > 0 else 0.5)
        number, share = np.floor(steps), np.mod(steps, 1.0)
        moved = np.clip((share - STANCE) / (1.0 - STANCE), 0.0, 1.0)
        # The foot stands where the body is in the middle of its stance.
        middle = (number + 0.5 * STANCE - (0.0 if sign > 0 else 0.5)) * cycle
        (start, from_), (end, to) = path(middle), path(middle + cycle)
        smooth = moved**2 * (3.0 - 2.0 * moved)
        yaw = from_ + smooth * (to - from_)
        foot = start + smooth[:, None] * (end - start)
        foot += _turn(z=yaw).apply((0.0, 0.085 * sign, 0.0))
        foot[:, 2] = ANKLE + lift * np.sin(pi * moved) ** 2
        body.leg(side, foot, _turn(z=yaw, y=0.35 * np.sin(2.0 * pi * moved) * (moved > 0.0)))


def _reach(body: _Body, time: Array, rng: np.random.Generator) -> None:
    """Stand, and reach with both hands to places in front, above and to the sides."""
    here = np.stack([0.04 * _wave(time, rng, 0.3) for _ in range(3)], axis=1)
    here[:, 2] = body.height - 0.05 - np.abs(here[:, 2])
    pelvis = _turn(z=0.15 * _wave(time, rng, 0.2), x=0.05 * _wave(time, rng, 0.2))
    lean, twist = 0.2 + 0.25 * _wave(time, rng, 0.3), 0.4 * _wave(time, rng, 0.3)
    gaze = _turn(z=0.5 * _wave(time, rng, 0.3), y=0.3 * _wave(time, rng, 0.3))
    body.trunk(here, pelvis, _turn(z=twist, y=lean, x=0.1 * _wave(time, rng, 0.2)), gaze)
    for side, sign in SIDES:
        raised = -1.0 + 0.9 * _wave(time, rng, 0.4)
        aside = sign * (0.5 + 0.4 * _wave(time, rng, 0.4))
        shoulder = _turn(x=aside, y=raised, z=0.3 * _wave(time, rng, 0.3))
        elbow = 0.9 + 0.7 * _wave(time, rng, 0.5)
        wrist = _turn(x=0.4 * _wave(time, rng, 0.5), y=0.4 * _wave(time, rng, 0.5))
        body.arm(side, shoulder, elbow, wrist)
        _stand(body, side, sign, 0.11)


def _squat(body: _Body, time: Array, rng: np.random.Generator) -> None:
    """Squat with arms that rise forwards, at a varying depth."""
    period, depth = rng.uniform(2.5, 4.5), rng.uniform(0.15, 0.4)
    down = 0.5 - 0.5 * np.cos(2.0 * pi * time / period)
    down *= 0.8 + 0.2 * _wave(time, rng, 0.1)
    here = np.stack((-0.25 * depth * down, 0.01 * _wave(time, rng, 0.3), -depth * down), axis=1)
    here[:, 2] += body.height - 0.02
    lean = rng.uniform(0.3, 0.6) * down
    chest = _turn(y=0.6 * lean, z=0.1 * _wave(time, rng, 0.2))
    body.trunk(here, _turn(y=0.4 * lean), chest, _turn(y=-0.6 * lean))
    apart, rise = rng.uniform(0.1, 0.17), rng.uniform(0.9, 1.4)
    for side, sign in SIDES:
        aside = sign * (0.15 + 0.1 * _wave(time, rng, 0.2))
        body.arm(
            side, _turn(x=aside, y=-rise * down - lean), 0.3 + 0.4 * down, _turn(y=0.2 * down)
        )
        _stand(body, side, sign, apart)


def _stand(body: _Body, side: str, sign: float, apart: float) -> None:
    """Place a leg whose foot stands still."""
    still = np.zeros(body.frames)
    ankle = np.stack((still, still + sign * apart, still + ANKLE), axis=1)
    body.leg(side, ankle, _turn(z=still + 0.15 * sign))


def _turn(x: Array | float = 0.0, y: Array | float = 0.0, z: Array | float = 0.0) -> Rotation:
    """Return the rotations Rz(z) Ry(y) Rx(x) [rad]."""
    return Rotation.from_euler('ZYX', np.stack(np.broadcast_arrays(z, y, x), axis=-1))


def _wave(time: Array, rng: np.random.Generator, rate: float) -> Array:
    """Return a smooth random function of time within -1 and 1; `rate` is its frequency [Hz]."""
    parts = [
        share * np.sin(2.0 * pi * rng.uniform(0.4, 1.0) * rate * time + rng.uniform(0.0, 2.0 * pi))
        for share in (0.5, 0.3, 0.2)
    ]
    return np.sum(parts, axis=0)


def bvh(motion: Clip) -> str:
    """Return a clip as BVH: Y is up, lengths in [cm], angles in [deg]."""
    # BVH axes X Y Z are left, up, forward.
    axes = Rotation.from_matrix([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    order: list[str] = []

    def joint(name: str, indent: str) -> str:
        order.append(name)
        above = SKELETON[name][0]
        offset = 100.0 * axes.apply(motion.offsets[name]) if above else np.zeros(3)
        moves = '3 Zrotation Xrotation Yrotation'
        if not above:
            moves = '6 Xposition Yposition Zposition Zrotation Xrotation Yrotation'
        below = ''.join(joint(n, indent + '  ') for n, (up, _) in SKELETON.items() if up == name)
        end = (
            below or f'{indent}  End Site\n{indent}  {{\n{indent}    OFFSET 0 0 0\n{indent}  }}\n'
        )
        return (
            f'{indent}{"JOINT" if above else "ROOT"} {name}\n{indent}{{\n'
            f'{indent}  OFFSET {_row(offset)}\n{indent}  CHANNELS {moves}\n{end}{indent}}}\n'
        )

    text = 'HIERARCHY\n' + joint('pelvis', '')
    columns = [100.0 * axes.apply(motion.positions['pelvis'])]
    for name in order:
        above = SKELETON[name][0]
        local = motion.turns[above].inv() * motion.turns[name] if above else motion.turns[name]
        columns.append((axes * local * axes.inv()).as_euler('ZXY', degrees=True))
    rows = '\n'.join(_row(row) for row in np.hstack(columns))
    return f'{text}MOTION\nFrames: {len(columns[0])}\nFrame Time: {1.0 / RATE:.8f}\n{rows}\n'


def _row(values: Array) -> str:
    return ' '.join(f'{value:.6f}' for value in values)


def main(words: list[str] | None = None) -> int:
    """Write clips to a folder."""
    parser = argparse.ArgumentParser(prog='human_motion.py', description=__doc__)
    parser.add_argument('folder', type=Path, help='folder for the files; made if it is missing')
    parser.add_argument('--clips', type=int, default=3, help='number of clips (default 3)')
    parser.add_argument('--frames', type=int, default=1000, help='frames of each (default 1000)')
    parser.add_argument('--seed', type=int, default=0, help='seed of the variations (default 0)')
    parser.add_argument('--bvh', action='store_true', help='write .bvh instead of .npz')
    args = parser.parse_args(words)
    args.folder.mkdir(parents=True, exist_ok=True)
    for motion in clips(args.clips, args.frames, args.seed):
        path = args.folder / f'{motion.name}.{"bvh" if args.bvh else "npz"}'
        if args.bvh:
            path.write_text(bvh(motion))
        else:
            times = np.arange(args.frames) / RATE
            np.savez_compressed(path, times=times, **motion.poses)
        print(path)
    return 0


if __name__ == '__main__':
    sys.exit(main())
