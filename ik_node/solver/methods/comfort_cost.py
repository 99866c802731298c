"""A user's own cost of a configuration, checked and differentiated."""

from __future__ import annotations

import math

from ik_node.errors import OptionError
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.numeric_jacobian import away_from_bounds
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ComfortCost:
    """
    The option `comfort` at an iterate; 0 where there is none.

    Parameters
    ----------
    here : Iterate

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self._function = here.options.comfort

    @property
    def asked(self) -> bool:
        """Whether there is one."""
        return self._function is not None

    @property
    def value(self) -> float:
        """
        Return the cost of the iterate's q.

        Raises
        ------
        OptionError
            If the function returns anything but a finite number.

        """
        if self._function is None:
            return 0.0
        found = self._function(self._here.q.copy())
        try:
            number = float(found)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise OptionError('comfort', found, 'a function that returns a finite number')
        return number

    def gradient(self) -> Array:
        """Return its derivatives by the variables, by one-sided differences, shape (nv,)."""
        here = self._here
        x, before = here.x.copy(), self.value
        sizes = away_from_bounds(here)
        slopes = np.zeros(x.size)
        for v in np.flatnonzero(sizes).tolist():
            step = np.zeros(x.size)
            step[v] = sizes[v]
            here.move(step)
            slopes[v] = (self.value - before) / sizes[v]
            here.place(x)
        return slopes
