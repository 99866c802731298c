"""What a transmission has read from its robot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ik_node.errors import listed, ShapeError, TopologyError, UnknownFrameError
from ik_node.kernels.layout import JOINT_LOWER, JOINT_REST_ON, JOINT_TARGET_WEIGHT, JOINT_UPPER
from ik_node.kernels.transmit import (
    GIVES_EFFORT,
    GIVES_POSITION,
    GIVES_VELOCITY,
    RESULT_EXCESS,
    RESULT_IDLE,
    RESULTS,
)
from ik_node.model.given import finite
from ik_node.model.kinematics import TreePoses
from ik_node.model.link import Link
from ik_node.model.rotation import rotation_vector_to_quat
from ik_node.solver.pose import names_in, unit_pose
from ik_node.solver.problem.singular_start import leave_singular_start
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
from ik_node.transmission.direction import Direction, Space
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Part of the joint space below which an actuator moves nothing.
NOTHING = 1e-9
# A row of the joint space moves with passive joints alone if it has such a part in their motion.
IDLE = 1e-6
# A singular value or row below this share is zero.
RANK = 1e-6
# The offset from the present values at which dependence is examined a second time [rad or L].
ASIDE = 0.03


class Reading:
    """
    What a transmission has read from its robot, and the arrays of both directions.

    The caller holds the lock of the solver, except for the constructor.

    Parameters
    ----------
    solver : Solver
        Solver of the robot.
    actuators, joints, weights
        As for `Transmission`.

    Attributes
    ----------
    space : Space
        Actuators and joint space.
    forward : Direction
        The direction from the actuators to the joint space.
    poses : TreePoses
        Forward kinematics of the robot's tree.
    moved : ndarray, shape (n_joints, n_actuators)
        Largest ratio at the present configuration and one beside it: 0 = does not move it.
    singular : ndarray, shape (nq,), or None
        The present configuration if it is singular; `moved` is then that of one beside it.
    idle, excess : int
        Motions of passive joints that no actuator determines, and conditions that actuators must
        satisfy together.

    """

    def __init__(
        self,
        solver: Solver,
        actuators: Iterable[str],
        joints: Iterable[str] | None,
        weights: ArrayLike | None,
    ) -> None:
        self.solver = solver
        self.actuators = names_in('actuators', actuators)
        self.joints = None if joints is None else names_in('joints', joints)
        self.weights = weights
        self.idle = self.excess = 0
        self.singular: Array | None = None
        with solver.lock:
            self.prepare()

    def __reduce__(self) -> tuple[Any, ...]:
        return Reading, (self.solver, self.actuators, self.joints, self.weights)

    def prepare(self) -> None:
        """Read the robot, and make the arrays of the direction from the actuators."""
        revision = self.solver.revision
        edits = revision.edits
        self.space = self._read_space()
        self.poses = TreePoses(self.solver.tree)
        count = len(self.space.actuators)
        self.forward = self._examined(False, range(count))
        if self.excess:
            chosen = _independent(self.motions(self.forward)[list(self.space.actuators)])
            self.forward = Direction(self.solver, self.space, False, chosen, self.idle)
        self._inverse: Direction | None = None
        self._revision, self._edits = revision, edits

    def _read_space(self) -> Space:
        problem, table, _ = self.solver.arrays_for(())
        tree = problem.tree
        links = {frame.name: frame for frame in tree.carrier if isinstance(frame, Link)}
        if not self.actuators:
            raise TopologyError(
                'no actuators: the description names no joint with a motor; name some'
            )
        actuators = tuple(table.places(self.actuators))
        places: list[int] = []
        poses: list[Link] = []
        for name in range(len(tree.names)) if self.joints is None else self.joints:
            if not isinstance(name, str):
                places.append(name)
                continue
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
        roots = np.ones(len(actuators))
        if self.weights is not None:
            given = finite('weights', self.weights, len(actuators))
            if not (given > 0.0).all():
                raise ShapeError('weights', 'numbers above 0', str(given))
            roots = np.sqrt(given)
        return Space(actuators, tuple(places), tuple(poses), roots)

    def _examined(self, inverse: bool, given: Sequence[int]) -> Direction:
        """Return a direction, after its idle motions and its dependences have been counted."""
        direction = Direction(self.solver, self.space, inverse, given)
        here = self._regular()
        direction.evaluate(here)
        self.idle, self.excess = self._counts(direction)
        if self.idle:
            direction = Direction(self.solver, self.space, inverse, given, self.idle)
            direction.evaluate(here)
        moved, idle = self.ratio(direction), self._idle_rows(direction)
        aside = self._aside(direction, here)
        if aside is not None:
            direction.evaluate(aside)
            moved = np.maximum(np.abs(moved), np.abs(self.ratio(direction)))
            self.idle, self.excess = self._counts(direction)
            direction.evaluate(here)
        self.moved = np.abs(moved)
        self._refuse_what_does_not_depend(self.moved, idle)
        return direction

    def _regular(self) -> Array:
        """Return the present configuration, or one beside it if that is singular."""
        problem, table, packed = self.solver.arrays_for(())
        here = table.with_couplings(self.solver.q)
        rows = table.rows.copy()
        rows[[JOINT_TARGET_WEIGHT, JOINT_REST_ON]] = 0.0
        at = [table.masters.get(place, place) for place in self.space.actuators]
        for sense in (1.0, -1.0):
            value = here[at] + sense * problem.units[at]
            ahead = np.clip(value, rows[JOINT_LOWER, at], rows[JOINT_UPPER, at])
            way = dict(zip(at, ahead.tolist(), strict=True))
            departure = leave_singular_start(problem, rows, here, way, packed)
            if departure is not None:
                self.singular = here
                return departure.q
        self.singular = None
        return here

    def _counts(self, direction: Direction) -> tuple[int, int]:
        found = direction.field('numbers', RESULTS)
        return int(found[RESULT_IDLE]), int(found[RESULT_EXCESS])

    def _aside(self, direction: Direction, here: Array) -> Array | None:
        """Return a configuration beside the present one, which may be singular; None = none."""
        generator = np.random.default_rng(0)
        place = list(self.space.actuators)
        unit = direction.problem.units[place]
        for size in (ASIDE, ASIDE / 4.0, ASIDE / 16.0):
            for _ in range(3):
                q = here.copy()
                way = size * unit * generator.uniform(-1.0, 1.0, len(place))
                motion = self.motions(direction)
                direction.field('value_in', len(place))[:] = (here + motion @ way)[place]
                if direction.call(q, direction.moving, GIVES_POSITION) == Status.CONVERGED:
                    return q
        return None

    def motions(self, direction: Direction) -> Array:
        """Return dq / d actuator of the last evaluation, shape (nq, n_actuators)."""
        sizes = direction.sizes
        return direction.field('motion', sizes['nq'], sizes['na']).copy()

    def ratio(self, direction: Direction) -> Array:
        """Return d joint space / d actuator of the last evaluation, (n_joints, n_actuators)."""
        return direction.field('ratio', direction.sizes['ny'], direction.sizes['na']).copy()

    def _idle_rows(self, direction: Direction) -> Array:
        """Return the largest part of each row in motions that no actuator determines."""
        sizes = direction.sizes
        idle = direction.field('idle', sizes['ni'], sizes['nv'])
        whole = np.zeros((sizes['ni'], sizes['nq']))
        whole[:, direction.chain.flat.var_q] = idle
        rows = [whole[:, list(self.space.joints)]]
        for link in self.space.links:
            rows.append(whole @ self.poses.jacobian(self.solver.q, link).T)
        found: Array = np.abs(np.hstack(rows)).max(axis=0, initial=0.0)
        return found

    def _refuse_what_does_not_depend(self, moved: Array, idle: Array) -> None:
        names = [self.solver.joint_names[at] for at in self.space.actuators]
        still = [name for name, part in zip(names, moved.T, strict=True) if part.max() < NOTHING]
        if still:
            raise TopologyError(
                f'{listed(still)} as an actuator moves nothing of the joint space: the loops hold '
                f'it, or it is in no loop with the joints'
            )
        if self.joints is None:
            return
        rows = [self.solver.joint_names[at] for at in self.space.joints]
        counts = [1] * len(rows) + [6] * len(self.space.links)
        first = 0
        for name, count in zip(
            [*rows, *(link.name for link in self.space.links)], counts, strict=True
        ):
            part = slice(first, first + count)
            first += count
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

    def refresh(self) -> None:
        """Read the robot again if it has changed; the caller holds the lock."""
        if self._edits != self.solver.revision.edits:
            self.prepare()

    def direction(self, inverse: bool) -> Direction:
        """
        Return the arrays of one direction; the caller holds the solver's lock.

        Parameters
        ----------
        inverse : bool
            True: from the joint space to the actuators.

        """
        self.refresh()
        if not inverse:
            return self.forward
        if self._inverse is None:
            free = len(self.space.joints)
            ratio = self._generic_ratio()
            given = list(_independent(np.vstack([ratio[free:], ratio[:free]]), len(ratio) - free))
            self._inverse = Direction(self.solver, self.space, True, given, self.idle)
        return self._inverse

    def _generic_ratio(self) -> Array:
        here = self.solver.q
        self.forward.evaluate(here)
        ratio = self.ratio(self.forward)
        aside = self._aside(self.forward, here)
        if aside is not None:
            self.forward.evaluate(aside)
            other = self.ratio(self.forward)
            if np.linalg.matrix_rank(other, RANK) > np.linalg.matrix_rank(ratio, RANK):
                return other
        return ratio

    def given_position(self, inverse: bool, position: Any) -> tuple[Array, Array, Array]:
        """Return given joint values, positions and quaternions of links as arrays."""
        space = self.space
        if not inverse:
            count = len(space.actuators)
            values = finite('position', position, count)
            return values, np.zeros((0, 3)), np.zeros((0, 4))
        if space.links and not space.joints and len(space.links) == 1:
            flat = _flat_pose(position)
            if flat is None:
                pose = np.array(unit_pose('position', position))
                return np.zeros(0), pose[:3].reshape(1, 3), pose[3:].reshape(1, 4)
            position = flat
        values = finite('position', position, space.row_count)
        poses = values[len(space.joints) :].reshape(-1, 6)
        quats = np.array([rotation_vector_to_quat(turn) for turn in poses[:, 3:]]).reshape(-1, 4)
        return values[: len(space.joints)], poses[:, :3], quats


def give_position(direction: Direction, values: tuple[Array, Array, Array]) -> None:
    """Write what `given_position` returned to the arrays of a direction."""
    joints, positions, quats = values
    direction.field('value_in', joints.size)[:] = joints
    direction.field('pose_in', positions.size)[:] = positions.ravel()
    direction.field('quat_in', quats.size)[:] = quats.ravel()


def give(direction: Direction, velocity: ArrayLike | None, effort: ArrayLike | None) -> int:
    """Write velocities and efforts to the arrays of a direction; return GIVES_*."""
    gives, count = 0, direction.sizes['ny' if direction.inverse else 'na']
    for name, given, field, flag in (
        ('velocity', velocity, 'rate_in', GIVES_VELOCITY),
        ('effort', effort, 'effort_in', GIVES_EFFORT),
    ):
        if given is not None:
            direction.field(field, count)[:] = finite(name, given, count)
            gives |= flag
    return gives


def _flat_pose(position: Any) -> Array | None:
    """Return position and rotation vector if a pose is given as these six numbers."""
    try:
        flat = np.asarray(position, dtype=float)
    except (TypeError, ValueError):
        return None
    return flat if flat.shape == (6,) else None


def _independent(rows: Array, first: int = 0) -> list[int]:
    """
    Return indices of rows that are independent of each other and of the first ones.

    Parameters
    ----------
    rows : ndarray, shape (n, m)
        The rows.
    first : int
        So many of them count as chosen; indices are those of the others.

    """
    span: Array = np.zeros((0, rows.shape[1]))
    chosen = []
    for at, row in enumerate(rows):
        left = row - (row @ span.T) @ span
        left = left - (left @ span.T) @ span
        size = float(np.linalg.norm(left))
        if size > RANK * max(float(np.linalg.norm(row)), 1e-300) and size > 0.0:
            span = np.vstack([span, left / size])
            if at >= first:
                chosen.append(at - first)
    return chosen
