"""The packed arrays of one direction of a transmission, and the calls of its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

from ik_node.errors import OptionError, TopologyError
from ik_node.kernels.layout import JOINT_WINDOW, LARGEST, lay_out
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.kernels.transmit import (
    CLOSED,
    FIELDS,
    RESULT_EXCESS,
    RESULT_IDLE,
    RESULTS,
    SIZES,
    VARIABLE_LOCKED,
    VARIABLE_PASSIVE,
)
from ik_node.model.chains import ancestors
from ik_node.model.flatten import frame12
from ik_node.model.given import finite
from ik_node.model.link import Link
from ik_node.model.request import pose_request
from ik_node.model.rotation import rotation_vector_to_quat
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.problem.chain_problem import null_space
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import without_rounding
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import misfits_in, tolerances_in
from ik_node.solver.solver import Solver
from ik_node.transmission.state import FIRST, LAST
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# The kinds of a variable that is locked, and of one that is not.
LOCK = (VARIABLE_LOCKED, VARIABLE_PASSIVE)
# Options of the solves that close the loops after a part of the way.
OPTIONS = SolverOptions(restarts=0, max_iterations=30, stall_threshold=1e-14)
# Loops that are open by more than this [rad or characteristic lengths] are not evaluated.
OPEN = 1e-3


class Space(NamedTuple):
    """What a transmission connects: places in q of actuators and joint values, and links."""

    actuators: tuple[int, ...]
    joints: tuple[int, ...]
    links: tuple[Link, ...]  # their six rows follow those of the joints
    roots: Array  # roots of the weights of the efforts, (n_actuators,)

    @property
    def row_count(self) -> int:
        """Return the number of rows of the joint space."""
        return len(self.joints) + 6 * len(self.links)


class Direction:
    """
    One direction of a transmission: the chain of its loops, and the arrays of its kernel.

    The caller holds the lock of the solver. If `inverse`, the joint space is given and the
    actuators follow; `given` are the indices of the actuators, or of the joints of the space,
    whose values are set. `problem` has the closures, and if poses of links are given also these,
    as one chain; `plan` and `data` the fields of `kernels.transmit.Transmit`. `moving`, `free` and
    `held` (8, nq) are tables of joints: with limits, without limits and locks, and without limits
    alone.
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
        tolerances = tolerances_in(self.chain.table)
        loose = tolerances.copy()
        np.minimum(tolerances, (CLOSED * self.chain.flat.length, CLOSED), out=tolerances)
        places = space.joints if inverse else space.actuators
        set_masters = [table.masters.get(places[at], places[at]) for at in given]
        followers = {follower: (master, tuple(c)) for follower, master, c in table.followers}
        self._set_tables(table, set_masters)
        locked = table.locked
        own = {table.masters.get(at, at): a for a, at in enumerate(space.actuators)}
        if len(own) < len(space.actuators):
            raise TopologyError('two actuators move the same joint value, through a coupling')
        locked[[*own, *set_masters]] = False
        affine = [_affine(tree.names, places[at], followers) for at in given]
        local = {int(place): at for at, place in enumerate(self._column_places())}
        link_columns, link_frames = self._links(local, tree)
        nv, na, ny = self.chain.flat.var_q.size, len(space.actuators), space.row_count
        self.sizes = {
            'na': na,
            'ny': ny,
            'nl': len(space.links),
            'ng': len(given),
            'nx': max(na, ny),
            'nt': min(na, ny),
            'stride': nv + na + 2,
            'factor': max(na, ny) + min(na, ny) + 1,
            'nq': len(tree.names),
            'nv': nv,
            'nc': len(requests),
            'nr': 6 * len(requests),
            'inverse': int(inverse),
        }
        var_q = self.chain.flat.var_q
        kinds = np.where(locked[var_q], *LOCK)
        for place, a in own.items():
            kinds[var_q == place] = a
        fields: dict[str, ArrayLike] = {
            'act_column': [local[place] for place in space.actuators],
            'variable': kinds,
            'closing': np.where(np.isin(var_q, set_masters) | (kinds == VARIABLE_LOCKED), *LOCK),
            'row_place': [*space.joints, *[-1] * (6 * len(space.links))],
            'link_column': link_columns,
            'given_row': list(given),
            'given_place': set_masters,
            'given_offset': [offset for offset, _ in affine],
            'given_scale': [scale for _, scale in affine],
            'given_unit': self.problem.units[set_masters],
            'root': space.roots,
            'loose': loose,
            'link_offset': link_frames,
        }
        self._pack(fields)
        self.packed = OPTIONS.packed()

    def _set_tables(self, table: JointTable, given: list[int]) -> None:
        self.moving = table.without_preferences(table.rows)
        self.free = table.without_preferences(table.without_limits())
        self.free[JOINT_WINDOW] = np.inf
        self.moving[JOINT_WINDOW, [*given, *self.space.actuators]] = np.inf
        # The motors of a ball joint turn its Euler angles, of which it is the rates that count.
        acting = set(self.space.actuators)
        driven = [at for three in table.triples if not acting.isdisjoint(three) for at in three]
        for rows in (self.moving, self.free):
            rows[JOINT_WINDOW, driven] = np.minimum(rows[JOINT_WINDOW, driven], LARGEST)
        self.moving[JOINT_WINDOW, given] = 0.0
        self.held = self.free.copy()
        self.held[JOINT_WINDOW] = self.moving[JOINT_WINDOW]

    def _column_places(self) -> Ints:
        """Return the place in q of each column of the chain."""
        places: Ints = Workspace(*self.chain.arrays).column_q
        return places

    def _links(self, local: dict[int, int], tree: Tree) -> tuple[list[int], Array]:
        """Return the column of the chain that carries each link, and the link's frame in it."""
        columns, frames = [], [np.zeros(0)]
        for link in self.space.links:
            column, pose = tree.carrier[link]
            columns.append(local[tree.q_of_column[column]] if column >= 0 else -1)
            frame = frame12(pose)
            frame[9:] /= self.chain.flat.length
            frames.append(frame)
        return columns, np.concatenate(frames)

    def _pack(self, fields: dict[str, ArrayLike]) -> None:
        named = {**self.sizes, 'RESULTS': RESULTS}
        begins, totals = lay_out(named, FIELDS, len(SIZES) + len(FIELDS))
        self.plan = np.zeros(totals['p'], dtype=np.int64)
        self.data = np.zeros(totals['d'])
        named |= {f'{array}_size': size for array, size in totals.items()}
        head = [named[name] for name in SIZES] + [begins[name] for name in FIELDS]
        self.plan[: len(head)] = head
        self.begins = begins
        # The result of a call, and its parts, counted from its first field.
        self.results = self.data[begins[FIRST] : begins[LAST] + self.sizes['ny']]
        lengths = {'nq': self.sizes['nq'], 'na': self.sizes['na'], 'ny': self.sizes['ny']}
        self.places = {
            name: (begins[name] - begins[FIRST], begins[name] - begins[FIRST] + lengths[length])
            for name, (_, length, _) in FIELDS.items()
            if length in lengths and begins[FIRST] < begins[name] <= begins[LAST]
        }
        for name, values in fields.items():
            self.field(name, np.size(values))[:] = np.ravel(values)

    def copied(self) -> Direction:
        """Return the same direction with arrays of its own, for a caller of its own."""
        made = copy(self)
        made.chain = self.chain.with_own_workspace()
        made.plan, made.data = self.plan.copy(), self.data.copy()
        first = self.begins[FIRST]
        made.results = made.data[first : first + self.results.size]
        return made

    @property
    def poses(self) -> bool:
        """Return True if a call gives poses of links."""
        return self.inverse and bool(self.space.links)

    def settings(self) -> Array:
        """Return `data` as it was before the first call."""
        kept = self.data.copy()
        kept[self.begins['value_in'] :] = 0.0
        return kept

    def field(self, name: str, *shape: int) -> Any:
        """Return a view of a field of `plan` or `data` with the given shape."""
        array = self.plan if FIELDS[name][0] == 'p' else self.data
        at, count = self.begins[name], int(np.prod(shape))
        return array[at : at + count].reshape(shape)

    def loop_motions(self, q: Array, *, held: bool = False) -> Array:
        """
        Return a basis (nq, m) of the motions of the loops at q, orthonormal in [rad] and lengths.

        Values that follow others are 0. With `held`, the actuators stand still.
        """
        joints, chain, places = self.held.copy(), self.chain, self.chain.flat.var_q
        joints[JOINT_WINDOW, list(self.space.actuators)] = 0.0 if held else np.inf
        free = joints[JOINT_WINDOW, places] > 0.0
        # A ball joint with a finite window, however wide, moves by its Euler angles.
        joints[JOINT_WINDOW] = np.minimum(joints[JOINT_WINDOW], LARGEST)
        _, jacobian, _ = chain.linearise_by_size(q, joints, self.packed)
        redundancy = next(iter(chain.redundancies), None)
        found = null_space(without_rounding(jacobian, free, redundancy))
        motions = np.zeros((self.sizes['nq'], found.shape[1]))
        motions[places[free]] = found * chain.flat.units[free, None]
        return motions

    @property
    def motion(self) -> Array:
        """Return a view of dq / d actuator of the last call, shape (nq, n_actuators)."""
        found: Array = self.field('motion', self.sizes['nq'], self.sizes['na'])
        return found

    @property
    def ratio(self) -> Array:
        """Return a view of d joint space / d actuator, shape (n_joints, n_actuators)."""
        found: Array = self.field('ratio', self.sizes['ny'], self.sizes['na'])
        return found

    def counts(self) -> tuple[int, int]:
        """Return the numbers of motions without any actuator, and of conditions of actuators."""
        found = self.field('numbers', RESULTS)
        return int(found[RESULT_IDLE]), int(found[RESULT_EXCESS])

    @property
    def given_count(self) -> int:
        """Return the number of values that a call gives."""
        return self.sizes['ny' if self.inverse else 'na']

    def given_position(self, position: Any) -> tuple[Array, Array, Array]:
        """Return given joint values, positions and quaternions of links as arrays."""
        space = self.space
        if not self.inverse:
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

    def give_position(self, values: tuple[Array, Array, Array]) -> None:
        """Write joint values, positions and quaternions of links that are given."""
        for name, each in zip(('value_in', 'pose_in', 'quat_in'), values, strict=True):
            self.field(name, each.size)[:] = each.ravel()

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
        if self.call(q.copy(), self.free, gives) == STATUS_REFUSED:
            self.chain.refuse(q, (np.zeros((0, 3)), np.zeros((0, 4))))
        errors = self.chain.errors.reshape(-1, 2)
        most = 10.0 * (misfits_in(self.chain.table) + self.field('loose', len(errors), 2))
        most = np.maximum(most, (OPEN * self.chain.flat.length, OPEN))
        for request, error, allowed in zip(self.chain.requests, errors, most, strict=True):
            if not request.is_goal and not (error <= allowed).all():
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
    names: Sequence[str], place: int, followers: dict[int, tuple[int, tuple[float, ...]]]
) -> tuple[float, float]:
    """
    Return offset and scale of a value that follows another one; 0 and 1 for one that does not.

    Raises
    ------
    TopologyError
        If the coupling is not linear, so that the other value does not follow from this one.

    """
    if place not in followers:
        return 0.0, 1.0
    master, polynomial = followers[place]
    offset, scale, *curved = (*polynomial, 0.0, 0.0)[: max(2, len(polynomial))]
    if scale == 0.0 or any(curved):
        raise TopologyError(
            f'{names[place]!r} follows {names[master]!r} by a polynomial: name '
            f'{names[master]!r} in place of it'
        )
    return offset, scale


def _flat_pose(position: Any) -> Array | None:
    """Return position and rotation vector if a pose is given as these six numbers."""
    try:
        flat = np.asarray(position, dtype=float)
    except (TypeError, ValueError):
        return None
    return flat if flat.shape == (6,) else None
