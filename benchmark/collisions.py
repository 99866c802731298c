"""
Goals that can be reached without collisions: success and time.

Goals are poses of configurations that are free of contact, closed where there are loops; every
solve starts at another of them. Robots: a 6-joint arm of the size of an xArm 6 with a table and a
shelf; two arms on one box, beside a pole; a hexapod with thick legs, a motor below its platform
and three posts around it, whose goals are positions; a humanoid with loops that avoids itself,
with goals for hands and feet. Bodies are primitives. `coal` judges the answers if it is installed
(PyPI: coal), otherwise our own distances do. Times are processor times. A line ends with how many
answers are in contact, which must be none. Below it are mink, placo and pink, which
begin again up to nine times, where they are installed (PyPI: mink daqp placo pin-pink).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from time import process_time

import ik_node as ik
import numpy as np
from numpy.typing import NDArray
from peers.avoiding import solver_of

Array = NDArray[np.float64]
# An answer is in contact if two bodies overlap by more than this [m].
CONTACT = 1e-6
# Joints of the arm: position [m], rotation about x, limits [rad].
XARM = (
    ((0, 0, 0.267), 0.0, (-6.28, 6.28)),
    ((0, 0, 0), -np.pi / 2, (-2.059, 2.0944)),
    ((0.053, -0.2845, 0), 0.0, (-3.927, 0.19198)),
    ((0.0775, 0.3425, 0), -np.pi / 2, (-6.28, 6.28)),
    ((0, 0, 0), np.pi / 2, (-1.69297, 3.1416)),
    ((0.076, 0.097, 0), -np.pi / 2, (-6.28, 6.28)),
)


# A robot, and the link of each goal.
Scene = tuple[ik.Robot, dict[str, str]]


def xarm_text() -> str:
    """Return a URDF of the arm."""
    parts = ['<link name="base"/>']
    for k, (place, turn, (low, high)) in enumerate(XARM):
        above = 'base' if k == 0 else f'link{k}'
        x, y, z = place
        parts.append(
            f'<link name="link{k + 1}"/><joint name="joint{k + 1}" type="revolute">'
            f'<parent link="{above}"/><child link="link{k + 1}"/><axis xyz="0 0 1"/>'
            f'<origin xyz="{x} {y} {z}" rpy="{turn} 0 0"/>'
            f'<limit lower="{low}" upper="{high}" effort="1" velocity="3"/></joint>'
        )
    return f'<robot name="xarm">{"".join(parts)}</robot>'


def add_limbs(robot: ik.Robot, radius: float, gap: float) -> None:
    """Add a capsule to each link, from its origin to that of each joint on it, `gap` shorter."""
    for name, link in robot.links.items():
        for joint in link.children:
            end = np.array(joint.position) if isinstance(joint, ik.Joint) else np.zeros(3)
            length = float(np.linalg.norm(end))
            if length > 2.0 * radius + gap:
                z = end / length
                x = np.cross(z, np.eye(3)[int(np.abs(z).argmin())])
                pose = np.eye(4)
                pose[:3, 0] = x / np.linalg.norm(x)
                pose[:3, 1], pose[:3, 2] = np.cross(z, pose[:3, 0]), z
                pose[:3, 3] = 0.5 * end
                shape = ik.Capsule(radius, max(length - 2.0 * radius - gap, 1e-3))
                robot.collisions.add_body(name, shape, pose)
    for each in robot.collisions.contacts(margin=0.002):  # around joints of several links
        robot.collisions.ignore(*each.pair)


def arm_with_shelf() -> Scene:
    """Return the arm with a table and a shelf."""
    robot = ik.load_robot(xarm_text())
    robot.q = {'joint2': -0.5, 'joint3': -0.6, 'joint5': 1.0}
    add_limbs(robot, 0.05, 0.0)
    robot.collisions.add_body('link5', ik.Capsule(0.04, 0.08), (0.038, 0.05, 0.0))
    robot.collisions.add_body('link6', ik.Cylinder(0.04, 0.06), (0.0, 0.0, 0.04))
    for name, size, place in (
        ('table', (0.9, 1.4, 0.05), (0.65, 0.0, -0.03)),
        ('back', (0.03, 0.8, 0.7), (0.75, 0.0, 0.35)),
        ('left', (0.35, 0.03, 0.7), (0.58, 0.4, 0.35)),
        ('right', (0.35, 0.03, 0.7), (0.58, -0.4, 0.35)),
        ('board', (0.35, 0.8, 0.03), (0.58, 0.0, 0.35)),
    ):
        robot.collisions.add_obstacle(ik.Box(size), place, name=name)
    return robot, {'link6': 'link6'}


def two_arms() -> Scene:
    """Return two arms that hold one box, and a pole beside it."""
    robot = ik.load_robot('two_arms_one_box')
    add_limbs(robot, 0.04, 0.02)
    place = robot.forward(robot.q, 'box_link')[:3, 3]
    robot.collisions.add_body('box_link', ik.Box((0.2, 0.2, 0.2)))
    robot.collisions.add_obstacle(
        ik.Capsule(0.05, 0.6), place + np.array((0.25, 0.0, 0.15)), name='pole'
    )
    for each in robot.collisions.contacts():
        robot.collisions.ignore(*each.pair)
    return robot, {'box_link': 'box_link'}


def hexapod() -> Scene:
    """Return a hexapod with thick legs, a motor below its platform, and posts around it."""
    robot = ik.load_robot('hexapod')
    bodies = robot.collisions
    for closure in robot.closures.values():
        rod = closure.child.name
        length = float(closure.offset_matrix[2, 3])
        bodies.add_body(rod, ik.Capsule(0.01, length - 0.012), (0.0, 0.0, 0.5 * length - 0.006))
        leg = rod.replace('rod', 'body')
        bodies.add_body(leg, ik.Capsule(0.0115, 0.0285), (0.0, 0.0, 0.02575))
    bodies.add_body('platform_link', ik.Cylinder(0.045, 0.004), (0.0, 0.0, 0.014))
    bodies.add_body('platform_link', ik.Cylinder(0.026, 0.05), (0.0, 0.0, -0.025))
    for k, angle in enumerate(2.0 * np.pi / 3.0 * np.arange(3)):
        place = 0.06 * np.cos(angle), 0.06 * np.sin(angle), 0.1
        bodies.add_obstacle(ik.Capsule(0.008, 0.1), place, name=f'post{k}')
    robot.add_goal('platform_link', name='position', dof='X Y Z')
    return robot, {'position': 'platform_link'}


def humanoid() -> Scene:
    """Return the humanoid with bodies on its limbs."""
    robot = ik.load_robot('humanoid')
    add_limbs(robot, 0.045, 0.02)
    ends = ('hand_link', 'foot_link')
    return robot, {name: name for name in robot.links if name.endswith(ends)}


def free_configurations(robot: ik.Robot, count: int, spread: float) -> Array:
    """Return closed configurations without contact, within a share of the limits around home."""
    rng, home, found = np.random.default_rng(1), robot.q, []
    low, high = np.maximum(robot.lower, home - 3.0), np.minimum(robot.upper, home + 3.0)
    plain = ik.Solver(robot, ik.SolverOptions(avoid_collisions=False))
    while len(found) < count:
        starts = home + spread * (rng.uniform(low, high, (4 * count, len(home))) - home)
        closed = plain.solve_batch({}, starts)
        found += [
            q
            for q, fine in zip(closed.q, closed.converged, strict=True)
            if fine and not robot.collisions.contacts(q)
        ]
    return np.array(found[:count])


def coal_judge(robot: ik.Robot) -> Callable[[Array], float]:
    """Return a function of q that gives the least distance of all pairs by coal [m]."""
    import coal

    def shape_of(shape: ik.Box | ik.Sphere | ik.Capsule | ik.Cylinder) -> object:
        if isinstance(shape, ik.Sphere):
            return coal.Sphere(shape.radius)
        if isinstance(shape, ik.Box):
            return coal.Box(*shape.size)
        kind = coal.Capsule if isinstance(shape, ik.Capsule) else coal.Cylinder
        return kind(shape.radius, shape.length)

    bodies = robot.collisions.bodies
    shapes = [shape_of(body.shape) for body in bodies]
    pairs = robot.collisions.flat().pairs.tolist()
    request = coal.DistanceRequest()
    request.enable_signed_distance = True

    def least(q: Array) -> float:
        places = []
        for body in bodies:
            base = np.eye(4) if body.link is None else robot.forward(q, body.name)
            pose = base @ body.pose
            places.append(coal.Transform3s(pose[:3, :3], pose[:3, 3]))
        return min(
            coal.distance(
                *(shapes[a], places[a], shapes[b], places[b]), request, coal.DistanceResult()
            )
            for a, b in pairs
        )

    return least


def judge_of(robot: ik.Robot) -> tuple[str, Callable[[Array], float]]:
    """Return the name of a judge and its function."""
    try:
        return 'coal', coal_judge(robot)
    except ImportError:
        return 'ik_node', lambda q: float(robot.collisions.measured(q, 1.0)[:, 0].min())


def measure(name: str, scene: Scene, count: int, spread: float, few: int) -> None:
    """Solve for goals of free configurations, and print a line; others solve `few` of them."""
    robot, goals = scene
    targets = free_configurations(robot, count, spread)
    solver, plain = ik.Solver(robot), ik.Solver(robot, ik.SolverOptions(avoid_collisions=False))
    who, least = judge_of(robot)

    def solve(poses: Mapping[str, Array], start: Array) -> Array | None:
        found = solver.solve_pose(poses, start)
        return found.q if found.converged else None

    avoided, problems = 0, []
    for q, start in zip(targets, np.roll(targets, 1, axis=0), strict=True):
        poses = {goal: robot.forward(q, link) for goal, link in goals.items()}
        avoided += bool(robot.collisions.contacts(plain.solve_pose(poses, start).q))
        problems.append((poses, start))
    pairs = len(robot.collisions.flat().pairs)
    print(f'{name}: {pairs} pairs, {100.0 * avoided / count:.1f} % in contact if not avoided')
    print(f'  ik_node {timed(solve, problems, least)}; judge {who}')
    for peer in ('mink', 'placo', 'pink'):
        if peer == 'mink' or not robot.closures:
            try:
                other = solver_of(peer, robot, goals)
            except ImportError:
                continue
            print(f'  {peer:7} {timed(other, problems[:few], least)}', flush=True)


def timed(
    solve: Callable[[Mapping[str, Array], Array], Array | None],
    problems: Sequence[tuple[Mapping[str, Array], Array]],
    least: Callable[[Array], float],
) -> str:
    """Return how many problems a function solves without contact, and its times."""
    met = wrong = 0
    times = []
    for poses, start in problems:
        began = process_time()
        q = solve(poses, start)
        times.append(process_time() - began)
        free = q is not None and least(q) >= -CONTACT
        met, wrong = met + free, wrong + (q is not None and not free)
    ms = 1e3 * np.array(times)
    return (
        f'{100.0 * met / len(problems):5.1f} % of {len(problems)} solved and free, mean '
        f'{ms.mean():.3f} ms, median {np.median(ms):.3f} ms, 99 % {np.quantile(ms, 0.99):.3f} ms, '
        f'solved in contact: {wrong}'
    )


SCENES = {
    'arm': (arm_with_shelf, 1.0),
    'two-arms': (two_arms, 0.6),
    'hexapod': (hexapod, 1.0),
    'humanoid': (humanoid, 0.6),
}


def main() -> None:
    """Measure the scenes."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*SCENES, 'all']
    parser.add_argument('scenes', nargs='*', choices=names, default='all', help='default: all')
    parser.add_argument('--count', type=int, default=1000, help='goals of each')
    parser.add_argument('--few', type=int, default=100, help='goals of each for others')
    options = parser.parse_args()
    for name in SCENES if 'all' in options.scenes else options.scenes:
        make, spread = SCENES[name]
        measure(name, make(), options.count, spread, options.few)


if __name__ == '__main__':
    main()
