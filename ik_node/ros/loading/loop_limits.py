"""How far every loop of a robot may be open: as far as its description leaves it, no more."""

from __future__ import annotations

from ik_node.errors import shown, TopologyError
from ik_node.robot import Robot

# Loops published by the node are closed at least this well [m, rad].
LOOP_TOLERANCE = 1e-6
# Rounded numbers in a description leave less than this; a robot with more is refused [m, rad].
LARGEST_ROUNDING = 1e-3


def loop_limits(robot: Robot) -> dict[str, float]:
    """
    Return, for every loop of an assembled robot, the residual [m, rad] that counts as closed.

    A description's rounding leaves redundant loops open: such a loop is held to what rounding may
    make of it, else to twice what was left when the robot was assembled; a note in `robot.notes`
    says so.

    Raises
    ------
    TopologyError
        Names the loop that stays open the most, when that is no rounding.

    """
    result = robot.assembly
    if result is None:
        return {}
    loose = {name: each.allowance(name) for each in robot.redundancies for name in each.misfit}
    limits = {}
    for name, residual in result.closure_errors.items():
        tolerance = max(robot.closures[name].tolerance or (LOOP_TOLERANCE,))
        limits[name] = max(LOOP_TOLERANCE, tolerance)
        left = max(residual)
        if name in loose:
            if left > limits[name]:
                robot.notes.append(
                    f'loop {name!r} stays {left:.3g} open [m or rad]: its redundant rows disagree '
                    'by the rounding of the description, and are met as well as they can be'
                )
            limits[name] = max(limits[name], LOOP_TOLERANCE + max(loose[name]))
        if left <= limits[name]:
            continue
        if not left <= LARGEST_ROUNDING:
            raise TopologyError(
                f'the loops of robot {shown(robot.name)} cannot be closed: '
                f'{shown(result.worst)} stays '
                f'{max(result.closure_errors[result.worst]):.3g} open [m or rad] '
                f'({result.message})'
            )
        limits[name] = 2.0 * left
        robot.notes.append(
            f'loop {shown(name)} stays {left:.3g} open [m or rad]: taken for rounding in the '
            f'description and held to twice that'
        )
    return limits
