"""Solve once for the poses of some links; exit code 1 if that does not converge."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ik_node.cli.robot_arguments import add_robot_arguments, robot_of
from ik_node.errors import OptionError, UnknownFrameError
from ik_node.robot import Robot
from ik_node.solver import Solution, Solver

_NO_TURN = (0.0, 0.0, 0.0, 1.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot, goals and start."""
    add_robot_arguments(parser)
    parser.add_argument(
        '--goal',
        action='append',
        default=[],
        metavar='LINK:x,y,z[,qx,qy,qz,qw]',
        help='pose of a link in the root frame [m]; without a quaternion any orientation will do; '
        'may be repeated; without any the loops are closed',
    )
    parser.add_argument(
        '--start', nargs='+', default=[], metavar='JOINT=VALUE', help='where to start [rad or m]'
    )
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(args: argparse.Namespace) -> int:
    """Solve and print."""
    goals = [parse_goal(text) for text in args.goal]
    starts = [parse_start(text) for text in args.start]
    robot = robot_of(args)
    q = robot.q
    for name, value in starts:
        if name not in robot.joint_names:
            raise UnknownFrameError(name, robot.joint_names, kind='joint')
        q[list(robot.joint_names).index(name)] = value
    poses: dict[str, Any] = {}
    for link, numbers in goals:
        if link in poses:
            raise OptionError('--goal', link, 'one goal a link')
        turned = len(numbers) == 7
        robot.add_goal(link, name=link, dof='X Y Z EX EY EZ' if turned else 'X Y Z')
        poses[link] = (numbers[:3], numbers[3:] if turned else _NO_TURN)
    solution = Solver(robot).solve_pose(poses, q0=q)
    print(
        json.dumps(in_json(robot, solution), indent=2) if args.json else in_words(robot, solution)
    )
    return 0 if solution.status.name == 'CONVERGED' else 1


def parse_goal(text: str) -> tuple[str, tuple[float, ...]]:
    """
    Read LINK:x,y,z or LINK:x,y,z,qx,qy,qz,qw.

    Raises
    ------
    OptionError
        If it is written in another way.

    """
    link, colon, numbers = text.rpartition(':')
    try:
        values = tuple(float(number) for number in numbers.split(','))
    except ValueError:
        values = ()
    if not (link and colon) or len(values) not in (3, 7):
        raise OptionError('--goal', text, 'LINK:x,y,z or LINK:x,y,z,qx,qy,qz,qw')
    return link, values


def parse_start(text: str) -> tuple[str, float]:
    """
    Read JOINT=VALUE.

    Raises
    ------
    OptionError
        If it is written in another way.

    """
    name, _, value = text.rpartition('=')
    try:
        number = float(value)
    except ValueError:
        number = float('nan')
    if not name or number != number:
        raise OptionError('--start', text, 'JOINT=VALUE')
    return name, number


def in_json(robot: Robot, solution: Solution) -> dict[str, Any]:
    """Return the answer in plain types."""

    def errors(of: Any) -> dict[str, dict[str, float]]:
        return {
            name: {'position': float(error.position), 'orientation': float(error.orientation)}
            for name, error in of.items()
        }

    return {
        'status': solution.status.name,
        'q': dict(zip(robot.joint_names, solution.q.tolist(), strict=True)),
        'iterations': int(solution.iterations),
        'starts': int(solution.starts),
        'solve_time': float(solution.solve_time),
        'goal_errors': errors(solution.goal_errors),
        'closure_errors': errors(solution.closure_errors),
        'active_limits': list(solution.active_limits),
        'message': solution.message,
    }


def in_words(robot: Robot, solution: Solution) -> str:
    """Return the answer for a reader."""
    lines = [f'{solution.message} ({1e3 * solution.solve_time:.3f} ms)']
    width = max((len(name) for name in robot.joint_names), default=0)
    lines += [
        f'  {name:<{width}}  {value: .9g}'
        for name, value in zip(robot.joint_names, solution.q.tolist(), strict=True)
    ]
    for kind, found in (('goal', solution.goal_errors), ('loop', solution.closure_errors)):
        lines += [
            f'  {kind} {name}: {error.position:.1e} m, {error.orientation:.1e} rad off'
            for name, error in found.items()
        ]
    return '\n'.join(lines)
