"""
Solve once for the poses of some links; the exit code is 1 if it does not converge.

With --all, every solution is found and printed as a table; without goals, these are all ways in
which the loops close. --hold names joints that keep their values, such as motors.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import json
from typing import Any

from ik_node.cli import arguments as shared
from ik_node.display import printable
from ik_node.errors import OptionError
from ik_node.model.attributes import ByName
from ik_node.model.rotation import Array
from ik_node.robot import Robot
from ik_node.scene import IKRootsHelper, plot_shapes, Shape
from ik_node.scene.look import AT_LIMIT, COLOURS, IN_CONTACT, NEAREST, OBSTACLE, OPEN, OTHER, UNMET
from ik_node.scene.shapes import Rgba
from ik_node.solver import Solution, Solver, SolverOptions
from ik_node.solver.options import METHODS
from ik_node.solver.result import largest_error
from ik_node.solver.solutions import SORTS
import numpy as np

# Colour of the robot at the start.
GHOST = (0.55, 0.58, 0.62, 0.25)
LEGEND: dict[str, Rgba] = {
    'solution': COLOURS['links'],
    'start': GHOST,
    'other solution': OTHER,
    'joint axis': COLOURS['axes'],
    'joint range': COLOURS['limits'],
    'at a limit': AT_LIMIT,
    'loop': COLOURS['closures'],
    'open loop': OPEN,
    'goal': COLOURS['goals'],
    'reached': UNMET,
    'obstacle': OBSTACLE,
    'body': COLOURS['collisions'],
    'nearest pair': NEAREST,
    'contact': IN_CONTACT,
}
# How many other solutions are drawn.
MOST_GHOSTS = 40
_SIDES = 20


def shapes_of(
    solver: Solver,
    start: Array,
    poses: Mapping[str, Any],
    solution: Solution,
    others: Array | None = None,
) -> list[Shape]:
    """Return the solution with its goals, and the links at the start, or in other solutions."""
    layers = ['links', 'axes', 'limits', 'closures', 'goals']
    layers += ['collisions'] * solver.source.collisions.in_use
    helper = IKRootsHelper(solver, layers=layers, resolution=_SIDES)
    shapes = list(helper.shapes(solution.q, poses))
    ghosts, rgba = ([start], GHOST) if others is None else (others[:MOST_GHOSTS], OTHER)
    return shapes + helper.ghosts([q for q in ghosts if not np.allclose(q, solution.q)], rgba=rgba)


def plot_solution(path: str, name: str, solution: Solution, shapes: Sequence[Shape]) -> None:
    """Draw shapes with a legend, and the status and largest residuals of a robot's solution."""
    parts = [f'{name}: {solution.status.name} after {solution.iterations} iterations']
    for kind, errors in (('goals', solution.goal_errors), ('loops', solution.closure_errors)):
        if errors:
            position, orientation = largest_error(errors)
            parts.append(f'{kind}: residuals up to {position:.1e} m, {orientation:.1e} rad')
    drawn = {shape.rgba for shape in shapes}
    legend = {name: rgba for name, rgba in LEGEND.items() if rgba in drawn}
    try:
        plot_shapes(shapes, path, size=(8.5, 8.5), title='\n'.join(parts), legend=legend)
    except OptionError as error:
        raise OptionError('--plot', path, error.allowed) from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, goals, start and method."""
    table = f"""
    --method METHOD  one of {', '.join(METHODS)}; [default: dls]
    --all  find every solution
    --sort {'|'.join(SORTS)}  order of all solutions [default: {SORTS[0]}]
    --miss X  probability with which one of them may be missed [default: 0.001]
    --hold JOINT...  joints that keep their values
    --json  print JSON
    --plot F.png  draw the solution, its goals and the start to a file
    """
    shared.add_robot_arguments(parser)
    shared.add_goal_arguments(parser)
    shared.add_collision_arguments(parser)
    shared.add_options(parser, table)


def run(args: argparse.Namespace) -> int:
    """Solve, draw, print and return the exit code."""
    shared.check_outputs(args, [('--plot', args.plot)])
    arguments, avoiding = shared.parse_goal_arguments(args), shared.collision_options(args)
    options = SolverOptions(method=args.method, **avoiding)
    robot = shared.robot_of(args)
    poses, q = arguments.of(robot)
    if args.all:
        return _solve_all(args, Solver(robot, SolverOptions(**avoiding)), robot, poses, q)
    solver = Solver(robot, options)
    solution = solver.solve_pose(poses, q0=q)
    if args.plot is not None:
        plot_solution(args.plot, robot.name, solution, shapes_of(solver, q, poses, solution))
    print(json.dumps(in_json(solution), indent=2) if args.json else as_text(robot, solution))
    return 0 if solution.status.name == 'CONVERGED' else 1


def _solve_all(
    args: argparse.Namespace, solver: Solver, robot: Robot, poses: Mapping[str, Any], q: Array
) -> int:
    """Find every solution, draw, print and return the exit code."""
    held = set(args.hold or [])
    for name in held:
        ByName('joint', dict.fromkeys(solver.joint_names))[name]
    joints = [name for name in solver.joint_names if name not in held] if held else None
    found = solver.solve_all(poses, q, joints, miss=args.miss, sort=args.sort)
    if args.plot is not None and len(found):
        shapes = shapes_of(solver, q, poses, found[0], found.q[1:])
        plot_solution(args.plot, robot.name, found[0], shapes)
    names = ('q', 'condition', 'mode', 'in_contact', 'dimension', 'miss', 'starts', 'stopped')
    numbers = {name: np.asarray(getattr(found, name)).tolist() for name in names}
    numbers['joints'] = list(robot.joint_names)
    print(json.dumps(numbers, indent=2) if args.json else printable(repr(found).splitlines()))
    return 0 if len(found) else 1


def in_json(solution: Solution) -> dict[str, Any]:
    """Return the solution in types that JSON supports."""
    nearest = solution.nearest
    return {
        'status': solution.status.name,
        'q': solution.as_dict(),
        'iterations': int(solution.iterations),
        'starts': int(solution.starts),
        'solve_time': float(solution.solve_time),
        'goal_errors': {name: each._asdict() for name, each in solution.goal_errors.items()},
        'closure_errors': {name: each._asdict() for name, each in solution.closure_errors.items()},
        'active_limits': list(solution.active_limits),
        'nearest': None
        if nearest is None
        else nearest._asdict() | {'points': nearest.points.tolist()},
        'message': solution.message,
    }


def as_text(robot: Robot, solution: Solution) -> str:
    """Return the solution as text."""
    lines = [f'{solution.message} ({1e3 * solution.solve_time:.3f} ms)']
    width = max((len(name) for name in robot.joint_names), default=0)
    units = ['rad' if dof.is_rotation else 'm' for joint in robot.joint_order for dof in joint.dof]
    lines += [
        f'  {name:<{width}}  {value: .9g} {unit}'
        for name, value, unit in zip(robot.joint_names, solution.q.tolist(), units, strict=True)
    ]
    for kind, errors in (('goal', solution.goal_errors), ('loop', solution.closure_errors)):
        lines += [
            f'  {kind} {name}: {error.position:.1e} m, {error.orientation:.1e} rad off'
            for name, error in errors.items()
        ]
    return printable(lines)
