"""The transmission between actuators and a joint space, through closed loops, and its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, NamedTuple

from ik_node.display import public_names
from ik_node.errors import listed, OptionError, ShapeError, TopologyError, UnknownFrameError
from ik_node.kernels import transmit
from ik_node.kernels.layout import lay_out
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.kernels.transmit import GIVES_EFFORT, GIVES_POSITION, GIVES_VELOCITY, TRACKED
from ik_node.model.chains import ancestors
from ik_node.model.given import finite, numbers
from ik_node.model.kinematics import TreePoses
from ik_node.model.link import Link
from ik_node.model.request import pose_request
from ik_node.model.rotation import rotation_vector_to_quat
from ik_node.solver.drive import drive, leave_singular_start
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import names_in, unit_pose, Values
from ik_node.solver.problem.chain_problem import null_space, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import without_rounding
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import misfits_in, STATUSES
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
from ik_node.transmission.state import (
    joint_bounds,
    JointBounds,
    rank,
    Singularity,
    TransmissionState,
)
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# The kinds of a variable that is locked, and of one that is not.
LOCK = (transmit.VARIABLE_LOCKED, transmit.VARIABLE_PASSIVE)
# Options of the solves that close the loops after a part of the way.
OPTIONS = SolverOptions(restarts=0, max_iterations=30, stall_threshold=1e-14)
# Loops that are open by more than this [rad or characteristic lengths] are not evaluated.
OPEN = 1e-3
# Step of the differences along a motion [rad or characteristic lengths].
STEP = 2e-3
# Part of the joint space below which an actuator moves nothing.
NOTHING = 1e-9
# A row of the joint space moves with passive joints alone if it has such a part in their motion.
IDLE = 1e-6
# The offset from the present values at which dependence is examined a second time [rad or L].
ASIDE = 0.03


class Space(NamedTuple):
    """What a transmission connects: indices in q of actuators and joint values, and links."""

    actuators: tuple[int, ...]
    joints: tuple[int, ...]
    links: tuple[Link, ...]  # their six rows follow those of the joints
    roots: Array  # roots of the weights of the efforts, (n_actuators,)


class Direction:
    """
    One direction of a transmission: the chain of its loops, and the arrays of its kernel.

    The caller holds the lock of the solver. If `inverse`, the joint space is given and the
    actuators follow; `given` are the indices of the actuators, or of the joints of the space,
    whose values are set. `chain` has the closures, and after them a goal for each link of the
    space; `view` the fields of `kernels.transmit.Transmit`, which stand in `plan` and `data`.
    `moving`, `free` and `held` (8, nq) are tables of joints: with limits, without limits and
    locks, and without limits alone.
    """

    def __init__(self, solver: Solver, space: Space, inverse: bool, given: Sequence[int]) -> None:
        loops, table, _ = solver.arrays_for(())
        tree = loops.tree
        self.space, self.inverse = space, inverse
        columns = [tree.q_of_column.index(at) for at in (*space.actuators, *space.joints)]
        for link in space.links:
            columns += ancestors(tree, tree.carrier[link][0])
        masters = sorted({tree.columns[column].master for column in columns})
        moved = {tree.q_of_column[column] for column in masters}
        requests = [
            request
            for chain in loops.chains
            if not moved.isdisjoint(chain.flat.var_q.tolist())
            for request in chain.requests
            if not request.traits.one_sided
        ]
        self.loop_count = len(requests)
        requests += [pose_request(link.name, link) for link in space.links]
        self.problem = Problem(tree, requests, None, loops.length, solver.redundancies, masters)
        self.problem.refresh(solver.options)
        (self.chain,) = self.problem.chains
        places = [(space.joints if inverse else space.actuators)[at] for at in given]
        _refuse_polynomials(tree.names, places, table)
        set_masters = [table.masters.get(place, place) for place in places]
        self._set_tables(table, set_masters)
        own = {table.masters.get(place, place): a for a, place in enumerate(space.actuators)}
        if len(own) < len(space.actuators):
            raise TopologyError('two actuators move the same joint value, through a coupling')
        locked = table.locked
        locked[[*own, *set_masters]] = False
        variables = self.chain.flat.var_q
        variable = np.where(locked[variables], *LOCK)
        for place, a in own.items():
            variable[variables == place] = a
        column_of = Workspace(*self.chain.arrays).column_q.tolist().index
        rows = [*map(column_of, (*space.actuators, *space.joints))]
        na, nl, nv = len(space.actuators), len(space.links), variables.size
        ny = len(space.joints) + 6 * nl
        sizes = {'na': na, 'ny': ny, 'nl': nl, 'ng': len(places), 'ni': ny if inverse else na}
        sizes |= {'stride': nv + na + 2, 'factor': na + ny + 1, 'nq': len(tree.names), 'nv': nv}
        self.sizes = {**sizes, 'nr': 6 * len(requests), 'inverse': int(inverse)}
        self._pack(
            variable=variable,
            row_column=rows + [-1] * (6 * nl),
            given_row=list(given),
            root=space.roots,
        )
        self.packed = OPTIONS.packed()

    def _set_tables(self, table: JointTable, given: list[int]) -> None:
        # The motors of a ball joint turn its Euler angles, of which it is the rates that count.
        acting = self.space.actuators
        driven = [at for three in table.triples if {*acting} & {*three} for at in three]
        rows = table.with_window(table.without_preferences(table.rows), [*given, *acting], np.inf)
        self.moving = table.with_window(table.without_free_balls(rows, driven), given, 0.0)
        self.held = table.without_limits(self.moving)
        free = table.with_window(self.held, slice(None), np.inf)
        self.free = table.without_free_balls(free, driven)

    def _pack(self, **fields: ArrayLike) -> None:
        named = {**self.sizes, **transmit.FIXED}
        header = len(transmit.SIZES) + len(transmit.FIELDS)
        begins, totals = lay_out(named, transmit.FIELDS, header)
        self.plan, self.data = np.zeros(totals['p'], dtype=np.int64), np.zeros(totals['d'])
        named |= {f'{array}_size': size for array, size in totals.items()}
        self.plan[:header] = [*(named[name] for name in transmit.SIZES), *begins.values()]
        self._results = begins['numbers'], begins['motion']
        self._open()
        for name, values in fields.items():
            getattr(self.view, name)[:] = values
        # `data` as it is before the first call, for files.
        self.settings = self.data.copy()

    def _open(self) -> None:
        self.view = Workspace(self.plan, self.data, table=transmit)
        self._value_in, self._pose_in = self.view.value_in, self.view.pose_in
        # What `TransmissionState` copies: scalars, positions, velocities and efforts.
        self.results = self.data[slice(*self._results)]

    def copied(self) -> Direction:
        """Return the same direction with arrays of its own, for a caller of its own."""
        made = copy(self)
        made.chain = self.chain.with_own_workspace()
        made.plan, made.data = self.plan.copy(), self.data.copy()
        made._open()
        return made

    def loop_motions(self, q: Array, *, held: bool = False) -> Array:
        """
        Return a basis (nq, m) of the motions of the loops at q, orthonormal in [rad] and lengths.

        Values that follow others are 0. With `held`, the actuators stand still.
        """
        flat = self.chain.flat
        window = 0.0 if held else np.inf
        joints = JointTable.with_window(self.held, self.space.actuators, window)
        free = JointTable.movable(joints)[flat.var_q]
        _, jacobian, _ = self.chain.linearise_by_size(
            q, JointTable.without_free_balls(joints), self.packed
        )
        jacobian = jacobian[flat.rows < 6 * self.loop_count]
        redundancy = next(iter(self.chain.redundancies), None)
        basis = null_space(without_rounding(jacobian, free, redundancy))
        motions = np.zeros((self.sizes['nq'], basis.shape[1]))
        motions[flat.var_q[free]] = basis * flat.units[free, None]
        return motions

    @property
    def errors(self) -> Array:
        """Return how far loops are open after a call, (n_closures, 2) [m], [rad]."""
        return np.asarray(self.chain.errors.reshape(-1, 2)[: self.loop_count])

    @property
    def motion(self) -> Array:
        """Return a view of dq / d actuator of the last call, shape (nq, n_actuators)."""
        return np.asarray(self.view.motion.reshape(-1, self.sizes['na']))

    @property
    def ratio(self) -> Array:
        """Return a view of d joint space / d actuator, shape (n_joints, n_actuators)."""
        return np.asarray(self.view.ratio.reshape(-1, self.sizes['na']))

    def counts(self) -> tuple[int, int]:
        """Return the numbers of motions without any actuator, and of conditions of actuators."""
        found = self.view.numbers
        return int(found[transmit.RESULT_IDLE]), int(found[transmit.RESULT_EXCESS])

    def given_position(self, position: Any) -> tuple[Array, Array]:
        """Return given joint values, and given poses of links (k, 7) [m], xyzw."""
        links = self.inverse * len(self.space.links)
        count = self.sizes['ni']
        try:
            values = finite('position', position, count)
        except ShapeError:
            if links != 1 or count != 6:
                raise
            return np.zeros(0), np.reshape(unit_pose('position', position), (1, 7))
        joints = count - 6 * links
        rows = values[joints:].reshape(-1, 6).tolist()
        poses = [[*row[:3], *rotation_vector_to_quat(row[3:]).tolist()] for row in rows]
        return values[:joints], np.reshape(poses, (-1, 7))

    def give_position(self, position: Any) -> None:
        """Write joint values, and poses of links, that are given."""
        values, poses = self.given_position(position)
        self._value_in[: values.size] = values
        self._pose_in[:] = poses.ravel()

    def call(self, q: Array, joints: Array, gives: int) -> int:
        """Call `kernels.transmit.transmit`; q is overwritten with the result."""
        return self.chain.kernels.transmit(q, joints, self.packed, self.plan, self.data, gives)

    def evaluate(self, q: Array) -> None:
        """
        Write motion and ratio at q.

        Raises
        ------
        OptionError
            If a loop is open at q.

        """
        chain = self.chain
        if self.call(q.copy(), self.free, 0) == STATUS_REFUSED:
            chain.refuse(q, TABLE_POSES)
        limits = 10.0 * (misfits_in(chain.table) + chain.tolerances)
        limits = np.maximum(limits, (OPEN * chain.flat.length, OPEN))
        for request, error, limit in zip(chain.requests, self.errors, limits, strict=False):
            if not (error <= limit).all():
                raise OptionError(
                    'q',
                    f'values with which {request.name!r} is open by {error[0]:.3g} m, '
                    f'{error[1]:.3g} rad',
                    'values with closed loops: solver.solve_pose({}, q0=q).q has them',
                )


def _refuse_polynomials(names: Sequence[str], places: Sequence[int], table: JointTable) -> None:
    """Raise TopologyError if a given value follows another one, which does not follow from it."""
    for follower, master, polynomial in table.followers:
        _, slope, *curved = (*polynomial, 0.0)
        if follower in places and (slope == 0.0 or any(curved)):
            raise TopologyError(
                f'{names[follower]!r} follows {names[master]!r} by a polynomial: name '
                f'{names[master]!r} in place of it'
            )


class PreparedTransmission:
    """
    One direction of a transmission, to be called many times in a control loop.

    Every call starts from the result of the last one, so that the assembly is kept. Made by
    `Transmission.prepare_to_joints` and `prepare_to_actuators`.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> call = transmission.prepare_to_joints()
    >>> call([0.3, 0.1]).joint_position.round(3).tolist()
    [0.219, 0.134]

    """

    __slots__ = (
        *('_arguments', '_direction_of', '_edits', '_inputs', '_inverse', '_lock', '_q'),
        *('_revision', '_solver', '_tracked', 'direction'),
    )

    def __init__(
        self, solver: Solver, direction_of: Callable[[bool], Direction], inverse: bool
    ) -> None:
        self._solver, self._direction_of, self._inverse = solver, direction_of, inverse
        self._lock = solver.lock
        with self._lock:
            self._q: Array = solver.q
            self._prepare()

    _internal = ('direction',)
    __dir__ = public_names

    def __repr__(self) -> str:
        to, names = 'actuators' if self._inverse else 'joints', self._solver.joint_names
        actuators = listed(names[at] for at in self.direction.space.actuators)
        return f'PreparedTransmission(to {to}; {actuators})'

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedTransmission, (self._solver, self._direction_of, self._inverse)

    def _prepare(self) -> None:
        self._revision = self._solver.revision
        self._edits = self._revision.edits
        self.direction = made = self._direction_of(self._inverse).copied()
        view = made.view
        self._inputs = view.value_in, view.rate_in, view.effort_in, made.sizes['ni']
        arrays = (made.moving, made.packed, made.plan, made.data, made.results)
        self._arguments = (made.chain.kernels.transmit, *arrays)
        self._tracked = 0

    def start(self, q: Values | None = None) -> None:
        """
        Start the next call from a configuration.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float, optional
            Joint values with closed loops [rad or m]; None = the present values of the joints.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> call = transmission.prepare_to_joints()
        >>> call.start(robot.q)  # not from the last result
        >>> call([0.3, 0.1]).converged
        True

        """
        with self._lock:
            self._q = self._solver.q if q is None else self._solver.checked_q(q)
            self._tracked = 0

    def __call__(
        self, position: Any, velocity: ArrayLike | None = None, effort: ArrayLike | None = None
    ) -> TransmissionState:
        """
        Return everything that follows from actuators or joint space.

        Parameters
        ----------
        position : array_like, shape (n,)
            As for `Transmission.to_joints` and `to_actuators`; arrays of float64 are fastest.
        velocity, effort : array_like, shape (n,), optional
            Of the same values.

        Returns
        -------
        TransmissionState
            STALLED if the position cannot be reached: the values are those at the end of the
            straight way to it.

        Raises
        ------
        ShapeError
            If an argument has the wrong shape or is not finite.

        """
        with self._lock:
            revision = self._revision
            if self._edits != revision.edits or (revision.lent and self._edits != revision.look()):
                self._prepare()
            transmit, joints, packed, plan, data, results = self._arguments
            values, rates, efforts, size = self._inputs
            direction, gives, count = self.direction, GIVES_POSITION | self._tracked, size
            try:
                if direction.inverse and direction.space.links:
                    direction.give_position(position)
                else:
                    values[:] = position
                    count = len(position)
                if velocity is not None:
                    rates[:] = velocity
                    gives |= GIVES_VELOCITY
                    count += len(velocity) - size  # type: ignore[arg-type]
                if effort is not None:
                    efforts[:] = effort
                    gives |= GIVES_EFFORT
                    count += len(effort) - size  # type: ignore[arg-type]
            except (ValueError, TypeError):
                count = -1
            if count != size:  # a single number, or one that would have been repeated
                self._refuse(position, velocity, effort)
            q = self._q.copy()
            status = transmit(q, joints, packed, plan, data, gives)
            if status == STATUS_REFUSED:
                self._tracked = 0
                self._refuse(position, velocity, effort)
                direction.chain.refuse(q, TABLE_POSES)
            self._q, self._tracked = q, TRACKED
            na = direction.sizes['na']
            return TransmissionState(q, STATUSES[status], results.copy(), na, gives)

    def _refuse(self, position: Any, *given: Any) -> None:
        """Raise the error for an argument with a wrong shape or number, if there is one."""
        self.direction.given_position(position)
        for name, values in zip(('velocity', 'effort'), given, strict=True):
            if values is not None:
                finite(name, values, self._inputs[3])


class Transmission:
    """
    The map of position, velocity and effort between actuators and a joint space.

    It holds at configurations with closed loops, and keeps their assembly. `Robot.transmission`
    returns one. It follows changes of the robot; several threads may use it, one at a time.

    Parameters
    ----------
    solver : Solver
        Solver of the robot.
    actuators : iterable of str
        Joints with a motor, or single values of joints.
    joints : iterable of str, optional
        The joint space: joints, single values of joints, and links, whose poses then count. None =
        every joint value.
    weights : array_like, shape (n_actuators,), optional
        Weights of the squared efforts, for more actuators than degrees of freedom; None = 1.

    Raises
    ------
    UnknownFrameError
        If a name is neither a joint nor a link.
    TopologyError
        If an actuator moves nothing, or a named joint or link is not determined by the actuators
        or in no loop with them.

    Notes
    -----
    docs/transmission.md explains the theory, the signs and redundancy. The methods take q, shape
    (nq,) or a mapping of names to values: joint values with closed loops [rad or m]. They raise
    ShapeError if an argument has the wrong shape or is not finite, and OptionError if a loop is
    open at q. With more actuators than degrees of freedom, d joint / d actuator is of velocities
    that agree: others are taken to the nearest that do. Joints that the actuators do not determine
    have the part of least norm in d q / d actuator.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> transmission.actuators, transmission.joints
    (['motor_left', 'motor_right'], ['ankle_pitch', 'ankle_roll'])
    >>> transmission.actuators_of(['foot_link'])
    ['motor_left', 'motor_right']
    >>> transmission.to_joints([0.3, 0.1]).joint_position.round(3).tolist()
    [0.219, 0.134]
    >>> to_joints = transmission.prepare_to_joints()
    >>> to_motors = transmission.prepare_to_actuators()
    >>> to_motors(to_joints([0.3, 0.1]).joint_position).actuator_position.round(6).tolist()
    [0.3, 0.1]

    At one configuration:

    >>> transmission.jacobian(robot.q).round(2).tolist()
    [[0.57, 0.57], [0.67, -0.67]]
    >>> transmission.motion(robot.q).shape  # all joint values by motors
    (8, 2)
    >>> transmission.actuator_effort(robot.q, [10.0, 0.0]).round(1).tolist()
    [5.7, 5.7]
    >>> transmission.joint_effort(robot.q, [6.0, 4.0]).round(2).tolist()
    [8.75, 1.5]
    >>> transmission.joint_bounds(robot.q).velocity.upper.round(2).tolist()
    [22.86, 26.67]
    >>> transmission.loop_error(robot.q) < 1e-6
    True

    """

    def __init__(
        self,
        solver: Solver,
        actuators: Iterable[str],
        joints: Iterable[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        self.solver = solver
        self._given = (
            names_in('actuators', actuators),
            None if joints is None else names_in('joints', joints),
            weights,
        )
        self._calls: dict[bool, PreparedTransmission] = {}
        with solver.lock:
            self._prepare()

    _internal = ('direction', 'solver')
    __dir__ = public_names

    def __repr__(self) -> str:
        joints = 'all joints' if self._given[1] is None else listed(self._given[1])
        return f'Transmission(actuators: {listed(self.actuators)}; joints: {joints})'

    def __reduce__(self) -> tuple[Any, ...]:
        return Transmission, (self.solver, *self._given)

    def _prepare(self) -> None:
        """Read the robot, and make the arrays of the direction from the actuators."""
        edits, self._space = self.solver.revision.edits, self._read_space()
        self._poses, self._motors = TreePoses(self.solver.tree), list(self._space.actuators)
        self._forward = Direction(self.solver, self._space, False, range(len(self._motors)))
        if self._examine():
            chosen = _independent(self._forward.motion[self._motors])
            self._forward = Direction(self.solver, self._space, False, chosen)
        self._inverse: Direction | None = None
        self._edits = edits

    def _read_space(self) -> Space:
        problem, table, _ = self.solver.arrays_for(())
        tree = problem.tree
        links = {frame.name: frame for frame in tree.carrier if isinstance(frame, Link)}
        names, joints, weights = self._given
        if not names:
            raise TopologyError(
                'no actuators: the description names no joint with a motor; name some'
            )
        actuators = tuple(table.places(names))
        places: list[int] = list(range(len(tree.names))) if joints is None else []
        poses: list[Link] = []
        for name in joints or ():
            try:
                places += table.places([name])
            except UnknownFrameError:
                if name not in links:
                    known = [*tree.names, *links]
                    raise UnknownFrameError(name, known, 'joint or link') from None
                poses.append(links[name])
        for what, chosen in (('actuators', actuators), ('joints', (*places, *poses))):
            if len(set(chosen)) < len(chosen):
                raise TopologyError(f'a name occurs twice among the {what}')
        given = np.ones(len(actuators))
        if weights is not None:
            given = finite('weights', weights, len(actuators))
            if not (given > 0.0).all():
                raise ShapeError('weights', 'numbers above 0', str(given))
        return Space(actuators, tuple(places), tuple(poses), np.sqrt(given))

    def _examine(self) -> int:
        """
        Find what moves with the actuators; return the number of conditions that they must satisfy.

        Raises
        ------
        TopologyError
            If an actuator or a part of the joint space moves nothing, or is not determined.

        """
        direction, here = self._forward, self._regular()
        direction.evaluate(here)
        idle = direction.loop_motions(here, held=True)
        idle_rows = np.abs(self._rows_of(idle, here)).max(axis=1, initial=0.0)
        # `_generic`: of the ratios here and beside that of larger rank; `_moved`: the largest of
        # both, 0 = the actuator does not move the row.
        self._generic = direction.ratio.copy()
        self._moved, (self._idle, excess) = np.abs(self._generic), direction.counts()
        if self._goes_aside(here):
            self._moved = np.maximum(self._moved, np.abs(direction.ratio))
            if rank(direction.ratio) > rank(self._generic):
                self._generic = direction.ratio.copy()
            self._idle, excess = direction.counts()
        direction.evaluate(here)
        self._refuse_what_does_not_depend(self._moved, idle_rows)
        return excess

    def _regular(self) -> Array:
        """Return the present configuration, or one beside it if that is singular."""
        problem, table, packed = self.solver.arrays_for(())
        here = table.with_couplings(self.solver.q)
        rows = table.without_preferences(table.rows)
        masters = [table.masters.get(place, place) for place in self._motors]
        for sense in (1.0, -1.0):
            value = here[masters] + sense * problem.units[masters]
            ahead = np.clip(value, table.lower[masters], table.upper[masters])
            goal = dict(zip(masters, ahead.tolist(), strict=True))
            departure = leave_singular_start(problem, rows, here, goal, packed)
            if departure is not None:
                # The present configuration is singular, `_carry` does not start there.
                self._singular: Array | None = here
                return departure.q
        self._singular = None
        return here

    def _goes_aside(self, here: Array) -> bool:
        """Evaluate a configuration beside the present one, which may be singular."""
        generator, direction, place = np.random.default_rng(0), self._forward, self._motors
        unit, motion = direction.problem.units[place], direction.motion.copy()
        sizes = np.repeat((ASIDE, ASIDE / 4.0, ASIDE / 16.0), 3)
        for delta in sizes[:, None] * unit * generator.uniform(-1.0, 1.0, (9, len(place))):
            direction.view.value_in[:] = (here + motion @ delta)[place]
            if direction.call(here.copy(), direction.moving, GIVES_POSITION) == Status.CONVERGED:
                return True
        return False

    def _rows_of(self, motions: Array, q: Array) -> Array:
        """Return the motions (n_joints, m) of the joint space for those of all joints, (nq, m)."""
        jacobians = [self._poses.jacobian(q, link) for link in self._space.links]
        return np.vstack([motions[list(self._space.joints)], *(j @ motions for j in jacobians)])

    def _refuse_what_does_not_depend(self, moved: Array, idle: Array) -> None:
        names = [self.solver.joint_names[at] for at in self._motors]
        still = [name for name, part in zip(names, moved.T, strict=True) if part.max() < NOTHING]
        if still:
            raise TopologyError(
                f'{listed(still)} as an actuator moves nothing of the joint space: the loops hold '
                f'it, or it is in no loop with the joints'
            )
        if self._given[1] is None:
            return
        owners = [self.solver.joint_names[at] for at in self._space.joints]
        owners += [link.name for link in self._space.links for _ in range(6)]
        for name in dict.fromkeys(owners):
            part = [owner == name for owner in owners]
            if idle[part].max() > IDLE:
                raise TopologyError(
                    f'the actuators {listed(names)} do not determine {name!r}: it moves '
                    f'while they stand still'
                )
            if moved[part].max() < NOTHING:
                raise TopologyError(
                    f'{name!r} does not move with the actuators {listed(names)}: it is in no '
                    f'loop with them'
                )

    def direction(self, inverse: bool) -> Direction:
        """Return the arrays of one direction; the caller holds the solver's lock."""
        if self._edits != self.solver.revision.edits:
            self._prepare()
        if not inverse:
            return self._forward
        if self._inverse is None:
            joints, ratio = len(self._space.joints), self._generic
            links = len(ratio) - joints
            chosen = _independent(np.vstack([ratio[joints:], ratio[:joints]]))
            given = [at - links for at in chosen if at >= links]
            self._inverse = Direction(self.solver, self._space, True, given)
        return self._inverse

    @property
    def actuators(self) -> list[str]:
        """Return the names of the actuators' values, in their order."""
        names = self._forward.problem.tree.names
        return [names[at] for at in self._space.actuators]

    @property
    def joints(self) -> list[str]:
        """Return the name of each row of the joint space; for a link 'LINK.vx' to 'LINK.wz'."""
        names = self._forward.problem.tree.names
        axes = ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')
        rows = [names[at] for at in self._space.joints]
        return rows + [f'{link.name}.{axis}' for link in self._space.links for axis in axes]

    def actuators_of(self, names: Iterable[str]) -> list[str]:
        """Return the actuators that move some of the joints or links, leaving out unknown ones."""
        chosen = set(names)
        with self.solver.lock:
            self.direction(False)
            tree, owners = self.solver.tree, enumerate(self.solver.tree.owner)
            places = {
                at for at, (j, _) in owners if not chosen.isdisjoint((j.name, tree.names[at]))
            }
            for frame, (column, _) in tree.carrier.items():
                if isinstance(frame, Link) and frame.name in chosen:
                    places |= {tree.q_of_column[at] for at in ancestors(tree, column)}
            rows = [row for row, place in enumerate(self._space.joints) if place in places]
            moves = self._moved[rows].max(axis=0, initial=0.0) > NOTHING
        return [name for name, used in zip(self.actuators, moves, strict=True) if used]

    def _at(self, q: Values) -> Direction:
        direction = self.direction(False)
        direction.evaluate(self.solver.checked_q(q))
        return direction

    def jacobian(self, q: Values) -> Array:
        """Return d joint / d actuator at q, shape (n_joints, n_actuators) [rad or m per same]."""
        with self.solver.lock:
            return self._at(q).ratio.copy()

    def motion(self, q: Values) -> Array:
        """Return d q / d actuator at q, shape (nq, n_actuators) [rad or m per rad or m]."""
        with self.solver.lock:
            return self._at(q).motion.copy()

    def loop_error(self, q: Values) -> float:
        """Return by how much the loops of the transmission are open at any q [m or rad]."""
        with self.solver.lock:
            direction = self.direction(False)
            direction.call(self.solver.checked_q(q), direction.free, 0)
            return float(direction.errors.max(initial=0.0))

    def actuator_effort(self, q: Values, joint_effort: ArrayLike) -> Array:
        """Return J^T tau_y, the least efforts of actuators that do the same work [N m or N]."""
        effort = finite('joint_effort', joint_effort, len(self.joints))
        return self.jacobian(q).T @ effort

    def joint_effort(self, q: Values, actuator_effort: ArrayLike) -> Array:
        """Return the least tau_y with J^T tau_y = tau_u, or as near as possible [N m or N]."""
        given = finite('actuator_effort', actuator_effort, len(self._motors))
        ratio = self.jacobian(q)
        return np.asarray(np.linalg.lstsq(ratio.T, given, rcond=transmit.NOTHING)[0])

    def singularity(self, q: Values) -> Singularity:
        """
        Return how near a configuration is to singularities of type I and II.

        Notes
        -----
        With an orthonormal basis N of the motions of the loops, in [rad] and characteristic
        lengths, the singular values are those of S N, of the actuators' motions, and of Y N, of
        the joint space's. Motions that no actuator ever determines do not count. The ratios are
        the largest norm of a row of N (S N)^+, the speed of a passive joint for unit speed of
        the actuators, and of a row of S N (Y N)^+, without actuators in the joint space.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.singularity(robot.q).nearness > 0.1
        True

        """
        with self.solver.lock:
            forward, checked = self.direction(False), self.solver.checked_q(q)
            motions = forward.loop_motions(checked)
            for follower, master, polynomial in self.solver.arrays_for(())[1].followers:
                slope = np.polynomial.Polynomial(polynomial).deriv()(checked[master])
                motions[follower] = slope * motions[master]
            forward.evaluate(checked)
            units, space = forward.problem.units, self._space
            speeds = motions / units[:, None]
            acting, passive = speeds[self._motors], np.delete(speeds, self._motors, axis=0)
            outside = speeds[[at for at in self._motors if at not in space.joints]]
            of_link = (*3 * [forward.chain.flat.length], 1.0, 1.0, 1.0)
            own = np.concatenate((units[list(space.joints)], *len(space.links) * [of_link]))
            rows = self._rows_of(motions, checked) / own[:, None]
            second, least, ratio_2 = _extremes(acting, passive, self._idle)
            first, lost, ratio_1 = _extremes(rows, outside, self._idle, rows=True)
            return Singularity(first, second, lost, motions @ least, ratio_1, ratio_2)

    def joint_bounds(self, q: Values) -> JointBounds:
        """Return `max_velocity` and `max_effort` of the actuators as bounds on the joint space."""
        ratio, owner = self.jacobian(q), self._forward.problem.tree.owner
        axes = [owner[at] for at in self._motors]
        speeds = np.array([joint._max_velocity[dof] for joint, dof in axes])
        efforts = np.array([joint._max_effort[dof] for joint, dof in axes])
        return joint_bounds(ratio, speeds, efforts)

    def gains_to_actuators(
        self,
        q: Values,
        stiffness: ArrayLike,
        damping: ArrayLike,
        joint_effort: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """
        Return gains of the actuators that act as gains in the joint space do.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        stiffness, damping : array_like, shape (n_joints,) or (n_joints, n_joints)
            K of tau = tau_0 - K (y - y_0), and D of tau = -D dy/dt.
        joint_effort : array_like, shape (n_joints,), optional
            tau_0, which turns with the mechanism [N m or N]; None = 0.

        Returns
        -------
        stiffness, damping : ndarray, shape (n_actuators, n_actuators)
            J^T K J - sum_k tau_0k H_k and J^T D J, with the second derivatives H_k of y_k by the
            actuators.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> stiffness, damping = transmission.gains_to_actuators(robot.q, [100, 100], [1, 1])
        >>> stiffness.shape, damping.shape
        ((2, 2), (2, 2))

        """
        size = len(self.joints)
        gains = _matrix('stiffness', stiffness, size), _matrix('damping', damping, size)
        ratio = self.jacobian(q)
        stiff, damped = (ratio.T @ gain @ ratio for gain in gains)
        if joint_effort is not None:
            effort = finite('joint_effort', joint_effort, size)
            with self.solver.lock:
                checked = self.solver.checked_q(q)
                for a, along in enumerate(np.eye(ratio.shape[1])):
                    stiff[:, a] -= self._change(checked, along)[1].T @ effort
        return stiff, damped

    def _change(self, q: Array, speeds: Array) -> tuple[Array, Array]:
        """
        Return the time derivatives of motion and ratio while the actuators move at some speeds.

        They are differences of fourth order along the motion with closed loops.
        """
        direction, place = self._forward, self._motors
        direction.evaluate(q)
        velocity = direction.motion @ speeds
        change, ratio_change = np.zeros_like(direction.motion), np.zeros_like(direction.ratio)
        moved = np.abs(velocity / direction.problem.units).max(initial=0.0)
        if moved < 1e-12:
            return change, ratio_change
        step, chosen = STEP / moved, direction.view.given_row
        for times, factor in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
            direction.view.value_in[: len(place)] = (q + times * step * velocity)[place]
            direction.call(q.copy(), direction.held, GIVES_POSITION)
            # A derivative by redundant actuators as one by the values that are set.
            by_chosen = factor * np.linalg.pinv(direction.motion[place][chosen])
            change[:, chosen] += direction.motion @ by_chosen
            ratio_change[:, chosen] += direction.ratio @ by_chosen
        direction.evaluate(q)
        return change / (12.0 * step), ratio_change / (12.0 * step)

    def to_joints(
        self,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        q0: Values | None = None,
    ) -> TransmissionState:
        """
        Return everything that follows from the actuators.

        Parameters
        ----------
        position, velocity, effort, acceleration : array_like, shape (n_actuators,)
            Of the actuators; all but the position may be left out.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Start [rad or m], which decides the assembly; None = the present values.

        Returns
        -------
        TransmissionState
            STALLED if the loops, limits or a singularity do not allow the position: the nearest
            one that was found.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> state = transmission.to_joints([0.3, 0.1], velocity=[1.0, 0.0])
        >>> state.joint_position.round(3).tolist(), state.joint_velocity.round(3).tolist()
        ([0.219, 0.134], [0.505, 0.672])

        """
        return self._carry(False, position, velocity, effort, acceleration, q0)

    def to_actuators(
        self,
        position: Any,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        q0: Values | None = None,
    ) -> TransmissionState:
        """
        Return everything that follows from the joint space.

        Parameters
        ----------
        position : array_like, shape (n_joints,)
            Joint values [rad or m], then for each link its position [m] and rotation vector [rad].
            For a joint space that is one link, any form of a pose.
        velocity, effort, acceleration : array_like, shape (n_joints,), optional
            Of the joint space.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Start [rad or m], which decides the assembly; None = the present values.

        Returns
        -------
        TransmissionState
            As for `to_joints`. Velocities and accelerations that the mechanism cannot have are
            replaced by the nearest; `message` gives the difference.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> state = transmission.to_actuators([0.1, 0.05], effort=[10.0, 2.0])
        >>> state.actuator_position.round(3).tolist(), state.actuator_effort.round(2).tolist()
        ([0.126, 0.052], [6.79, 4.34])

        """
        return self._carry(True, position, velocity, effort, acceleration, q0)

    def _carry(
        self,
        inverse: bool,
        position: Any,
        velocity: ArrayLike | None,
        effort: ArrayLike | None,
        acceleration: ArrayLike | None,
        q0: Values | None,
    ) -> TransmissionState:
        with self.solver.lock:
            call = self._calls.get(inverse)
            if call is None:
                call = self._calls[inverse] = self._prepared(inverse)
            q = self.solver.q if q0 is None else self.solver.checked_q(q0)
            call.start(q)
            if acceleration is not None and velocity is None:
                velocity = np.zeros(call.direction.sizes['ni'])
            state = call(position, velocity, effort)
            singular = self._singular is not None and np.array_equal(q, self._singular)
            if singular or not state.converged:
                q, message = self._nearest(call.direction, q if singular else state.q, position)
                # From a regular configuration beside a singular start the position may be had.
                call.start(q)
                state = call(position, velocity, effort)
                if not state.converged:
                    call.start(q)
                    call.direction.evaluate(call._q)
                    here, na = call.direction.view.position, len(self._motors)
                    state = call(here[na:] if inverse else here[:na], velocity, effort)
                    state.status = Status.STALLED
                state._said = message
            if acceleration is not None:
                given = finite('acceleration', acceleration, call.direction.sizes['ni'])
                self._accelerate(state, inverse, given)
            return state

    def _nearest(self, direction: Direction, q: Array, position: Any) -> tuple[Array, str]:
        """Return the configuration nearest to a position that cannot be had, and the reason."""
        space, (joints, poses) = self._space, direction.given_position(position)
        if len(poses):
            links = zip(space.links, poses, strict=True)
            solution = self.solver.solve_pose({k.name: (p[:3], p[3:]) for k, p in links}, q0=q)
            return solution.q, solution.message
        problem, table, packed = self.solver.arrays_for(())
        places = space.joints if direction.inverse else space.actuators
        given = ((places[row], float(joints[row])) for row in direction.view.given_row.tolist())
        targets = {place: value for place, value in given if place not in table.masters}
        driven = drive(problem, table, q.copy(), targets, packed)
        at, values = list(targets), np.fromiter(targets.values(), float, len(targets))
        before, after = (np.abs(each[at] - values).max(initial=0.0) for each in (q, driven.q))
        limit = 1e-4 * direction.chain.flat.length
        closed = all(max(error) < limit for error in driven.closure_errors.values())
        return driven.q if closed and after <= before else q, driven.message

    def _accelerate(self, state: TransmissionState, inverse: bool, given: Array) -> None:
        """Write the accelerations: those given, and the curvature of the loops' motion."""
        speeds = np.zeros(0) if state.actuator_velocity is None else state.actuator_velocity
        motion_change, ratio_change = self._change(state.q, speeds)
        motion, ratio = self._forward.motion, self._forward.ratio
        if inverse:
            rest = given - ratio_change @ speeds
            given = np.asarray(np.linalg.lstsq(ratio, rest, rcond=None)[0], dtype=float)
        state.actuator_acceleration = given
        state.joint_acceleration = ratio @ given + ratio_change @ speeds
        state.acceleration = motion @ given + motion_change @ speeds

    def prepare_to_joints(self) -> PreparedTransmission:
        """Return `to_joints` as a callable for real-time use."""
        return self._prepared(False)

    def prepare_to_actuators(self) -> PreparedTransmission:
        """Return `to_actuators` as a callable for real-time use."""
        return self._prepared(True)

    def _prepared(self, inverse: bool) -> PreparedTransmission:
        return PreparedTransmission(self.solver, self.direction, inverse)


def _matrix(name: str, given: ArrayLike, size: int) -> Array:
    """Return a diagonal or full matrix of gains."""
    values = numbers(name, given)
    if values.shape == (size,):
        return np.diag(values)
    if values.shape != (size, size) or not np.isfinite(values).all():
        raise ShapeError(name, f'shape ({size},) or ({size}, {size})', f'shape {values.shape}')
    return values


def _extremes(
    matrix: Array, speeds: Array, skipped: int, rows: bool = False
) -> tuple[tuple[float, float], Array, float]:
    """
    Return smallest and largest singular value of a motion, the direction of the smallest, a ratio.

    `matrix` (n, m) moves n values, or `rows`, by m motions of the loops, `speeds` (k, m) others,
    whose largest speed for unit speed of the motion is the ratio. As many zeros as are `skipped`
    do not count.
    """
    left, sizes, right = np.linalg.svd(matrix)
    count = min(matrix.shape[0], max(matrix.shape[1] - skipped, 0))
    if not count:
        return (0.0, 0.0), np.zeros(matrix.shape[0 if rows else 1]), np.inf
    direction = left[:, count - 1] if rows else right[count - 1]
    with np.errstate(divide='ignore', invalid='ignore'):
        ratios = np.linalg.norm(speeds @ right[:count].T / sizes[:count], axis=1)
    # 0 / 0 is a value that does not move with the lost motion.
    ratio = float(np.nanmax(ratios, initial=0.0))
    return (float(sizes[count - 1]), float(sizes[0])), direction, ratio


def _independent(rows: Array) -> list[int]:
    """Return the indices of the rows that are independent of the ones before."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    chosen: list[int] = []
    for at in range(len(rows)):
        if rank(unit[[*chosen, at]]) > len(chosen):
            chosen.append(at)
    return chosen
