"""Every shape as a marker: what a viewer draws of it is where the shape is."""

from dataclasses import replace

from ik_node.ros.markers import appearance, markers_of, put
from ik_node.scene import (
    Arrow,
    AXIS_COLOURS,
    Capsule,
    Cylinder,
    Facets,
    mesh_of,
    Sector,
    Segment,
    Solid,
    Sphere,
    Text,
    Triad,
)
import numpy as np
import pytest
from support.marker_cloud import cloud, colour_of, pose_of
from visualization_msgs.msg import Marker

POSE = ((0.1, -0.2, 0.3), (0.5, -0.5, 0.1, 0.7))
RGBA = (0.25, 0.5, 0.75, 0.5)
SAME = ('layer/x', 'layer', 'x', POSE[0], tuple(np.array(POSE[1]) / np.linalg.norm(POSE[1])), RGBA)
CORNERS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.2, 0.3))
SHAPES = {
    'segment': Segment(*SAME, 0.0, 0.4, 0.02),
    'arrow': Arrow(*SAME, 0.0, 0.5, 0.03, 72),
    'cylinder': Cylinder(*SAME, 0.0, 0.05, 0.3, 72),
    'capsule': Capsule(*SAME, 0.25, 0.05, 0.3, 72),
    'hull': Facets(*SAME, 0.0, CORNERS),
    'sphere': Sphere(*SAME, 0.0, 0.2, 72),
    'disc': Sector(*SAME, 0.0, 0.3, 0.0, -0.5, 1.5, 0.7, 72),
    'ring': Sector(*SAME, 0.0, 0.3, 0.28, -np.pi, np.pi, None, 72),
    'triad': Triad(*SAME, 0.0, 0.2, 0.01),
    'text': Text(*SAME, 0.0, '3 mm', 0.1),
}
# How far a shape's mesh may reach beyond what viewers draw: half the width of a line, which has
# no thickness of its own there, and corners of a polygon.
SLACK = {'segment': 1e-3, 'disc': 0.011, 'ring': 0.012, 'triad': 0.006}


@pytest.mark.parametrize('name', SHAPES)
def test_marker_has_the_bounds_of_its_shape(name):
    shape = SHAPES[name]
    markers = markers_of(shape)
    if name == 'text':
        assert np.allclose(pose_of(markers[0])[:3, 3], shape.position)
        return
    drawn = np.concatenate([cloud(marker) for marker in markers])
    triangles = mesh_of(shape)[0].reshape(-1, 3)
    slack = SLACK.get(name, 1e-3)
    assert drawn.min(axis=0) == pytest.approx(triangles.min(axis=0), abs=slack)
    assert drawn.max(axis=0) == pytest.approx(triangles.max(axis=0), abs=slack)


def test_marker_has_the_colour_of_its_shape():
    """A triad uses only its opacity; `draw_through` makes capsules transparent."""
    for name, shape in SHAPES.items():
        colours = [colour_of(marker) for marker in markers_of(shape)]
        if name == 'capsule':
            assert colours == [(*RGBA[:3], 0.5 * (1.0 - 0.25))] * 2
        else:
            assert colours[0] == RGBA
    (triad,) = markers_of(SHAPES['triad'])
    ends = [(each.r, each.g, each.b, each.a) for each in triad.colors]
    assert ends[::2] == ends[1::2]
    assert np.allclose(ends[::2], [(*colour[:3], RGBA[3]) for colour in AXIS_COLOURS])
    face, hand = markers_of(SHAPES['disc'])
    assert hand.color.a == 1.0
    assert hand.color.r < face.color.r


MOVED = {'segment': {'length': 0.7}, 'disc': {'value': -0.4}}


def test_new_numbers_in_old_markers_move_a_shape():
    """With the same appearance, the numbers of one pose replace those of another."""
    for name in SHAPES:
        before = SHAPES[name]
        after = replace(
            before, position=(1.0, 2.0, 3.0), quat_xyzw=(0.0, 0.6, 0.0, 0.8), **MOVED.get(name, {})
        )
        assert appearance(before) == appearance(after)
        markers = markers_of(before)
        put(markers, after)
        assert markers == markers_of(after)
        assert markers != markers_of(before)


@pytest.mark.parametrize(
    ('kind', 'size', 'wanted'),
    [
        ('box', (1.0, 2.0, 3.0), (Marker.CUBE, (1.0, 2.0, 3.0))),
        ('plane', (1.0, 2.0), (Marker.CUBE, (1.0, 2.0, 1e-6))),
        ('ellipsoid', (1.0, 2.0, 3.0), (Marker.SPHERE, (2.0, 4.0, 6.0))),
        ('mesh', (0.1, 0.1, 0.2), (Marker.MESH_RESOURCE, (0.1, 0.1, 0.2))),
    ],
)
def test_visuals_become_meshes_and_primitives(kind, size, wanted):
    """The viewer loads a mesh by its URL, with its own colours if none is given."""
    shape = Solid(*SAME, 0.0, kind, size, 'file:///a.stl' if kind == 'mesh' else '', True)
    (marker,) = markers_of(shape)
    scale = marker.scale
    assert (marker.type, (scale.x, scale.y, scale.z)) == wanted
    assert np.allclose(pose_of(marker)[:3, 3], POSE[0])
    assert marker.mesh_resource == shape.file
    assert marker.mesh_use_embedded_materials == (kind == 'mesh')
    assert colour_of(marker) == pytest.approx(RGBA)
    assert appearance(shape) != appearance(replace(shape, size=(9.0, 9.0, 9.0)))
    assert appearance(shape) == appearance(replace(shape, position=(9.0, 9.0, 9.0)))
