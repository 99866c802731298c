"""Poses of a graph's frames at one configuration, for drawing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ik_node.model.closure import Closure
from ik_node.model.frame import Frame
from ik_node.model.goal import Goal
from ik_node.model.kinematics import TreePoses
from ik_node.model.tree import Tree
from ik_node.scene.plain_pose import plain_poses, PlainPose
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Snapshot:
    """
    A skeleton at one configuration.

    Attributes
    ----------
    values : list of float
        Value of every column of the tree [m or rad].
    columns : ndarray, shape (n + 1, 4, 4)
        Poses of the columns after their motions, root frame. The last pose is the root frame
        itself, so that column index -1 refers to it.
    frames : ndarray, shape (m, 4, 4)
        Poses of the frames that `Skeleton.attach` added, root frame.
    poses : list of ((x, y, z), (x, y, z, w))
        The same poses as positions [m] and quaternions.

    """

    values: list[float]
    columns: Array
    frames: Array
    poses: list[PlainPose]


class Skeleton:
    """
    A tree with frames attached to its columns, which computes where the frames are.

    Parameters
    ----------
    tree : Tree

    Attributes
    ----------
    tree : Tree
    kinematics : TreePoses
    owner : list of str
        Name of the joint value of every column.

    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.kinematics = TreePoses(tree)
        self.owner = [tree.names[at] for at in tree.q_of_column]
        self._attached: list[tuple[int, Array]] = []
        self._carriers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._offsets: Array = np.zeros((0, 4, 4))

    def attach(self, column: int, pose: Array) -> int:
        """
        Attach a frame to a column, or to the root frame (-1), so that it moves along.

        Parameters
        ----------
        column : int
            Index of the column; -1 = root frame.
        pose : ndarray, shape (4, 4)
            Pose of the frame in the column's frame.

        Returns
        -------
        int
            Its index in `Snapshot.frames` and `Snapshot.poses`.

        """
        self._attached.append((column, pose))
        return len(self._attached) - 1

    def attach_before(self, column: int, turn: Array | None = None) -> int:
        """
        Attach the frame that a column moves relative to, and return its index.

        Parameters
        ----------
        column : int
            Index of the column.
        turn : ndarray, shape (4, 4), optional
            Rotation of the attached frame relative to that frame.

        Returns
        -------
        int
            Its index in `Snapshot.frames` and `Snapshot.poses`.

        """
        found = self.tree.columns[column]
        return self.attach(found.parent, found.offset if turn is None else found.offset @ turn)

    def at(self, q: Array | None) -> Snapshot:
        """
        Compute the poses of all columns and attached frames.

        Parameters
        ----------
        q : ndarray, shape (nq,), or None
            Joint values [m or rad], in the order of `tree.names`; None = the current values of
            the joints.

        """
        values = self.kinematics.values(q)
        columns = self.kinematics.at(values)
        if len(self._offsets) != len(self._attached):
            self._carriers = np.array([column for column, _ in self._attached], dtype=np.int64)
            self._offsets = np.array([pose for _, pose in self._attached])
        frames = columns[self._carriers] @ self._offsets
        return Snapshot(values.tolist(), columns, frames, plain_poses(frames))

    def carrier(self, frame: Frame) -> tuple[int, Array]:
        """Return the column that carries a frame, -1 = root frame, and its pose (4, 4) in it."""
        return self.tree.carrier[frame]

    def spans(self) -> Iterator[tuple[Frame, Frame, Array]]:
        """Yield every pair of adjacent frames, and the second one's origin in the first [m]."""
        for frame in self.tree.carrier:
            if frame.parent is not None and not isinstance(frame, Goal):
                yield frame.parent, frame, frame.matrix[:3, 3]
        for closer in self.tree.closers:
            if isinstance(closer, Closure) and closer.child is not None:
                yield closer.child, closer, closer.offset_position
