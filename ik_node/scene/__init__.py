"""Shapes of a robot for markers, the page and pictures; free of ROS and HTTP."""

from ik_node.scene.ik_roots_helper import IKRootsHelper
from ik_node.scene.look import AXIS_COLOURS, LAYERS
from ik_node.scene.mesh import mesh_of
from ik_node.scene.plot import plot_shapes
from ik_node.scene.shapes import (
    Arrow,
    Capsule,
    Cylinder,
    Facets,
    Sector,
    Segment,
    Shape,
    Solid,
    Sphere,
    Text,
    Triad,
)

__all__ = [
    'AXIS_COLOURS',
    'LAYERS',
    'Arrow',
    'Capsule',
    'Cylinder',
    'Facets',
    'IKRootsHelper',
    'Sector',
    'Segment',
    'Shape',
    'Solid',
    'Sphere',
    'Text',
    'Triad',
    'mesh_of',
    'plot_shapes',
]
