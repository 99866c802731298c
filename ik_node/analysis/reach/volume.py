"""A map of the positions and orientations that a link reaches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ik_node.analysis.reach.base_placement import BasePlacement
from ik_node.analysis.reach.files import read_arrays, write_arrays
from ik_node.analysis.reach.orientations import angles_between
from ik_node.analysis.reach.surface import surface_nets
from ik_node.display import public_names
from ik_node.errors import DescriptionError, OptionError, ShapeError
from ik_node.model.given import finite, is_number, numbers, one_of, whole_number
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.rotation import quat_multiply
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Largest number of poses of the base.
MOST_BASES = 10**8
# The version of the files, and what the numbers of singular curves in them mean.
VERSION = 1
KINDS, PLANES = ('inverse', 'direct'), ('xyz', 'xy', 'xz', 'yz')


class SingularCurve(NamedTuple):
    """
    A curve on which a link is singular, in a plane that is parallel to two axes, or in space.

    Attributes
    ----------
    kind : {'inverse', 'direct'}
        inverse: the link loses a direction (type I). direct: the motors lose control (type II).
    points : ndarray, shape (n, 3)
        Positions of the link, root frame [m].
    q : ndarray, shape (n, nq)
        Configurations [rad or m].
    plane : str
        Axes of its plane, such as 'xy'; 'xyz' for a line in space.

    """

    kind: str
    points: Array
    q: Array
    plane: str


def curves_in_layer(
    curves: Iterable[SingularCurve], axis: str, at: float, half: float = 1e-6
) -> list[SingularCurve]:
    """
    Return the curves in a layer across an axis, and curves of a point where lines cross it.

    `at`, `half`: middle of the layer and half of its thickness [m].
    """
    result, along, planes = [], 'xyz'.index(axis), ('xyz', 'xyz'.replace(axis, ''))
    for curve in (each for each in curves if each.plane in planes):
        gap = curve.points[:, along] - at
        if (np.abs(gap) <= half).all():
            result.append(curve)
            continue
        for k in np.flatnonzero((gap[1:] > 0.0) != (gap[:-1] > 0.0)):
            share = gap[k] / (gap[k] - gap[k + 1])
            point, q = (each[k : k + 1] + share * (each[k + 1] - each[k]) for each in curve[1:3])
            result.append(SingularCurve(curve.kind, point, q, 'xyz'))
    return result


class ReachVolume:
    """
    A map of what a link reaches: cells of space, each with none, one or several orientations.

    `Robot.reach` returns one, and `ReachVolume.load` reads one from a file. A cell counts as
    reached if the link reaches a position in it, with closed loops and within the limits; with an
    orientation, a position at most half a cell from its middle.

    Parameters
    ----------
    robot, link : str
        Names of the robot and the link.
    joint_names : sequence of str
        Names of the joint values, in the order of q.
    cell : float
        Side of a cell [m].
    origin : ndarray, shape (3,)
        Middle of the first cell, root frame [m].
    shape : tuple of int
        Number of cells along x, y and z.
    quats_xyzw : ndarray, shape (K, 4), or None
        The orientations; None = any orientation of the link counts.
    roll : bool
        False if the rotation of the link about its z axis is free.
    reached : ndarray of bool, shape (K * N,)
        True for reached cells, orientation by orientation; within each, z changes fastest.
    q : ndarray of float32, shape (reached ones, nq)
        A configuration for each reached one, in the same order [rad or m].
    complete : bool
        False if the search was interrupted.
    singularities : sequence of SingularCurve
        Singular curves in the planes through the middles of cells, and singular lines in space;
        none if they were not searched.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('fivebar')
    >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
    >>> volume.contains((0.0, 0.3, 0.012))
    True
    >>> volume.reached.shape, [len(axis) for axis in volume.centres], volume.describe()
    ((7, 5, 1), [7, 5, 1], '20 of 35 cells of 0.1 m reached, 0.02 m^3')
    >>> volume.configurations.shape == (20, len(robot.joint_names))
    True

    """

    def __init__(
        self,
        *,
        robot: str,
        link: str,
        joint_names: Sequence[str],
        cell: float,
        origin: Array,
        shape: tuple[int, ...],
        quats_xyzw: Array | None,
        roll: bool,
        reached: Bools,
        q: NDArray[Any],
        complete: bool,
        singularities: Sequence[SingularCurve] = (),
    ) -> None:
        self.singularities = tuple(singularities)
        self.robot, self.link, self.joint_names = robot, link, tuple(joint_names)
        self.cell, self.origin, self.shape = cell, origin, tuple(shape)
        self.quats_xyzw, self.roll, self.complete = quats_xyzw, roll, complete
        # The number of the configuration for each orientation and cell; -1 = not reached.
        self._row = np.where(reached, np.cumsum(reached) - 1, -1).astype(np.int32)
        self._row = self._row.reshape(-1, *self.shape)
        self._q: NDArray[np.float32] = np.asarray(q, dtype=np.float32)
        self._lists: tuple[Any, ...] = (*origin.tolist(), 1.0 / cell, *self.shape)

    __dir__ = public_names

    def __repr__(self) -> str:
        return f'<{type(self).__name__} of {self.link!r}: {self.describe()}>'

    def describe(self) -> str:
        """Return the number of cells, the share of reached ones, and their volume."""
        count = int(np.count_nonzero(self.share))
        per = '' if self.quats_xyzw is None else f' in {len(self.quats_xyzw)} orientations'
        size = count * self.cell**3
        return (
            f'{count} of {self.share.size} cells of {self.cell:g} m reached{per}, {size:.4g} m^3'
            + ('' if self.complete else ', incomplete')
        )

    # -- arrays

    @property
    def configurations(self) -> Array:
        """Return a configuration for each reached cell and orientation, shape (n, nq)."""
        return self._q.astype(np.float64)

    @property
    def reached(self) -> Bools:
        """Return True for reached cells, shape (nx, ny, nz), or (nx, ny, nz, K)."""
        result: Bools = np.greater_equal(np.moveaxis(self._row, 0, -1), 0)
        return result[..., 0] if self.quats_xyzw is None else result

    @cached_property
    def share(self) -> NDArray[np.float32]:
        """Return the share of the orientations that are reached in each cell, (nx, ny, nz)."""
        result: NDArray[np.float32] = np.mean(self._row >= 0, axis=0, dtype=np.float32)
        return result

    @property
    def centres(self) -> tuple[Array, Array, Array]:
        """Return the coordinates of the middles of the cells along x, y and z [m]."""
        x, y, z = (
            at + self.cell * np.arange(count)
            for at, count in zip(self.origin, self.shape, strict=True)
        )
        return x, y, z

    # -- queries

    def contains(self, points: ArrayLike) -> Any:
        """
        Return True for points in cells that are reached in at least one orientation.

        Parameters
        ----------
        points : array_like, shape (..., 3)
            [m], root frame

        Returns
        -------
        bool, or ndarray of bool, shape (...)

        Raises
        ------
        ShapeError
            If the points have another shape.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> volume.contains([(0.0, 0.3, 0.012), (0.0, 3.0, 0.012)]).tolist()
        [True, False]

        """
        return self.capability(points) > 0.0

    def capability(self, points: ArrayLike) -> Any:
        """
        Return the share of the orientations that are reached in the cells of points.

        Parameters
        ----------
        points : array_like, shape (..., 3)
            [m], root frame

        Returns
        -------
        float, or ndarray of float, shape (...)
            0 for points outside the map.

        Raises
        ------
        ShapeError
            If the points have another shape.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> volume.capability([(0.0, 0.3, 0.012), (0.0, 3.0, 0.012)]).tolist()
        [1.0, 0.0]

        """
        if isinstance(points, tuple) and [type(each) for each in points] == [float] * 3:
            one = self._one(*points)
            return 0.0 if one is None else self.share.item(one)
        index, inside = self.cells(points)
        return np.where(inside, self.share[tuple(np.moveaxis(index, -1, 0))], np.float32(0.0))

    def q_at(self, point: ArrayLike, quat_xyzw: ArrayLike | None = None) -> Array | None:
        """
        Return a configuration at which the link is in the cell of a point; None if not reached.

        It brings the link to the middle of the cell up to single precision, or to another position
        in the cell if the link does not reach the middle, so it is a start for
        a solve.

        Parameters
        ----------
        point : array_like, shape (3,)
            [m], root frame
        quat_xyzw : array_like, shape (4,), optional
            The nearest orientation of the map counts; None = any orientation.

        Returns
        -------
        ndarray, shape (nq,), or None
            [rad or m]

        Raises
        ------
        ShapeError
            If the point or the quaternion has another shape.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> start = volume.q_at((0.0, 0.3, 0.012))
        >>> abs(robot.forward(start, 'tool_link')[1, 3] - 0.3).item() < 0.051
        True

        """
        given = numbers('point', point)
        index, inside = self.cells(given)
        if index.shape != (3,):
            raise ShapeError('point', 'shape (3,)', f'shape {given.shape}')
        if not inside:
            return None
        i, j, k = index.tolist()
        rows = self._row[:, i, j, k]
        if quat_xyzw is not None and self.quats_xyzw is not None:
            quat = finite('quat_xyzw', quat_xyzw, 4)
            rows = rows[self.nearest(quat[None] / np.linalg.norm(quat))[0]]
        reached = rows[rows >= 0]
        return self._q[reached[0]].astype(np.float64) if len(reached) else None

    def nearest(self, quats_xyzw: Array) -> tuple[NDArray[np.int64], Array]:
        """
        Return the nearest orientations of the map to others, and the angles to them.

        Parameters
        ----------
        quats_xyzw : ndarray, shape (n, 4)
            Normalised, root frame.

        Returns
        -------
        numbers : ndarray, shape (n,)
        angles : ndarray, shape (n,)
            [rad]; 0 for a map in which any orientation counts.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.2, orientations=[(0, 0, 0, 1), (0, 0, 1, 0)])
        >>> numbers, angles = volume.nearest([(0, 0, 0.1, 0.99)])
        >>> numbers.tolist(), angles.round(1).tolist()
        ([0], [0.3])

        """
        if self.quats_xyzw is None:
            return np.zeros(len(quats_xyzw), dtype=np.int64), np.zeros(len(quats_xyzw))
        apart = angles_between(quats_xyzw, self.quats_xyzw, roll=self.roll)
        return np.argmin(apart, axis=1), apart.min(axis=1)

    def cells(self, points: ArrayLike) -> tuple[NDArray[np.int64], Any]:
        """
        Return the indices of the cells of points, and which points are in the map.

        Parameters
        ----------
        points : array_like, shape (..., 3)
            [m], root frame

        Returns
        -------
        index : ndarray, shape (..., 3)
            0 for points outside.
        inside : ndarray of bool, shape (...)

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> index, inside = volume.cells((0.0, 0.3, 0.012))
        >>> index.tolist(), volume.share[tuple(index)].item()
        ([3, 2, 0], 1.0)

        """
        given = numbers('points', points)
        if given.shape[-1:] != (3,):
            raise ShapeError('points', 'shape (..., 3)', f'shape {given.shape}')
        scaled = (given - self.origin) * (1.0 / self.cell) + 0.5
        inside: Bools = np.logical_and.reduce((scaled >= 0.0) & (scaled < self.shape), axis=-1)
        return np.where(np.expand_dims(inside, -1), scaled, 0.0).astype(np.int64), inside

    def _one(self, x: float, y: float, z: float) -> tuple[int, int, int] | None:
        """Return the indices of the cell of one point; None = outside the map."""
        x0, y0, z0, per, nx, ny, nz = self._lists
        i, j, k = (x - x0) * per + 0.5, (y - y0) * per + 0.5, (z - z0) * per + 0.5
        if 0.0 <= i < nx and 0.0 <= j < ny and 0.0 <= k < nz:
            return int(i), int(j), int(k)
        return None

    # -- pictures

    def layer(self, axis: str, at: float) -> NDArray[np.float32]:
        """
        Return the shares of the orientations in the layer of cells at a coordinate.

        Parameters
        ----------
        axis : {'x', 'y', 'z'}
            Axis that is perpendicular to the layer.
        at : float
            Coordinate along it [m].

        Returns
        -------
        ndarray, shape (n, m)
            Along the two other axes, in the order x, y, z; all 0 outside the map.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> volume.layer('z', 0.012).shape  # one picture of the plane
        (7, 5)

        """
        along = 'xyz'.index(one_of('axis', axis, ('x', 'y', 'z')))
        if not is_number(at):
            raise OptionError('at', at, 'a number [m]')
        number = np.floor((at - self.origin[along]) / self.cell + 0.5)
        if not 0 <= number < self.shape[along]:
            return np.zeros(np.delete(self.shape, along), dtype=np.float32)
        result: NDArray[np.float32] = np.take(self.share, int(number), axis=along)
        return result

    def curves(self, axis: str, at: float) -> list[SingularCurve]:
        """
        Return the singular curves in the layer of cells at a coordinate, see `layer`.

        Where a singular line in space crosses the layer, they have a curve of one point.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2, singularities=True)
        >>> volume.curves('z', 0.012)  # its limits keep it away from singularities
        []

        """
        along = 'xyz'.index(one_of('axis', axis, ('x', 'y', 'z')))
        first, half = self.origin[along], 0.5 * self.cell
        middle = first + self.cell * np.floor((at - first) / self.cell + 0.5)
        return curves_in_layer(self.singularities, axis, float(middle), half)

    def surface(self, level: float = 0.5) -> tuple[Array, NDArray[np.int64]]:
        """
        Return the surface around the cells in which at least a share of orientations is reached.

        Parameters
        ----------
        level : float
            The share, above 0 and below 1; unimportant for a map without orientations.

        Returns
        -------
        vertices : ndarray, shape (n, 3)
            [m], root frame. Each is less than a cell away from the border between cells.
        faces : ndarray, shape (m, 3)
            Vertices of the triangles, counterclockwise from outside. The surface is closed.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> vertices, faces = volume.surface()
        >>> vertices.shape[1], faces.shape[1]
        (3, 3)

        """
        if not (is_number(level) and 0.0 < level < 1.0):
            raise OptionError('level', level, 'a number above 0 and below 1')
        vertices, faces = surface_nets(self.share, level)
        return self.origin + self.cell * vertices, faces

    # -- base placement

    def base_placement(
        self,
        targets: Any,
        *,
        extent: ArrayLike | None = None,
        step: float | None = None,
        yaws: int = 24,
        height: float = 0.0,
        within: float | None = None,
    ) -> BasePlacement:
        """
        Return how many targets a link reaches from each of many positions of the base.

        The base is at (x, y, height), turned by a yaw about z. For each of these poses, the
        targets are looked up in the map; no pose is solved.

        Parameters
        ----------
        targets : poses
            (positions (M, 3) [m], quats_xyzw (M, 4)) or matrices (M, 4, 4), in the frame of the
            floor. For a map without orientations, positions (M, 3) are enough.
        extent : array_like, shape (2, 2), optional
            MIN and MAX of x and of y of the base [m]; None = all from which a target can be
            reached.
        step : float, optional
            Distance between positions [m]; None = the cell of the map.
        yaws : int
            Number of rotations over a full turn, from 0.
        height : float
            z of the base [m].
        within : float, optional
            Largest angle between a target and the nearest orientation of the map [rad]; None = the
            largest angle between an orientation of the map and its nearest neighbour.

        Raises
        ------
        ShapeError
            If the targets or the extent have another shape.
        OptionError
            If a number is not allowed, or there are more than 10^8 poses of the base.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> placement = volume.base_placement([(1.0, 0.3, 0.012), (1.1, 0.3, 0.012)])
        >>> placement.total, placement.counts.max().item()
        (2, 2)

        """
        places, quats = position_and_quat(
            'targets', targets, turns=self.quats_xyzw is not None, many=True
        )
        if not len(places) or not np.isfinite(places).all() or not np.isfinite(quats).all():
            raise ShapeError('targets', 'at least one pose, and finite numbers', f'{places.shape}')
        quats = quats / np.linalg.norm(quats, axis=1, keepdims=True)
        step = self.cell if step is None else step
        if not (is_number(step) and 0.0 < step < np.inf):
            raise OptionError('step', step, 'a length above 0 [m]')
        count = whole_number('yaws', yaws, 1, 3600)
        turns = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False, dtype=np.float64)
        x, y = self._sides(places, extent, step, len(turns))
        limit = self._spacing() if within is None else within
        counts = np.zeros((len(x), len(y), len(turns)), dtype=np.int32)
        reached = self.reached.reshape(*self.shape, -1)
        for at, yaw in enumerate(turns.tolist()):
            back = np.array((0.0, 0.0, np.sin(-0.5 * yaw), np.cos(-0.5 * yaw)))
            turned = np.array([quat_multiply(back, quat) for quat in quats])
            nearest, angles = self.nearest(turned)
            cosine, sine = np.cos(yaw), np.sin(yaw)
            for place, k in zip(places[angles <= limit], nearest[angles <= limit], strict=True):
                dx, dy = (place[0] - x)[:, None], (place[1] - y)[None]
                points = np.stack(
                    np.broadcast_arrays(
                        cosine * dx + sine * dy, cosine * dy - sine * dx, place[2] - height
                    ),
                    axis=-1,
                )
                index, inside = self.cells(points)
                counts[:, :, at] += inside & reached[(*np.moveaxis(index, -1, 0), k)]
        return BasePlacement(x, y, turns, counts, len(places))

    def _sides(
        self, places: Array, extent: ArrayLike | None, step: float, yaws: int
    ) -> tuple[Array, Array]:
        """Return the positions of the base along x and y [m], at multiples of the step."""
        if extent is None:
            ahead, aside, _ = self.centres
            most = float(np.hypot(np.abs(ahead).max(), np.abs(aside).max())) + self.cell
            box = np.stack((places[:, :2].min(axis=0) - most, places[:, :2].max(axis=0) + most), 1)
        else:
            box = numbers('extent', extent)
            if box.shape != (2, 2):
                raise ShapeError('extent', 'shape (2, 2), MIN and MAX of x and y', f'{box.shape}')
            if not (np.isfinite(box).all() and (box[:, 0] <= box[:, 1]).all()):
                raise OptionError('extent', box.tolist(), 'finite MIN not above MAX [m]')
        first, last = np.ceil(box[:, 0] / step - 1e-9), np.floor(box[:, 1] / step + 1e-9)
        many = np.maximum(last - first + 1.0, 0.0)
        if not 1 <= many.prod() * yaws <= MOST_BASES:
            allowed = f'a step for 1 to at most {MOST_BASES:.0e} poses of the base in the extent'
            raise OptionError('step', step, allowed)
        x, y = (step * (a + np.arange(int(n))) for a, n in zip(first, many, strict=True))
        return x, y

    def _spacing(self) -> float:
        """Return the largest angle between an orientation of the map and its nearest other one."""
        if self.quats_xyzw is None:
            return 0.0
        apart = angles_between(self.quats_xyzw, self.quats_xyzw, roll=self.roll)
        np.fill_diagonal(apart, np.inf)
        nearest = apart.min(axis=1)
        # A single orientation has no other one, and agrees with itself only.
        return float(nearest.max()) if np.isfinite(nearest).all() else 1e-3

    # -- files

    def save(self, path: str | Path) -> None:
        """
        Write the map to a file.

        Parameters
        ----------
        path : str or Path
            It ends in .npz, or in .h5 or .hdf5, which needs h5py.

        Raises
        ------
        OptionError
            If the ending is another one, or the file cannot be written.
        IkError
            If h5py is needed and missing.

        Examples
        --------
        >>> import ik_node as ik
        >>> import tempfile
        >>> volume = ik.load_robot('fivebar').reach('tool_link', cell=0.1, restarts=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     volume.save(f'{folder}/reach.npz')
        ...     print(ik.ReachVolume.load(f'{folder}/reach.npz').shape == volume.shape)
        True

        """
        quats = np.zeros((0, 4)) if self.quats_xyzw is None else self.quats_xyzw
        # A row for each point of a curve: numbers of the curve, its kind and plane, position, q.
        curves = [
            (number, KINDS.index(curve.kind), PLANES.index(curve.plane), *point, *q)
            for number, curve in enumerate(self.singularities)
            for point, q in zip(curve.points, curve.q, strict=True)
        ]
        write_arrays(
            Path(path),
            {
                'singularities': np.reshape(curves, (-1, 6 + len(self.joint_names))),
                'version': np.array(VERSION),
                'robot': np.array(self.robot),
                'link': np.array(self.link),
                'joint_names': np.array(self.joint_names),
                'cell': np.array(self.cell),
                'origin': self.origin,
                'shape': np.array(self.shape),
                'quats_xyzw': quats,
                'roll': np.array(self.roll),
                'complete': np.array(self.complete),
                'reached': np.packbits((self._row >= 0).ravel()),
                'q': self._q,
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> ReachVolume:
        """
        Read a map from a file that `save` has written.

        Raises
        ------
        DescriptionError
            If there is no such file, or it is no map of this version.
        IkError
            If h5py is needed and missing.

        Examples
        --------
        >>> import ik_node as ik
        >>> import tempfile
        >>> volume = ik.load_robot('fivebar').reach('tool_link', cell=0.1, restarts=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     volume.save(f'{folder}/reach.npz')
        ...     print(ik.ReachVolume.load(f'{folder}/reach.npz').link)
        tool_link

        """
        arrays = read_arrays(Path(path))
        try:
            version = int(arrays['version'])
            if version != VERSION:
                text = f'a map of version {version}; this package reads version {VERSION}'
                raise DescriptionError(text, source=str(path))
            quats = np.asarray(arrays['quats_xyzw'], dtype=np.float64).reshape(-1, 4)
            x, y, z = (int(side) for side in arrays['shape'])
            count = max(1, len(quats)) * x * y * z
            bits = np.asarray(arrays['reached'], dtype=np.uint8)
            names = tuple(str(name) for name in arrays['joint_names'])
            q = np.asarray(arrays['q'], dtype=np.float32).reshape(-1, len(names))
            if min(x, y, z) < 1 or len(bits) != -(-count // 8):
                raise ValueError(f'{len(bits)} bytes for {count} poses')
            reached = np.unpackbits(bits, count=count).astype(np.bool_)
            if len(q) != np.count_nonzero(reached):
                raise ValueError(f'{len(q)} configurations for {np.count_nonzero(reached)} cells')
            # Maps of earlier releases have no singularities.
            rows = np.reshape(arrays.get('singularities', ()), (-1, 6 + len(names)))
            curves = np.split(rows, np.flatnonzero(np.diff(rows[:, 0])) + 1)
            result = cls(
                robot=str(arrays['robot']),
                link=str(arrays['link']),
                joint_names=names,
                cell=float(arrays['cell']),
                origin=np.asarray(arrays['origin'], dtype=np.float64).reshape(3),
                shape=(x, y, z),
                quats_xyzw=quats if len(quats) else None,
                roll=bool(arrays['roll']),
                reached=reached,
                q=q,
                complete=bool(arrays['complete']),
                singularities=[
                    SingularCurve(KINDS[int(kind)], each[:, 3:6], each[:, 6:], PLANES[int(plane)])
                    for each in curves
                    for _, kind, plane in each[:1, :3]
                ],
            )
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise DescriptionError(
                f'not a map of reach: {type(error).__name__} {error}', source=str(path)
            ) from None
        return result
