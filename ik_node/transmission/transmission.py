"""The transmission between actuators and a joint space, through closed loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ik_node.display import public_names
from ik_node.errors import listed, ShapeError
from ik_node.kernels.layout import JOINT_WINDOW
from ik_node.kernels.transmit import GIVES_EFFORT, GIVES_POSITION
from ik_node.model.chains import ancestors
from ik_node.model.given import finite, numbers
from ik_node.model.link import Link
from ik_node.solver.drive import drive
from ik_node.solver.pose import Values
from ik_node.solver.problem.redundancy import without_rounding
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
from ik_node.transmission.bounds import effort_bounds, velocity_bounds
from ik_node.transmission.direction import by_angles, Direction
from ik_node.transmission.prepared import PreparedTransmission
from ik_node.transmission.reading import give, give_position, NOTHING, RANK, Reading
from ik_node.transmission.state import JointBounds, Singularity, TransmissionState
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Step of the differences along a motion [rad or characteristic lengths].
STEP = 2e-3


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
    docs/transmission.md explains the theory, the signs and redundancy.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> transmission.actuators, transmission.joints
    (['motor_left', 'motor_right'], ['ankle_pitch', 'ankle_roll'])
    >>> transmission.to_joints([0.3, 0.1]).joint_position.round(3).tolist()
    [0.219, 0.134]
    >>> to_joints = transmission.prepare_to_joints()
    >>> to_motors = transmission.prepare_to_actuators()
    >>> to_motors(to_joints([0.3, 0.1]).joint_position).actuator_position.round(6).tolist()
    [0.3, 0.1]

    """

    def __init__(
        self,
        solver: Solver,
        actuators: Iterable[str],
        joints: Iterable[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        self._reading = Reading(solver, actuators, joints, weights)

    _internal = ('direction', 'solver')
    __dir__ = public_names

    def __repr__(self) -> str:
        joints = 'all joints' if self._reading.joints is None else listed(self._reading.joints)
        return f'Transmission(actuators: {listed(self.actuators)}; joints: {joints})'

    def __reduce__(self) -> tuple[Any, ...]:
        return Transmission, (
            self._reading.solver,
            self._reading.actuators,
            self._reading.joints,
            self._reading.weights,
        )

    @property
    def actuators(self) -> list[str]:
        """Return the names of the actuators' values, in their order."""
        names = self._reading.forward.problem.tree.names
        return [names[at] for at in self._reading.space.actuators]

    @property
    def joints(self) -> list[str]:
        """Return the name of each row of the joint space; for a link 'LINK.vx' to 'LINK.wz'."""
        names = self._reading.forward.problem.tree.names
        rows = [names[at] for at in self._reading.space.joints]
        return rows + [
            f'{link.name}.{axis}'
            for link in self._reading.space.links
            for axis in ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')
        ]

    def actuators_of(self, names: Iterable[str]) -> list[str]:
        """
        Return the actuators that move some of the joints or links.

        Parameters
        ----------
        names : iterable of str
            Joints and links; those that do not exist are left out.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.actuators_of(['foot_link'])
        ['motor_left', 'motor_right']

        """
        wanted = set(names)
        solver, space = self._reading.solver, self._reading.space
        with solver.lock:
            self._reading.refresh()
            tree, places = solver.tree, set[int]()
            for frame, (column, _) in tree.carrier.items():
                if isinstance(frame, Link) and frame.name in wanted:
                    places |= {tree.q_of_column[at] for at in ancestors(tree, column)}
            for at, (joint, _) in enumerate(tree.owner):
                if joint.name in wanted or tree.names[at] in wanted:
                    places.add(at)
            rows = [row for row, place in enumerate(space.joints) if place in places]
            moves = self._reading.moved[rows].max(axis=0, initial=0.0) > NOTHING
        return [name for name, used in zip(self.actuators, moves, strict=True) if used]

    def _at(self, q: Values) -> Direction:
        self._reading.refresh()
        self._reading.forward.evaluate(self._reading.solver.checked_q(q))
        return self._reading.forward

    def jacobian(self, q: Values) -> Array:
        """
        Return d joint / d actuator with closed loops.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].

        Returns
        -------
        ndarray, shape (n_joints, n_actuators)
            [rad or m per rad or m]; for more actuators than degrees of freedom, of velocities
            that agree: others are taken to the nearest that do.

        Raises
        ------
        ShapeError
            If q has the wrong shape or is not finite.
        OptionError
            If a loop is open at q.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.jacobian(robot.q).round(2).tolist()
        [[0.57, 0.57], [0.67, -0.67]]

        """
        with self._reading.solver.lock:
            return self._reading.ratio(self._at(q))

    def motion(self, q: Values) -> Array:
        """
        Return d q / d actuator with closed loops, shape (nq, n_actuators).

        Parameters and errors are those of `jacobian`. Joints that the actuators do not determine
        have the part of least norm.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.motion(robot.q).shape  # all joint values by motors
        (8, 2)

        """
        with self._reading.solver.lock:
            return self._reading.motions(self._at(q))

    def loop_error(self, q: Values) -> float:
        """
        Return by how much the loops of the transmission are open at any q, the largest [m or rad].

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values, whose loops may be open [rad or m].

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.loop_error(robot.q) < 1e-6
        True

        """
        with self._reading.solver.lock:
            self._reading.refresh()
            direction, checked = self._reading.forward, self._reading.solver.checked_q(q)
            direction.call(checked, direction.free, 0)
            return float(direction.chain.errors.max(initial=0.0))

    def actuator_effort(self, q: Values, joint_effort: ArrayLike) -> Array:
        """
        Return the efforts of the actuators that do the work of efforts in the joint space.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        joint_effort : array_like, shape (n_joints,)
            [N m or N]

        Returns
        -------
        ndarray, shape (n_actuators,)
            tau_u = J^T tau_y [N m or N]; the least of all with more actuators than needed.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.actuator_effort(robot.q, [10.0, 0.0]).round(1).tolist()
        [5.7, 5.7]

        """
        effort = finite('joint_effort', joint_effort, len(self.joints))
        return self.jacobian(q).T @ effort

    def joint_effort(self, q: Values, actuator_effort: ArrayLike) -> Array:
        """
        Return the efforts in the joint space that do the work of the actuators.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        actuator_effort : array_like, shape (n_actuators,)
            [N m or N]

        Returns
        -------
        ndarray, shape (n_joints,)
            The least tau_y with J^T tau_y = tau_u [N m or N]; if there is none, the nearest.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.joint_effort(robot.q, [6.0, 4.0]).round(2).tolist()
        [8.75, 1.5]

        """
        count = len(self._reading.space.actuators)
        given = finite('actuator_effort', actuator_effort, count)
        with self._reading.solver.lock:
            self._reading.refresh()
            direction = self._reading.forward
            direction.field('effort_in', count)[:] = given
            direction.evaluate(self._reading.solver.checked_q(q), GIVES_EFFORT)
            return direction.field('row_effort', direction.sizes['ny']).copy()

    def singularity(self, q: Values) -> Singularity:
        """
        Return how near a configuration is to singularities of type I and II.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].

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
        with self._reading.solver.lock:
            self._reading.refresh()
            checked = self._reading.solver.checked_q(q)
            forward = self._reading.forward
            motions = self._loop_motions(forward, checked)
            forward.evaluate(checked)
            units = forward.problem.units
            speeds = motions / units[:, None]
            space = self._reading.space
            acting, rows = speeds[list(space.actuators)], [speeds[list(space.joints)]]
            passive = np.delete(speeds, list(space.actuators), axis=0)
            outside = speeds[[at for at in space.actuators if at not in space.joints]]
            for link in space.links:
                moved = self._reading.poses.jacobian(checked, link) @ motions
                moved[:3] /= forward.chain.flat.length
                rows.append(moved)
            idle = max(0, self._reading.idle)
            second, least, ratio_2 = _extremes(acting, passive, idle)
            first, lost, ratio_1 = _extremes(np.vstack(rows), outside, idle, rows=True)
            return Singularity(first, second, lost, motions @ least, ratio_1, ratio_2)

    def _loop_motions(self, direction: Direction, q: Array) -> Array:
        """Return a basis (nq, m) of the motions of the loops, orthonormal in [rad] and lengths."""
        chain, joints = direction.chain, direction.free.copy()
        joints[JOINT_WINDOW] = direction.moving[JOINT_WINDOW]
        places = chain.flat.var_q
        joints[JOINT_WINDOW, list(self._reading.space.actuators)] = np.inf
        free = joints[JOINT_WINDOW, places] > 0.0
        by_angles(joints)
        _, jacobian, _ = chain.linearise_by_size(q, joints, direction.packed)
        redundancy = next(iter(chain.redundancies), None)
        _, sizes, directions = np.linalg.svd(without_rounding(jacobian, free, redundancy))
        rank = int(np.sum(sizes > RANK * sizes.max(initial=1e-6)))
        motions = np.zeros((direction.sizes['nq'], directions.shape[0] - rank))
        motions[places[free]] = directions[rank:].T * chain.flat.units[free, None]
        table = self._reading.solver.arrays_for(())[1]
        for follower, master, polynomial in table.followers:
            slope = np.polynomial.Polynomial(polynomial).deriv()(q[master])
            motions[follower] = slope * motions[master]
        return motions

    def joint_bounds(self, q: Values) -> JointBounds:
        """
        Return the limits of the actuators as bounds on the joint space at q.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].

        Returns
        -------
        JointBounds
            Of `Joint.max_velocity` and `Joint.max_effort` of the actuators.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> transmission.joint_bounds(robot.q).velocity.upper.round(2).tolist()
        [22.86, 26.67]

        """
        ratio = self.jacobian(q)
        owner = self._reading.forward.problem.tree.owner
        axes = [owner[at] for at in self._reading.space.actuators]
        speeds = np.array([joint._max_velocity[dof] for joint, dof in axes])
        efforts = np.array([joint._max_effort[dof] for joint, dof in axes])
        return JointBounds(velocity_bounds(ratio, speeds), effort_bounds(ratio, efforts))

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
        gains = [
            _matrix(name, given, size)
            for name, given in (('stiffness', stiffness), ('damping', damping))
        ]
        ratio = self.jacobian(q)
        stiff, damped = (ratio.T @ gain @ ratio for gain in gains)
        if joint_effort is not None:
            effort = finite('joint_effort', joint_effort, size)
            with self._reading.solver.lock:
                checked = self._reading.solver.checked_q(q)
                for a in range(ratio.shape[1]):
                    along = np.zeros(ratio.shape[1])
                    along[a] = 1.0
                    stiff[:, a] -= self._change(checked, along)[1].T @ effort
        return stiff, damped

    def _change(self, q: Array, speeds: Array) -> tuple[Array, Array]:
        """
        Return the time derivatives of motion and ratio while the actuators move at some speeds.

        They are differences of fourth order along the motion with closed loops.
        """
        direction, place = self._reading.forward, list(self._reading.space.actuators)
        direction.evaluate(q)
        motion = self._reading.motions(direction)
        moved = np.abs(motion @ speeds / direction.problem.units).max(initial=0.0)
        if moved < 1e-12:
            return np.zeros_like(motion), np.zeros_like(self._reading.ratio(direction))
        step = STEP / moved
        agreed = (motion @ speeds)[place]
        change, ratio_change = np.zeros_like(motion), np.zeros_like(self._reading.ratio(direction))
        held = direction.free.copy()
        held[JOINT_WINDOW] = direction.moving[JOINT_WINDOW]
        for times, factor in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
            direction.field('value_in', len(place))[:] = q[place] + times * step * agreed
            direction.call(q.copy(), held, GIVES_POSITION)
            change += factor * self._by_chosen(self._reading.motions(direction))
            ratio_change += factor * self._by_chosen(self._reading.ratio(direction), direction)
        direction.evaluate(q)
        return change / (12.0 * step), ratio_change / (12.0 * step)

    def _by_chosen(self, matrix: Array, direction: Direction | None = None) -> Array:
        """Return a derivative by redundant actuators as one by the values that are set."""
        chosen = self._reading.forward.field_ints('given_row', self._reading.forward.sizes['ng'])
        if len(chosen) == matrix.shape[1]:
            return matrix
        motion = matrix if direction is None else self._reading.motions(direction)
        own = motion[[self._reading.space.actuators[at] for at in chosen.tolist()]]
        by_chosen = np.zeros_like(matrix)
        by_chosen[:, chosen] = matrix @ np.linalg.pinv(own)
        return by_chosen

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

        Raises
        ------
        ShapeError
            If an argument has the wrong shape or is not finite.

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

        Raises
        ------
        ShapeError
            If an argument has the wrong shape or is not finite.

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
        solver = self._reading.solver
        with solver.lock:
            direction = self._reading.direction(inverse)
            q = solver.q if q0 is None else solver.checked_q(q0)
            values = self._reading.given_position(inverse, position)
            if acceleration is not None and velocity is None:
                velocity = np.zeros(direction.sizes['ny' if inverse else 'na'])
            gives = give(direction, velocity, effort)
            give_position(direction, values)
            status, message = int(Status.STALLED), ''
            singular = self._reading.singular
            if singular is None or not np.array_equal(q, singular):
                status = direction.call(q, direction.moving, gives | GIVES_POSITION)
            if status == Status.STALLED:
                q, message = self._nearest(direction, q, values)
                # From a regular configuration beside a singular start the position may be had.
                reached = q.copy()
                status = direction.call(reached, direction.moving, gives | GIVES_POSITION)
                if status == Status.CONVERGED:
                    q = reached
                else:
                    status = int(Status.STALLED)
                    direction.evaluate(q, gives)
            results = direction.results.copy()
            state = TransmissionState(q, Status(status), results, direction.places, gives, message)
            if acceleration is not None:
                self._accelerate(state, inverse, acceleration)
            return state

    def _nearest(
        self, direction: Direction, q: Array, values: tuple[Array, Array, Array]
    ) -> tuple[Array, str]:
        """Return the configuration nearest to a position that cannot be had, and the reason."""
        solver, space = self._reading.solver, self._reading.space
        joints, positions, quats = values
        if space.links and direction.inverse:
            poses = zip(space.links, positions, quats, strict=True)
            pose_of = {link.name: (where, turn) for link, where, turn in poses}
            solution = solver.solve_pose(pose_of, q0=q)
            return solution.q, solution.message
        problem, table, packed = solver.arrays_for(())
        rows = direction.field_ints('given_row', direction.sizes['ng']).tolist()
        places = space.joints if direction.inverse else space.actuators
        wanted = {
            places[row]: float(joints[row]) for row in rows if places[row] not in table.masters
        }
        driven = drive(problem, table, q.copy(), wanted, packed)
        before = max((abs(q[at] - value) for at, value in wanted.items()), default=0.0)
        after = max((abs(driven.q[at] - value) for at, value in wanted.items()), default=0.0)
        closed = all(
            max(error) < 1e-4 * direction.chain.flat.length
            for error in driven.closure_errors.values()
        )
        if closed and after <= before:
            return driven.q, driven.message
        return q, driven.message

    def _accelerate(self, state: TransmissionState, inverse: bool, given: ArrayLike) -> None:
        """Write the accelerations: those given, and the curvature of the loops' motion."""
        count = self._reading.space.row_count if inverse else len(self._reading.space.actuators)
        wanted = finite('acceleration', given, count)
        speeds = np.zeros(0) if state.actuator_velocity is None else state.actuator_velocity
        motion_change, ratio_change = self._change(state.q, speeds)
        motion, ratio = (
            self._reading.motions(self._reading.forward),
            self._reading.ratio(self._reading.forward),
        )
        if inverse:
            rest = wanted - ratio_change @ speeds
            wanted = np.asarray(np.linalg.lstsq(ratio, rest, rcond=None)[0], dtype=float)
        state.add_accelerations(
            wanted,
            ratio @ wanted + ratio_change @ speeds,
            motion @ wanted + motion_change @ speeds,
        )

    def direction(self, inverse: bool) -> Direction:
        """
        Return the arrays of one direction; the caller holds the solver's lock.

        Parameters
        ----------
        inverse : bool
            True: from the joint space to the actuators.

        """
        return self._reading.direction(inverse)

    def prepare_to_joints(self) -> PreparedTransmission:
        """Return `to_joints` as a callable for real-time use."""
        return PreparedTransmission(self._reading, False)

    def prepare_to_actuators(self) -> PreparedTransmission:
        """Return `to_actuators` as a callable for real-time use."""
        return PreparedTransmission(self._reading, True)

    @property
    def solver(self) -> Solver:
        """Return the solver of the robot."""
        return self._reading.solver


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

    The ratio is the largest speed of other values for unit speed of the motion.

    Parameters
    ----------
    matrix : ndarray, shape (n, m)
        Motion of n values over m motions of the loops.
    speeds : ndarray, shape (k, m)
        Motion of the other values.
    skipped : int
        Motions that are never determined: as many zero singular values do not count.
    rows : bool
        True: the direction is one of the n values; False: of the m motions.

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
