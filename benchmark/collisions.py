"""
Goals that can be reached without collisions: success and time.

Goals are poses of configurations that are free of contact, closed where there are loops; every
solve starts at another of them. Robots: a 6-joint arm of the size of an xArm 6 with a table and a
shelf; two arms on one box, beside a pole; a hexapod with thick legs and a post; a humanoid with
loops that avoids itself, with goals for hands and feet. Bodies are primitives. `coal` judges the
answers if it is installed (PyPI: coal), otherwise our own distances do. Times are processor times.
A line ends with how many answers are CONVERGED and in contact, which must be none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

import ik_node as ik
import numpy as np
from numpy.typing import NDArray

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


def arm_with_shelf() -> tuple[ik.Robot, list[str]]:
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
    return robot, ['link6']


def two_arms() -> tuple[ik.Robot, list[str]]:
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
    return robot, ['box_link']


def hexapod() -> tuple[ik.Robot, list[str]]:
    """Return a hexapod with thick legs, and a post beside its platform."""
    robot = ik.load_robot('hexapod')
    add_limbs(robot, 0.007, 0.004)
    robot.collisions.add_body('platform_link', ik.Cylinder(0.03, 0.004))
    place = robot.forward(robot.q, 'platform_link')[:3, 3]
    robot.collisions.add_obstacle(ik.Capsule(0.01, 0.1), place + np.array((0.043, 0.0, 0.0)))
    return robot, ['platform_link']


def humanoid() -> tuple[ik.Robot, list[str]]:
    """Return the humanoid with bodies on its limbs."""
    robot = ik.load_robot('humanoid')
    add_limbs(robot, 0.045, 0.02)
    words = ('hand', 'foot')
    return robot, [
        name for name in robot.links if name.endswith(tuple(f'{w}_link' for w in words))
    ]


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


def measure(name: str, robot: ik.Robot, goals: list[str], count: int, spread: float) -> None:
    """Solve for goals of free configurations, and print a line."""
    targets = free_configurations(robot, count, spread)
    solver, plain = ik.Solver(robot), ik.Solver(robot, ik.SolverOptions(avoid_collisions=False))
    who, least = judge_of(robot)
    met, wrong, avoided, times = 0, 0, 0, []
    for q, start in zip(targets, np.roll(targets, 1, axis=0), strict=True):
        poses = {goal: robot.forward(q, goal) for goal in goals}
        avoided += bool(robot.collisions.contacts(plain.solve_pose(poses, start).q))
        began = process_time()
        found = solver.solve_pose(poses, start)
        times.append(process_time() - began)
        free = least(found.q) >= -CONTACT
        met += found.converged and free
        wrong += found.converged and not free
    ms = 1e3 * np.array(times)
    print(
        f'{name:22} {len(robot.collisions.flat().pairs):4} pairs, {count} goals: '
        f'{100.0 * met / count:5.1f} % solved and free, mean {ms.mean():.3f} ms, median '
        f'{np.median(ms):.3f} ms, 99 % {np.quantile(ms, 0.99):.3f} ms; {avoided} of them in '
        f'contact if collisions are not avoided; judge {who}; CONVERGED in contact: {wrong}'
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
    options = parser.parse_args()
    for name in SCENES if 'all' in options.scenes else options.scenes:
        make, spread = SCENES[name]
        robot, goals = make()
        measure(name, robot, goals, options.count, spread)


if __name__ == '__main__':
    main()
