"""Goals whose residual is a method that their user writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ik_node.errors import IkError, listed, OptionError, ShapeError, shown, TopologyError
from ik_node.model.constraint import Goal
from ik_node.model.frame import Frame
from ik_node.model.given import finite
from ik_node.model.link import Link
from ik_node.model.rotation import quat_to_matrix, rotation_vector_to_quat
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Frames = Mapping[str, Array]

# The key of the goal's own frame among the frames that a residual gets.
TARGET = 'target'
# Largest number of rows, for which the kernels have room.
MOST_ROWS = 6
UNITS = ('m', 'rad')
# Half the difference of two frames for a derivative [rad], and [1 / distance from the root].
STEP = 1e-6
_TURNS = [
    [quat_to_matrix(rotation_vector_to_quat(sign * STEP * axis)) for sign in (1.0, -1.0)]
    for axis in np.eye(3)
]


class UserGoal(Goal):
    """
    The base class of goals whose residual their users write in Python.

    A subclass names the `links` whose frames it needs, and has a method `residual`, and for speed
    a method `jacobian`. `Robot.add_goal` takes an object of it. Solves, batches and paths treat it
    like any other goal, together with all of them: its weight, priority and tolerance count, and
    loops, limits, couplings and joint targets hold. A graph without a Robot takes it with
    `make_closure(link, *other_links)`.

    Each residual is a call of Python from the compiled solver, see docs/cookbook.md for what that
    costs. Several threads of a batch may call one object, so that its methods must not change it.

    Parameters
    ----------
    name : str
        Name in messages and results; '' = the name of the class.

    Attributes
    ----------
    links : sequence of str
        Names of the links whose frames the residual needs.
    units : str or sequence of str
        Unit of all rows, or of each row: 'm', or 'rad' also for numbers without a unit. The goal's
        tolerance, and what a solve weighs rows by, go by it.

    Examples
    --------
    >>> import ik_node as ik
    >>> class Level(ik.UserGoal):
    ...     links = ('tool_link',)
    ...     units = 'm'
    ...
    ...     def residual(self, frames):
    ...         return [frames['tool_link'][2, 3] - 0.5]
    >>> robot = ik.load_robot('arm6')
    >>> goal = robot.add_goal(Level('height'), tolerance=1e-6)
    >>> solution = ik.Solver(robot).solve()[0]
    >>> solution.converged, solution.goal_errors['height'].position < 1e-6
    (True, True)

    """

    links: Sequence[str] = ()
    units: str | Sequence[str] = 'm'
    _kinds = ('user',)
    _internal = (*Goal._internal, 'derivatives_at', 'link_names', 'row_units', 'rows_at', 'seen')

    def __init__(self, name: str = '') -> None:
        super().__init__(name or type(self).__name__)
        self.set_dof()
        self.seen: tuple[Link, ...] = ()
        # Units in the order of the kernels, metres first, and the rows in that order.
        self.row_units: tuple[str, ...] = ()
        self._order: list[int] = []

    def residual(self, frames: Frames) -> ArrayLike:
        """
        Return the residual, which is zero when the goal is met.

        Parameters
        ----------
        frames : mapping of str to ndarray, shape (4, 4)
            Pose of each link in `links`, and under 'target' the goal's own pose, root frame [m].

        Returns
        -------
        array_like, shape (rows,)
            One to six numbers, always as many, in [m] or [rad] as `units` says.

        Examples
        --------
        >>> import ik_node as ik
        >>> class SameHeight(ik.UserGoal):
        ...     links = ('tool_link',)
        ...
        ...     def residual(self, frames):
        ...         return frames['tool_link'][2, 3] - frames['target'][2, 3]

        """
        raise NotImplementedError

    def jacobian(self, frames: Frames) -> Mapping[str, ArrayLike]:
        """
        Return the derivatives of the residual by the twists of the links.

        This one takes central differences of `residual`, twelve calls for each link.

        Parameters
        ----------
        frames : mapping of str to ndarray, shape (4, 4)
            As for `residual`.

        Returns
        -------
        mapping of str to array_like, shape (rows, 6)
            For each link in `links`: derivatives by the velocity of its origin [m/s], then by its
            angular velocity [rad/s], both in root axes.

        Examples
        --------
        >>> import ik_node as ik
        >>> class SameHeight(ik.UserGoal):
        ...     links = ('tool_link',)
        ...
        ...     def residual(self, frames):
        ...         return frames['tool_link'][2, 3] - frames['target'][2, 3]
        ...
        ...     def jacobian(self, frames):
        ...         return {'tool_link': [[0, 0, 1, 0, 0, 0]]}

        """
        scale = max(float(np.abs(frame[:3, 3]).max()) for frame in frames.values())
        step = STEP * min(max(scale, 1e-3), 1.0)
        result = {}
        for link in (name for name in frames if name != TARGET):
            columns = []
            for k in range(6):
                ends = []
                for index, sign in enumerate((1.0, -1.0)):
                    moved = frames[link].copy()
                    if k < 3:
                        moved[k, 3] += sign * step
                    else:
                        moved[:3, :3] = _TURNS[k - 3][index] @ moved[:3, :3]
                    ends.append(np.asarray(self.residual({**frames, link: moved}), dtype=float))
                columns.append((ends[0] - ends[1]) / (2.0 * (step if k < 3 else STEP)))
            result[link] = np.column_stack(columns)
        return result

    def jacobian_error(self, frames: Frames | None = None) -> float:
        """
        Return the largest difference between `jacobian` and central differences of `residual`.

        It is for tests: some 1e-8 for a right one, and no less than the error for a wrong one.

        Parameters
        ----------
        frames : mapping of str to ndarray, shape (4, 4), optional
            As for `residual`; None = those of the links at present.

        Examples
        --------
        >>> import ik_node as ik
        >>> class Level(ik.UserGoal):
        ...     links = ('tool_link',)
        ...
        ...     def residual(self, frames):
        ...         return frames['tool_link'][2, 3] - 0.5
        ...
        ...     def jacobian(self, frames):
        ...         return {'tool_link': [[0, 0, 1, 0, 0, 0]]}
        >>> ik.load_robot('arm6').add_goal(Level()).jacobian_error() < 1e-6
        True

        """
        frames = self._present_frames() if frames is None else frames
        own, differences = self.jacobian(frames), UserGoal.jacobian(self, frames)
        return max(float(np.abs(np.subtract(own[k], differences[k])).max()) for k in differences)

    # -- the graph

    def make_closure(self, link: Link, *others: Link) -> None:
        """
        Attach the goal to the links that it sees, in the order of `links`.

        Raises
        ------
        TopologyError
            If one of them is not a Link, or the goal is attached already.
        IkError
            If the residual fails at the links' present poses.

        Examples
        --------
        >>> import ik_node as ik
        >>> class Level(ik.UserGoal):
        ...     def residual(self, frames):
        ...         return frames['tool'][2, 3] - 0.5
        >>> base, joint, tool = ik.Link('base'), ik.Joint('lift'), ik.Link('tool')
        >>> joint.set_dof('Z')
        >>> base.add_child(joint)
        >>> joint.add_child(tool)
        >>> height = Level('height')
        >>> height.make_closure(tool)
        >>> ik.Solver([base, height]).solve()[0].converged, round(joint.get_dof_value('Z'), 6)
        (True, 0.5)

        """
        for other in others:
            if not isinstance(other, Link):
                raise TopologyError(f'goal {self.name!r} can see links only, not {shown(other)}')
        super().make_closure(link)
        self.seen = tuple(dict.fromkeys((link, *others)))
        try:
            units = self._units_of(self._rows(self._present_frames()).size)
        except Exception:
            self.remove_child(link)
            raise
        self._order = sorted(range(len(units)), key=lambda row: UNITS.index(units[row]))
        self.row_units = tuple(units[row] for row in self._order)

    def remove_child(self, child: Frame) -> None:
        """Detach the goal from all its links; `child` is the first of them."""
        super().remove_child(child)
        self.seen = ()

    def partners(self) -> list[Link]:
        """Return the links that it sees."""
        return list(self.seen)

    def link_names(self) -> list[str]:
        """Return `links` as a list; raise OptionError if it is no list of names, or empty."""
        given = [self.links] if isinstance(self.links, str) else self.links
        names = list(given) if isinstance(given, (list, tuple)) else []
        if not names or not all(isinstance(name, str) for name in names) or TARGET in names:
            allowed = f'names of links, none of them {TARGET!r}'
            raise OptionError(f'links of {self._label}', given, allowed)
        return names

    def _units_of(self, count: int) -> tuple[str, ...]:
        units = (self.units,) * count if isinstance(self.units, str) else tuple(self.units)
        if len(units) != count or not all(unit in UNITS for unit in units):
            allowed = f"'m' or 'rad', or {count} of them, one for each row of its residual"
            raise OptionError(f'units of {self._label}', self.units, allowed)
        return units

    # -- values, as the solver takes them

    def get_residual(self) -> Array:
        """Return the residual at the current joint values, rows in [m] before rows in [rad]."""
        self._closing_frames()  # raises an error if it has no link
        return self.rows_at(self._present_frames())

    def _present_frames(self) -> dict[str, Array]:
        frames = {link.name: link.matrix_world for link in self.seen}
        return {**frames, TARGET: self.matrix_world}

    def rows_at(self, frames: Frames) -> Array:
        """
        Return the residual in the order of the kernels, shape (rows,) [m, rad].

        IkError, which names the class, is raised if the method fails or returns something else.
        """
        rows, count = self._rows(frames), len(self._order)
        if rows.size != count:
            allowed = f'{count} rows, as when it was added'
            raise ShapeError(f'residual of {self._label}', allowed, f'{rows.size}')
        return rows[self._order]

    def derivatives_at(self, frames: Frames) -> Array:
        """Return the derivatives in that order, shape (links, rows, 6); errors as of `rows_at`."""
        given: Any = self._call(self.jacobian, frames)
        names, count = [link._name for link in self.seen], len(self._order)
        if not isinstance(given, Mapping) or any(name not in given for name in names):
            got = listed(given) if isinstance(given, Mapping) else type(given).__name__
            allowed = f'a mapping with ({count}, 6) numbers for each of {listed(names)}'
            raise ShapeError(f'jacobian of {self._label}', allowed, got)
        result = np.empty((len(names), count, 6))
        for index, name in enumerate(names):
            what = f'jacobian of {self._label} by {name!r}'
            part = finite(what, given[name])
            if part.shape != (count, 6):
                raise ShapeError(what, f'shape ({count}, 6)', f'shape {part.shape}')
            result[index] = part
        return result[:, self._order]

    @property
    def _label(self) -> str:
        return f'{type(self).__name__} {self.name!r}'

    def _rows(self, frames: Frames) -> Array:
        what = f'residual of {self._label}'
        rows = np.atleast_1d(finite(what, self._call(self.residual, frames)))
        if rows.ndim != 1 or not 1 <= rows.size <= MOST_ROWS:
            allowed = f'shape (rows,), 1 to {MOST_ROWS} rows; make two goals of more'
            raise ShapeError(what, allowed, f'shape {rows.shape}')
        return rows

    def _call(self, method: Callable[[Frames], Any], frames: Frames) -> Any:
        try:
            return method(frames)
        except IkError:
            raise
        except NotImplementedError as error:
            raise IkError(f'{self._label} has no method residual(frames): write one') from error
        except Exception as error:
            what = f'{method.__name__} of {self._label} raised {type(error).__name__}: {error}'
            hint = f'; it gets the frames {listed(frames)}' * isinstance(error, KeyError)
            raise IkError(what + hint) from error
