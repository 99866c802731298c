"""The interface between the page and a solver, in this process or in a node, and undo steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from ik_node.analysis.link_motion import motor_values
from ik_node.errors import IkError, OptionError
from ik_node.model.constraint import Goal
from ik_node.model.link import Link
from ik_node.model.rotation import pose_inverse
from ik_node.robot import Robot
from ik_node.scene.chain_report import ChainReport
from ik_node.solver.options import SolverOptions
from ik_node.solver.solutions import Solutions
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Knob(NamedTuple):
    """A number of the scene, in a range and with a step, that users can change with a slider."""

    name: str
    low: float
    high: float
    step: float
    value: float
    hint: str


# Returns the height of the ground [m] at x, y [m], root frame.
Ground = Callable[[float, float], float]


# Longest search for all solutions [s], most of them, and least difference [rad or L].
SEARCH, GHOSTS, APART = 2.0, 40, 1e-2


class Session(Protocol):
    """
    A robot with its goals, and the commands to its solver.

    Only the page's thread calls a session. A command that fails raises an IkError, which the page
    shows.
    """

    robot: Robot | None  # With its goals, at the present configuration; None if not received
    structure: int = 0  # A number that changes with the robot and with the set of goals
    reports: Sequence[ChainReport] = ()  # One report per independent chain
    forward: bool = False  # Forward mode is on: joints lead, and goals follow their links
    playing: bool = False  # The goals follow the motion
    can_play: bool = False  # There is a motion of the goals
    solves: bool = False  # This process solves, which `solving` and `strict` need
    solving: bool = True  # The robot follows its goals; if not, they can be moved meanwhile
    strict: bool = False  # Only converged configurations are shown
    solutions: Solutions | None = None  # All answers to the goals, until something changes
    _solver: Solver | None = None

    @property
    def title(self) -> str:
        """Return the name of the robot."""
        return '' if self.robot is None else self.robot.name

    @property
    def note(self) -> str:
        """Return what prevents solving, such as 'waiting for robot_description'; else ''."""
        return ''

    @property
    def source(self) -> Solver:
        """Return what to draw: the robot's solver, which knows tolerances and margins."""
        if self._solver is None:
            raise IkError(self.note)
        return self._solver

    @property
    def q(self) -> Array:
        """Return the present configuration, in the order of `robot.joint_names`."""

    @property
    def options(self) -> SolverOptions:
        """Return the present options of the solver."""
        return SolverOptions() if self._solver is None else self._solver.options

    @property
    def knobs(self) -> Sequence[Knob]:
        """Return the numbers of the scene that users can change."""
        return ()

    def set_knob(self, name: str, value: float) -> None:
        """Change a number of the scene; raise OptionError if there is none of that name."""
        raise OptionError('knob', name, ', '.join(knob.name for knob in self.knobs) or 'none')

    @property
    def ground(self) -> Ground | None:
        """Return the ground on which the robot stands, another object if it changes; or None."""
        return None

    def release_goal(self, name: str) -> None:
        """Move a goal to the pose that its link has reached."""

    def find_solutions(self) -> None:
        """Find all answers to the goals, without goals for the present motors; or forget them."""
        robot, solver = self.robot, self._solver
        if self.solutions is not None or robot is None or solver is None:
            self.solutions = None
            return
        goals = {name: None for name, goal in robot.goals.items() if goal.enabled}
        passive: set[str] | None = None
        if not goals and robot.actuated:
            passive = {*robot.joint_names} - motor_values(robot)
        found = solver.solve_all(
            goals, joints=passive, seconds=SEARCH, most=GHOSTS, resolution=APART
        )
        if not len(found):
            raise IkError('no solution was found within the limits')
        self.solutions = found

    def take_solution(self, number: int) -> None:
        """Move the robot to one of the solutions."""

    def update(self, now: float) -> bool:
        """Solve or process messages at a time [s]; return True if something has changed."""

    def move_goal(self, name: str, position: ArrayLike, quat_xyzw: ArrayLike) -> None:
        """Set the pose of a goal, root frame [m]."""

    def add_goal(self, link: str, dof: str, point: Array | None = None) -> str:
        """Add a goal at a link's frame, or at a point of it, root frame [m]; return its name."""

    def move_offset(self, name: str, point: Array | None = None) -> None:
        """Move a goal to a point of its link, root frame [m], or to the link's frame."""

    def remove_goal(self, name: str) -> None:
        """Remove a goal."""

    def change_goal(
        self, name: str, *, dof: str | None = None, enabled: bool | None = None
    ) -> None:
        """Change the constrained axes of a goal, or enable or disable it."""

    def set_closure(self, name: str, enabled: bool) -> None:
        """Enable or disable a closure."""

    def set_forward(self, forward: bool) -> None:
        """Switch between forward mode and inverse mode."""

    @property
    def locked(self) -> set[str]:
        """Return the names of the joint values that the solver must not move."""
        joints = () if self.robot is None else self.robot.joint_order
        return {each.value_name(dof) for each in joints for dof in each.dof if each.locked[dof]}

    def set_locked(self, name: str, locked: bool) -> None:
        """Lock a joint value, or unlock it."""

    def set_joint(self, name: str, value: float) -> None:
        """Move a joint [rad or m] with closed loops."""

    def set_option(self, name: str, value: Any) -> None:
        """Change an option of the solver."""

    def reset(self) -> None:
        """Restore the initial state."""

    def save_rest_pose(self) -> None:
        """Make the present configuration the rest pose."""

    def remember(self) -> object:
        """Return the present state, for `restore`."""

    def restore(self, memory: Any) -> None:
        """Restore a state that `remember` returned."""

    def complaints(self) -> list[str]:
        """Return new messages about commands that failed after they were accepted."""
        return []

    def close(self) -> None:
        """Release all resources; may be called again."""
        self.playing = False

    @staticmethod
    def _offset_in_link(link: Link, point: Array | None) -> Array:
        """Return a point in the root frame [m], or the origin of a link, in the link's frame."""
        pose = link.matrix_world
        return np.zeros(3) if point is None else pose[:3, :3].T @ (point - pose[:3, 3])

    @staticmethod
    def _place(goal: Goal, pose: Array) -> None:
        """Move a goal to a pose (4, 4), root frame [m]."""
        if goal.parent is not None:
            pose = pose_inverse(goal.parent.matrix_world) @ pose
        goal.set_pose(pose)


# Changes that follow one another within this time [s], as in a drag, are one undo step.
TOGETHER = 1.0
DEPTH = 200


class Undo:
    """A history of states, which `remember` returns and `restore` restores."""

    def __init__(self, remember: Callable[[], object], restore: Callable[[object], None]) -> None:
        self._remember = remember
        self._restore = restore
        self._steps: list[object] = []
        self._last: tuple[object, float] = (None, 0.0)

    def mark(self, key: object = None, now: float = 0.0) -> None:
        """
        Save the state before a change at a time [s].

        Changes with the same key in quick succession are one step.
        """
        before, self._last = self._last, (key, now)
        if key is not None and before[0] == key and now - before[1] < TOGETHER:
            return
        self._steps = [*self._steps[1 - DEPTH :], self._remember()]

    def step_back(self) -> None:
        """Undo one step, if there is one."""
        self._last = (None, 0.0)
        if self._steps:
            self._restore(self._steps.pop())

    def clear(self) -> None:
        """Remove all steps."""
        self._steps = []
