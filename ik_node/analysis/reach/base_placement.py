"""The positions of a robot's base from which a link reaches many targets."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.display import public_names
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
        result: Array = np.stack(
            (self.x[i], self.y[j], self.yaw[k], self.counts[i, j, k].astype(np.float64)), axis=1
        )
        return result
