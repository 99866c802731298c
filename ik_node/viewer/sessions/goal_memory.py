"""Goals as they were, to be made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ik_node.model.goal import Goal
from ik_node.robot import Robot


@dataclass(frozen=True)
class GoalMemory:
    """
    All there is to a goal.

    Attributes
    ----------
    name : str
    asked : dict
        Arguments of `Robot.add_goal`.
    position, quat_xyzw : tuple of float
        Of the goal in its parent, [m].
    enabled : bool

    """

    name: str
    asked: dict[str, Any]
    position: tuple[float, ...]
    quat_xyzw: tuple[float, ...]
    enabled: bool

    @classmethod
    def of(cls, goal: Goal) -> GoalMemory:
        """Return what there is to know of a goal."""
        asked: dict[str, Any] = {
            'link': goal.child.name if goal.child else '',
            'kind': goal.kind,
            'axes': goal.axes,
            'weight': goal.weight,
            'priority': goal.priority,
            'tolerance': goal.tolerance,
            'base': goal.parent.name if goal.parent else None,
        }
        if goal.kind in ('frame', 'centre_of_mass'):
            asked['dof'] = axes_of(goal)
        if goal.kind == 'distance':
            asked['distance'] = goal.distance
        if goal.kind != 'centre_of_mass':
            asked['offset'] = (goal.offset_position.copy(), goal.offset_quaternion.copy())
        position, quat = goal.position.tolist(), goal.quaternion.tolist()
        return cls(goal.name, asked, tuple(position), tuple(quat), goal.enabled)


def axes_of(goal: Goal) -> str:
    """Return the axes that a goal asks for, as in 'X Y Z'."""
    return ' '.join(dof.name for dof in goal.dof)


def restore_goals(robot: Robot, memories: list[GoalMemory]) -> bool:
    """Bring a robot's goals back to what they were; return whether they are other goals now."""
    present = [GoalMemory.of(goal) for goal in robot.goals.values()]
    anew = [_lasting(memory) for memory in present] != [_lasting(memory) for memory in memories]
    if anew:
        for name in list(robot.goals):
            robot.remove_goal(name)
        for memory in memories:
            robot.add_goal(name=memory.name, **memory.asked)
    for memory in memories:
        goal = robot.goals[memory.name]
        goal.set_position(*memory.position)
        goal.set_quaternion(*memory.quat_xyzw)
        goal.enabled = memory.enabled
    return anew


def _lasting(memory: GoalMemory) -> str:
    """Return all but where it is and whether it takes part."""
    return repr((memory.name, memory.asked))
