"""The way out of a singular configuration, where branches of a mechanism meet."""

from __future__ import annotations

from typing import NamedTuple

from ik_node.errors import listed
from ik_node.kernels.layout import JOINT_LOWER, JOINT_TARGET_WEIGHT, JOINT_UPPER, JOINT_WINDOW
from ik_node.kernels.options import RESTARTS
from ik_node.model.redundancy import MARGIN
from ik_node.solver.problem.chain_problem import ChainProblem, null_space
from ik_node.solver.problem.problem import Problem
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest motion of a driven joint out of a singular start, and of other joints [rad or L].
STEP, FAR = 0.03, 0.5
# Offset at which the usual rank of the closures is seen [rad or L], and random directions tried.
ASIDE, TRIES = 0.05, 16
# A singular value below this share of the largest one is nearly zero.
NEARLY = 5e-4
# Branches that differ by less than this at that step are the same [rad or L].
SAME = 1e-3


class Departure(NamedTuple):
    """A regular configuration beside a singular one."""

    q: Array  # with closed loops, (nq,) [rad or m]
    said: str  # sentence that names the chosen branch


def leave_singular_start(
    problem: Problem, rows: Array, q: Array, ahead: dict[int, float], packed: Array
) -> Departure | None:
    """
    Return a configuration beside q in the nearest of the branches that meet there.

    `rows` (8, nq): limits and locks; targets are ignored. `q` (nq,): a configuration with closed
    loops [rad or m]. `ahead`: index in q of each driven value -> the value towards which it moves
    [rad or m]. Returns None if q is not singular, or no branch with the driven values farther on
    was found.

    Notes
    -----
    q is singular if the closures have a lower rank in the passive values there than beside it.
    Motions of first order then do not show where the branches go. The values are therefore
    displaced along random first-order motions, the driven ones by a small step towards their
    values, and the loops are closed.

    """
    random, units = np.random.default_rng(0), problem.units
    places = list(ahead)
    delta = np.array([ahead[at] for at in places]) - q[places]
    size = np.abs(delta / units[places]).max(initial=0.0)
    if not size > 0.0:
        return None
    held, packed = rows.copy(), packed.copy()
    held[JOINT_TARGET_WEIGHT] = 0.0
    free = held.copy()
    held[JOINT_WINDOW, places] = 0.0
    packed[RESTARTS] = 0.0
    beside = q + ASIDE * units * random.uniform(-1.0, 1.0, (3, len(q)))
    singular = [(chain, _motions(chain, held, q, packed).shape[1]) for chain in problem.chains]
    for closed in (False, True):
        # Rows that are redundant may be independent while the loops are open.
        for each in beside if closed else ():
            problem.run(each, free, packed, 0.0)
        singular = [
            (chain, count)
            for chain, count in singular
            if count > min(_motions(chain, held, each, packed).shape[1] for each in beside)
        ]
        if not singular:
            return None
    motions = [_motions(chain, rows, q, packed) for chain, _ in singular]
    found: list[Array] = []
    for attempt in range(TRIES):
        if attempt == TRIES // 2 and found:
            break
        # Beside a dead centre passive values move by the root of the step.
        step = STEP if attempt < TRIES // 2 else 0.1 * STEP
        start = q.copy()
        for (chain, _), basis in zip(singular, motions, strict=True):
            along = basis @ random.normal(size=basis.shape[1])
            start[chain.flat.var_q] += 2.0 * step * chain.flat.units * along / np.abs(along).max()
        start[places] = q[places] + delta * min(1.0, step / size)
        start = np.clip(start, rows[JOINT_LOWER], rows[JOINT_UPPER])
        answers = problem.run(start, held, packed, 0.0)
        moved = np.abs((start - q) / units)
        regular = all(
            _motions(chain, held, start, packed).shape[1] < count for chain, count in singular
        )
        reached = all(answer.status is Status.CONVERGED for answer in answers)
        new = all(np.abs((start - each) / units).max() > SAME for each in found)
        if reached and regular and new and moved.max() <= FAR:
            found.append(start)
    if not found:
        return None
    nearest = min(found, key=lambda each: float(np.linalg.norm((each - q) / units)))
    names = [
        f'{name!r} {step:+.3g}'
        for name, step in zip(problem.tree.names, nearest - q, strict=True)
        if step != 0.0
    ]
    return Departure(
        nearest,
        f'the start is singular: {len(found)} ways on were found, and the nearest one is '
        f'taken ({listed(names, 6)})',
    )


def _motions(chain: ChainProblem, rows: Array, q: Array, packed: Array) -> Array:
    """Return the first-order motions with closed loops, or nearly, shape (nv, count)."""
    _, jacobian, _ = chain.linearise_by_size(q, rows, packed)
    free = rows[JOINT_WINDOW, chain.flat.var_q] > 0.0
    slack = max((MARGIN * each.slack for each in chain.redundancies), default=0.0)
    found = null_space(jacobian[:, free], slack, NEARLY)
    motions = np.zeros((len(free), found.shape[1]))
    motions[free] = found
    return motions
