"""How a load on a link is drawn: an arrow for its force, and the size of the force as text."""

from __future__ import annotations

from math import floor, log2

from ik_node.model.rotation import pose_from_matrix
from ik_node.scene.look import LOAD, Look
from ik_node.scene.plain_pose import point, z_along
from ik_node.scene.shape_factory import ShapeFactory
from ik_node.scene.shapes import Shape
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Shares of the scale: length and radius of the head's arrow, and the distance of its tip from the
# end of the force, where the handle is.
HEAD, THICK, BEFORE = 0.7, 0.035, 0.06
# Height of the text, and its distance from the end of the force.
TEXT, GAP = 0.09, 0.22
# A short arrow has a smaller head: halved so often at most, so that there are few meshes.
HALVED = 5


def load_shapes(start: Array, end: Array, text: str, look: Look, of: str = '') -> list[Shape]:
    """
    Return the shapes of a force.

    Parameters
    ----------
    start, end : ndarray, shape (3,)
        Point of application and tip of the arrow, root frame [m].
    text : str
        The size of the force with its unit.
    look : Look
        Appearance; `scale` is the length of an ordinary arrow.
    of : str
        Name of the link on which the force acts.

    Returns
    -------
    list of Shape
        Empty for an arrow without length.

    """
    way = end - start
    length = float(np.sqrt(way @ way))
    share = length / look.scale - BEFORE
    halved = max(0, -floor(log2(share / HEAD))) if share > 0.0 else HALVED + 1
    if halved > HALVED:
        return []
    ahead = look.scale / length * way
    tip = end - BEFORE * ahead
    make = ShapeFactory('load', of, of, look)
    head, thick = HEAD * 0.5**halved, THICK * 0.5**halved
    pose = pose_from_matrix(z_along(tip - head * ahead, way))
    # The head is an arrow of its own, because an arrow of another length needs another mesh.
    return [
        make.line('shaft', start, tip - 0.5 * head * ahead, 2.0 * thick, LOAD),
        make.arrow('head', pose, (head, thick), LOAD),
        make.text('size', point(end + GAP * ahead), text, TEXT, LOAD),
    ]
