"""The inverse of a map: from which positions of the base a link reaches given targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ik_node.analysis.reach.orientations import angles_between
from ik_node.display import public_names
from ik_node.errors import OptionError, ShapeError
from ik_node.model.given import is_number, numbers, whole_number
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.rotation import quat_multiply
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Largest number of poses of the base.
MOST = 10**8


class LookUp(Protocol):
    """The part of `ReachVolume` that the inverse of a map needs."""

    cell: float
    shape: tuple[int, ...]
    quats_xyzw: Array | None
    roll: bool

    @property
    def centres(self) -> tuple[Array, Array, Array]:
        """Return the coordinates of the middles of the cells along x, y and z [m]."""

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Return True for reached cells, shape (nx, ny, nz), or (nx, ny, nz, K)."""

    def nearest(self, quats_xyzw: Array) -> tuple[NDArray[np.int64], Array]:
        """Return the nearest orientations of the map to others, and the angles to them."""

    def cells(self, points: ArrayLike) -> tuple[NDArray[np.int64], Any]:
        """Return the indices of the cells of points, and which points are in the map."""


@dataclass(frozen=True, repr=False)
class BasePlacement:
    """
    The number of targets that a link reaches from each position of the base.

    Attributes
    ----------
    x, y : ndarray, shape (nx,) and (ny,)
        Positions of the base [m].
    yaw : ndarray, shape (n,)
        Rotations of the base about z [rad].
    counts : ndarray, shape (nx, ny, n)
        Number of targets that are reached.
    total : int
        Number of targets.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('fivebar')
    >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
    >>> placement = volume.base_placement([robot.links['tool_link'].get_world_position()])
    >>> placement.total, placement.counts.max().item()
    (1, 1)

    """

    x: Array
    y: Array
    yaw: Array
    counts: NDArray[np.int32]
    total: int

    __dir__ = public_names

    def __repr__(self) -> str:
        x, y, yaw, count = self.best(1)[0].tolist()
        where = f'x {x:.4g} m, y {y:.4g} m, yaw {yaw:.4g} rad'
        return f'<{type(self).__name__}: {int(count)} of {self.total} targets from {where}>'

    def best(self, count: int) -> Array:
        """
        Return the best positions of the base, shape (at most count, 4): x, y, yaw and targets.

        Among equally good ones, those in the middle of good ones come first: those with the
        largest sum of targets over themselves and their neighbours.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> placement = volume.base_placement([(1.0, 0.3, 0.012), (1.1, 0.3, 0.012)])
        >>> x, y, yaw, count = placement.best(1)[0]
        >>> int(count)
        2

        """
        from scipy.ndimage import uniform_filter

        modes = ('constant', 'constant', 'wrap' if len(self.yaw) > 1 else 'nearest')
        around = uniform_filter(self.counts.astype(np.float64), 3, mode=modes)
        order = np.lexsort((-around.ravel(), -self.counts.ravel()))[:count]
        i, j, k = np.unravel_index(order, self.counts.shape)
        found: Array = np.stack(
            (self.x[i], self.y[j], self.yaw[k], self.counts[i, j, k].astype(np.float64)), axis=1
        )
        return found


def base_placement(
    found: LookUp,
    targets: Any,
    *,
    extent: ArrayLike | None = None,
    step: float | None = None,
    yaws: int = 24,
    height: float = 0.0,
    within: float | None = None,
) -> BasePlacement:
    """Return the inverse of a map, see `ReachVolume.base_placement`."""
    places, quats = position_and_quat(
        'targets', targets, turns=found.quats_xyzw is not None, many=True
    )
    if not len(places) or not np.isfinite(places).all() or not np.isfinite(quats).all():
        raise ShapeError('targets', 'at least one pose, and finite numbers', f'{places.shape}')
    quats = quats / np.linalg.norm(quats, axis=1, keepdims=True)
    step = found.cell if step is None else step
    if not (is_number(step) and 0.0 < step < np.inf):
        raise OptionError('step', step, 'a length above 0 [m]')
    count = whole_number('yaws', yaws, 1, 3600)
    turns = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False, dtype=np.float64)
    x, y = _sides(found, places, extent, step, len(turns))
    limit = _spacing(found) if within is None else within
    counts = np.zeros((len(x), len(y), len(turns)), dtype=np.int32)
    reached = found.reached.reshape(*found.shape, -1)
    for at, yaw in enumerate(turns.tolist()):
        back = np.array((0.0, 0.0, np.sin(-0.5 * yaw), np.cos(-0.5 * yaw)))
        turned = np.array([quat_multiply(back, quat) for quat in quats])
        nearest, angles = found.nearest(turned)
        cosine, sine = np.cos(yaw), np.sin(yaw)
        for place, k in zip(places[angles <= limit], nearest[angles <= limit], strict=True):
            dx, dy = (place[0] - x)[:, None], (place[1] - y)[None]
            points = np.stack(
                np.broadcast_arrays(
                    cosine * dx + sine * dy, cosine * dy - sine * dx, place[2] - height
                ),
                axis=-1,
            )
            index, inside = found.cells(points)
            counts[:, :, at] += inside & reached[(*np.moveaxis(index, -1, 0), k)]
    return BasePlacement(x, y, turns, counts, len(places))


def _sides(
    found: LookUp, places: Array, extent: ArrayLike | None, step: float, yaws: int
) -> tuple[Array, Array]:
    """Return the positions of the base along x and y [m], at multiples of the step."""
    if extent is None:
        ahead, aside, _ = found.centres
        most = float(np.hypot(np.abs(ahead).max(), np.abs(aside).max())) + found.cell
        box = np.stack((places[:, :2].min(axis=0) - most, places[:, :2].max(axis=0) + most), 1)
    else:
        box = numbers('extent', extent)
        if box.shape != (2, 2):
            raise ShapeError('extent', 'shape (2, 2), MIN and MAX of x and y', f'{box.shape}')
        if not (np.isfinite(box).all() and (box[:, 0] <= box[:, 1]).all()):
            raise OptionError('extent', box.tolist(), 'finite MIN not above MAX [m]')
    first, last = np.ceil(box[:, 0] / step - 1e-9), np.floor(box[:, 1] / step + 1e-9)
    many = np.maximum(last - first + 1.0, 0.0)
    if not 1 <= many.prod() * yaws <= MOST:
        text = f'a step for at least one and at most {MOST:.0e} poses of the base in the extent'
        raise OptionError('step', step, text)
    x, y = (step * (a + np.arange(int(n))) for a, n in zip(first, many, strict=True))
    return x, y


def _spacing(found: LookUp) -> float:
    """Return the largest angle between an orientation of the map and its nearest other one."""
    if found.quats_xyzw is None:
        return 0.0
    apart = angles_between(found.quats_xyzw, found.quats_xyzw, roll=found.roll)
    np.fill_diagonal(apart, np.inf)
    nearest = apart.min(axis=1)
    # A single orientation has no other one, and agrees with itself only.
    return float(nearest.max()) if np.isfinite(nearest).all() else 1e-3
