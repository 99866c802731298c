"""The collision geometry of a description as convex shapes."""

from __future__ import annotations

from ik_node.description.description import Description
from ik_node.description.mesh_path import mesh_path, Visual
from ik_node.description.visuals import visuals_of
from ik_node.errors import OptionError
from ik_node.model.bodies import HalfSpace, make_shape, Mesh, Shape
from ik_node.model.collisions import CollisionGeometry
from ik_node.model.rotation import pose_matrix


def collision_geometry(description: Description) -> list[CollisionGeometry]:
    """Return the collision geometry of a description, with notes about what cannot be used."""
    found = []
    for read in visuals_of(description, 'collision'):
        shape, note = None, ''
        try:
            shape = _shape_of(read)
        except OptionError as error:
            note = f'collision geometry of {read.link!r}: {error}'
        pose = pose_matrix(read.position, read.quat_xyzw)
        found.append(CollisionGeometry(read.link, pose, shape, read.bits, read.with_own, note))
    return found


def _shape_of(read: Visual) -> Shape:
    """
    Return a shape.

    Raises
    ------
    OptionError
        If it cannot be used.

    """
    if read.kind == 'plane':
        return HalfSpace()
    if read.kind == 'mesh':
        path = mesh_path(read.file, read.source)
        if path is None:
            raise OptionError('mesh', read.file, 'a file that exists')
        return Mesh(path, read.size)
    if read.kind == 'unread':
        raise OptionError('shape', read.file, 'a shape that is known')
    return make_shape(read.kind, *read.size)
