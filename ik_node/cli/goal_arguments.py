"""Command line arguments for goals and the start configuration."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from ik_node.errors import OptionError, UnknownFrameError
from ik_node.robot import Robot
import numpy as np
from numpy.typing import NDArray

_NO_TURN = (0.0, 0.0, 0.0, 1.0)


class GoalArguments(NamedTuple):
    """The goals and start values on the command line."""

    # Link name, and position [m] with or without quaternion xyzw.
    goals: list[tuple[str, tuple[float, ...]]]
    starts: list[tuple[str, float]]  # Name and value [rad or m] of a joint.

    def of(self, robot: Robot) -> tuple[dict[str, Any], NDArray[np.float64]]:
        """
        Add the goals to a robot.

        Return `poses`, poses by goal name, which is the name of the link; and `q` (nq,), the start
        configuration [rad or m]. Raise UnknownFrameError if the robot has no such link or joint.
        Raise OptionError if a link has two goals.
        """
        q, names = robot.q, list(robot.joint_names)
        for name, value in self.starts:
            if name not in names:
                raise UnknownFrameError(name, names, kind='joint')
            q[names.index(name)] = value
        poses: dict[str, Any] = {}
        for link, numbers in self.goals:
            if link in poses:
                raise OptionError('--goal', link, 'one goal per link')
            turned = len(numbers) == 7
            robot.add_goal(link, name=link, dof='X Y Z EX EY EZ' if turned else 'X Y Z')
            poses[link] = (numbers[:3], numbers[3:] if turned else _NO_TURN)
        return poses, q


def add_goal_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --goal and --start."""
    parser.add_argument(
        '--goal',
        action='append',
        default=[],
        metavar='LINK:x,y,z[,qx,qy,qz,qw]',
        help='pose of a link in the root frame [m]; without a quaternion the orientation is free; '
        'may be repeated; without goals only the loops are closed',
    )
    parser.add_argument(
        '--start',
        nargs='+',
        default=[],
        metavar='JOINT=VALUE',
        help='initial joint values [rad or m]',
    )


def parse_goal_arguments(args: argparse.Namespace) -> GoalArguments:
    """
    Parse the goals and start values.

    Raise OptionError if one of them is not valid.
    """
    return GoalArguments(
        [_goal(text) for text in args.goal], [joint_value(text) for text in args.start]
    )


def _goal(text: str) -> tuple[str, tuple[float, ...]]:
    """Parse LINK:x,y,z or LINK:x,y,z,qx,qy,qz,qw."""
    link, colon, numbers = text.rpartition(':')
    try:
        values = tuple(float(number) for number in numbers.split(','))
    except ValueError:
        values = ()
    if not (link and colon) or len(values) not in (3, 7):
        raise OptionError('--goal', text, 'LINK:x,y,z or LINK:x,y,z,qx,qy,qz,qw')
    return link, values


def joint_value(text: str, option: str = '--start') -> tuple[str, float]:
    """
    Parse JOINT=VALUE.

    Raise OptionError if the text, which was given for the option, has another form.
    """
    name, _, value = text.rpartition('=')
    try:
        number = float(value)
    except ValueError:
        number = float('nan')
    if not name or number != number:
        raise OptionError(option, text, 'JOINT=VALUE')
    return name, number
