"""What the page works on: a robot being solved, here or in a node elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ik_node.model.frame import Frame
from ik_node.robot import Robot
from ik_node.scene.chain_report import ChainReport
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Session(Protocol):
    """
    A robot with its goals, and what can be asked of whoever solves it.

    All is called from one thread, the page's. What cannot be done raises an IkError, which the
    page shows.
    """

    @property
    def title(self) -> str:
        """Say what is shown."""

    @property
    def note(self) -> str:
        """Say what is in the way of it, as 'waiting for robot_description'; else ''."""

    @property
    def robot(self) -> Robot | None:
        """Return the robot with its goals, at the present configuration; None = not there yet."""

    @property
    def source(self) -> Robot | Solver | Sequence[Frame]:
        """Return what is drawn: the robot, or a solver whose thresholds say what is closed."""

    @property
    def structure(self) -> int:
        """Another number when there is another robot, or other goals."""

    @property
    def q(self) -> Array:
        """Return the present configuration, in the order of `robot.joint_names`."""

    @property
    def reports(self) -> Sequence[ChainReport]:
        """One per independent chain."""

    @property
    def options(self) -> SolverOptions:
        """Return the present options of the solver."""

    @property
    def forward(self) -> bool:
        """Whether joints lead and goals follow their links."""

    @property
    def can_play(self) -> bool:
        """Whether goals can move by themselves."""

    @property
    def playing(self) -> bool:
        """Whether they do."""

    def play(self, playing: bool) -> None:
        """Have them move by themselves, or not."""

    def update(self, now: float) -> bool:
        """Solve, or take in what came, at a time [s]; return whether there is news."""

    def move_goal(self, name: str, position: ArrayLike, quat_xyzw: ArrayLike) -> None:
        """Ask for another pose, in the root frame."""

    def add_goal(self, link: str, dof: str, at: Array | None = None) -> str:
        """Make a goal where a link is, or at a point of it, root frame [m]; return its name."""

    def remove_goal(self, name: str) -> None:
        """Take a goal away."""

    def change_goal(
        self, name: str, *, dof: str | None = None, enabled: bool | None = None
    ) -> None:
        """Ask for other axes, or have it take part or not."""

    def set_closure(self, name: str, enabled: bool) -> None:
        """Make or release a closure."""

    def set_forward(self, forward: bool) -> None:
        """Have joints lead, or goals."""

    def set_joint(self, name: str, value: float) -> None:
        """Move a joint [rad or m] with the loops closed."""

    def set_option(self, name: str, value: Any) -> None:
        """Change one of the solver's options."""

    def reset(self) -> None:
        """Go back to the start."""

    def save_rest_pose(self) -> None:
        """Make the present configuration the rest pose."""

    def remember(self) -> object:
        """Return what `restore` goes back to."""

    def restore(self, memory: Any) -> None:
        """Go back to what was remembered."""

    def complaints(self) -> list[str]:
        """Return why something was not done after all, each once."""

    def close(self) -> None:
        """Let go of everything; may be called again."""
