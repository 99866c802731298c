"""
Solve the same problem with every method from the same start, without restarts.

The table shows the result of each method alone; a `Solver` would close loops that a method left
open. The time is the best of three runs; dls is compiled, the others are written in Python. The
exit code is 1 if no method converges.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import groupby
import json
from typing import Any

from ik_node.cli import arguments as shared
from ik_node.cli.solve import in_json
from ik_node.display import table
from ik_node.errors import OptionError
from ik_node.model.rotation import Array
from ik_node.model.tree import Tree
from ik_node.scene.plot import CURVES, picture_maker, save_picture
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.methods import Trace, trace
from ik_node.solver.options import METHODS
from ik_node.solver.result import largest_error
import numpy as np

# With different dashes, two lines on top of each other are both visible.
_DASHES = ('-', (0, (5, 1.5)))
# Residuals of zero are drawn at this value.
_LEAST = 1e-16


# What a method found, or the reason why it cannot solve the problem.
Outcome = Trace | str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, goals, start, methods and output options."""
    listed = f"""
    --method METHOD  use only this method; may be repeated; one of {', '.join(METHODS)}
    --max-iterations N  maximum number of iterations of a method; [default: 300]
    --json  print JSON
    --plot F.png  draw residuals over iterations and time to a file
    """
    shared.add_robot_arguments(parser)
    shared.add_goal_arguments(parser)
    shared.add_options(parser, listed)


def run(args: argparse.Namespace) -> int:
    """Solve with every method, print the results and return the exit code."""
    shared.check_outputs(args, [('--plot', args.plot)])
    arguments = shared.parse_goal_arguments(args)
    chosen = [
        SolverOptions(method=method, max_iterations=args.max_iterations, restarts=0)
        for method in args.method or METHODS
    ]
    new_figure = picture_maker('--plot', args.plot) if args.plot is not None else None
    robot = shared.robot_of(args)
    poses, q = arguments.of(robot)
    tree = Solver(robot).tree
    outcomes = {each.method: compare(tree, q, each, poses) for each in chosen}
    if args.json:
        every = [
            {'method': method, 'status': None, 'reason': found}
            if isinstance(found, str)
            else in_json(found.solution) | {'method': method}
            for method, found in outcomes.items()
        ]
        print(json.dumps(every, indent=2))
    else:
        print(as_text(outcomes))
    if new_figure is not None:
        _draw(new_figure, outcomes, args.plot)
    return 0 if any(isinstance(o, Trace) and o.solution for o in outcomes.values()) else 1


def compare(tree: Tree, q: Array, options: SolverOptions, poses: Mapping[str, Any]) -> Outcome:
    """Solve with one method and return the fastest of three runs."""
    try:
        runs = [trace(tree, q, options, poses) for _ in range(3)]
    except OptionError as error:
        return str(error)
    return min(runs, key=lambda run: run.solution.solve_time)


def as_text(outcomes: Mapping[str, Outcome]) -> str:
    """Return the results as a table."""
    looped = any(isinstance(o, Trace) and o.solution.closure_errors for o in outcomes.values())
    rows = [['method', 'status', 'iterations', 'time', 'position error', 'orientation error']]
    rows[0] += ['loops open'] * looped
    for method, outcome in outcomes.items():
        if isinstance(outcome, str):
            rows.append([method, 'cannot serve', *[''] * (len(rows[0]) - 2)])
            continue
        solution = outcome.solution
        position, orientation = largest_error(solution.goal_errors)
        row = [method, solution.status.name, str(solution.iterations)]
        row.append(f'{1e3 * solution.solve_time:.2f} ms')
        row += [f'{position:.1e} m', f'{orientation:.1e} rad']
        position, orientation = largest_error(solution.closure_errors)
        rows.append(row + [f'{position:.1e} m, {orientation:.1e} rad'] * looped)
    reasons = [f'{method}: {why}' for method, why in outcomes.items() if isinstance(why, str)]
    return '\n'.join(table(rows) + reasons)


def _draw(new_figure: Callable[..., Any], outcomes: Mapping[str, Outcome], path: str) -> None:
    """Draw the residuals over iterations and over time, the mean of an iteration for each."""
    figure = new_figure(figsize=(10.5, 5.2), layout='constrained')
    left, right = figure.subplots(1, 2, sharey=True)
    for method, outcome in outcomes.items():
        if isinstance(outcome, str):
            continue
        status, index = outcome.solution.status.name, METHODS.index(method)
        sizes = np.maximum(residuals(outcome), _LEAST)
        mean = outcome.solution.solve_time / max(sizes.size - 1, 1)
        style = {
            'label': f'{method} ({status.lower()})',
            'color': CURVES[index],
            'ls': _DASHES[index % 2],
            'marker': 'o' if status == 'CONVERGED' else 'X',
            'markevery': [-1],
        }
        for axes, unit, least in ((left, 1.0, 0.0), (right, mean, 1e-7)):
            axes.plot(np.maximum(unit * np.arange(sizes.size), least), sizes, **style)
    left.set(
        xscale='symlog', yscale='log', xlabel='iteration', ylabel='largest residual [m or rad]'
    )
    right.set(xscale='log', xlabel='time [s], dls compiled, the others in Python')
    for axes in (left, right):
        axes.grid(True, which='major', alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc='outside upper center', ncols=4)
    save_picture(figure, path, dpi=100)


def residuals(result: Trace) -> Array:
    """Return the largest residual of any chain [m or rad] after each iteration."""
    sizes = np.zeros(1 + max(point.iteration for point in result.points))
    for _, group in groupby(result.points, lambda point: point.chain):
        chain = [max(point.position, point.orientation) for point in group]
        chain += chain[-1:] * (sizes.size - len(chain))
        sizes = np.maximum(sizes, chain)
    return sizes
