"""What a user may choose about a solve."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
import math
from typing import Any

from ik_node.errors import OptionError
from ik_node.kernels import options as place
import numpy as np
from numpy.typing import NDArray


def _option(default: Any, unit: str, low: float, high: float, doc: str) -> Any:
    return field(default=default, metadata={'unit': unit, 'range': (low, high), 'doc': doc})


_INF = math.inf


@dataclass(frozen=True)
class SolverOptions:
    """
    Options of `Solver`; every field is checked, `dataclasses.replace` makes a changed copy.

    The unit, the allowed range and the meaning of each field are its metadata.
    """

    max_iterations: int = _option(100, '1', 1, 1e6, 'steps per start')
    stall_threshold: float = _option(
        1e-10,
        'rad or m',
        0.0,
        _INF,
        'a step that moves no joint by more than this ends the start: it has stalled',
    )
    diverge_threshold: float = _option(
        0.01,
        'm^2 or rad^2',
        0.0,
        _INF,
        'growth of half the squared residual in one step that counts as diverging; '
        'only with adaptive_damping off',
    )
    damping_factor: float = _option(
        0.05,
        '1',
        0.0,
        1e3,
        'damping per unit of half the squared residual at the start; with adaptive_damping off '
        'its square is the damping itself',
    )
    adaptive_damping: bool = _option(
        True, '', 0, 1, 'raise and lower the damping by how well the steps do'
    )
    rest_pose_factor: float = _option(
        0.1, '1', 0.0, 1.0, 'share of the way to the rest pose taken in one step of the null space'
    )
    translation_converge_threshold: float = _option(
        1e-6, 'm', 0.0, _INF, 'position residual of a closure or goal that counts as met'
    )
    rotation_converge_threshold: float = _option(
        1e-6, 'rad', 0.0, _INF, 'orientation residual of a closure or goal that counts as met'
    )
    translation_factor: float = _option(1.0, '1/m', 1e-6, 1e6, 'weight of all translation rows')
    rotation_factor: float = _option(1.0, '1/rad', 1e-6, 1e6, 'weight of all rotation rows')
    translation_error_clamp: float = _option(
        _INF, 'm', 1e-9, _INF, 'longest position residual that one step goes after'
    )
    rotation_error_clamp: float = _option(
        _INF, 'rad', 1e-9, _INF, 'largest orientation residual that one step goes after'
    )
    restarts: int = _option(
        50, '1', 0, 1e6, 'further starts when one does not get there; 0 = stay near the seed'
    )
    seed: int = _option(0, '1', 0, 2147483645, 'of the restarts: same seed, same answer')
    time_budget: float = _option(0.0, 's', 0.0, _INF, 'longest time of a solve; 0 = none')
    max_joint_step: float = _option(
        _INF, 'rad or m', 1e-12, _INF, 'largest change of a joint in one call'
    )

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            low, high = entry.metadata['range']
            if isinstance(entry.default, bool):
                allowed = isinstance(value, (bool, np.bool_))
                text = 'true or false'
            elif isinstance(entry.default, int):
                allowed = isinstance(value, (int, np.integer)) and low <= value <= high
                allowed = allowed and not isinstance(value, bool)
                text = f'a whole number from {low:g} to {high:g}'
            else:
                number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
                allowed = number and low <= float(value) <= high
                text = f'a number from {low:g} to {high:g} [{entry.metadata["unit"]}]'
            if not allowed:
                raise OptionError(entry.name, value, text)

    def packed(self) -> NDArray[np.float64]:
        """Return the options as the float array that kernels take."""
        packed = np.zeros(place.OPTION_COUNT)
        packed[place.MAX_ITERATIONS] = self.max_iterations
        packed[place.STALL_THRESHOLD] = self.stall_threshold
        packed[place.DIVERGE_THRESHOLD] = self.diverge_threshold
        packed[place.DAMPING_FACTOR] = self.damping_factor
        packed[place.ADAPTIVE_DAMPING] = self.adaptive_damping
        packed[place.REST_POSE_FACTOR] = self.rest_pose_factor
        packed[place.TRANSLATION_FACTOR] = self.translation_factor
        packed[place.ROTATION_FACTOR] = self.rotation_factor
        packed[place.TRANSLATION_ERROR_CLAMP] = self.translation_error_clamp
        packed[place.ROTATION_ERROR_CLAMP] = self.rotation_error_clamp
        packed[place.RESTARTS] = self.restarts
        packed[place.SEED] = self.seed
        return packed
