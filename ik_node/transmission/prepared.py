"""One direction of a transmission: the packed arrays of its kernel, and calls in control loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from ik_node.display import public_names
from ik_node.errors import listed, OptionError, ShapeError, TopologyError
from ik_node.kernels import transmit
from ik_node.kernels.layout import lay_out
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.kernels.transmit import GIVES_EFFORT, GIVES_POSITION, GIVES_VELOCITY, TRACKED
from ik_node.model.chains import ancestors
from ik_node.model.flatten import frame12
from ik_node.model.given import finite
from ik_node.model.link import Link
from ik_node.model.request import pose_request
from ik_node.model.rotation import rotation_vector_to_quat
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose, Values
from ik_node.solver.problem.chain_problem import null_space, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import without_rounding
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import misfits_in, STATUSES
from ik_node.solver.solver import Solver
from ik_node.transmission.state import TransmissionState
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# The kinds of a variable that is locked, and of one that is not.
LOCK = (transmit.VARIABLE_LOCKED, transmit.VARIABLE_PASSIVE)
# Options of the solves that close the loops after a part of the way.
OPTIONS = SolverOptions(restarts=0, max_iterations=30, stall_threshold=1e-14)
# Loops that are open by more than this [rad or characteristic lengths] are not evaluated.
OPEN = 1e-3


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
    whose values are set. `problem` has the closures, and if poses of links are given also these,
    as one chain; `view` the fields of `kernels.transmit.Transmit`, which stand in `plan` and
    `data`. `moving`, `free` and `held` (8, nq) are tables of joints: with limits, without limits
    and locks, and without limits alone.
    """

    def __init__(self, solver: Solver, space: Space, inverse: bool, given: Sequence[int]) -> None:
        loops, table, _ = solver.arrays_for(())
        tree = loops.tree
        self.space, self.inverse = space, inverse
        masters = _masters(tree, space)
        moved = {tree.q_of_column[column] for column in masters}
        requests = [
            request
            for chain in loops.chains
            if not moved.isdisjoint(chain.flat.var_q.tolist())
            for request in chain.requests
            if not request.traits.one_sided
        ]
        if inverse:
            requests += [pose_request(link.name, link) for link in space.links]
        self.problem = Problem(
            tree, requests, None, loops.length, solver.redundancies, sorted(masters)
        )
        self.problem.refresh(solver.options)
        (self.chain,) = self.problem.chains
        flat, tolerances = self.chain.flat, self.chain.tolerances
        loose = tolerances.copy()
        closed = (transmit.CLOSED * flat.length, transmit.CLOSED)
        np.minimum(tolerances, closed, out=tolerances)
        places = [(space.joints if inverse else space.actuators)[at] for at in given]
        set_masters = [table.masters.get(place, place) for place in places]
        self._set_tables(table, set_masters)
        own = {table.masters.get(place, place): a for a, place in enumerate(space.actuators)}
        if len(own) < len(space.actuators):
            raise TopologyError('two actuators move the same joint value, through a coupling')
        locked = table.locked
        locked[[*own, *set_masters]] = False
        variable = np.where(locked[flat.var_q], *LOCK)
        for place, a in own.items():
            variable[flat.var_q == place] = a
        closing = np.isin(flat.var_q, set_masters) | (variable == transmit.VARIABLE_LOCKED)
        followers = {follower: (master, tuple(c)) for follower, master, c in table.followers}
        affine = [_affine(tree.names, place, followers) for place in places]
        columns = Workspace(*self.chain.arrays).column_q.tolist()
        carried = [tree.carrier[link] for link in space.links]
        frames = np.array([frame12(pose) for _, pose in carried]).reshape(-1, 12)
        frames[:, 9:] /= flat.length
        na, nj, nl = len(space.actuators), len(space.joints), len(space.links)
        ny, nv, nc = nj + 6 * nl, flat.var_q.size, len(requests)
        most, least = max(na, ny), min(na, ny)
        sizes = {'na': na, 'ny': ny, 'nl': nl, 'ng': len(places), 'nx': most, 'nt': least}
        sizes |= {'ni': ny if inverse else na, 'ni_links': nl * inverse}
        sizes |= {'stride': nv + na + 2, 'factor': most + least + 1, 'nq': len(tree.names)}
        self.sizes = {**sizes, 'nv': nv, 'nc': nc, 'nr': 6 * nc, 'inverse': int(inverse)}
        self._pack(
            act_column=[columns.index(place) for place in space.actuators],
            variable=variable,
            closing=np.where(closing, *LOCK),
            row_place=[*space.actuators, *space.joints, *[-1] * (6 * nl)],
            link_column=[columns.index(tree.q_of_column[c]) if c >= 0 else -1 for c, _ in carried],
            given_row=list(given),
            given_place=set_masters,
            given_offset=[offset for offset, _ in affine],
            given_scale=[scale for _, scale in affine],
            given_unit=self.problem.units[set_masters],
            root=space.roots,
            loose=loose,
            link_offset=frames,
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
        self._settings, self._results = begins['value_in'], (begins['numbers'], begins['motion'])
        self._open()
        for name, values in fields.items():
            getattr(self.view, name)[:] = np.ravel(values)

    def _open(self) -> None:
        self.view = Workspace(self.plan, self.data, table=transmit)
        # What `TransmissionState` copies: scalars, positions, velocities and efforts.
        self.results = self.data[slice(*self._results)]

    def copied(self) -> Direction:
        """Return the same direction with arrays of its own, for a caller of its own."""
        made = copy(self)
        made.chain = self.chain.with_own_workspace()
        made.plan, made.data = self.plan.copy(), self.data.copy()
        made._open()
        return made

    def settings(self) -> Array:
        """Return `data` as it was before the first call."""
        kept = self.data.copy()
        kept[self._settings :] = 0.0
        return kept

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
        redundancy = next(iter(self.chain.redundancies), None)
        basis = null_space(without_rounding(jacobian, free, redundancy))
        motions = np.zeros((self.sizes['nq'], basis.shape[1]))
        motions[flat.var_q[free]] = basis * flat.units[free, None]
        return motions

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
        sizes = self.sizes
        links, count = sizes['ni_links'], sizes['ni']
        try:
            values = finite('position', position, count)
        except ShapeError:
            if links != 1 or count != 6:
                raise
            return np.zeros(0), np.reshape(unit_pose('position', position), (1, 7))
        poses = values[count - 6 * links :].reshape(-1, 6)
        quats = [rotation_vector_to_quat(rotation) for rotation in poses[:, 3:]]
        return values[: count - 6 * links], np.hstack((poses[:, :3], np.reshape(quats, (-1, 4))))

    def give_position(self, position: Any) -> None:
        """Write joint values, and poses of links, that are given."""
        values, poses = self.given_position(position)
        self.view.value_in[: values.size] = values
        self.view.pose_in[: poses.size] = poses.ravel()

    def call(self, q: Array, joints: Array, gives: int) -> int:
        """Call `kernels.transmit.transmit`; q is overwritten with the result."""
        return self.chain.kernels.transmit(q, joints, self.packed, self.plan, self.data, gives)

    def evaluate(self, q: Array, gives: int = 0) -> None:
        """
        Write motion and ratio at q, and what follows from the velocities and efforts in `data`.

        Raises
        ------
        OptionError
            If a loop is open at q.

        """
        chain = self.chain
        if self.call(q.copy(), self.free, gives) == STATUS_REFUSED:
            chain.refuse(q, TABLE_POSES)
        errors = chain.errors.reshape(-1, 2)
        limits = 10.0 * (misfits_in(chain.table) + self.view.loose.reshape(-1, 2))
        limits = np.maximum(limits, (OPEN * chain.flat.length, OPEN))
        for request, error, limit in zip(chain.requests, errors, limits, strict=True):
            if not request.is_goal and not (error <= limit).all():
                raise OptionError(
                    'q',
                    f'values with which {request.name!r} is open by {error[0]:.3g} m, '
                    f'{error[1]:.3g} rad',
                    'values with closed loops: solver.solve_pose({}, q0=q).q has them',
                )


def _masters(tree: Tree, space: Space) -> set[int]:
    """Return the columns with free values that move actuators, joints and links."""
    columns = [tree.q_of_column.index(at) for at in (*space.actuators, *space.joints)]
    for link in space.links:
        columns += ancestors(tree, tree.carrier[link][0])
    return {tree.columns[column].master for column in columns}


def _affine(
    names: Sequence[str], place: int, followers: Mapping[int, tuple[int, tuple[float, ...]]]
) -> tuple[float, float]:
    """
    Return offset and scale of a value that follows another one; 0 and 1 for one that does not.

    Raises
    ------
    TopologyError
        If the coupling is not linear, so that the other value does not follow from this one.

    """
    master, polynomial = followers.get(place, (place, (0.0, 1.0)))
    offset, scale, *curved = (*polynomial, 0.0, 0.0)[: max(2, len(polynomial))]
    if scale == 0.0 or any(curved):
        raise TopologyError(
            f'{names[place]!r} follows {names[master]!r} by a polynomial: name '
            f'{names[master]!r} in place of it'
        )
    return offset, scale


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
        view, count = made.view, made.sizes['ni']
        self._inputs = (*(a[:count] for a in (view.value_in, view.rate_in, view.effort_in)), count)
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
                if direction.sizes['ni_links']:
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
