"""
Compare answers to unreachable goals with many searches by SciPy; `bench nearest`.

Every goal is asked once with the default options. SciPy searches for the least residual of the
same goal from many random starts: `least_squares` with bounds for arms, SLSQP with the loops as
equations for mechanisms with loops, over forward kinematics in NumPy (`judge`). The table says how
often the answer is within one per cent of the best that was found, how far off it is otherwise,
and whether all loops were closed and all limits kept. A residual is what the solver minimises:
radians, and metres divided by the characteristic length. The last columns are the median time of
an answer, that of reachable poses around home, and their ratio; --searches 0 measures only these.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, pi, sin
import sys
from time import perf_counter, thread_time
from typing import Any

import ik_node as ik
import numpy as np
from scipy.optimize import least_squares, minimize
from scipy.spatial.transform import Rotation
from tasks.arms import irb2400, panda, ur5
from tasks.judge import Array, forward, limit_excess, pose_matrix, quaternion_matrices, quaternions
from tasks.mechanism import ALL, Loop, Mechanism, POINT
from tasks.platforms import floating
from tqdm import tqdm

# Within this share of the best residual an answer counts as nearest.
NEAR = 0.01
# Reachable poses that are timed, and how far from home their joints are drawn [rad or m].
REACHABLE, AROUND = 200, 1.0
CLOSED = 1e-6


@dataclass
class Case:
    """
    A mechanism with a link and unreachable goals.

    Attributes
    ----------
    dof : str
        Axes that are asked for, in the root's axes.
    home : ndarray, shape (joints,)
        Where solves start.
    away : float
        How far from home goals are, at most [m]; the least is half of it.
    turned : float
        How far they are turned, at most [rad].

    """

    mechanism: Mechanism
    link: str
    dof: str
    away: float
    turned: float = 0.0

    @property
    def home(self) -> Array:
        """Return the start of the solves in the order of q."""
        return np.array(self.mechanism.home_q)

    def goals(self, count: int, seed: int) -> Iterator[tuple[Array, Array]]:
        """Yield positions [m] and quaternions xyzw around home, including reachable ones."""
        rng = np.random.default_rng((seed, len(self.mechanism.name)))
        here = forward(self.mechanism, self.home)[self.link][0]
        for _ in range(count):
            way = rng.normal(size=3)
            if 'Z' not in self.dof.split():
                way[2] = 0.0
            way *= self.away * rng.uniform(0.5, 1.0) / np.linalg.norm(way)
            turn = Rotation.from_rotvec(rng.uniform(-self.turned, self.turned, 3)).as_matrix()
            quat = quaternions((turn @ here[:3, :3])[None])[0]
            yield here[:3, 3] + way, quat


def fivebar() -> Mechanism:
    """Return two arms of two bars with a common end, with motors 0.4 m apart."""
    m = Mechanism('fivebar')
    for side, x in (('l', 0.0), ('r', 0.4)):
        link = m.add(f'{side}1', 'base', 'z', (x, 0.0, 0.0), limits=(-0.5, 3.6))
        m.add(f'{side}2', link, 'z', (0.4, 0.0, 0.0), limits=(-2.8, 2.8))
        m.add(f'{side}_end', f'{side}2_link', '-', (0.5, 0.0, 0.0), child=f'{side}_tip')
    m.loops.append(Loop('close', 'l_tip', 'r_tip', 'X Y'))
    return at_home(m, {'l1': 2.2, 'l2': -1.6, 'r1': 0.9, 'r2': 1.6})


def delta() -> Mechanism:
    """Return three arms with rods, and a platform that slides in x, y and z."""
    m, plate, rod = Mechanism('delta'), 'base', 0.5
    for name, axis in zip(('px', 'py', 'pz'), 'XYZ', strict=True):
        drop = (0.0, 0.0, -0.4) if name == 'px' else (0.0, 0.0, 0.0)
        child = 'platform' if name == 'pz' else ''
        plate = m.add(name, plate, axis, drop, child=child)
    for k in range(3):
        turn = 2.0 * pi * k / 3.0
        link = m.add(f'turn{k}', 'base', '-', (0.0, 0.0, 0.0), (0.0, 0.0, turn))
        link = m.add(f'arm{k}', link, 'y', (0.2, 0.0, 0.0), limits=(-0.8, 1.5))
        link = m.add(f'u{k}', link, 'y', (0.2, 0.0, 0.0))
        link = m.add(f'v{k}', link, 'x')
        m.add(f'rod{k}', link, '-', (0.0, 0.0, -rod), child=f'end{k}')
        at = (0.06 * float(np.cos(turn)), 0.06 * float(np.sin(turn)), 0.0)
        m.loops.append(Loop(f'ball{k}', f'end{k}', 'platform', POINT, xyz_b=at))
    return at_home(m, {f'u{k}': 0.6 for k in range(3)})


def three_legs(name: str, slides: bool) -> Mechanism:
    """Return a 3-UPU or 3-RUU: universal joints with parallel outer and inner axes."""
    m = Mechanism(name)
    for k in range(3):
        turn = 2.0 * pi * k / 3.0
        link = m.add(f'turn{k}', 'base', '-', (0.0, 0.0, 0.0), (0.0, 0.0, turn))
        foot = (0.3, 0.0, 0.0)
        if slides:
            link = m.add(f'a{k}', link, 'y', foot, limits=(-1.4, 1.4))
            link = m.add(f'b{k}', link, 'x', limits=(-1.4, 1.4))
            link = m.add(f'p{k}', link, 'Z', (0.0, 0.0, 0.5), limits=(-0.15, 0.15))
        else:
            link = m.add(f'r{k}', link, 'y', foot, limits=(-1.2, 1.2))
            link = m.add(f'a{k}', link, 'y', (0.15, 0.0, 0.0), limits=(-1.9, 1.9))
            link = m.add(f'b{k}', link, 'x', limits=(-1.2, 1.2))
            link = m.add(f'l{k}', link, '-', (0.0, 0.0, 0.5))
        link = m.add(f'c{k}', link, 'x', limits=(-1.4, 1.4))
        link = m.add(f'd{k}', link, 'y', limits=(-1.9, 1.9), child=f'end{k}')
        if k == 0:
            m.add('plate', link, '-', (-0.12, 0.0, 0.0), child='platform')
        else:
            at = (0.12 * float(np.cos(turn)), 0.12 * float(np.sin(turn)), 0.0)
            ends = {'xyz_b': at, 'rpy_b': (0.0, 0.0, turn)}
            m.loops.append(Loop(f'leg{k}', f'end{k}', 'platform', ALL, **ends))
    lean = {f'{j}{k}': v for k in range(3) for j, v in (('a', -0.3), ('d', 0.3))}
    return at_home(m, lean)


def at_home(m: Mechanism, near: dict[str, float]) -> Mechanism:
    """Close the loops near the given values, and use this configuration as home."""
    m.home = near
    loops = Searches(Case(m, m.joints[-1].child, 'X', 0.0))
    low, high = loops.bounds
    start = np.clip(m.home_q, low, high)
    found = least_squares(lambda q: loops.rows(q)[1], start, bounds=(low, high), xtol=1e-15)
    m.home = dict(zip(m.names, found.x.tolist(), strict=True))
    return m


class Searches:
    """
    Searches by SciPy for the least residual of a goal, with separate kinematics.

    Parameters
    ----------
    case : Case
    length : float
        The characteristic length [m] that positions of the goal are divided by, so that the
        residual is the one that the solver minimises.

    """

    def __init__(self, case: Case, length: float = 1.0) -> None:
        m = case.mechanism
        self.case, self.length = case, length
        self._goal = (np.zeros(3), np.eye(3))
        self._last: tuple[Array, tuple[Array, Array, Array, Array]] | None = None
        self.origins = [pose_matrix(joint.xyz, joint.rpy) for joint in m.joints]
        self.crosses = [np.cross(joint.axis, np.eye(3)).T for joint in m.joints]
        self.frames = [
            (pose_matrix(p.xyz_a, p.rpy_a), pose_matrix(p.xyz_b, p.rpy_b), _numbers(p.dof))
            for p in m.loops
        ]
        low = np.array([joint.lower for joint in m.movable])
        high = np.array([joint.upper for joint in m.movable])
        self.bounds = (low, high)
        self.axes = _numbers(case.dof)
        self.above = self._columns_above()

    @property
    def goal(self) -> tuple[Array, Array]:
        """Position [m] and rotation matrix of the goal."""
        return self._goal

    @goal.setter
    def goal(self, pose: tuple[Array, Array]) -> None:
        self._goal, self._last = pose, None

    def _columns_above(self) -> dict[str, list[int]]:
        above: dict[str, list[int]] = {'base': []}
        column = 0
        for joint in self.case.mechanism.joints:
            own = [] if joint.kind == 'fixed' else [column]
            column += len(own)
            above[joint.child] = above[joint.parent] + own
        return above

    def rows(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Return the rows of goal and loops, and their derivatives; lengths in `length`."""
        if self._last is None or not np.array_equal(q, self._last[0]):
            self._last = (q.copy(), self._rows(q))
        return self._last[1]

    def _rows(self, q: Array) -> tuple[Array, Array, Array, Array]:
        m = self.case.mechanism
        poses, screws = {'base': np.eye(4)}, list[tuple[Array, Array, bool]]()
        for joint, origin, cross in zip(m.joints, self.origins, self.crosses, strict=True):
            here = poses[joint.parent] @ origin
            if joint.kind != 'fixed':
                axis = here[:3, :3] @ joint.axis
                slides, value = joint.kind == 'prismatic', float(q[len(screws)])
                screws.append((axis, here[:3, 3].copy(), slides))
                if slides:
                    here[:3, 3] += value * axis
                else:
                    # Rodrigues: R = I + sin(q) K + (1 - cos(q)) K^2.
                    turn = np.eye(3) + sin(value) * cross + (1.0 - cos(value)) * cross @ cross
                    here[:3, :3] = here[:3, :3] @ turn
            poses[joint.child] = here
        link = poses[self.case.link]
        slope = self._slope(screws, self.case.link, link[:3, 3])
        turn, bend = _turn(link[:3, :3], self.goal[1])
        gap = np.concatenate((link[:3, 3] - self.goal[0], turn))
        slope[3:] = bend @ slope[3:]
        gap[:3] /= self.length
        slope[:3] /= self.length
        loops, slopes = [np.zeros(0)], [np.zeros((0, q.size))]
        for loop, (frame_a, frame_b, asked) in zip(m.loops, self.frames, strict=True):
            a, b = poses[loop.link_a] @ frame_a, poses[loop.link_b] @ frame_b
            by = self._slope(screws, loop.link_a, a[:3, 3])
            by -= self._slope(screws, loop.link_b, a[:3, 3])
            turn, bend = _turn(a[:3, :3], b[:3, :3])
            # In the axes of b, which turn along: the point of b under a's origin is what counts.
            back = b[:3, :3].T
            loops.append(np.concatenate((back @ (a[:3, 3] - b[:3, 3]), back @ turn))[asked])
            slopes.append(np.concatenate((back @ by[:3], back @ bend @ by[3:]))[asked])
        return gap[self.axes], np.concatenate(loops), slope[self.axes], np.concatenate(slopes)

    def _slope(self, screws: list[tuple[Array, Array, bool]], link: str, point: Array) -> Array:
        slope = np.zeros((6, len(screws)))
        for column in self.above[link]:
            axis, at, slides = screws[column]
            if slides:
                slope[:3, column] = axis
            else:
                x, y, z = point - at
                slope[:3, column] = (
                    axis[1] * z - axis[2] * y,
                    axis[2] * x - axis[0] * z,
                    axis[0] * y - axis[1] * x,
                )
                slope[3:, column] = axis
        return slope

    def draw(self, rng: np.random.Generator) -> Array:
        """Return a random start between the limits, at most half a turn or metre from zero."""
        low, high = np.maximum(self.bounds[0], -pi), np.minimum(self.bounds[1], pi)
        return rng.uniform(low, high)

    def search(self, start: Array) -> tuple[Array, float]:
        """Return the end of one search and its residual; inf if loops are open."""
        if not self.case.mechanism.loops:
            found = least_squares(
                lambda q: self.rows(q)[0],
                start,
                jac=lambda q: self.rows(q)[2],
                bounds=self.bounds,
                xtol=1e-12,
                ftol=1e-12,
                gtol=1e-12,
            )
            return found.x, float(np.linalg.norm(found.fun))
        # Many loops close along their limits, where dogbox takes a tenth of the steps of trf.
        found = least_squares(
            lambda q: self.rows(q)[1],
            start,
            jac=lambda q: self.rows(q)[3],
            bounds=self.bounds,
            method='dogbox',
            max_nfev=100,
        )
        if np.abs(found.fun).max() > 1e-3:
            return found.x, np.inf
        basis = _independent(self.rows(found.x)[3])
        done = minimize(
            lambda q: 0.5 * float(np.sum(self.rows(q)[0] ** 2)),
            found.x,
            jac=lambda q: self.rows(q)[2].T @ self.rows(q)[0],
            bounds=np.transpose(self.bounds),
            constraints={
                'type': 'eq',
                'fun': lambda q: basis.T @ self.rows(q)[1],
                'jac': lambda q: basis.T @ self.rows(q)[3],
            },
            method='SLSQP',
            options={'maxiter': 300, 'ftol': 1e-12},
        )
        q = np.clip(done.x, *self.bounds)
        gap, loops, _, _ = self.rows(q)
        return q, float(np.linalg.norm(gap)) if np.abs(loops).max() <= CLOSED else np.inf


def _numbers(dof: str) -> list[int]:
    return [ALL.split().index(axis) for axis in dof.split()]


def _turn(a: Array, b: Array) -> tuple[Array, Array]:
    """Return log(A B^T), and the inverse left Jacobian there."""
    phi = Rotation.from_matrix(a @ b.T).as_rotvec()
    angle = float(np.linalg.norm(phi))
    x, y, z = phi
    cross = np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    share = 1.0 / 12.0
    if angle > 1e-4:
        share = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    return phi, np.eye(3) - 0.5 * cross + share * cross @ cross


def _independent(slopes: Array) -> Array:
    """Return independent directions of the loops' rows as columns."""
    left, sizes, _ = np.linalg.svd(slopes, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-7 * sizes[0]])


def cases() -> dict[str, Case]:
    """Return the mechanisms by name."""
    return {
        'arm': Case(irb2400(), 'tool', ALL, 2.0, 1.5),
        'ur5': Case(ur5(), 'tool', ALL, 1.2, 1.5),
        'panda': Case(panda(), 'tool', ALL, 1.0, 1.5),
        'delta': Case(delta(), 'platform', POINT, 0.6),
        '3-RUU': Case(three_legs('3-RUU', slides=False), 'platform', POINT, 0.6),
        '3-UPU': Case(three_legs('3-UPU', slides=True), 'platform', POINT, 0.6),
        'fivebar': Case(fivebar(), 'l_tip', 'X Y', 1.2),
        'hexapod': Case(floating(6), 'platform', ALL, 0.5, 0.6),
    }


@dataclass
class Row:
    """Results of the goals of a mechanism, relative to the best residual."""

    name: str
    shares: list[float]
    starts: list[int]
    iterations: list[int]
    times: list[float]
    reachable: list[float]
    open_loops: int = 0
    beyond_limits: int = 0

    def __str__(self) -> str:
        shares = np.array(self.shares)
        return (
            f'{self.name:8}  {len(shares):5}  {np.mean(shares <= 1.0 + NEAR):8.1%}'
            f'  {100 * (shares.max(initial=1.0) - 1.0):8.1f} %  {np.median(self.iterations):10.0f}'
            f'  {self.open_loops:5}  {self.beyond_limits:6}  {1e6 * np.median(self.times):6.0f}'
            f'  {1e6 * np.median(self.reachable):9.0f}'
            f'  {np.median(self.times) / np.median(self.reachable):5.1f}'
        )


HEADER = (
    'robot     goals   nearest  worst over  iterations   open  beyond      us  reachable  ratio'
)


def measure(name: str, case: Case, goals: int, searches: int, seed: int = 0) -> Row:
    """
    Solve for goals, drop those that are reached, and search for the others by SciPy.

    Residuals are compared as the solver minimises them: radians, and metres divided by the
    characteristic length of the result.
    """
    plain = case.mechanism
    robot = ik.load_robot(plain.urdf(), closures=plain.closures(), assemble=False)
    robot.add_goal(case.link, name='goal', dof=case.dof)
    solver = ik.Solver(robot)
    order = [solver.joint_names.index(joint) for joint in plain.names]
    other, rng = Searches(case), np.random.default_rng(seed)
    bar = tqdm(total=goals, desc=name, disable=None, leave=False)
    start = np.zeros(len(order))
    start[order] = case.home
    row = Row(name, [], [], [], [], reachable_times(robot, case, start))
    drawn = case.goals(100 * goals, seed)
    while len(row.shares) < goals:
        position, quat = next(drawn)
        spent, solution = fastest(solver, (position, quat), start)
        if solution.status is ik.Status.CONVERGED:
            continue
        bar.update()
        row.times.append(spent)
        other.length = solution.chains[0].characteristic_length
        other.goal = (position, quaternion_matrices(quat[None])[0])
        q = solution.q[order]
        gap, loops, _, _ = other.rows(q)
        row.open_loops += int(np.abs(loops).max(initial=0.0) > CLOSED)
        row.beyond_limits += int(limit_excess(plain, q[None])[0] > 0.0)
        starts = [q, *(other.draw(rng) for _ in range(searches))] if searches else []
        found = [other.search(each)[1] for each in starts]
        mine = float(np.linalg.norm(gap))
        row.shares.append(mine / min([*found, mine]))
        row.starts.append(solution.starts)
        row.iterations.append(solution.iterations)
    bar.close()
    return row


def fastest(solver: ik.Solver, pose: tuple[Array, Array], start: Array) -> tuple[float, Any]:
    """Return the shortest processor time of three solves [s], and the answer."""
    times = []
    for _ in range(3):
        began = thread_time()
        solution = solver.solve_pose({'goal': pose}, start)
        times.append(thread_time() - began)
    return min(times), solution


def reachable_times(robot: ik.Robot, case: Case, start: Array) -> list[float]:
    """Return the times of solves for poses that the link has at random configurations [s]."""
    solver, rng = ik.Solver(robot), np.random.default_rng(1)
    times = list[float]()
    for _ in range(REACHABLE):
        low, high = (
            np.maximum(robot.lower, start - AROUND),
            np.minimum(robot.upper, start + AROUND),
        )
        here = solver.solve_pose({}, rng.uniform(low, high))
        pose = robot.forward(here.q, case.link)
        spent, solution = fastest(solver, (pose[:3, 3], quaternions(pose[None, :3, :3])[0]), start)
        if solution.status is ik.Status.CONVERGED:
            times.append(spent)
    return times


def main(words: list[str]) -> int:
    """Print the table; return 1 if less than 98 % of the answers are the nearest."""
    about = __doc__.strip().split('\n')[0]
    parser = argparse.ArgumentParser(prog='bench nearest', description=about)
    parser.add_argument('names', nargs='*', metavar='ROBOT', help=', '.join(cases()))
    parser.add_argument('--goals', type=int, default=63, help='out of reach, for each (63)')
    parser.add_argument('--seed', type=int, default=0, help='of goals and searches (0)')
    parser.add_argument('--searches', type=int, default=200, help="SciPy's, for each goal (200)")
    args = parser.parse_args(words)
    started, rows = perf_counter(), list[Row]()
    chosen = {name: case for name, case in cases().items() if name in (args.names or cases())}
    print(HEADER, flush=True)
    for name, case in chosen.items():
        rows.append(measure(name, case, args.goals, args.searches, args.seed))
        print(rows[-1], flush=True)
    shares = np.concatenate([row.shares for row in rows])
    near = float(np.mean(shares <= 1.0 + NEAR))
    print(f'{near:.1%} of {len(shares)} are nearest; {perf_counter() - started:.0f} s')
    return 0 if near >= 0.98 else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
