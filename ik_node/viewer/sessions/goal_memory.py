"""Saved goals of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ik_node.mechanism import Mechanism
from ik_node.model.constraint import Goal
from ik_node.model.rotation import Array


@dataclass(frozen=True)
class GoalMemory:
    """A saved goal: arguments of `Robot.add_goal`, and its pose (4, 4) in its parent [m]."""

    name: str
    arguments: dict[str, Any]
    pose: Array
    enabled: bool

    @classmethod
    def of(cls, goal: Goal) -> GoalMemory:
        """Return the saved form of a goal."""
        kind = goal.traits
        arguments: dict[str, Any] = {
            'link': goal.child.name if goal.child else '',
            'weight': goal.weight,
            'priority': goal.priority,
            'tolerance': goal.tolerance,
        }
        if kind.use == 'user':
            arguments['link'] = goal
        else:
            base = goal.parent.name if goal.parent else None
            arguments |= {'kind': goal.kind, 'axes': goal.axes, 'base': base}
        if kind.axes and not kind.more:
            arguments['dof'] = axes_of(goal)
        if kind.has_distance:
            arguments['distance'] = goal.distance
        if kind.use != 'user' and goal.kind != 'centre_of_mass':
            arguments['offset'] = (goal.offset_position.copy(), goal.offset_quaternion.copy())
        return cls(goal.name, arguments, goal.matrix.copy(), goal.enabled)


def axes_of(goal: Goal) -> str:
    """Return the constrained axes of a goal, as in 'X Y Z'."""
    return ' '.join(dof.name for dof in goal.dof)


def restore_goals(robot: Mechanism, memories: list[GoalMemory]) -> bool:
    """Restore a robot's goals; return True if goals were added, removed or replaced."""
    present = [GoalMemory.of(goal) for goal in robot.goals.values()]
    anew = [_lasting(memory) for memory in present] != [_lasting(memory) for memory in memories]
    if anew:
        for name in list(robot.goals):
            robot.remove_goal(name)
        for memory in memories:
            robot.add_goal(name=memory.name, **memory.arguments)
    for memory in memories:
        goal = robot.goals[memory.name]
        goal.set_pose(memory.pose)
        goal.enabled = memory.enabled
    return anew


def _lasting(memory: GoalMemory) -> str:
    """Return the goal's properties except its pose and whether it is enabled."""
    return repr((memory.name, memory.arguments))
