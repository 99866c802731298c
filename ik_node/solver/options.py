"""The options of a solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, Field, field, fields, FrozenInstanceError
from functools import cached_property
import math
import re
from textwrap import fill
from types import MappingProxyType
from typing import Any

from ik_node.display import public_names
from ik_node.errors import listed, OptionError, shown, similar
from ik_node.kernels import options as index
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

METHODS = (
    'dls',
    'sdls',
    'pseudo_inverse',
    'jacobian_transpose',
    'ccd',
    'gradient_descent',
    'slsqp',
)
# The methods that minimise a cost, to which the option `comfort` can be added.
COST_METHODS = ('gradient_descent', 'slsqp')

_INF = math.inf
# Least factor of rows in a solve; with it, rows that do not count have no influence either.
LEAST_FACTOR = 1e-6


class _Usual(int):
    """The default of a number, which is told from the same number set by the user."""


_USUAL_RESTARTS = _Usual(300)


# What each option is, for docstrings, the node's parameters and the page.
_MEANINGS = """
max_iterations: steps from one start towards goals and preferences; a solve makes at most (1 +
    restarts) times as many, and steps that only close loops are not counted
stall_threshold: a step that moves no joint by more than this ends the start as stalled
diverge_threshold: growth of half the squared residual in one step that counts as diverging; only
    with adaptive_damping off
damping_factor: damping per unit of half the squared residual at the start; with adaptive_damping
    off its square is the damping itself
adaptive_damping: adapt the damping to the gain ratio of the steps
rest_pose_factor: share of the distance to the rest pose that one null-space step takes
translation_converge_threshold: position residual of a closure or goal that counts as met
rotation_converge_threshold: orientation residual of a closure or goal that counts as met
characteristic_length: length that counts as much as one radian; 0 = from the robot: half of the
    longest path along the joints of a goal or loop
translation_factor: factor of all translation rows, in characteristic lengths; 0 = the positions of
    goals do not count
rotation_factor: factor of all rotation rows; 0 = those of goals do not count
translation_error_clamp: a larger position residual is scaled down to this in a step
rotation_error_clamp: a larger orientation residual is scaled down to this in a step
restarts: further starts if one fails; 0 = stay near the start. A number that is set is made,
    unless a start succeeds, the time is up or the goal is proven out of reach; the default also
    ends when independent starts agree
agreeing_starts: so many independent starts that end with the same least residual end the restarts
    of a goal that is not reached; 0 = 2 to 120, by the robot and by how nearly the goal is missed,
    if restarts has its default, and no such end otherwise
compromise: goals conflict, and none is expected to be met: go to the least weighted residual near
    the start, with loops closed and without restarts for the goals
smoothing: with compromise: weight of the squared way from the start, in rad and characteristic
    lengths, beside the squared residuals
avoid_collisions: keep bodies of the robot and obstacles apart, see docs/collisions.md; None = if
    there is an obstacle or the user has chosen pairs
collision_margin: least distance of two bodies in an answer
influence_distance: pairs farther apart than this, beyond the margin, do not change a step
start_outside: a value that starts outside its limits may stay or move inwards, or is moved to its
    limit before the solve
seed: seed of the restarts: same seed, same result
time_budget: longest time of a solve; 0 = none
max_joint_step: largest change of a joint in one call
cycle_time: time between two calls: in one call no joint moves farther than its velocity limit
    allows in this time; 0 = the velocity limits do not count
method: method that computes the steps; only dls has restarts
jacobian: the Jacobian: in closed form, or by finite differences
use_svd: damped least squares by singular values in place of an inverse
translation_step: step of a prismatic joint for finite differences and sampling, in characteristic
    lengths
rotation_step: step of a revolute joint for finite differences and sampling
alpha: factor of J^T e in jacobian_transpose, at most Buss's optimal one; 0 = that one
ccd_step_limit: largest change of a joint in one sweep of ccd
learning_rate: step of gradient_descent per unit of gradient; 0 = proportional to the distance
distance_threshold: distance below which gradient_descent stops; 0 = within every tolerance
early_stop: check distance_threshold after every joint, not only after every sweep
comfort: function of q [rad or m] that gradient_descent and slsqp add to the cost
"""


def _option(
    default: Any,
    unit: str = '',
    low: float = 0.0,
    high: float = 0.0,
    allowed: tuple[str, ...] = (),
    *,
    parameter: bool = True,
) -> Any:
    """Return a field; `parameter` is True if a ROS parameter can hold it."""
    facts = {'unit': unit, 'range': (low, high), 'allowed': allowed, 'parameter': parameter}
    return field(default=default, metadata=facts)


@dataclass(frozen=True, repr=False)
class SolverOptions:
    """
    Options of `Solver`; `dataclasses.replace` returns a changed copy.

    See docs/methods.md for the options of each method, and docs/tuning.md for when to change
    them.

    Raises
    ------
    OptionError
        If the value of a field is not allowed, or there is no such option.

    Examples
    --------
    >>> import ik_node as ik
    >>> solver = ik.Solver(ik.load_robot('arm6'), ik.SolverOptions(restarts=10))
    >>> from dataclasses import replace
    >>> solver.options = replace(solver.options, seed=3)
    >>> solver.options
    SolverOptions(restarts=10, seed=3)
    >>> ik.SolverOptions(restarts=5).changes
    'restarts=5'

    """

    max_iterations: int = _option(200, '1', 1, 1e6)
    stall_threshold: float = _option(1e-10, 'rad or characteristic lengths', 0.0, _INF)
    diverge_threshold: float = _option(0.01, '1', 0.0, _INF)
    damping_factor: float = _option(0.05, '1', 0.0, 1e3)
    adaptive_damping: bool = _option(True, '', 0, 1)
    rest_pose_factor: float = _option(0.1, '1', 0.0, 1.0)
    translation_converge_threshold: float = _option(1e-6, 'm', 0.0, _INF)
    rotation_converge_threshold: float = _option(1e-6, 'rad', 0.0, _INF)
    characteristic_length: float = _option(0.0, 'm', 0.0, 1e9)
    translation_factor: float = _option(1.0, '1', 0.0, 1e6)
    rotation_factor: float = _option(1.0, '1/rad', 0.0, 1e6)
    translation_error_clamp: float = _option(_INF, 'm', 1e-9, _INF)
    rotation_error_clamp: float = _option(_INF, 'rad', 1e-9, _INF)
    restarts: int = _option(_USUAL_RESTARTS, '1', 0, 1e6)
    agreeing_starts: int = _option(0, '1', 0, 1e6)
    compromise: bool = _option(False, '', 0, 1)
    smoothing: float = _option(0.0, '1', 0.0, 1e6)
    avoid_collisions: bool | None = _option(None, parameter=False)
    collision_margin: float = _option(0.0, 'm', 0.0, 1e6, parameter=False)
    influence_distance: float = _option(0.05, 'm', 0.0, 1e6, parameter=False)
    start_outside: str = _option('stay', allowed=('stay', 'clamp'))
    seed: int = _option(0, '1', 0, 2147483645)
    time_budget: float = _option(0.0, 's', 0.0, _INF)
    max_joint_step: float = _option(_INF, 'rad or m', 1e-12, _INF)
    cycle_time: float = _option(0.0, 's', 0.0, 1e3, parameter=False)
    method: str = _option('dls', allowed=METHODS)
    jacobian: str = _option('analytic', allowed=('analytic', 'numeric'))
    use_svd: bool = _option(False, '', 0, 1)
    translation_step: float = _option(1e-7, '1', 1e-9, 1.0)
    rotation_step: float = _option(1e-7, 'rad', 1e-9, 1.0)
    alpha: float = _option(0.0, 'rad^2/m^2', 0.0, _INF)
    ccd_step_limit: float = _option(_INF, 'rad or characteristic lengths', 1e-9, _INF)
    learning_rate: float = _option(0.0, 'rad^2 or m^2', 0.0, _INF)
    distance_threshold: float = _option(0.0, 'm', 0.0, _INF)
    early_stop: bool = _option(True, '', 0, 1)
    comfort: Callable[[Array], float] | None = _option(None, parameter=False)  # noqa: RUF009

    def __new__(cls, **options: Any) -> SolverOptions:
        """Refuse options that do not exist, before the generated __init__ raises a TypeError."""
        for name in options.keys() - {each.name for each in fields(cls)}:
            raise UnknownOptionError(name)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            text = _allowed_values(entry, value)
            if text:
                near = similar(value, entry.metadata['allowed'])
                raise OptionError(entry.name, value, text, near)
        if self.comfort is not None and self.method not in COST_METHODS:
            raise OptionError(
                'comfort', self.comfort, f'with method {" or ".join(COST_METHODS)} only'
            )

    _internal = ('in_kernel', 'limits_steps', 'packed')
    __dir__ = public_names

    def __repr__(self) -> str:
        return f'SolverOptions({self.changes})'

    @property
    def changes(self) -> str:
        """Return the options that differ from the defaults, as keyword arguments."""
        changed = [each for each in fields(self) if getattr(self, each.name) != each.default]
        return ', '.join(f'{each.name}={getattr(self, each.name)!r}' for each in changed)

    @property
    def limits_steps(self) -> bool:
        """Return True if the change of a joint in one call is limited."""
        return self.max_joint_step < math.inf or self.cycle_time > 0.0

    @cached_property
    def in_kernel(self) -> bool:
        """Return True if the compiled solver has this method; the others are for comparison."""
        return self.method == 'dls' and self.jacobian == 'analytic' and not self.use_svd

    def packed(self) -> NDArray[np.float64]:
        """Return the options as a float array, shape (OPTION_COUNT,), see `kernels.options`."""
        packed = np.zeros(index.OPTION_COUNT)
        for name, place in _PLACES.items():
            packed[place] = getattr(self, name)
        for factor in (index.TRANSLATION_FACTOR, index.ROTATION_FACTOR):
            packed[factor] = max(packed[factor], LEAST_FACTOR)
        if self.agreeing_starts == 0 and not isinstance(self.restarts, _Usual):
            packed[index.AGREEING_STARTS] = -1.0
        if not self.compromise:
            packed[index.SMOOTHING] = 0.0
        return packed


for _entry, _text in zip(
    fields(SolverOptions), re.split(r'\n(?=\w)', _MEANINGS.strip()), strict=True
):
    _meaning = ' '.join(_text.removeprefix(f'{_entry.name}: ').split())
    _entry.metadata = MappingProxyType({**_entry.metadata, 'doc': _meaning})


# Place of each option of the kernels among the packed ones.
_PLACES: dict[str, int] = {
    entry.name: getattr(index, entry.name.upper())
    for entry in fields(SolverOptions)
    if hasattr(index, entry.name.upper())
}


def _explained(entry: Field[Any]) -> str:
    """Return the entry of an option in the docstring of `SolverOptions`."""
    facts = entry.metadata
    if facts['allowed']:
        kind = '{' + ', '.join(map(repr, facts['allowed'])) + '}'
    elif entry.default is None:
        kind = 'bool or None' if entry.name == 'avoid_collisions' else 'callable or None'
    else:
        kind = type(entry.default).__name__
    low, high = facts['range']
    meaning = f'{facts["doc"][0].upper()}{facts["doc"][1:]}.'
    if kind in ('int', 'float'):
        unit = '' if facts['unit'] in ('', '1') else f' [{facts["unit"]}]'
        meaning += f' From {low:g} to {high:g}{unit}.'
    body = fill(meaning, 95, initial_indent=' ' * 8, subsequent_indent=' ' * 8)
    return f'    {entry.name} : {kind}, default {entry.default!r}\n{body}\n'


if SolverOptions.__doc__ is not None:  # None with python -OO
    SolverOptions.__doc__ = (
        f'{SolverOptions.__doc__.rstrip()}\n\n    Attributes\n    ----------\n'
        + ''.join(map(_explained, fields(SolverOptions)))
    )


class UnknownOptionError(OptionError, TypeError):
    """`SolverOptions` has no such option; a TypeError too, as for other functions."""

    def __init__(self, name: str) -> None:
        names = [each.name for each in fields(SolverOptions)]
        near = similar(name, names)
        known = near or listed(names, len(names))
        super().__init__('option', name, f'{known}; help(SolverOptions) explains each')


class FrozenOptionsError(OptionError, FrozenInstanceError):  # type: ignore[misc]
    """`SolverOptions` cannot be changed, only replaced."""


def _refuse(self: SolverOptions, name: str, value: object) -> None:
    if name not in {each.name for each in fields(self)}:
        raise UnknownOptionError(name)
    changed = f'solver.options = dataclasses.replace(solver.options, {name}={shown(value)})'
    raise FrozenOptionsError(name, value, f'new options: {changed}')


# A frozen dataclass has a method of its own that raises FrozenInstanceError.
SolverOptions.__setattr__ = _refuse  # type: ignore[assignment]


def tracking(
    cycle_time: float = 0.01, *, max_velocity: float = math.pi, **options: Any
) -> SolverOptions:
    """
    Return options with which a robot follows goals that move, such as a hand in teleoperation.

    Each call stays near its start: there are no restarts, conflicting or unreachable goals are a
    compromise, and no joint moves farther than its velocity limit and `max_velocity` allow in one
    cycle. Solve each cycle from the last answer. A joint with a rest pose moves towards it in the
    null space of the goals.

    Parameters
    ----------
    cycle_time : float
        Time between two calls [s].
    max_velocity : float
        Largest speed of every joint, also of joints without a velocity limit [rad/s or m/s].
    **options
        Further options of `SolverOptions`, or others in place of those above.

    Raises
    ------
    OptionError
        If a value is not allowed, or there is no such option.

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.tracking(0.02, max_velocity=2.0)
    SolverOptions(restarts=0, compromise=True, max_joint_step=0.04, cycle_time=0.02)

    """
    chosen = {
        'restarts': 0,
        'compromise': True,
        'max_joint_step': max_velocity * cycle_time,
        'cycle_time': cycle_time,
    }
    return SolverOptions(**{**chosen, **options})


def _allowed_values(entry: Field[Any], value: Any) -> str:
    """Return a description of the allowed values if the value is not allowed, else ''."""
    low, high = entry.metadata['range']
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if entry.name == 'avoid_collisions':
        allowed, text = value is None or isinstance(value, (bool, np.bool_)), 'None, true or false'
    elif entry.default is None:
        allowed = value is None or callable(value)
        text = 'None or a function of q'
    elif isinstance(entry.default, str):
        allowed = isinstance(value, str) and value in entry.metadata['allowed']
        text = ' or '.join(entry.metadata['allowed'])
    elif isinstance(entry.default, bool):
        allowed = isinstance(value, (bool, np.bool_))
        text = 'true or false'
    elif isinstance(entry.default, int):
        whole = isinstance(value, (int, np.integer)) and number
        allowed = whole and low <= value <= high
        text = f'a whole number from {low:g} to {high:g}'
    else:
        allowed = number and low <= float(value) <= high
        text = f'a number from {low:g} to {high:g} [{entry.metadata["unit"]}]'
    return '' if allowed else text
