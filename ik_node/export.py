"""
A robot with its loops and goals as a file for the C interface, `native/ik_node.c`.

The file is little endian. After the head (magic, format, digest of the library, checksum of all
that follows) come numbers of eight bytes and then the names, each ended by a zero byte, in the
order in which `take_robot` of `ik_node.c` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

from ik_node.errors import listed, OptionError
from ik_node.model.flatten import flatten_links
from ik_node.model.link import Link
from ik_node.native.places import digest
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Avoidance
from ik_node.solver.solver import Solver
from ik_node.transmission.transmission import Transmission
import numpy as np
from numpy.typing import ArrayLike

MAGIC, FORMAT = b'ik_robot', 6


def export_robot(
    solver: Solver,
    goals: Iterable[str],
    name: str = 'robot',
    actuated: Sequence[str] = (),
    transmission: Transmission | None = None,
) -> bytes:
    """
    Return the file of a robot, for solves of some goals with the solver's options.

    Joints, closures, goals and options are those of the moment. The file is for the library that
    is built from the present sources.

    Parameters
    ----------
    solver : Solver
        Solver of the robot; the present joint values are the start.
    goals : iterable of str
        Goals or links as in `Solver.solve_pose`, in the order in which programs give their poses;
        none = only the loops are closed.
    name : str
        Name of the robot.
    actuated : sequence of str
        Joints or joint values with a motor.
    transmission : Transmission, optional
        The transmission of the robot that programs use; None = none.

    Raises
    ------
    UnknownFrameError
        If a goal, link or joint does not exist.
    OptionError
        If the library alone cannot do such solves, or a name occurs twice or contains a zero byte.

    """
    keys = tuple(goals)
    if len(set(keys)) < len(keys):
        raise OptionError('goals', ' '.join(keys), 'each goal once')
    with solver.lock:
        problem, table, packed = solver.arrays_for(keys)
        tree = problem.tree
        _refuse_what_needs_python(solver.options, table, tree.names)
        own = [key for key in keys if problem.request_of_goal(key).kind == 'user']
        if own:
            raise OptionError('goals', listed(own), 'none whose residual is a Python method')
        links = [frame for frame in tree.carrier if isinstance(frame, Link)]
        closures = [n for chain in problem.chains for _, n in chain.names.closures]
        names = [tree.names, [link.name for link in links], keys, closures, [], []]
        if transmission is not None:
            names[-2:] = transmission.actuators, transmission.joints
        motors = np.zeros(len(tree.names), dtype=np.int64)
        motors[table.places(actuated)] = 1
        counts = [*map(len, names), len(table.followers)]
        counts[4:4] = [len(problem.chains)]
        parts = [_ints(counts)]
        parts += [_floats(limits) for limits in solver.limits()]
        parts += [_floats(solver.q), _floats(table.rows), _ints(motors), _floats(packed)]
        for chain in problem.chains:
            parts += _chain(chain, keys, closures)
        parts += _avoidance(problem.avoidance, keys, closures)
        for follower, master, polynomial in table.followers:
            parts += [_ints([follower, master, len(polynomial)]), _floats(polynomial)]
        parts += _model(*flatten_links(tree, links))
        if transmission is not None:
            parts += _transmission(transmission)
    content = b''.join([*parts, _text([name, *(each for of_kind in names for each in of_kind)])])
    head = (MAGIC, _ints([FORMAT]), digest().encode(), _ints([crc32(content)]))
    return b''.join([*head, content])


def _refuse_what_needs_python(
    options: SolverOptions, table: JointTable, names: Sequence[str]
) -> None:
    """Raise an error if a solve is more than calls of the kernel, one for each chain."""
    why = 'for a file; Python does this around the compiled solver'
    needed = {'method': 'dls', 'jacobian': 'analytic', 'use_svd': False}
    needed |= {'time_budget': 0.0, 'max_joint_step': np.inf, 'cycle_time': 0.0}
    for name, only in needed.items():
        if getattr(options, name) != only:
            raise OptionError(name, getattr(options, name), f'{only} {why}')
    targets = [names[index] for index in table.targeted]
    if targets:
        raise OptionError('joint targets', listed(targets), f'none {why}')
    if table.balls_with_preferences:
        named = listed([joint.name for joint, _ in table.balls_with_preferences])
        raise OptionError('rest poses of ball joints', named, f'none {why}')


def _chain(chain: ChainProblem, goals: tuple[str, ...], closures: list[str]) -> list[bytes]:
    """Return a chain: its model, its constraint table, and which goal or closure each row is."""
    named = zip(chain.names.constraints, chain.names.are_goals, strict=True)
    kinds = [request.kind for request in chain.requests]
    places = [
        0 if kind == 'avoid' else goals.index(n) if is_goal else -1 - closures.index(n)
        for (n, is_goal), kind in zip(named, kinds, strict=True)
    ]
    return [*_model(chain.flat.ints, chain.flat.floats), _floats(chain.table), _ints(places)]


def _avoidance(
    avoidance: Avoidance | None, goals: tuple[str, ...], closures: list[str]
) -> list[bytes]:
    """Return the chain that keeps bodies apart, and all bodies with their pairs."""
    if avoidance is None:
        return [_ints([0])]
    (chain,) = avoidance.whole.chains
    bodies = flatten_links(avoidance.whole.tree, [], avoidance.collisions.flat())
    distances = avoidance.margin, avoidance.reach
    return [_ints([1]), *_chain(chain, goals, closures), *_model(*bodies), _floats(distances)]


def _transmission(transmission: Transmission) -> list[bytes]:
    """Return the chain of a transmission and the arrays of its kernel."""
    transmission._follow_changes()
    chain, plan, data = transmission._chain, transmission._plan, transmission._settings
    return [
        *_model(chain.flat.ints, chain.flat.floats),
        *map(_floats, (chain.table, transmission._rows, transmission._packed)),
        _ints([plan.size, data.size]),
        _ints(plan),
        _floats(data),
    ]


def _model(ints: ArrayLike, floats: ArrayLike) -> list[bytes]:
    return [_ints([np.size(ints), np.size(floats)]), _ints(ints), _floats(floats)]


def _ints(values: ArrayLike) -> bytes:
    return np.ascontiguousarray(values, dtype='<i8').tobytes()


def _floats(values: ArrayLike) -> bytes:
    return np.ascontiguousarray(values, dtype='<f8').tobytes()


def _text(names: Sequence[str]) -> bytes:
    """Return names in UTF-8, each ended by a zero byte, which no name may contain."""
    for name in names:
        if '\0' in name:
            raise OptionError('name', name, 'names without a zero byte')
    return b''.join(name.encode('utf-8', 'replace') + b'\0' for name in names)
