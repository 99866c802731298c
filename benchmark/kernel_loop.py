"""Our kernels for pose, residual and Jacobian in a loop without Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import open_solve
from ik_node.kernels.start import evaluate, start_solve
from numba import njit


@njit(error_model='numpy', _nrt=False)
def many_evaluations(
    count: int, i: Any, f: Any, k: Any, w: Any, q: Any, joints: Any, options: Any
) -> int:
    """Repeat the evaluation for a time measurement."""
    s = open_solve(i, f, k, w, q, joints, options)
    start_solve(s)
    for _ in range(count):
        s.w[s.x] += 1e-9
        evaluate(s)
        jacobian(s)
    return 0


def evaluation_loop(solver: Any, names: tuple[str, ...]) -> Callable[[int], Any]:
    """Return a function that repeats the evaluation of a solver's first chain."""
    solver.warm()
    problem = solver.problem_for(names)
    problem.refresh(solver.options)
    ints, floats, work_ints, work_floats = problem.chains[0].arrays
    work = (work_ints.copy(), work_floats.copy())
    fixed = (solver.q, solver._graph.structure.table.rows, solver.options.packed())

    def many(count: int) -> int:
        done: int = many_evaluations(count, ints, floats, *work, *fixed)
        return done

    return many
