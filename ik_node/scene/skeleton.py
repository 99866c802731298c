"""The moving frames of a graph, and where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ik_node.model.closure import Closure
from ik_node.model.frame import Frame
from ik_node.model.goal import Goal
from ik_node.model.tree import Tree
from ik_node.scene.plain_pose import plain_poses, PlainPose
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Moment:
    """
    A skeleton at one configuration.

    Attributes
    ----------
    values : list of float
        Of every column of the tree [m or rad].
    after : ndarray, shape (n + 1, 4, 4)
        Poses of the columns after their motions, root frame. The last is the root frame itself:
        it is what the index -1 stands for.
    frames : ndarray, shape (places, 4, 4)
        What `Skeleton.place` was called for, root frame.
    poses : list of ((x, y, z), (x, y, z, w))
        The same, as positions [m] and quaternions.

    """

    values: list[float]
    after: Array
    frames: Array
    poses: list[PlainPose]


class Skeleton:
    """
    The columns of a tree, and places on them, ready to be moved.

    Parameters
    ----------
    tree : Tree

    Attributes
    ----------
    tree : Tree
    owner : list of str
        Name of every column's value.

    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        columns = tree.columns
        self.owner = [tree.names[at] for at in tree.q_of_column]
        self._axes = [(column.joint, column.dof) for column in columns]
        self._parents = [column.parent for column in columns]
        self._offsets = np.array([column.offset for column in columns]).reshape(-1, 4, 4)
        turns = [column.dof.is_rotation for column in columns]
        self._turning = np.flatnonzero(turns)
        self._sliding = np.flatnonzero(np.logical_not(turns))
        self._q_of_column = np.array(tree.q_of_column, dtype=np.int64)
        self._places: list[tuple[int, Array]] = []
        self._placed_on: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._placed: Array = np.zeros((0, 4, 4))

    def place(self, column: int, pose: Array) -> int:
        """
        Have a pose (4, 4) in a column's frame, or in the root frame (-1), moved along.

        Returns
        -------
        int
            Where it is in `Moment.frames` and `Moment.poses`.

        """
        self._places.append((column, pose))
        return len(self._places) - 1

    def place_before(self, column: int, turn: Array | None = None) -> int:
        """Have the frame of a column before its motion placed, turned by a pose (4, 4)."""
        found = self.tree.columns[column]
        return self.place(found.parent, found.offset if turn is None else found.offset @ turn)

    def at(self, q: Array | None) -> Moment:
        """
        Move everything to where it is.

        Parameters
        ----------
        q : ndarray, shape (nq,), or None
            [m or rad], in the order of `tree.names`; None = the joints' present values.

        """
        if q is None:
            values = np.array([float(joint.dof_values[dof]) for joint, dof in self._axes])
        else:
            values = q[self._q_of_column]
        motions = np.zeros((len(values), 4, 4))
        motions[:] = np.eye(4)
        angles = values[self._turning]
        c, s = np.cos(angles), np.sin(angles)
        motions[self._turning, 0, 0] = motions[self._turning, 1, 1] = c
        motions[self._turning, 0, 1], motions[self._turning, 1, 0] = -s, s
        motions[self._sliding, 2, 3] = values[self._sliding]
        steps = self._offsets @ motions
        after = np.empty((len(values) + 1, 4, 4))
        after[-1] = np.eye(4)
        for at, parent in enumerate(self._parents):
            np.matmul(after[parent], steps[at], out=after[at])
        if len(self._placed) != len(self._places):
            self._placed_on = np.array([column for column, _ in self._places], dtype=np.int64)
            self._placed = np.array([pose for _, pose in self._places])
        frames = after[self._placed_on] @ self._placed
        return Moment(values.tolist(), after, frames, plain_poses(frames))

    def seat(self, frame: Frame) -> tuple[int, Array]:
        """Return the column that carries a frame, -1 = root frame, and its pose (4, 4) in it."""
        return self.tree.seat[frame]

    def spans(self) -> Iterator[tuple[Frame, Frame, Array]]:
        """Yield every frame that has something on it, what that is, and where in it [m]."""
        for frame in self.tree.seat:
            if frame.parent is not None and not isinstance(frame, Goal):
                yield frame.parent, frame, frame.matrix[:3, 3]
        for closer in self.tree.closers:
            if isinstance(closer, Closure) and closer.child is not None:
                yield closer.child, closer, closer.offset_position
