"""
Distances of bodies: time of each kind of pair, and the difference from coal if it is installed.

Pairs are placed at random. The time is that of one pair of many at the same place, with the last
simplex as a start (warm) and without (cold), for pairs that are apart and for those that overlap.
The last line is the broad phase: pairs of two arms that are far apart. Where coal differs by more
than 1e-6 m, the larger of both distances is right, because each is a separation that exists.
"""

from __future__ import annotations

import argparse
from itertools import combinations_with_replacement
from time import process_time

import ik_node as ik
from ik_node.kernels.layout import make_workspace, RESULT
from ik_node.model.bodies import core_of, Shape
from ik_node.model.flatten import FlatBodies, flatten_links
from ik_node.model.link import Link
from ik_node.model.tree import build_tree
from ik_node.native import bind
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
KINDS = ('sphere', 'capsule', 'box', 'cylinder', 'hull', 'half-space')
TOLERANCE = 1e-6


def random_shape(kind: str, rng: np.random.Generator) -> Shape:
    """Return a shape of a kind; a hull has 64 corners."""
    if kind == 'sphere':
        return ik.Sphere(rng.uniform(0.02, 0.4))
    if kind == 'box':
        return ik.Box(rng.uniform(0.04, 0.8, 3))
    if kind == 'half-space':
        return ik.HalfSpace()
    if kind == 'hull':
        points = rng.normal(size=(64, 3))
        return ik.Hull(points / np.linalg.norm(points, axis=1)[:, None] * rng.uniform(0.1, 0.4, 3))
    one = ik.Capsule if kind == 'capsule' else ik.Cylinder
    return one(rng.uniform(0.02, 0.3), rng.uniform(0.05, 0.8))


def measured(
    shapes: list[Shape],
    poses: Array,
    repeats: int = 0,
    reach: float = 1e9,
    pairs: Array | None = None,
) -> tuple[Array, float, float]:
    """
    Return the rows of pairs, and the warm and cold time of one pair [s].

    Without `pairs` they are (0, 1), (2, 3), ...
    """
    cores = [core_of(shape) for shape in shapes]
    frames = [
        [*pose[:3, :3].ravel(), *(pose[:3, 3] + pose[:3, :3] @ core.centre)]
        for core, pose in zip(cores, poses, strict=True)
    ]
    pairs = np.arange(len(shapes)).reshape(-1, 2) if pairs is None else pairs
    count = len(pairs)
    bodies = FlatBodies(
        np.full(len(shapes), -1),
        np.array([core.shape for core in cores]),
        np.array(frames),
        np.array([core.size for core in cores]),
        [core.points for core in cores],
        pairs,
    )
    ints, floats = flatten_links(build_tree([Link('root')], []), [], bodies)
    kernels, out = bind(ints, floats, *make_workspace(ints)), np.zeros((count, RESULT))
    spent = []
    for warm in (1.0, 0.0):
        limits = np.array([reach, warm])
        kernels.distances(np.zeros(0), limits, out)
        began = process_time()
        for _ in range(repeats):
            kernels.distances(np.zeros(0), limits, out)
        spent.append((process_time() - began) / max(repeats, 1) / count)
    return out, spent[0], spent[1]


def by_coal(a: Shape, pose_a: Array, b: Shape, pose_b: Array) -> float:
    """Return the distance by coal [m]."""
    import coal

    def made(shape: Shape) -> object:
        if isinstance(shape, ik.Sphere):
            return coal.Sphere(shape.radius)
        if isinstance(shape, ik.Box):
            return coal.Box(*shape.size)
        if isinstance(shape, ik.HalfSpace):
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        if isinstance(shape, ik.Hull):
            corners, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
            hull = ConvexHull(shape.points)
            for point in hull.points:
                corners.append(point)
            for (i, j, k), plane in zip(hull.simplices, hull.equations, strict=True):
                p, q, r = hull.points[[i, j, k]]
                outwards = np.cross(q - p, r - p) @ plane[:3] > 0.0
                triangles.append(coal.Triangle(*map(int, (i, j, k) if outwards else (i, k, j))))
            return coal.Convex(corners, triangles)
        kind = coal.Capsule if isinstance(shape, ik.Capsule) else coal.Cylinder
        return kind(shape.radius, shape.length)

    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations, request.epa_max_iterations = 2000, 1000
    places = [coal.Transform3s(pose[:3, :3], pose[:3, 3]) for pose in (pose_a, pose_b)]
    result = coal.DistanceResult()
    return float(coal.distance(made(a), places[0], made(b), places[1], request, result))


def random_poses(count: int, span: float, rng: np.random.Generator) -> Array:
    """Return poses near the origin, shape (count, 4, 4)."""
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.random(count, random_state=int(rng.integers(1 << 31))).as_matrix()
    poses[:, :3, 3] = rng.uniform(-span, span, (count, 3))
    return poses


def main() -> None:
    """Measure every kind of pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--count', type=int, default=1000, help='placements of each kind')
    options = parser.parse_args()
    try:
        import coal  # noqa: F401

        judged = True
    except ImportError:
        judged = False
    for at, kinds in enumerate(combinations_with_replacement(KINDS, 2)):
        if kinds == ('half-space', 'half-space'):
            continue
        rng = np.random.default_rng(at)
        shapes = [random_shape(kind, rng) for _ in range(options.count) for kind in kinds]
        poses = random_poses(len(shapes), 0.45, rng)
        rows, _, _ = measured(shapes, poses)
        line = f'{kinds[0]:10} {kinds[1]:10}'
        for what, chosen in (('apart', rows[:, 0] > 0.0), ('overlap', rows[:, 0] <= 0.0)):
            own = [shapes[2 * k + n] for k in np.flatnonzero(chosen) for n in range(2)]
            _, warm, cold = measured(own, poses[np.repeat(chosen, 2)], 20)
            line += f' {what} {1e9 * warm:5.0f} ns warm {1e9 * cold:5.0f} ns cold,'
        if judged:
            other = np.array(
                [
                    by_coal(shapes[2 * k], poses[2 * k], shapes[2 * k + 1], poses[2 * k + 1])
                    for k in range(options.count)
                ]
            )
            off = np.abs(rows[:, 0] - other) > TOLERANCE
            line += f' coal differs at {int(off.sum())}'
            line += f' (ours smaller at {int((rows[off, 0] < other[off]).sum())})'
        print(line, flush=True)
    poses, one = random_poses(66, 9.0, np.random.default_rng(0)), np.arange(33)
    pairs = np.stack(np.meshgrid(one, 33 + one), axis=-1).reshape(-1, 2)
    _, warm, _ = measured([ik.Capsule(0.05, 0.2)] * 66, poses, 500, 0.05, pairs)
    print(f'broad phase of {len(pairs)} pairs of 66 bodies: {1e6 * len(pairs) * warm:.1f} us')


if __name__ == '__main__':
    main()
