"""Poses of a graph's frames at one configuration, as positions and quaternions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ik_node.model.constraint import Closure, Goal
from ik_node.model.frame import Frame
from ik_node.model.kinematics import TreePoses
from ik_node.model.rotation import cross
from ik_node.model.tree import Tree
from ik_node.scene.shapes import Point, Quat
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PlainPose = tuple[Point, Quat]

# Rotations (3, 3) that map z to x, y or z; right-handed permutations.
_ONTO = (
    np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
    np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))),
    np.eye(3),
)


def plain_poses(frames: Array) -> list[PlainPose]:
    """Return the positions [m] and quaternions (xyzw) of poses (n, 4, 4)."""
    points = frames[:, :3, 3].tolist()
    quats = quats_of(frames[:, :3, :3]).tolist()
    return [
        ((px, py, pz), (x, y, z, w))
        for (px, py, pz), (x, y, z, w) in zip(points, quats, strict=True)
    ]


def quats_of(rotations: Array) -> Array:
    """
    Return the quaternions (n, 4), xyzw with w >= 0, of rotations (n, 3, 3).

    Notes
    -----
    Every row of the symmetric matrix 4 q q^T is a multiple of q. The row with the largest diagonal
    element is the longest, which avoids division by small numbers.

    """
    m = rotations
    rows = np.empty((len(m), 4, 4))
    x, y, z = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    rows[:, 0, 0] = 1.0 + x - y - z
    rows[:, 1, 1] = 1.0 - x + y - z
    rows[:, 2, 2] = 1.0 - x - y + z
    rows[:, 3, 3] = 1.0 + x + y + z
    rows[:, 0, 1] = rows[:, 1, 0] = m[:, 1, 0] + m[:, 0, 1]
    rows[:, 0, 2] = rows[:, 2, 0] = m[:, 2, 0] + m[:, 0, 2]
    rows[:, 1, 2] = rows[:, 2, 1] = m[:, 2, 1] + m[:, 1, 2]
    rows[:, 0, 3] = rows[:, 3, 0] = m[:, 2, 1] - m[:, 1, 2]
    rows[:, 1, 3] = rows[:, 3, 1] = m[:, 0, 2] - m[:, 2, 0]
    rows[:, 2, 3] = rows[:, 3, 2] = m[:, 1, 0] - m[:, 0, 1]
    largest = np.argmax(np.einsum('nii->ni', rows), axis=1)
    longest = rows[np.arange(len(m)), largest]
    lengths = np.copysign(np.sqrt(np.einsum('ni,ni->n', longest, longest)), longest[:, 3])
    quats: Array = longest / lengths[:, None]
    return quats


def z_onto(frame: Array, axis: int) -> Array:
    """Return a pose (4, 4) whose z axis is the x, y or z axis (0, 1, 2) of another one."""
    laid = frame.copy()
    laid[:3, :3] = frame[:3, :3] @ _ONTO[axis]
    return laid


def z_along(place: Array, direction: Array) -> Array:
    """Return the pose (4, 4) at a point with z along a direction; no rotation for zero."""
    pose = np.eye(4)
    pose[:3, 3] = place
    length = float(np.sqrt(direction @ direction))
    if length > 0.0:
        z = direction / length
        # The coordinate axis farthest from z gives a well-defined x.
        x = np.eye(3)[int(np.argmin(np.abs(z)))]
        x = x - (x @ z) * z
        pose[:3, 0] = x / np.sqrt(x @ x)
        pose[:3, 1] = cross(z, pose[:3, 0])
        pose[:3, 2] = z
    return pose


def point(place: Array) -> Point:
    """Return a position as plain floats."""
    x, y, z = place.tolist()
    return x, y, z


def along(frame: Array, distance: float) -> Point:
    """Return the point at a distance along z from the origin of a pose (4, 4) [m]."""
    return point(frame[:3, 3] + distance * frame[:3, 2])


@dataclass(frozen=True)
class Snapshot:
    """A skeleton at one configuration."""

    values: list[float]  # Value of every column of the tree [m or rad]
    # Poses (n + 1, 4, 4) of the columns after their motions, root frame. The last pose is the root
    # frame itself, so that column index -1 refers to it.
    columns: Array
    frames: Array  # Poses (m, 4, 4) of the frames that `Skeleton.attach` added, root frame
    poses: list[PlainPose]  # The same poses as positions [m] and quaternions


class Skeleton:
    """
    A tree with frames attached to its columns, which computes where the frames are.

    `owner` has the name of the joint value of every column.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.kinematics = TreePoses(tree)
        self.owner = [tree.names[index] for index in tree.q_of_column]
        self._attached: list[tuple[int, Array]] = []
        self._carriers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._offsets: Array = np.zeros((0, 4, 4))

    def attach(self, column: int, pose: Array) -> int:
        """
        Attach a frame with a pose (4, 4) to a column, or to the root frame (-1).

        Return its index in `Snapshot.frames` and `Snapshot.poses`.
        """
        self._attached.append((column, pose))
        return len(self._attached) - 1

    def attach_before(self, column: int, rotation: Array | None = None) -> int:
        """Attach the frame that a column moves relative to, rotated by `rotation` (4, 4)."""
        result = self.tree.columns[column]
        return self.attach(
            result.parent, result.offset if rotation is None else result.offset @ rotation
        )

    def at(self, q: Array | None) -> Snapshot:
        """Compute all poses at joint values (nq,) [m or rad]; None = the present values."""
        values = self.kinematics.values(q)
        columns = self.kinematics.of_columns(values)
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
