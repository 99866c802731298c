"""The transmission between actuators and a joint space, through closed loops, and its calls."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ik_node.display import public_names
from ik_node.errors import listed, OptionError, ShapeError, TopologyError, UnknownFrameError
from ik_node.kernels import transmit as kernel
from ik_node.kernels.layout import CON_POSE
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.model.chains import ancestors
from ik_node.model.given import finite, numbers
from ik_node.model.kinematics import TreePoses
from ik_node.model.link import Link
from ik_node.model.request import pose_request
from ik_node.model.rotation import rotation_vector_to_quat
from ik_node.model.tree import Tree
from ik_node.solver.drive import drive
from ik_node.solver.modes import independent_rows
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import names_in, unit_pose, Values
from ik_node.solver.problem.chain_problem import null_space, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import misfits_in, STATUSES
from ik_node.solver.solver import Solver
from ik_node.transmission.state import joint_bounds, JointBounds, Singularity, TransmissionState
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# The kinds of a variable that is locked, and of one that is not.
LOCK = (kernel.VARIABLE_LOCKED, kernel.VARIABLE_PASSIVE)
# Options of the kernel, which closes the loops after a part of the way.
OPTIONS = SolverOptions(restarts=0, max_iterations=30, stall_threshold=1e-14)
# Loops that are open by more than this [rad or characteristic lengths] are not evaluated.
OPEN = 1e-3
# Step of the differences along a motion [rad or characteristic lengths].
STEP = 2e-3
# Part of the joint space below which an actuator moves nothing; part in the motion of passive
# joints alone from which on actuators do not determine a row of the joint space.
NOTHING, IDLE = 1e-9, 1e-6
# How far from the present values dependence is examined [rad or characteristic lengths].
ASIDE = 0.03
# The pose in a row of the table of constraints.
POSE = slice(CON_POSE, CON_POSE + 7)


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
    >>> call.start(robot.q)  # not from the last result
    >>> call([0.3, 0.1]).joint_position.round(3).tolist()
    [0.219, 0.134]

    """

    __dir__ = public_names

    def __init__(self, transmission: Transmission, inverse: bool) -> None:
        self._of, self._inverse, self._solver = transmission, inverse, transmission.solver
        self._lock = self._solver.lock
        with self._lock:
            self._q: Array = self._solver.q
            self._prepare()

    def __repr__(self) -> str:
        to = 'actuators' if self._inverse else 'joints'
        return f'PreparedTransmission(to {to}; {listed(self._of.actuators)})'

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedTransmission, (self._of, self._inverse)

    def _prepare(self) -> None:
        self._revision = self._solver.revision
        self._edits, of = self._revision.edits, self._of
        of._follow_changes()
        self._chain, data = of._chain.with_own_workspace(), of._settings.copy()
        view = Workspace(of._plan, data, table=kernel)
        na, count = view.na, view.ny if self._inverse else view.na
        own = slice(na, None) if self._inverse else slice(na)
        ends = np.cumsum([kernel.RESULTS, *3 * [na, view.ny], len(self._q)]).tolist()
        parts = [slice(*each) for each in pairwise(ends)]
        # The poses of links that are given stand in the table of constraints.
        poses = self._chain.table[of._loop_count :, POSE]
        self._inputs = view.value_in[own], view.rate[own], view.effort[own], count, poses
        self._has_links = bool(self._inverse and view.nl)
        self._arguments = (
            *(self._chain.kernels.transmit, of._rows, of._packed, of._plan, data),
            *(data[of._results], parts),
        )
        self._tracked = kernel.GIVES_POSITION | (kernel.JOINT_SPACE if self._inverse else 0)

    def start(self, q: Values | None = None) -> None:
        """Start the next call from q, (nq,) or by name; None = the joints' present values."""
        with self._lock:
            self._q = self._solver.checked_q(q)
            self._tracked &= ~kernel.TRACKED

    def __call__(
        self, position: Any, velocity: ArrayLike | None = None, effort: ArrayLike | None = None
    ) -> TransmissionState:
        """
        Return everything that follows from actuators or joint space.

        Arguments are those of `Transmission.to_joints` and `to_actuators`; arrays of float64 are
        fastest. The status is STALLED if the position cannot be reached: the values are those at
        the end of the straight way to it, within its limits.
        """
        with self._lock:
            revision = self._revision
            if self._edits != revision.edits or (revision.lent and self._edits != revision.look()):
                self._prepare()
            transmit, joints, packed, plan, data, results, parts = self._arguments
            values, rates, efforts, size, in_table = self._inputs
            gives, count = self._tracked, size
            try:
                if self._has_links:
                    given, in_table[:] = self._of._given_position(position, True)
                    values[: given.size] = given
                else:
                    values[:] = position
                    count = len(position)
                if velocity is not None:
                    rates[:] = velocity
                    gives |= kernel.GIVES_VELOCITY
                    count += len(velocity) - size  # type: ignore[arg-type]
                if effort is not None:
                    efforts[:] = effort
                    gives |= kernel.GIVES_EFFORT
                    count += len(effort) - size  # type: ignore[arg-type]
            except (ValueError, TypeError):
                count = -1
            if count != size:  # a single number, or one that would have been repeated
                return self(*self._checked(position, velocity, effort))
            q = self._q.copy()
            status = transmit(q, joints, packed, plan, data, gives)
            if status == STATUS_REFUSED:
                self._tracked &= ~kernel.TRACKED
                self._checked(position, velocity, effort)
                self._chain.refuse(q, TABLE_POSES)
            self._q = q
            self._tracked |= kernel.TRACKED
            return TransmissionState(q, STATUSES[status], results.copy(), parts, gives)

    def _checked(self, position: Any, *given: Any) -> list[Any]:
        """Return arguments as arrays, or raise the error for a wrong shape or number."""
        values, poses = self._of._given_position(position, self._inverse)
        checked = [position if len(poses) else values.reshape(-1)]
        for name, part in zip(('velocity', 'effort'), given, strict=True):
            count = self._inputs[3]
            checked.append(None if part is None else finite(name, part, count).reshape(count))
        return checked


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
    only_moving : bool
        True: actuators that do not move the joint space are left out, and are no error.

    Raises
    ------
    UnknownFrameError
        If a name is neither a joint nor a link.
    TopologyError
        If an actuator moves nothing, or a named joint or link is not determined by the actuators.

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
    >>> state = transmission.to_joints([0.3, 0.1], velocity=[1.0, 0.0])
    >>> state.joint_position.round(3).tolist(), state.joint_velocity.round(3).tolist()
    ([0.219, 0.134], [0.505, 0.672])
    >>> state = transmission.to_actuators([0.1, 0.05], effort=[10.0, 2.0])
    >>> state.actuator_position.round(3).tolist(), state.actuator_effort.round(2).tolist()
    ([0.126, 0.052], [6.79, 4.34])
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
    >>> transmission.singularity(robot.q).nearness > 0.1
    True
    >>> transmission.loop_error(robot.q) < 1e-6
    True

    """

    def __init__(
        self,
        solver: Solver,
        actuators: Iterable[str],
        joints: Iterable[str] | None = None,
        weights: ArrayLike | None = None,
        only_moving: bool = False,
    ) -> None:
        self.solver = solver
        chosen = None if joints is None else names_in('joints', joints)
        self._given = names_in('actuators', actuators), chosen, weights, only_moving
        self._calls: dict[bool, PreparedTransmission] = {}
        with solver.lock:
            self._prepare()

    _internal = ('solver',)
    __dir__ = public_names

    def __repr__(self) -> str:
        joints = 'all joints' if self._given[1] is None else listed(self._given[1])
        return f'Transmission(actuators: {listed(self.actuators)}; joints: {joints})'

    def __reduce__(self) -> tuple[Any, ...]:
        return Transmission, (self.solver, *self._given)

    def _follow_changes(self) -> None:
        """Read the robot again after changes; the caller holds the solver's lock."""
        if self._edits != self.solver.revision.edits:
            self._prepare()

    def _prepare(self) -> None:
        """
        Read the robot, and find which values determine the others.

        Ranks are those at a configuration beside the present one, which may be singular.
        """
        problem, table, packed = self.solver.arrays_for(())
        edits, (names, joints, weights, only_moving) = self.solver.revision.edits, self._given
        self._read_names(table, problem.tree)
        self._make_chain(problem, table)
        self._make_arrays(table, None if only_moving else weights)
        motors = self._motors
        here = table.with_couplings(self.solver.q)
        self._evaluate(here)
        independent = independent_rows(self._motion[motors], [range(len(motors))])
        masters = [table.masters.get(motors[a], motors[a]) for a in independent]
        step = np.random.default_rng(0).uniform(0.5, 1.0, len(masters)) * ASIDE
        step *= self._units[masters]
        step[here[masters] + step > table.upper[masters]] *= -1.0
        goal = dict(zip(masters, (here[masters] + step).tolist(), strict=True))
        beside = drive(problem, table, here.copy(), goal, packed).q
        try:
            self._evaluate(beside)
        except OptionError:  # The drive ended with a loop open, as at a limit.
            beside = here
            self._evaluate(here)
        self._usual_idle = int(self._view.numbers[kernel.RESULT_IDLE])
        # Redundant actuators, and rows of a joint space, must agree: some determine the others.
        na, last = len(motors), len(motors) + len(self._joints)
        every = self._motion[self._view.row]
        every /= np.maximum(np.linalg.norm(every, axis=1, keepdims=True), NOTHING)
        for groups in ([range(na)], [range(last, len(every)), range(na, last)]):
            chosen = independent_rows(every, groups)
            self._view.is_set[[at for at in chosen if at < last]] = 1
        moved = np.abs(self._ratio)
        most = zip(self.actuators, moved.max(axis=0, initial=0.0), strict=True)
        still = [name for name, speed in most if speed < NOTHING]
        if only_moving:
            kept = tuple(name for name in self.actuators if name not in still)
            self._given = kept or names, joints, weights, False
            self._prepare()
            return
        if still:
            raise TopologyError(
                f'{listed(still)} as an actuator moves nothing of the joint space: the loops hold '
                f'it, or it is in no loop with the joints'
            )
        if joints is not None:
            motions = self._loop_motions(beside)
            held = motions @ null_space(self._rows_of(motions, beside)[:na])
            idle = np.abs(self._rows_of(held, beside)[na:]).max(axis=1, initial=0.0) > IDLE
            if idle.any():
                raise TopologyError(
                    f'the actuators {listed(self.actuators)} do not determine '
                    f'{self.joints[int(idle.argmax())]!r}: it moves while they stand still'
                )
        self._edits = edits

    def _read_names(self, table: JointTable, tree: Tree) -> None:
        """Find motors and joints, as indices in q, and the links of the joint space."""
        names, joints, _, _ = self._given
        known = {frame.name: frame for frame in tree.carrier if isinstance(frame, Link)}
        if not names:
            raise TopologyError('no actuators: the description names no motors; name some')
        self._motors = table.places(names)
        self._joints: list[int] = list(range(len(tree.names))) if joints is None else []
        self._links: list[Link] = []
        for name in joints or ():
            try:
                self._joints += table.places([name])
            except UnknownFrameError:
                if name not in known:
                    every = [*tree.names, *known]
                    raise UnknownFrameError(name, every, 'joint or link') from None
                self._links.append(known[name])
        if len({*self._joints, *self._links}) < len(self._joints) + len(self._links):
            raise TopologyError('a name occurs twice among the joints')
        constant = [f for f, _, polynomial in table.followers if not any(polynomial[1:])]
        fixed = [tree.names[index] for index in self._motors if index in constant]
        if fixed:
            raise TopologyError(
                f'{listed(fixed)} as an actuator moves nothing: it follows by a constant'
            )

    def _make_chain(self, loops: Problem, table: JointTable) -> None:
        """Make the chain of the loops that the named values move, and a goal for each link."""
        tree, places = loops.tree, [*self._motors, *self._joints]
        columns = [tree.q_of_column.index(at) for at in places]
        for link in self._links:
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
        self._loop_count = len(requests)
        requests += [pose_request(link.name, link) for link in self._links]
        problem = Problem(tree, requests, None, loops.length, self.solver.redundancies, masters)
        problem.refresh(self.solver.options)
        (self._chain,), self._units, self._poses = problem.chains, problem.units, TreePoses(tree)

    def _make_arrays(self, table: JointTable, weights: Any) -> None:
        """Make the table of joints, one without limits, and the arrays of the kernel."""
        motors, chain = self._motors, self._chain
        own = {table.masters.get(place, place): a for a, place in enumerate(motors)}
        if len(own) < len(motors):
            raise TopologyError(
                'two actuators move the same joint value, through a coupling, or are named twice'
            )
        # The motors of a ball joint turn its Euler angles, of which it is the rates that count.
        driven = [at for three in table.triples if not {*three}.isdisjoint(motors) for at in three]
        rows = table.with_window(table.without_preferences(table.rows), [*own, *motors], np.inf)
        self._rows = table.without_free_balls(rows, driven)
        self._free = table.without_limits(self._rows)
        variables = chain.flat.var_q
        variable = np.where(JointTable.movable(rows)[variables], *LOCK[::-1])
        for place, a in own.items():
            variable[variables == place] = a
        na, nl, nv, nq = len(motors), len(self._links), variables.size, rows.shape[1]
        sizes = {'na': na, 'ny': len(self._joints) + 6 * nl, 'nl': nl, 'nm': nq + 6 * nl}
        sizes |= {'nv': nv, 'nr': 6 * len(chain.requests), 'stride': nv + na + 2}
        self._packed, self._view = OPTIONS.packed(), Workspace.new(kernel, **sizes)
        self._plan, data = self._view.arrays
        words = dict(zip((*kernel.SIZES, *kernel.FIELDS), self._plan.tolist(), strict=False))
        # What `TransmissionState` copies: scalars, positions, velocities and efforts.
        self._results = slice(words['numbers'], words['motion'])
        self._view.root[:] = 1.0
        if weights is not None:
            given = finite('weights', weights, na)
            if not (given > 0.0).all():
                raise ShapeError('weights', 'numbers above 0', str(given))
            self._view.root[:] = np.sqrt(given)
        places, links = [*motors, *self._joints], range(nq, nq + 6 * nl)
        columns = Workspace(*chain.arrays).column_q.tolist()
        self._view.variable[:], self._view.row[:] = variable, [*places, *links]
        self._view.column[:] = [*map(columns.index, places), *(-1 for _ in links)]
        self._own = self._view.row[na:]  # the joint space among the rows of `_motion`
        self._settings = data.copy()

    def _rows_of(self, motions: Array, q: Array) -> Array:
        """
        Return the motions (na + ny, m) of all rows for those of all joints, (nq, m).

        They are in [rad] and characteristic lengths.
        """
        length = self._chain.flat.length
        units = [*self._units, *len(self._links) * [*3 * [length], 1.0, 1.0, 1.0]]
        of_links = (self._poses.jacobian(q, link) @ motions for link in self._links)
        every = np.vstack([motions, *of_links]) / np.array(units)[:, None]
        return np.asarray(every[self._view.row])

    def _loop_motions(self, q: Array) -> Array:
        """Return a basis (nq, m) of motions of the loops, orthonormal in [rad] and lengths."""
        flat = self._chain.flat
        joints = JointTable.without_free_balls(JointTable.without_limits(self._rows))
        closures = flat.rows < 6 * self._loop_count
        basis = self._chain.motions(q, joints, self._packed, rows=closures)
        motions = np.zeros((len(q), basis.shape[1]))
        motions[flat.var_q] = basis * flat.units[:, None]
        for follower, master, polynomial in self.solver.arrays_for(())[1].followers:
            slope = np.polynomial.Polynomial(polynomial).deriv()(q[master])
            motions[follower] = slope * motions[master]
        return motions

    @property
    def _motion(self) -> Array:
        """Return a copy of d value / d actuator of the last call, of all joints, then of links."""
        return np.array(self._view.motion.reshape(-1, len(self._motors)))

    @property
    def _ratio(self) -> Array:
        """Return a copy of d joint space / d actuator, shape (n_joints, n_actuators)."""
        return np.array(self._view.ratio.reshape(-1, len(self._motors)))

    def _given_position(self, position: Any, inverse: bool) -> tuple[Array, Array]:
        """Return given joint values, and given poses of links (k, 7) [m], xyzw."""
        links, joints = inverse * len(self._links), len(self._joints if inverse else self._motors)
        try:
            values = finite('position', position, joints + 6 * links)
        except ShapeError:
            if links != 1 or joints:
                raise
            return np.zeros(0), np.reshape(unit_pose('position', position), (1, 7))
        rows = values[joints:].reshape(-1, 6).tolist()
        poses = [[*row[:3], *rotation_vector_to_quat(row[3:]).tolist()] for row in rows]
        return values[:joints], np.reshape(poses, (-1, 7))

    def _call(self, q: Array, gives: int = 0) -> int:
        """Call `kernels.transmit.transmit` without limits, from q (nq,)."""
        data = self._view.arrays[1]
        transmit = self._chain.kernels.transmit
        return transmit(q.copy(), self._free, self._packed, self._plan, data, gives)

    def _evaluate(self, q: Array) -> None:
        """Write motion and ratio at q; raise OptionError if a loop is open there."""
        chain = self._chain
        if self._call(q) == STATUS_REFUSED:
            chain.refuse(q, TABLE_POSES)
        limits = 10.0 * (misfits_in(chain.table) + chain.tolerances)
        limits = np.maximum(limits, (OPEN * chain.flat.length, OPEN))
        loops, errors = chain.requests[: self._loop_count], chain.errors.reshape(-1, 2)
        for request, error, limit in zip(loops, errors, limits, strict=False):
            if not (error <= limit).all():
                raise OptionError(
                    'q',
                    f'values with which {request.name!r} is open by {error[0]:.3g} m, '
                    f'{error[1]:.3g} rad',
                    'values with closed loops: solver.solve_pose({}, q0=q).q has them',
                )

    @property
    def actuators(self) -> list[str]:
        """Return the names of the actuators' values, in their order."""
        return [self.solver.tree.names[at] for at in self._motors]

    @property
    def joints(self) -> list[str]:
        """Return the name of each row of the joint space; for a link 'LINK.vx' to 'LINK.wz'."""
        axes = ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')
        rows = [self.solver.tree.names[at] for at in self._joints]
        return rows + [f'{link.name}.{axis}' for link in self._links for axis in axes]

    def _go_to(self, q: Values) -> Array:
        """Write motion and ratio at q for the present robot, and return q (nq,)."""
        self._follow_changes()
        checked = self.solver.checked_q(q)
        self._evaluate(checked)
        return checked

    def jacobian(self, q: Values) -> Array:
        """Return d joint / d actuator at q, shape (n_joints, n_actuators) [rad or m per same]."""
        with self.solver.lock:
            self._go_to(q)
            return self._ratio

    def motion(self, q: Values) -> Array:
        """Return d q / d actuator at q, shape (nq, n_actuators) [rad or m per rad or m]."""
        with self.solver.lock:
            count = len(self._go_to(q))
            return self._motion[:count]

    def loop_error(self, q: Values) -> float:
        """Return by how much the loops of the transmission are open at any q [m or rad]."""
        with self.solver.lock:
            self._follow_changes()
            self._call(self.solver.checked_q(q))
            return float(self._chain.errors[: 2 * self._loop_count].max(initial=0.0))

    def actuator_effort(self, q: Values, joint_effort: ArrayLike) -> Array:
        """Return J^T tau_y, the least efforts of actuators that do the same work [N m or N]."""
        effort = finite('joint_effort', joint_effort, len(self.joints))
        return self.jacobian(q).T @ effort

    def joint_effort(self, q: Values, actuator_effort: ArrayLike) -> Array:
        """Return the least tau_y with J^T tau_y = tau_u, or as near as possible [N m or N]."""
        given = finite('actuator_effort', actuator_effort, len(self._motors))
        ratio = self.jacobian(q)
        return np.asarray(np.linalg.lstsq(ratio.T, given, rcond=kernel.NOTHING)[0])

    def singularity(self, q: Values) -> Singularity:
        """Return how near a configuration is to singularities of type I and II."""
        # With an orthonormal basis N of the motions of the loops, the singular values are those of
        # S N, of the actuators' motions, and of Y N, of the joint space's. Motions that no
        # actuator ever determines do not count. The ratios are the largest norm of a row of
        # N (S N)^+, the speed of a passive joint for unit speed of the actuators, and of a row of
        # S N (Y N)^+, without actuators in the joint space.
        with self.solver.lock:
            q = self._go_to(q)
            motions, motors = self._loop_motions(q), self._motors
            rows, na = self._rows_of(motions, q), len(motors)
            passive = np.delete(motions / self._units[:, None], motors, axis=0)
            outside = rows[[a for a, at in enumerate(motors) if at not in self._joints]]
            second, least, ratio_2 = _extremes(rows[:na], passive, self._usual_idle)
            first, lost, ratio_1 = _extremes(rows[na:], outside, self._usual_idle, rows=True)
            return Singularity(first, second, lost, motions @ least, ratio_1, ratio_2)

    def joint_bounds(self, q: Values) -> JointBounds:
        """Return `max_velocity` and `max_effort` of the actuators as bounds on the joint space."""
        ratio = self.jacobian(q)
        tree, motors = self.solver.tree, self._motors
        return joint_bounds(ratio, tree.max_velocity[motors], tree.max_effort[motors])

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
        >>> stiffness, damping = transmission.gains_to_actuators({}, [100, 100], [1, 1])
        >>> stiffness.shape, damping.shape
        ((2, 2), (2, 2))

        """
        size, ratio = len(self.joints), self.jacobian(q)
        stiff = ratio.T @ _matrix('stiffness', stiffness, size) @ ratio
        damped = ratio.T @ _matrix('damping', damping, size) @ ratio
        if joint_effort is not None:
            effort = finite('joint_effort', joint_effort, size)
            with self.solver.lock:
                q = self.solver.checked_q(q)
                for a, along in enumerate(np.eye(ratio.shape[1])):
                    stiff[:, a] -= self._change(q, along)[self._own].T @ effort
        return stiff, damped

    def _change(self, q: Array, speeds: Array) -> Array:
        """
        Return the time derivative of `_motion` while the actuators move at some speeds.

        It is a difference of fourth order along the motion with closed loops.
        """
        self._evaluate(q)
        velocity, change = self._motion[: len(q)] @ speeds, np.zeros_like(self._motion)
        moved = np.abs(velocity / self._units).max(initial=0.0)
        step = STEP / max(moved, 1e-12)
        for times, factor in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)) if moved > 1e-12 else ():
            ahead = (q + times * step * velocity)[self._motors]
            self._view.value_in[: len(ahead)] = ahead
            self._call(q, kernel.GIVES_POSITION)
            change += self._motion * (factor / (12.0 * step))
        self._evaluate(q)
        return change

    def to_joints(
        self,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        q0: Values | None = None,
    ) -> TransmissionState:
        """Return everything that follows from the actuators, see `to_actuators`."""
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
            STALLED if the loops, limits or a singularity do not allow the position: the nearest
            one that was found. Velocities and accelerations that the mechanism cannot have are
            replaced by the nearest; `message` gives the difference.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.to_actuators([0.1, 0.05]).actuator_position.round(3).tolist()
        [0.126, 0.052]

        """
        return self._carry(True, position, velocity, effort, acceleration, q0)

    def _carry(self, inverse: bool, position: Any, *given: Any) -> TransmissionState:
        velocity, effort, acceleration, q0 = given
        with self.solver.lock:
            self._follow_changes()
            call = self._calls.get(inverse) or PreparedTransmission(self, inverse)
            self._calls[inverse] = call
            q, count = self.solver.checked_q(q0), len(self.joints if inverse else self._motors)
            if acceleration is not None and velocity is None:
                velocity = np.zeros(count)
            call.start(q)
            state = call(position, velocity, effort)
            self._call(q)
            singular = self._view.numbers[kernel.RESULT_IDLE] > self._usual_idle
            if singular or not state.converged:
                # From beside a singular start the position may be had.
                q, message = self._nearest(inverse, q if singular else state.q, position)
                call.start(q)
                state = call(position, velocity, effort)
                state._said = message
            if acceleration is not None:
                self._accelerate(state, inverse, finite('acceleration', acceleration, count))
            return state

    def _nearest(self, inverse: bool, q: Array, position: Any) -> tuple[Array, str]:
        """Return the configuration nearest to a position that cannot be had, and the reason."""
        joints, poses = self._given_position(position, inverse)
        if len(poses):
            links = zip(self._links, poses, strict=True)
            solution = self.solver.solve_pose({k.name: (p[:3], p[3:]) for k, p in links}, q0=q)
            return solution.q, solution.message
        problem, table, packed = self.solver.arrays_for(())
        places = self._joints if inverse else self._motors
        held = self._view.is_set[len(self._motors) * inverse :]
        values = zip(places, joints.tolist(), held.tolist(), strict=False)
        targets = {at: value for at, value, set_ in values if set_ and at not in table.masters}
        driven = drive(problem, table, q.copy(), targets, packed)
        limit = 1e-4 * self._chain.flat.length
        closed = all(max(error) < limit for error in driven.closure_errors.values())
        return driven.q if closed else q, driven.message

    def _accelerate(self, state: TransmissionState, inverse: bool, given: Array) -> None:
        """Write the accelerations: those given, and the curvature of the loops' motion."""
        speeds, own = np.asarray(state.actuator_velocity), self._own
        curvature = self._change(state.q, speeds) @ speeds
        if inverse:
            given = np.linalg.lstsq(self._ratio, given - curvature[own], rcond=None)[0]
        every = self._motion @ given + curvature
        state.actuator_acceleration, state.joint_acceleration = np.asarray(given), every[own]
        state.acceleration = every[: len(state.q)]

    def prepare_to_joints(self) -> PreparedTransmission:
        """Return `to_joints` as a callable for real-time use."""
        return PreparedTransmission(self, False)

    def prepare_to_actuators(self) -> PreparedTransmission:
        """Return `to_actuators` as a callable for real-time use."""
        return PreparedTransmission(self, True)


def _matrix(name: str, given: ArrayLike, size: int) -> Array:
    """Return a diagonal or full matrix of gains."""
    values = numbers(name, given)
    matrix = np.diag(values) if values.shape == (size,) else values
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise ShapeError(name, f'shape ({size},) or ({size}, {size})', f'shape {values.shape}')
    return matrix


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
