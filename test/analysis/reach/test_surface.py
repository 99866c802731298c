"""The surface of a level is closed, outside is outside, and it is where the border is."""

from collections import Counter

from ik_node.analysis.reach.surface import surface_nets
import numpy as np
import pytest


def volume_of(vertices, faces):
    """Return the volume within a closed surface, by the divergence theorem."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


@pytest.mark.parametrize('seed', range(3))
def test_every_edge_has_two_triangles_in_opposite_directions(seed):
    """Any set of cells, also such that meet at edges and corners or lie at the border."""
    field = np.random.default_rng(seed).random((7, 5, 6)) < 0.4
    vertices, faces = surface_nets(field, 0.5)
    edges = Counter()
    for one, other in ((0, 1), (1, 2), (2, 0)):
        edges.update(zip(faces[:, one].tolist(), faces[:, other].tolist(), strict=True))
    assert edges
    assert all(edges[edge] == edges[edge[::-1]] for edge in edges)
    assert volume_of(vertices, faces) > 0.0


def test_surface_of_a_ball_is_a_ball():
    """A field that changes smoothly gives its level within a part of a cell."""
    at = np.stack(np.meshgrid(*[np.arange(25.0)] * 3, indexing='ij'), axis=-1) - 12.0
    field = np.clip(1.0 - 0.05 * np.linalg.norm(at, axis=-1), 0.0, 1.0)
    vertices, faces = surface_nets(field, 0.5)
    radii = np.linalg.norm(vertices - 12.0, axis=1)
    assert np.abs(radii - 10.0).max() < 0.25
    assert volume_of(vertices - 12.0, faces) == pytest.approx(4000.0 * np.pi / 3.0, rel=0.06)


def test_surface_of_cells_is_within_a_cell_of_their_border(arm_map):
    """Each vertex has a reached cell and another one less than a cell away, along each axis."""
    vertices, faces = arm_map.surface()
    assert len(faces) > 1000
    steps = (vertices - arm_map.origin) / arm_map.cell
    low = np.floor(steps + 1e-9).astype(int) + 1
    padded = np.pad(arm_map.reached, 2)
    corners = np.stack(
        [padded[tuple((low + 1 + shift).T)] for shift in np.ndindex(2, 2, 2)], axis=1
    )
    assert corners.any(axis=1).mean() > 0.99
    assert (~corners.all(axis=1)).mean() > 0.99


def test_surface_of_nothing_is_empty():
    """No cell is reached."""
    vertices, faces = surface_nets(np.zeros((3, 3, 3)), 0.5)
    assert vertices.shape == (0, 3)
    assert faces.shape == (0, 3)
