# flake8: noqa: E203
"""Goals as they were, to be made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ik_node.model.goal import Goal
from ik_node.robot import Robot

# A drag of a slider comes as many changes; those nearer in time than this [s] are one step.
TOGETHER = 1.0
DEPTH = 200


class Undo:
    """
    Remember how things were before each change.

    Parameters
    ----------
    remember : callable
        Returns how things are.
    restore : callable
        Brings that back.

    """

    def __init__(self, remember: Callable[[], object], restore: Callable[[object], None]) -> None:
        self._remember = remember
        self._restore = restore
        self._steps: list[object] = []
        self._last: tuple[object, float] = (None, 0.0)

    @property
    def count(self) -> int:
        """Return how many steps there are."""
        return len(self._steps)

    def mark(self, key: object = None, now: float = 0.0) -> None:
        """
        Remember how things are, before they change.

        Parameters
        ----------
        key : object, optional
            Changes of one key in quick succession are one step.
        now : float
            Time [s].

        """
        before, self._last = self._last, (key, now)
        if key is not None and before[0] == key and now - before[1] < TOGETHER:
            return
        self._steps = [*self._steps[1 - DEPTH :], self._remember()]

    def step_back(self) -> bool:
        """Go one step back; return whether there was one."""
        self._last = (None, 0.0)
        if not self._steps:
            return False
        self._restore(self._steps.pop())
        return True

    def clear(self) -> None:
        """Forget all steps."""
        self._steps = []


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
