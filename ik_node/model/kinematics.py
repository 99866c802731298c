"""Forward kinematics and Jacobian of one frame, in plain NumPy: for an occasional question."""

from __future__ import annotations

from ik_node.model.chains import ancestors
from ik_node.model.frame import Frame
from ik_node.model.tree import Tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def motion(rotation: bool, value: float) -> Array:
    """Return the (4, 4) motion about [rad] or along [m] the z axis."""
    moved = np.eye(4)
    if rotation:
        c, s = np.cos(value), np.sin(value)
        moved[:2, :2] = ((c, -s), (s, c))
    else:
        moved[2, 3] = value
    return moved


def column_frames(tree: Tree, q: Array, frame: Frame) -> list[tuple[int, Array]]:
    """Return the columns that carry a frame, from root, with their (4, 4) poses after motion."""
    pose = np.eye(4)
    found = []
    for at in ancestors(tree, tree.seat[frame][0]):
        column = tree.columns[at]
        value = float(q[tree.q_of_column[at]])
        pose = pose @ column.offset @ motion(column.dof.is_rotation, value)
        found.append((at, pose))
    return found


def pose_of(tree: Tree, q: Array, frame: Frame) -> Array:
    """
    Return the pose of a frame in the root frame.

    Parameters
    ----------
    tree : Tree
        The graph.
    q : ndarray, shape (nq,)
        Values as they are: couplings are not applied.
    frame : Frame
        One of the graph.

    Returns
    -------
    ndarray, shape (4, 4)

    """
    carried = column_frames(tree, q, frame)
    seat: Array = tree.seat[frame][1]
    return carried[-1][1] @ seat if carried else seat.copy()


def jacobian_of(tree: Tree, q: Array, frame: Frame) -> Array:
    """
    Return d(position, angular velocity) / dq of a frame, root axes.

    Returns
    -------
    ndarray, shape (6, nq)
        Linear rows first, [m] and [rad] per [rad or m]. Every value counts as free: couplings are
        not applied.

    """
    jacobian = np.zeros((6, len(tree.names)))
    point = pose_of(tree, q, frame)[:3, 3]
    for at, pose in column_frames(tree, q, frame):
        axis = pose[:3, 2]
        into = jacobian[:, tree.q_of_column[at]]
        if tree.columns[at].dof.is_rotation:
            into[:3] = np.cross(axis, point - pose[:3, 3])
            into[3:] = axis
        else:
            into[:3] = axis
    return jacobian
