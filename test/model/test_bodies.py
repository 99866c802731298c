"""Shapes for collisions: what is refused, and hulls that are reduced outwards."""

from ik_node.errors import OptionError
from ik_node.model.bodies import (
    Box,
    Capsule,
    core_of,
    Cylinder,
    distance_from_hull,
    ellipsoid,
    Hull,
    MAX_POINTS,
    Mesh,
    Sphere,
)
import numpy as np
import pytest

NAN, INF = float('nan'), float('inf')


@pytest.mark.parametrize(
    'make',
    [
        lambda: Sphere(0.0),
        lambda: Sphere(NAN),
        lambda: Sphere('large'),
        lambda: Capsule(0.1, -1.0),
        lambda: Cylinder(INF, 1.0),
        lambda: Box((1.0, 2.0)),
        lambda: Box((1.0, 2.0, 0.0)),
        lambda: Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]),
        lambda: Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, INF)]),
        lambda: Mesh(3),
        lambda: Mesh('hand.stl', NAN),
        lambda: core_of(Mesh('no_such_file.stl')),
    ],
)
def test_shape_with_bad_sizes_is_refused(make):
    with pytest.raises(OptionError):
        make()


def test_reduced_hull_contains_all_points_and_reports_its_overestimate():
    points = np.random.default_rng(0).normal(size=(600, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    core = core_of(Hull(points))
    corners = core.points + core.centre
    assert len(corners) <= MAX_POINTS
    assert max(distance_from_hull(point, corners) for point in points[:100]) < 1e-6
    assert core.overestimate == pytest.approx(max(np.linalg.norm(corners, axis=1)) - 1.0, abs=0.02)


def test_small_hull_keeps_its_corners():
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)], float)
    core = core_of(Hull(np.vstack((corners, corners.mean(axis=0)))))
    found = {tuple(point) for point in np.round(core.points + core.centre, 12).tolist()}
    assert found == {tuple(point) for point in corners.tolist()}
    assert core.overestimate == 0.0


def test_points_in_a_plane_are_a_hull():
    core = core_of(Hull([(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1), (0.5, 0.5, 1)]))
    assert len(core.points) == 4
    tilted = [(x, y, 0.3 * x - 0.2 * y) for x in range(30) for y in range(30)]
    assert len(core_of(Hull(tilted)).points) == 4


def test_polytope_around_an_ellipsoid_contains_it():
    radii = np.array((0.1, 0.2, 0.3))
    core = core_of(ellipsoid(*radii))
    corners = core.points + core.centre
    surface = np.random.default_rng(1).normal(size=(200, 3))
    surface = radii * surface / np.linalg.norm(surface, axis=1)[:, None]
    assert max(distance_from_hull(point, corners) for point in surface) < 1e-6
