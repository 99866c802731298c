"""
Motions of people on a humanoid with loops; `bench motion`.

The humanoid of the gallery follows clips of walking, reaching and squatting at 60 Hz: fourteen
weighted goals in each frame that conflict, because people have other proportions. The table has
frames per second on one core, the mean cost, the largest gap of a loop, and the largest change of
a joint from frame to frame, beside mink with the same weighted tasks on the same robot, whose
loops are tasks of weight 100. mink takes one step in each frame, or steps until they gain less
than 0.001, at most ten, as projects that retarget motions do.

SLSQP of SciPy then minimises the same cost, half the sum of the weighted squares of the residuals
(docs/theory.md, eq. 5) and of the smoothed changes from the frame before (eq. 15), with the loops
as equations and the limits as bounds, for random frames: from our answer, and from the frame
before. Its forward kinematics is NumPy (`Robot.forward`).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
import subprocess
import sys
import tempfile
from time import process_time
from typing import Any

from human_motion import Clip, clips, RATE
import ik_node as ik
from ik_node.description.files import description_path
from ik_node.model.kinematics import TreePoses
from ik_node.motion.mapping import MotionMap, read_map
from ik_node.motion.read import LinkPoses, MotionFile
from machine import machine
import numpy as np
from numpy.typing import NDArray
from players import HERE, ONE_THREAD, PEER_VENVS
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from statics import mujoco, specified
from tqdm import tqdm

Array = NDArray[np.float64]
Poses = dict[str, tuple[Array, Array]]

MAP = HERE.parent / 'config' / 'humanoid_motion.yaml'
# What is claimed: least ratio to mink's frames per second, largest gap of a loop [m], largest
# ratios of our cost to that of SLSQP and of our jumps to mink's.
TIMES, CLOSED, COST, JUMP = 20.0, 1e-6, 1.01, 1.01
# mink's ways: steps in a frame, and the gain that ends them.
PEERS = {'mink, 1 step': (1, 0.0), 'mink, to 10 steps': (10, 1e-3)}
DAMPING = 1e-3  # of mink's steps
SMOOTHING = 1e-3  # of ours
# SLSQP's answers count if its loops are closed to this [m].
EQUAL = 1e-7


@dataclass
class Run:
    """
    How a solver followed the clips.

    Attributes
    ----------
    q : list of ndarray, shape (N, nq)
        Joint values of each clip [rad or m].
    rate : float
        Frames per second of processor time.
    gap : float
        Largest gap of a loop [m].
    steps : float
        Mean number of steps in a frame.

    """

    label: str
    q: list[Array]
    rate: float
    gap: float
    steps: float

    def cost(self, cost: Cost, goals: list[Poses]) -> float:
        """Return the mean cost of every twentieth frame of the clips."""
        found = [
            cost.value(q[row], frame_of(poses, row), q[row - 1])[0]
            for q, poses in zip(self.q, goals, strict=True)
            for row in range(20, len(q), 20)
        ]
        return float(np.mean(found))

    def jumps(self) -> Array:
        """Return the largest change from frame to frame of each joint [rad or m]."""
        return np.max([np.abs(np.diff(q, axis=0)).max(axis=0) for q in self.q], axis=0)


class Retargeting:
    """The humanoid with its goals, and the poses of the clips."""

    def __init__(self) -> None:
        self.robot = ik.load_robot(description_path('humanoid.urdf'))
        # The clips have their axes and unit already.
        from_file = read_map(MAP)
        self.map: MotionMap = replace(
            from_file, axes=Rotation.identity(), scale=100.0 * from_file.scale
        )
        self.map.add_goals(self.robot)

    def poses(self, clip: Clip) -> Poses:
        """Return the goals of a clip."""
        points = {
            name: LinkPoses(pose[:, :3], pose[:, 3:], turned=True)
            for name, pose in clip.poses.items()
        }
        return self.map.poses(MotionFile(Path(clip.name), points, None))


def ours(task: Retargeting, goals: list[Poses], smoothing: float) -> tuple[Run, float]:
    """Return our run on one thread, and the characteristic length [m]."""
    solver = ik.Solver(task.robot, ik.SolverOptions(compromise=True))
    solver.warm()
    start = task.robot.q
    # Once before the clock runs, for caches and lazy imports.
    solver.solve_paths([{n: (p[:5], r[:5]) for n, (p, r) in goals[0].items()}], start)
    begin = process_time()
    paths = solver.solve_paths(goals, start, 1.0 / RATE, threads=1, smoothing=smoothing)
    seconds = process_time() - begin
    for path, first, last, reason in paths.failures[:5]:
        print(f'clip {path}, frames {first} to {last}: {reason}')
    parts = [paths[n] for n in range(len(paths))]
    frames = sum(len(part) for part in parts)
    steps = sum(int(part.iterations.sum()) for part in parts) / frames
    length = parts[0][0].chains[0].characteristic_length
    q = [part.q for part in parts]
    return Run('ours', q, frames / seconds, largest_gap(task.robot, q), steps), length


def largest_gap(robot: ik.Robot, clips_q: list[Array]) -> float:
    """Return the largest gap of a loop by NumPy [m], in every tenth frame."""
    kinematics = Kinematics(robot)
    rows = np.concatenate([q[::10] for q in clips_q])
    return max(float(np.abs(kinematics.gaps(q)).max()) for q in rows)


def mink_run(
    task: Retargeting, label: str, goals: list[Poses], starts: list[Array], length: float
) -> Run | str:
    """Return mink's run, or why there is none."""
    python = PEER_VENVS / 'mink' / 'bin' / 'python'
    if mujoco is None or not python.is_file():
        return 'not installed (`tools/run python benchmark/set_up_peers.py mink`, and mujoco)'
    names = [entry.link for entry in task.map.links]
    turned = [float('EX' in entry.dof) for entry in task.map.links]
    weights = np.array([entry.weight for entry in task.map.links])
    targets = [np.stack([np.hstack(each[name]) for name in names], axis=1) for each in goals]
    steps, gain = PEERS[label]
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / 'in.npz', Path(folder) / 'out.npz'
        np.savez(
            given,
            mjcf=specified(task.robot.description.text).to_xml(),
            joints=task.robot.joint_names,
            bodies=names,
            position_cost=weights / length,
            orientation_cost=weights * turned,
            targets=np.array(targets),
            first=np.array(starts),
            damping=DAMPING,
            steps=steps,
            gain=gain,
        )
        done = subprocess.run(
            [str(python), '-m', 'mink_motion', str(given), str(found)],
            cwd=HERE,
            env={'PATH': '', **ONE_THREAD},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return (done.stderr.strip().splitlines() or ['failed'])[-1][:200]
        with np.load(found) as file:
            frames = file['q'].shape[0] * file['q'].shape[1]
            rate, gap = frames / float(file['seconds'].sum()), float(file['gap'])
            return Run(label, list(file['q']), rate, gap, float(file['steps']) / frames)


class Kinematics:
    """Loops and link poses of the robot in NumPy, with derivatives."""

    def __init__(self, robot: ik.Robot) -> None:
        self.robot = robot
        self.poses = TreePoses(ik.Solver(robot).tree)

    def gaps(self, q: Array) -> Array:
        """Return the gaps of all loops [m], three each."""
        found = [self._ends(q, loop) for loop in self.robot.closures.values()]
        return np.concatenate([a - b for a, b in found])

    def gap_jacobian(self, q: Array) -> Array:
        """Return the derivative of `gaps`."""
        rows = []
        for loop in self.robot.closures.values():
            ends = zip((loop.child, loop.parent), self._ends(q, loop), strict=True)
            a, b = (self.point_jacobian(q, link, place) for link, place in ends)
            rows.append(a - b)
        return np.concatenate(rows)

    def point_jacobian(self, q: Array, link: Any, place: Array) -> Array:
        """Return the derivative of a point of a link, root frame."""
        whole = self.poses.jacobian(q, link)
        arm = place - self.poses.pose(q, link)[:3, 3]
        return whole[:3] + np.cross(whole[3:].T, arm).T

    def _ends(self, q: Array, loop: Any) -> tuple[Array, Array]:
        a, b = self.poses.pose(q, loop.child), self.poses.pose(q, loop.parent)
        first = a[:3, :3] @ np.array([*loop.offset_position]) + a[:3, 3]
        return first, b[:3, :3] @ np.array([*loop.position]) + b[:3, 3]


class Cost:
    """
    The cost of a frame by theory.md, eq. (5) and (15), with its gradient.

    Parameters
    ----------
    task : Retargeting
        The robot and its mapping.
    length : float
        The characteristic length [m].
    smoothing : float
        Weight of the changes from the frame before.

    """

    def __init__(self, task: Retargeting, length: float, smoothing: float) -> None:
        self.smoothing = smoothing
        # A change of a sliding joint counts in characteristic lengths.
        slides = [dof.name in 'XYZ' for joint in task.robot.joints.values() for dof in joint.dof]
        self.units = np.where(slides, length, 1.0)
        self.kinematics = Kinematics(task.robot)
        self.length, self.robot = length, task.robot
        most = max(entry.weight for entry in task.map.links)
        self.entries = [(e.link, e.weight / most, 'EX' in e.dof) for e in task.map.links]

    def value(
        self, q: Array, frame: dict[str, tuple[Array, Rotation]], before: Array
    ) -> tuple[float, Array]:
        """
        Return cost and gradient.

        `frame` has the places and orientations of all goals, `before` is q of the last frame.
        """
        change = (q - before) / self.units
        cost = 0.5 * self.smoothing * float(change @ change)
        gradient = self.smoothing * change / self.units
        for link, weight, turned in self.entries:
            place, turn = frame[link]
            pose = self.kinematics.poses.pose(q, self.robot.links[link])
            jacobian = self.kinematics.poses.jacobian(q, self.robot.links[link])
            way = (pose[:3, 3] - place) / self.length
            cost += 0.5 * weight**2 * float(way @ way)
            gradient += weight**2 / self.length * (way @ jacobian[:3])
            if turned:
                # The left Jacobian of SO(3) leaves phi as it is, so that its derivative along
                # phi is the angular velocity.
                phi = (Rotation.from_matrix(pose[:3, :3]) * turn.inv()).as_rotvec()
                cost += 0.5 * weight**2 * float(phi @ phi)
                gradient += weight**2 * (phi @ jacobian[3:])
        return cost, gradient

    def least(self, q0: Array, frame: dict[str, tuple[Array, Rotation]], before: Array) -> float:
        """Return the least cost that SLSQP finds from a start with closed loops."""
        bounds = list(zip(self.robot.lower, self.robot.upper, strict=True))
        done = minimize(
            lambda q: self.value(q, frame, before),
            q0,
            jac=True,
            bounds=bounds,
            method='SLSQP',
            constraints={
                'type': 'eq',
                'fun': self.kinematics.gaps,
                'jac': self.kinematics.gap_jacobian,
            },
            options={'maxiter': 300, 'ftol': 1e-10},
        )
        closed = np.abs(self.kinematics.gaps(done.x)).max() < EQUAL
        return float(done.fun) if closed else np.inf


def frame_of(poses: Poses, row: int) -> dict[str, tuple[Array, Rotation]]:
    """Return place and orientation of every goal in a frame."""
    return {name: (p[row], Rotation.from_quat(r[row])) for name, (p, r) in poses.items()}


def cost_ratios(cost: Cost, goals: list[Poses], run: Run, count: int, seed: int) -> Array:
    """Return our cost by the least of SLSQP for random frames."""
    rng, ratios = np.random.default_rng(seed), []
    for _ in tqdm(range(count), desc='SLSQP', disable=None, leave=False):
        clip = int(rng.integers(len(goals)))
        row = int(rng.integers(1, len(run.q[clip])))
        frame = frame_of(goals[clip], row)
        found, before = run.q[clip][row], run.q[clip][row - 1]
        least = min(cost.least(start, frame, before) for start in (found, before))
        ratios.append(cost.value(found, frame, before)[0] / least)
    return np.array(ratios)


def main(words: list[str] | None = None) -> int:
    """Print the tables; return 1 if a claim fails."""
    parser = argparse.ArgumentParser(
        prog='ik_node bench motion',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add('--clips', type=int, default=100, help='number of clips (default 100)')
    add('--frames', type=int, default=1000, help='frames of each clip (default 1000)')
    add('--peer-clips', type=int, default=6, help='clips that mink follows, too (default 6)')
    add('--checked', type=int, default=200, help='frames compared with SLSQP (default 200)')
    add(
        '--smoothing',
        type=float,
        default=SMOOTHING,
        help=f'weight of the joint changes (default {SMOOTHING:g})',
    )
    add('--seed', type=int, default=0, help='of clips and frames (default 0)')
    args = parser.parse_args(words)
    print(machine())
    task = Retargeting()
    goals = [task.poses(clip) for clip in clips(args.clips, args.frames, args.seed)]
    run, length = ours(task, goals, args.smoothing)
    few = min(args.peer_clips, args.clips)
    runs = [run]
    for label in PEERS if few else ():
        found = mink_run(task, label, goals[:few], [q[0] for q in run.q[:few]], length)
        if isinstance(found, str):
            print(f'{label}: {found}')
            break
        runs.append(found)
    first = few or args.clips
    print(f'\n{args.clips} clips of {args.frames} frames; cost and jumps of the first {first}')
    names = ('solver', 'frames/s core', 'times', 'steps', 'cost', 'loops [m]', 'jump', 'of joint')
    print(' '.join(f'{name:>17s}' for name in names))
    cost = Cost(task, length, args.smoothing)
    fine = run.gap <= CLOSED
    jumps = {}
    for each in runs:
        same = replace(each, q=each.q[:few] if few else each.q)
        jump, mean = same.jumps(), same.cost(cost, goals[: len(same.q)])
        jumps[each.label] = float(jump.max())
        cells = (
            *(each.label, f'{each.rate:.0f}', f'{run.rate / each.rate:.1f}', f'{each.steps:.1f}'),
            *(
                f'{mean:.6f}',
                f'{each.gap:.1e}',
                f'{jump.max():.4f}',
                task.robot.joint_names[jump.argmax()],
            ),
        )
        print(' '.join(f'{cell:>17s}' for cell in cells))
    for each in runs[1:]:
        fine &= run.rate >= TIMES * each.rate and jumps['ours'] <= JUMP * jumps[each.label]
    if args.checked:
        ratios = cost_ratios(cost, goals, run, args.checked, args.seed)
        print(
            f'\ncost by that of SLSQP in {args.checked} frames: median {np.median(ratios):.6f}, '
            f'largest {ratios.max():.6f}, above {COST}: {int((ratios > COST).sum())}'
        )
        fine &= bool((ratios <= COST).all())
    return 0 if fine else 1


if __name__ == '__main__':
    sys.exit(main())
