"""Signed distances of bodies agree with the largest separation along any direction."""

from itertools import combinations_with_replacement

from ik_node.kernels.layout import make_workspace, RESULT
from ik_node.model.bodies import Box, Capsule, core_of, Cylinder, HalfSpace, Hull, Sphere
from ik_node.model.flatten import FlatBodies, flatten_links
from ik_node.model.link import Link
from ik_node.model.tree import build_tree
from ik_node.native import bind
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

KINDS = ('sphere', 'capsule', 'box', 'cylinder', 'hull', 'half-space')
PAIRS = [p for p in combinations_with_replacement(KINDS, 2) if p != ('half-space',) * 2]
PLACEMENTS = 12


def random_shape(kind, rng):
    """Return a shape of a kind."""
    if kind == 'sphere':
        return Sphere(rng.uniform(0.02, 0.4))
    if kind == 'box':
        return Box(rng.uniform(0.04, 0.8, 3))
    if kind == 'hull':
        return Hull(rng.normal(size=(rng.integers(5, 40), 3)) * rng.uniform(0.05, 0.2, 3))
    if kind == 'half-space':
        return HalfSpace()
    one = Capsule if kind == 'capsule' else Cylinder
    return one(rng.uniform(0.02, 0.3), rng.uniform(0.05, 0.8))


def random_pose(rng):
    """Return a pose near the origin."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(random_state=rng.integers(1 << 31)).as_matrix()
    pose[:3, 3] = rng.uniform(-0.45, 0.45, 3)
    return pose


def measured(placed, pairs):
    """Return the rows of the kernel for bodies (shape, pose) and pairs of them."""
    cores = [core_of(shape) for shape, _ in placed]
    frames = []
    for core, (_, pose) in zip(cores, placed, strict=True):
        frames.append([*pose[:3, :3].ravel(), *(pose[:3, 3] + pose[:3, :3] @ core.centre)])
    bodies = FlatBodies(
        np.full(len(placed), -1),
        np.array([core.shape for core in cores]),
        np.array(frames),
        np.array([core.size for core in cores]),
        [core.points for core in cores],
        np.array(pairs),
    )
    ints, floats = flatten_links(build_tree([Link('root')], []), [], bodies)
    out = np.zeros((len(pairs), RESULT))
    bind(ints, floats, *make_workspace(ints)).distances(np.zeros(0), np.array([1e9, 0.0]), out)
    return out


def support(shape, pose, n):
    """Return max n . x over the shape, for directions (..., 3)."""
    local = n @ pose[:3, :3]
    if isinstance(shape, Sphere):
        reach = shape.radius * np.linalg.norm(n, axis=-1)
    elif isinstance(shape, Capsule):
        reach = shape.radius * np.linalg.norm(n, axis=-1) + 0.5 * shape.length * abs(local[..., 2])
    elif isinstance(shape, Cylinder):
        reach = shape.radius * np.hypot(local[..., 0], local[..., 1])
        reach = reach + 0.5 * shape.length * abs(local[..., 2])
    elif isinstance(shape, Box):
        reach = abs(local) @ (0.5 * np.array(shape.size))
    else:
        reach = (local @ shape.points.T).max(axis=-1)
    return reach + n @ pose[:3, 3]


def separation(a, pose_a, b, pose_b, start):
    """Return the largest separation of two shapes along a direction near `start`, or any other."""
    if isinstance(b, HalfSpace):
        n = pose_b[:3, 2]
        return -support(a, pose_a, -n) - n @ pose_b[:3, 3]

    def gap(n):
        n = n / np.linalg.norm(n, axis=-1, keepdims=True)
        return -support(a, pose_a, -n) - support(b, pose_b, n)

    directions = np.random.default_rng(0).normal(size=(20000, 3))
    directions = np.vstack((directions, pose_a[:3, :3].T, -pose_a[:3, :3].T))
    directions = np.vstack((directions, pose_b[:3, :3].T, -pose_b[:3, :3].T, start))
    gaps = gap(directions)
    best = gaps.max()
    for at in (len(gaps) - 1, int(gaps.argmax())):
        found = minimize(
            lambda n: -float(gap(n)),
            directions[at],
            method='Nelder-Mead',
            options={'xatol': 1e-11, 'fatol': 1e-13, 'maxiter': 1000},
        )
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize('kinds', PAIRS, ids='-'.join)
def test_distance_is_the_largest_separation_and_its_points_are_that_far_apart(kinds):
    rng = np.random.default_rng(PAIRS.index(kinds))
    placed = [
        (random_shape(kind, rng), random_pose(rng)) for _ in range(PLACEMENTS) for kind in kinds
    ]
    pairs = [(2 * k, 2 * k + 1) for k in range(PLACEMENTS)]
    for (one, other), row in zip(pairs, measured(placed, pairs), strict=True):
        d, n, p, q = row[0], row[1:4], row[4:7], row[7:]
        assert d == pytest.approx(separation(*placed[one], *placed[other], n), abs=1e-6)
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
        assert p - q == pytest.approx(d * n, abs=1e-7)
    assert any(row[0] < 0.0 for row in measured(placed, pairs))


PRISM = np.array([(x, y, z) for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.4, 0.4)])


@pytest.mark.parametrize(
    ('a', 'b', 'depth'),
    [
        (Sphere(0.3), Cylinder(0.1, 0.8), 0.4),
        (Capsule(0.3, 0.8), Cylinder(0.05, 0.8), 0.35),
        (Cylinder(0.05, 0.8), Cylinder(0.3, 0.6), 0.35),
        (Cylinder(0.2, 0.7), Hull(PRISM), 0.25),
        (Box((0.1, 0.1, 0.8)), Cylinder(0.2, 0.7), 0.25),
        (Sphere(0.3), Hull(PRISM * (1.0, 1.0, 0.0)), 0.3),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize('turn', [0.0, 1e-13, 1e-9, 1e-6, 1e-3])
def test_depth_of_bodies_on_one_axis_is_right(a, b, depth, turn):
    """Depths that are equal in many directions are right, also where axes nearly agree."""
    pose, rng = np.eye(4), np.random.default_rng(0)
    for _ in range(10):
        own, other = random_pose(rng), pose.copy()
        other[:3, :3] = Rotation.from_rotvec(turn * rng.normal(size=3)).as_matrix()
        other[:3, 3] = turn * rng.normal(size=3)
        ((d, *rest),) = measured([(a, own), (b, own @ other)], [(0, 1)])
        n, p, q = np.reshape(rest, (3, 3))
        assert d == pytest.approx(-depth, abs=1e-8 + 2.0 * turn)
        assert p - q == pytest.approx(d * n, abs=1e-6)


@pytest.mark.parametrize('kinds', PAIRS, ids='-'.join)
def test_distance_changes_with_the_normal_and_never_faster_than_the_motion(kinds):
    rng = np.random.default_rng(PAIRS.index(kinds))
    a, b, at = random_shape(kinds[0], rng), random_shape(kinds[1], rng), random_pose(rng)
    way, steps = rng.normal(size=3), 120
    way = 1.5 * way / np.linalg.norm(way)
    placed = [(b, random_pose(rng))]
    for share in np.linspace(-0.5, 0.5, steps):
        pose = at.copy()
        pose[:3, 3] += share * way
        placed.append((a, pose))
    rows = measured(placed, [(k + 1, 0) for k in range(steps)])
    step = 1.5 / (steps - 1)
    assert np.abs(np.diff(rows[:, 0])).max() <= step + 1e-9
    # A small motion changes the distance by its share along the normal.
    small, near = 1e-6 * way, [placed[0]]
    for shape, pose in placed[1:]:
        for sign in (1.0, -1.0):
            moved = pose.copy()
            moved[:3, 3] += sign * small
            near.append((shape, moved))
    both = measured(near, [(k + 1, 0) for k in range(2 * steps)])[:, 0]
    slopes = (both[0::2] - both[1::2]) / 2e-6
    expected = rows[:, 1:4] @ way
    # At a few places the nearest feature changes, and the two sides differ.
    assert np.mean(np.abs(slopes - expected) < 1e-4) > 0.95


def test_touching_boxes_have_a_normal_and_no_distance():
    one, other = np.eye(4), np.eye(4)
    other[:3, 3] = 0.1, 0.05, 1.0
    (row,) = measured([(Box((1, 1, 1)), one), (Box((1, 1, 1)), other)], [(0, 1)])
    assert row[0] == pytest.approx(0.0, abs=1e-12)
    assert row[1:4] == pytest.approx((0.0, 0.0, -1.0), abs=1e-9)


@pytest.mark.parametrize(
    'shape', [Sphere(0.2), Capsule(0.1, 0.4), Box((0.2, 0.3, 0.4)), Cylinder(0.2, 0.3)]
)
def test_equal_shapes_at_one_place_overlap(shape):
    (row,) = measured([(shape, np.eye(4)), (shape, np.eye(4))], [(0, 1)])
    assert np.isfinite(row).all()
    assert row[0] < -0.15
    assert np.linalg.norm(row[1:4]) == pytest.approx(1.0)
