"""The table of limits, locks, preferences and couplings of all joints, for the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from ik_node.errors import OptionError, ShapeError
from ik_node.kernels.layout import (
    JOINT_LOWER,
    JOINT_REST,
    JOINT_REST_ON,
    JOINT_ROWS,
    JOINT_TARGET,
    JOINT_TARGET_WEIGHT,
    JOINT_TURNS,
    JOINT_UPPER,
    JOINT_WINDOW,
    LARGEST,
)
from ik_node.model.attributes import ByName
from ik_node.model.dof import DOF
from ik_node.model.given import finite, numbers
from ik_node.model.joint import Joint
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import names_in
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
# Indices in q.
Places = Sequence[int] | slice | NDArray[np.int64]

# A polynomial coupling is usually fitted to data, and limits are read off the same data. The fit
# exceeds such limits by less than this share of its range, which counts as rounding.
ROUNDING = 1e-2
# A value beyond its limit by at most this is there by rounding [rad or m].
LIMIT_SLACK = 1e-9
# Limits that are widened by less than this are not reported [rad or m].
TOLD = 1e-6
# Range in which a polynomial coupling is evaluated if its master has no limits [rad or m].
FAR = 1e6


class JointTable:
    """
    The table of all joints that the kernels take, read from the joints of a tree.

    `rows` (8, nq): the table, `kernels.layout.JOINT_*`. The limits of a master are narrowed so
    that its followers stay within theirs. `widened`: index in q of a follower that its coupling
    takes beyond its limits by a rounding error -> the limits that replace them. `gaps`: index in q
    of a master whose followers are within their limits on several intervals of its values -> these
    intervals. The solver uses one of them. `has_targets`: True if a joint has a target. `triples`:
    indices in q of EX, EY and EZ of each joint with all three. `balls_with_preferences`: joints
    with all three Euler angles and a target or rest pose, and the indices of the angles in q.
    `followers`: index in q of each coupled value and of its master, and the polynomial between
    them. Values with several masters are not in this list, because the solver finds them. `sums`:
    index in q of each value with several masters, and index and polynomial of each master.
    `masters`: index in q of each coupled value -> that of its master. Raises OptionError if a
    coupling leaves its master no value for which the follower is within its limits.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.has_targets = False
        self.balls_with_preferences: list[tuple[Joint, list[int]]] = []
        self.rows: Array = np.zeros((JOINT_ROWS, len(tree.names)))
        self.followers = [
            (tree.q_of_column[index], tree.q_of_column[column.master], column.coefficients)
            for index, column in enumerate(tree.columns)
            if column.master != index
        ]
        self.sums = [
            (
                tree.q_of_column[each.column],
                [(tree.q_of_column[index], p) for index, p in each.terms],
            )
            for each in tree.sums
        ]
        # Joints with three Euler angles: different triples can describe one orientation, which
        # are not obtained by adding full turns to single angles.
        self.triples = [
            [index, index + 1, index + 2]
            for index, (joint, dof) in enumerate(tree.owner)
            if dof == DOF.EX and joint._dof_flags[3:].all()
        ]
        self._places: ByName[list[int]] = ByName('joint')
        for index, (joint, _) in enumerate(tree.owner):
            self._places.setdefault(joint.name, []).append(index)
            self._places.setdefault(tree.names[index], [index])
        self.widened: dict[int, tuple[float, float]] = {}
        self.gaps: dict[int, list[tuple[float, float]]] = {}
        self.masters = {follower: master for follower, master, _ in self.followers}
        self._rows_of: dict[tuple[str, ...], Array] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read limits, locks, targets and rest poses from the joints again."""
        rows = self.rows
        for index, (joint, dof) in enumerate(self._tree.owner):
            rows[JOINT_LOWER, index] = joint._min_dof_limit[dof]
            rows[JOINT_UPPER, index] = joint._max_dof_limit[dof]
            rows[JOINT_WINDOW, index] = 0.0 if joint._locked[dof] else np.inf
            rows[JOINT_TARGET, index] = joint._dof_target[dof]
            rows[JOINT_TARGET_WEIGHT, index] = float(joint.target_set)
            rows[JOINT_REST, index] = joint._dof_rest_pose[dof]
            rows[JOINT_REST_ON, index] = float(joint.rest_pose_set)
            rows[JOINT_TURNS, index] = float(dof.is_rotation and not joint.track_joint_wrap)
        fair = (rows[JOINT_LOWER] <= rows[JOINT_UPPER]) & (rows[JOINT_LOWER] < np.inf)
        fair &= (rows[JOINT_UPPER] > -np.inf) & np.isfinite(rows[[JOINT_TARGET, JOINT_REST]]).all(
            0
        )
        if not fair.all():  # numbers written to the arrays of a joint, which no method checked
            raise self._unfair(int(np.argmin(fair)))
        owner = self._tree.owner
        self.balls_with_preferences = [
            (owner[three[0]][0], three)
            for three in self.triples
            if not owner[three[0]][0].track_joint_wrap
            and (owner[three[0]][0].target_set or owner[three[0]][0].rest_pose_set)
        ]
        self.has_targets = bool(rows[JOINT_TARGET_WEIGHT].any())
        self._bind_masters()
        for names, chosen in self._rows_of.items():
            chosen[:] = self._within(self.window_of(names))

    def _unfair(self, index: int) -> OptionError:
        name = repr(self._tree.names[index])
        limits = self._limits(index)
        if not limits[0] <= limits[1] or limits[0] == np.inf or limits[1] == -np.inf:
            return OptionError(
                f'limits of {name}', limits, 'lower <= upper, and -inf and inf for none'
            )
        target = self.rows[[JOINT_TARGET, JOINT_REST], index].tolist()
        return OptionError(f'target and rest pose of {name}', target, 'finite numbers')

    def _bind_masters(self) -> None:
        """
        Narrow the limits of masters such that their followers stay within theirs.

        A follower that exceeds its limits by a rounding error counts as within them; its limits
        are then widened. If several intervals remain for a master, it gets the one that contains
        its present value or is nearest to it.
        """
        rows, owner = self.rows, self._tree.owner
        self.widened, self.gaps = {}, {}
        own_of: dict[int, list[tuple[int, tuple[float, ...]]]] = {}
        for follower, master, polynomial in self.followers:
            rows[JOINT_WINDOW, master] = min(
                rows[JOINT_WINDOW, master], rows[JOINT_WINDOW, follower]
            )
            own_of.setdefault(master, []).append((follower, polynomial))
        for master, own in own_of.items():
            stretches = [limits := self._limits(master)]
            for follower, polynomial in own:
                within = allowed_stretches(polynomial, self._limits(follower), limits)
                stretches = _common(stretches, within)
                if not stretches:
                    joint, dof = owner[follower]
                    raise OptionError(
                        f'limits of {self._tree.names[follower]!r}',
                        (float(joint._min_dof_limit[dof]), float(joint._max_dof_limit[dof])),
                        f'limits that leave {self._tree.names[master]!r}, which it follows, a '
                        f'value within its own',
                    )
            joint, dof = owner[master]
            value = float(joint._dof_values[dof])
            chosen = min(stretches, key=partial(_distance, value))
            rows[JOINT_LOWER, master], rows[JOINT_UPPER, master] = chosen
            if len(stretches) > 1:
                self.gaps[master] = stretches
            for follower, polynomial in own:
                if not any(polynomial[2:]):
                    continue
                low, high = self._limits(follower)
                least, greatest = _reached(polynomial, *chosen)
                if least < low or greatest > high:
                    self.widened[follower] = min(low, least), max(high, greatest)
                    rows[JOINT_LOWER, follower], rows[JOINT_UPPER, follower] = self.widened[
                        follower
                    ]

    def _limits(self, index: int) -> tuple[float, float]:
        return float(self.rows[JOINT_LOWER, index]), float(self.rows[JOINT_UPPER, index])

    @property
    def notes(self) -> list[str]:
        """Return a sentence for each follower with widened limits and each master with gaps."""
        names, result = self._tree.names, []
        for index, (low, high) in self.widened.items():
            joint, dof = self._tree.owner[index]
            limits = float(joint._min_dof_limit[dof]), float(joint._max_dof_limit[dof])
            beyond = max(limits[0] - low, high - limits[1])
            if beyond < TOLD:
                continue
            result.append(
                f'joint {names[index]!r}: its coupling takes it {beyond:.2g} beyond its limits '
                f'[{limits[0]:.6g}, {limits[1]:.6g}]; the solver takes this as rounding and uses '
                f'[{low:.6g}, {high:.6g}]'
            )
        for index, stretches in self.gaps.items():
            spans = ', '.join(f'[{low:.6g}, {high:.6g}]' for low, high in stretches)
            low, high = self._limits(index)
            result.append(
                f'joint {names[index]!r}: joints that follow it are within their limits only '
                f'in {spans}; it stays in [{low:.6g}, {high:.6g}], where it starts'
            )
        return result

    @property
    def lower(self) -> Array:
        """Return a view of the lower limits, shape (nq,) [rad or m]."""
        return np.asarray(self.rows[JOINT_LOWER])

    @property
    def upper(self) -> Array:
        """Return a view of the upper limits, shape (nq,) [rad or m]."""
        return np.asarray(self.rows[JOINT_UPPER])

    @property
    def windows(self) -> Array:
        """Return a view of the largest changes, shape (nq,) [rad or m]; inf = none, 0 = locked."""
        return np.asarray(self.rows[JOINT_WINDOW])

    @property
    def has_preferences(self) -> bool:
        """Return True if a joint has a target or a rest pose."""
        return bool(self.rows[[JOINT_TARGET_WEIGHT, JOINT_REST_ON]].any())

    @property
    def locked(self) -> NDArray[np.bool_]:
        """Return True for values that are locked, shape (nq,)."""
        return np.asarray(self.rows[JOINT_WINDOW] == 0.0)

    @property
    def targeted(self) -> list[int]:
        """Return the indices in q of values with a target."""
        return np.flatnonzero(self.rows[JOINT_TARGET_WEIGHT]).tolist()

    @staticmethod
    def without_limits(rows: Array) -> Array:
        """Return a copy of rows without limits; locks stay."""
        rows = rows.copy()
        rows[JOINT_LOWER], rows[JOINT_UPPER] = -np.inf, np.inf
        return rows

    @staticmethod
    def without_preferences(rows: Array) -> Array:
        """Return a copy of rows without targets and rest poses."""
        rows = rows.copy()
        rows[[JOINT_TARGET_WEIGHT, JOINT_REST_ON]] = 0.0
        return rows

    def with_targets(self, places: Places, values: Array) -> Array:
        """Return a copy of the rows with targets at some places as the only preferences."""
        rows = self.rows.copy()
        rows[JOINT_TARGET_WEIGHT] = rows[JOINT_REST_ON] = rows[JOINT_TURNS] = 0.0
        rows[JOINT_TARGET, places], rows[JOINT_TARGET_WEIGHT, places] = values, 1.0
        return rows

    @staticmethod
    def without_free_balls(rows: Array, places: Places = slice(None)) -> Array:
        """Return a copy of rows with which the kernels step balls by their Euler angles."""
        # A finite window that is wider than any motion [rad].
        narrow = np.minimum(rows[JOINT_WINDOW, places], 1e200)
        return JointTable.with_window(rows, places, narrow)

    @staticmethod
    def with_window(rows: Array, places: Places, window: Array | float) -> Array:
        """Return a copy of rows with the largest change of some values [rad or m]."""
        rows = rows.copy()
        rows[JOINT_WINDOW, places] = window
        return rows

    @staticmethod
    def turning(rows: Array) -> NDArray[np.bool_]:
        """Return True for angles of which full turns do not count, shape (nq,)."""
        return np.asarray(rows[JOINT_TURNS] > 0.0)

    def difference(self, one: Array, other: Array) -> Array:
        """Return by how much values (..., nq) of one exceed the other's, without full turns."""
        gap = one - other
        full_turns = self.turning(self.rows) * np.round(gap / (2.0 * np.pi))
        return np.asarray(gap - 2.0 * np.pi * full_turns)

    @staticmethod
    def movable(rows: Array) -> NDArray[np.bool_]:
        """Return True for values that rows do not lock, shape (nq,)."""
        return np.asarray(rows[JOINT_WINDOW] > 0.0)

    @staticmethod
    def clamped(rows: Array, q: Array) -> Array:
        """Return q with every value within its limits."""
        return np.asarray(q.clip(rows[JOINT_LOWER], rows[JOINT_UPPER]))

    @staticmethod
    def with_windows_as_limits(rows: Array, q: Array) -> Array:
        """Return a copy of rows in which windows around q are limits; locks stay."""
        rows = rows.copy()
        window = rows[JOINT_WINDOW]
        rows[JOINT_LOWER] = np.maximum(rows[JOINT_LOWER], q - window)
        rows[JOINT_UPPER] = np.minimum(rows[JOINT_UPPER], q + window)
        rows[JOINT_WINDOW, window > 0.0] = np.inf
        return rows

    def nearest(self, rows: Array, q: Array) -> Array:
        """
        Return the rows with the preferences of balls as the equal Euler angles nearest to q.

        Single angles need no change, because the kernel takes them modulo full turns; neither do
        balls without limits, which it steps on SO(3).
        """
        rows = rows.copy()
        for joint, three in self.balls_with_preferences:
            present = joint._dof_values.copy()
            present[3:] = q[three]
            for row, preferred in (
                (JOINT_TARGET, joint._dof_target),
                (JOINT_REST, joint._dof_rest_pose),
            ):
                rows[row, three] = joint.nearest_values(preferred, present)[3:]
        return rows

    def narrowed(self, window: Array | float, q: Array) -> Array:
        """Return the rows with windows around q; those of followers also limit their masters."""
        rows = self._within(window)
        rows[JOINT_WINDOW] = self.through_couplings(rows[JOINT_WINDOW], q)
        return rows

    @staticmethod
    def with_start(rows: Array, q: Array) -> Array:
        """Return the rows with limits that include the start q, as the kernels use them."""
        rows = rows.copy()
        rows[JOINT_LOWER] = np.minimum(rows[JOINT_LOWER], q)
        rows[JOINT_UPPER] = np.maximum(rows[JOINT_UPPER], q)
        return rows

    def through_couplings(self, limits: Array, q: Array | None = None) -> Array:
        """
        Return largest changes with which followers keep theirs: |dp/dm| dm <= theirs.

        They hold everywhere within the limits, or with q for changes from there.
        """
        narrowed = limits.copy()
        for follower, master, polynomial in self.followers:
            if np.isfinite(limits[follower]):
                low, high = self._limits(master)
                if q is not None:
                    low = max(low, q[master] - limits[master])
                    high = min(high, q[master] + limits[master])
                slope = tuple(power * c for power, c in enumerate(polynomial))[1:]
                steepest = max(map(abs, _reached(slope, low, high)))
                if steepest > 0.0:
                    narrowed[master] = min(narrowed[master], limits[follower] / steepest)
        return narrowed

    def places(self, names: Iterable[str]) -> list[int]:
        """Return the indices in q of joints, or of single values of them."""
        result: list[int] = []
        for name in names_in('joints', names):
            result += self._places[name]
        return result

    def window_of(self, names: Iterable[str]) -> Array:
        """
        Return the window, shape (nq,), in which only the named joints and their followers move.

        A named follower whose master is not named does not move. A joint with several masters
        moves if it or one of them is named.
        """
        chosen = {index for index in self.places(names) if index not in self.masters}
        for follower, terms in self.sums:
            if any(self.masters.get(master, master) in chosen for master, _ in terms):
                chosen.add(follower)
        window: Array = np.zeros(self.rows.shape[1])
        window[list(chosen)] = np.inf
        window[[index for index, master in self.masters.items() if master in chosen]] = np.inf
        return window

    def rows_of(self, names: tuple[str, ...]) -> Array:
        """Return the rows with which only named joints move; `refresh` updates them as well."""
        if names not in self._rows_of:
            self._rows_of[names] = self._within(self.window_of(names))
        return self._rows_of[names]

    def _within(self, window: Array | float) -> Array:
        """Return a copy of the rows with windows no wider than the given one [rad or m]."""
        rows = self.rows.copy()
        rows[JOINT_WINDOW] = np.minimum(rows[JOINT_WINDOW], window)
        return rows

    def window(self, max_step: ArrayLike | None, names: Iterable[str] | None) -> Array | None:
        """Return the largest change of every value in a call, (nq,) [rad or m]; None = any."""
        widest: Array | None = None
        if max_step is not None:
            shape = self.rows.shape[1:]
            widest = numbers('max_step', max_step, shape)
            if widest.shape != shape or not (widest >= 0.0).all():
                got = f'shape {widest.shape}, least {widest.min(initial=0.0)}'
                raise ShapeError('max_step', f'shape {shape}, 0 or more', got)
        if names is None:
            return widest
        return (
            self.window_of(names) if widest is None else np.minimum(widest, self.window_of(names))
        )

    def steps_of(self, options: SolverOptions, window: Array | None) -> Array:
        """Return the largest change of every value in a call with these options, shape (nq,)."""
        largest = np.full(self.rows.shape[1], options.max_joint_step)
        if window is not None:
            largest = np.minimum(largest, window)
        if options.cycle_time > 0.0:
            largest = np.minimum(largest, self._tree.max_velocity * options.cycle_time)
        return largest

    def driven(self, values: Mapping[str, float]) -> dict[int, float]:
        """Return index in q -> value [rad or m] of the joints to drive."""
        target = {}
        for name, value in values.items():
            places = self._places[name]
            if len(places) != 1:
                names = ' '.join(self._tree.names[index] for index in places)
                raise OptionError('driven joint', name, f'one value of it: {names}')
            (index,) = places
            if index in self.masters:
                raise OptionError(
                    'driven joint',
                    name,
                    f'the joint it follows: {self._tree.names[self.masters[index]]}',
                )
            number = value
            if not (number.__class__ is float and abs(number) <= LARGEST):
                what = f'value of driven joint {name!r}'
                (number,) = finite(what, np.ravel(numbers(what, value)), 1).tolist()
                if not abs(number) <= LARGEST:
                    raise ShapeError(what, f'a finite number within {LARGEST:g}', str(number))
            target[index] = number
        return target

    def move_to_targets(self, moved: NDArray[np.int64], rows: Array, q: Array) -> None:
        """
        Set joints that affect no closure or goal (not in `moved`) to their targets in q (..., nq).

        As in the kernels, a value outside its limits may stay or move inwards.
        """
        free = rows[..., JOINT_TARGET_WEIGHT, :] > 0.0
        if free.ndim > 1:
            free = np.asarray(free.reshape(-1, free.shape[-1]).any(axis=0))
        free[moved] = False
        if not free.any():
            return
        window = rows[..., JOINT_WINDOW, :]
        with np.errstate(invalid='ignore'):  # an infinite start is refused later
            low = np.maximum(np.minimum(rows[..., JOINT_LOWER, :], q), q - window)
            high = np.minimum(np.maximum(rows[..., JOINT_UPPER, :], q), q + window)
        q[..., free] = np.clip(rows[..., JOINT_TARGET, :], low, high)[..., free]

    def with_couplings(self, q: Array) -> Array:
        """Return q with masters clamped to their narrowed limits, and followers set from them."""
        if not self.followers and not self.sums:
            return q
        lower, upper = self.rows[[JOINT_LOWER, JOINT_UPPER]]
        moved: Array = np.clip(q, lower, upper)
        self.follow(moved)
        for follower, terms in self.sums:
            total = sum(_value(polynomial, moved[master]) for master, polynomial in terms)
            moved[follower] = min(max(total, lower[follower]), upper[follower])
            self.follow(moved)
        return moved

    def follow(self, q: Array) -> None:
        """Set coupled values of q from their masters, in place."""
        for follower, master, polynomial in self.followers:
            total = _value(polynomial, q[master])
            # Rounding can put the value at a master's limit outside the follower's limit. A
            # master that starts outside its limits takes its follower with it.
            low, high = self.rows[JOINT_LOWER, follower], self.rows[JOINT_UPPER, follower]
            within = min(max(total, low), high)
            q[follower] = within if abs(total - within) <= LIMIT_SLACK else total

    def follow_all(self, q: Array) -> None:
        """Set coupled values of many configurations, shape (n, nq), as `follow` does."""
        for follower, master, polynomial in self.followers:
            total = _value(polynomial, q[:, master])
            low, high = self.rows[JOINT_LOWER, follower], self.rows[JOINT_UPPER, follower]
            within = np.minimum(np.maximum(total, low), high)
            q[:, follower] = np.where(np.abs(total - within) <= LIMIT_SLACK, within, total)


@lru_cache(maxsize=4096)
def allowed_stretches(
    polynomial: tuple[float, ...], limits: tuple[float, float], own: tuple[float, float]
) -> list[tuple[float, float]]:
    """
    Return the intervals of a master's values on which its follower is within its limits.

    `own` are the limits of the master. A follower that exceeds its limits by less than `ROUNDING`
    of its range counts as within them, if it is not linear.
    """
    low, high = max(own[0], -FAR), min(own[1], FAR)
    cuts = [low, high]
    for limit in limits:
        if np.isfinite(limit):
            cuts += [root for root in _crossings(polynomial, limit) if low < root < high]
    cuts.sort()
    least, greatest = _reached(polynomial, low, high)
    slack = ROUNDING * min(greatest - least, limits[1] - limits[0]) if any(polynomial[2:]) else 0.0
    intervals: list[tuple[float, float]] = []
    for first, last in pairwise(cuts):
        middle = _value(polynomial, 0.5 * (first + last))
        inside = limits[0] <= middle <= limits[1]
        if not inside:
            least, greatest = _reached(polynomial, first, last)
            inside = max(limits[0] - least, greatest - limits[1]) <= (
                slack if first < last else LIMIT_SLACK
            )
        if inside and intervals and intervals[-1][1] == first:
            intervals[-1] = intervals[-1][0], last
        elif inside:
            intervals.append((first, last))
    if not intervals:  # a follower may be within its limits at one end alone
        ends = [end for end in (low, high) if limits[0] <= _value(polynomial, end) <= limits[1]]
        intervals = [(end, end) for end in ends[:1]]
    # The ends at +-FAR stand for a master without limits.
    return [
        (own[0] if first == low else first, own[1] if last == high else last)
        for first, last in intervals
    ]


def _common(
    some: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the intersections of the intervals of two lists."""
    both = [(max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others]
    return sorted(stretch for stretch in both if stretch[0] <= stretch[1])


def _distance(value: float, stretch: tuple[float, float]) -> tuple[float, float]:
    """Return the distance of a value from an interval and the interval's negative length."""
    low, high = stretch
    return max(low - value, value - high, 0.0), low - high


def _value(polynomial: tuple[float, ...], master: Any) -> Any:
    total = 0.0
    for coefficient in reversed(polynomial):
        total = total * master + coefficient
    return total


def _reached(polynomial: tuple[float, ...], low: float, high: float) -> tuple[float, float]:
    """Return the minimum and the maximum of a polynomial on an interval."""
    low, high = max(low, -FAR), min(high, FAR)
    slope = tuple(power * c for power, c in enumerate(polynomial))[1:] or (0.0,)
    extremes = [root for root in _crossings(slope, 0.0, 1.0) if low < root < high]
    values = [_value(polynomial, value) for value in (low, high, *extremes)]
    return min(values), max(values)


def _crossings(
    polynomial: tuple[float, ...], bound: float, imaginary: float = 1e-9
) -> list[float]:
    """Return the values of the master for which its follower is at a bound."""
    shifted = np.polynomial.Polynomial(polynomial) - bound
    roots = np.asarray(shifted.roots(), dtype=complex)
    return [float(root) for root in roots.real[np.abs(roots.imag) < imaginary]]
