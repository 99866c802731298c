"""Forward kinematics and Jacobians of a tree in NumPy, for callers that do not solve."""

from __future__ import annotations

from collections.abc import Iterable

from ik_node.model.chains import ancestors
from ik_node.model.frame import Frame
from ik_node.model.link import Link
from ik_node.model.tree import Tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Configurations that are computed at a time, so that their arrays stay in the cache.
ROWS = 512


def motions(is_rotation: Array, values: Array) -> Array:
    """Return motions, shape (n, 4, 4): Rz(value) where `is_rotation` is 1, else Tz(value)."""
    angles = values * is_rotation
    c, s = np.cos(angles), np.sin(angles)
    moved = np.zeros((len(values), 4, 4))
    moved[:, 0, 0] = moved[:, 1, 1] = c
    moved[:, 0, 1], moved[:, 1, 0] = -s, s
    moved[:, 2, 2] = moved[:, 3, 3] = 1.0
    moved[:, 2, 3] = values - angles
    return moved


class TreePoses:
    r"""
    Forward kinematics of a tree, which must not change afterwards.

    Column k with the offset O_k and the motion M_k has the root-frame pose

    .. math:: X_k(q) = X_{parent(k)}(q)\, O_k\, M_k(q_k).

    Joint values q have the shape (nq,) [rad or m], unless stated otherwise. Couplings are not
    applied: every value counts as free.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        columns = tree.columns
        self._parents = [column.parent for column in columns]
        self._offsets = np.array([column.offset for column in columns]).reshape(-1, 4, 4)
        self._is_rotation = np.array([float(column.dof.is_rotation) for column in columns])
        self._q_of_column: Indices = np.array(tree.q_of_column, dtype=np.int64)
        self._paths: dict[Frame, tuple[Indices, Array, Array, Indices]] = {}

    def values(self, q: Array | None) -> Array:
        """Return the value of every column (n,) [rad or m]; q = None: those of the joints."""
        if q is None:
            axes = ((column.joint, column.dof) for column in self.tree.columns)
            return np.array([float(joint._dof_values[dof]) for joint, dof in axes])
        return q[self._q_of_column]

    def of_columns(self, values: Array) -> Array:
        """
        Return the poses (n + 1, 4, 4) of all columns after their motions, for column values (n,).

        The last pose is the root frame itself, so that parent index -1 refers to it.
        """
        steps = self._offsets @ motions(self._is_rotation, values)
        poses = np.empty((len(values) + 1, 4, 4))
        poses[-1] = np.eye(4)
        for index, parent in enumerate(self._parents):
            np.matmul(poses[parent], steps[index], out=poses[index])
        return poses

    def pose(self, q: Array, frame: Frame) -> Array:
        """Return where a frame is, shape (4, 4), root frame."""
        pose_in_column: Array = self.tree.carrier[frame][1]
        _, poses = self._along_path(q, frame)
        return poses[-1] @ pose_in_column if poses else pose_in_column.copy()

    def poses(self, q: Array, frame: Frame) -> Array:
        """Return where a frame is, shape (n, 4, 4), at many configurations (n, nq)."""
        made = np.zeros((len(q), 4, 4))
        made[:, 3, 3] = 1.0
        _, offsets, is_rotation, q_of_column = self._path_of(frame)
        end = self.tree.carrier[frame][1]
        for first in range(0, len(q), ROWS):
            some = q[first : first + ROWS]
            # axes[c, r] and place[r] are arrays over the configurations.
            axes = np.repeat(np.eye(3)[:, :, None], len(some), axis=2)
            place = np.zeros((3, len(some)))
            for index, (offset, turns) in enumerate(zip(offsets, is_rotation, strict=True)):
                axes, place = _moved(axes, place, offset)
                values = some[:, q_of_column[index]]
                if turns:
                    sine, cosine = np.sin(values), np.cos(values)
                    x, y = axes[0], axes[1]
                    axes[0], axes[1] = x * cosine + y * sine, y * cosine - x * sine
                else:
                    place += axes[2] * values
            axes, place = _moved(axes, place, end)
            made[first : first + ROWS, :3, :3] = axes.transpose(2, 1, 0)
            made[first : first + ROWS, :3, 3] = place.T
        return made

    def jacobian(self, q: Array, frame: Frame) -> Array:
        """
        Return d(position, angular velocity) / dq of a frame, root axes, shape (6, nq).

        Linear rows come first, [m] and [rad] per [rad or m].
        """
        jacobian = np.zeros((6, len(self.tree.names)))
        columns, poses = self._along_path(q, frame)
        if not poses:
            return jacobian
        point = (poses[-1] @ self.tree.carrier[frame][1])[:3, 3]
        for index, pose in zip(columns.tolist(), poses, strict=True):
            axis = pose[:3, 2]
            derivative = jacobian[:, self.tree.q_of_column[index]]
            if self.tree.columns[index].dof.is_rotation:
                derivative[:3] = np.cross(axis, point - pose[:3, 3])
                derivative[3:] = axis
            else:
                derivative[:3] = axis
        return jacobian

    def centre_of_mass(self, poses: Array, bodies: Iterable[Link]) -> Array:
        """Return the centre of mass (3,) [m] of links, root frame, for poses of `of_columns`."""
        centres, masses = [], []
        for body in bodies:
            column, pose_in_column = self.tree.carrier[body]
            centres.append(poses[column] @ pose_in_column @ [*body.centre_of_mass, 1.0])
            masses.append(body.mass)
        centre: Array = np.average(centres, axis=0, weights=masses)
        return centre[:3]

    def weight_effort(self, q: Array, bodies: Iterable[Link], gravity: Array) -> Array:
        """
        Return the generalised forces (nq,) [N m or N] of the weights of some links.

        They are J^T m g summed over the centres of mass, with the acceleration of free fall g =
        `gravity` (3,), root axes [m/s^2].
        """
        columns = self.tree.columns
        poses = self.of_columns(self.values(q))
        masses, moments = np.zeros(len(columns) + 1), np.zeros((len(columns) + 1, 3))
        for body in bodies:
            column, pose_in_column = self.tree.carrier[body]
            centre = (poses[column] @ pose_in_column @ [*body.centre_of_mass, 1.0])[:3]
            masses[column] += body.mass
            moments[column] += body.mass * centre
        efforts = np.zeros(len(self.tree.names))
        for index in range(len(columns) - 1, -1, -1):
            axis, origin = poses[index][:3, 2], poses[index][:3, 3]
            arm = moments[index] - masses[index] * origin
            force = np.cross(arm, gravity) if self._is_rotation[index] else masses[index] * gravity
            efforts[self.tree.q_of_column[index]] += axis @ force
            masses[self._parents[index]] += masses[index]
            moments[self._parents[index]] += moments[index]
        return efforts

    def _along_path(self, q: Array, frame: Frame) -> tuple[Indices, list[Array]]:
        """Return the columns that carry a frame, root first, and their poses after motion."""
        columns, offsets, is_rotation, q_of_column = self._path_of(frame)
        poses: list[Array] = []
        for step in offsets @ motions(is_rotation, q[q_of_column]):
            poses.append(poses[-1] @ step if poses else step)
        return columns, poses

    def _path_of(self, frame: Frame) -> tuple[Indices, Array, Array, Indices]:
        """Return the columns that carry a frame: offsets, True for rotations, indices in q."""
        path = self._paths.get(frame)
        if path is None:
            columns = np.array(ancestors(self.tree, self.tree.carrier[frame][0]), dtype=np.int64)
            path = self._paths[frame] = (
                columns,
                self._offsets[columns],
                self._is_rotation[columns],
                self._q_of_column[columns],
            )
        return path


def _moved(axes: Array, place: Array, offset: Array) -> tuple[Array, Array]:
    """Return axes (3, 3, n) and origins (3, n) of frames times a constant pose (4, 4)."""
    moved = (offset[:3].T @ axes.reshape(3, -1)).reshape(4, *place.shape)
    return moved[:3], place + moved[3]
