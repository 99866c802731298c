"""The input of a model: description, goals and solver settings."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from ik_node.ros.parameters.goal_settings import GoalSettings
from ik_node.ros.parameters.joint_settings import JointSettings
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import SolverOptions


@dataclass(frozen=True)
class ModelRequest:
    """
    A description and all settings that its solver depends on.

    Attributes
    ----------
    text : str
        The robot description; '' if there is a file.
    closures : str
        Closure annotations, a path or text; '' = those in the description.
    goals : tuple of GoalSettings
        The goals that have a link.
    options : SolverOptions
        Solver options of the first solves; they may change later without a new model.
    root : str
        'fixed' or 'floating'.
    joints : JointSettings
        Joint names that the robot must have; they may change later without a new model.
    base_frame, frame_prefix : str
        Parameters that determine the names of frames.
    file : str
        File with the robot description; '' = there is a text.

    """

    text: str
    closures: str
    goals: tuple[GoalSettings, ...]
    options: SolverOptions
    root: str = 'fixed'
    joints: JointSettings = field(default_factory=JointSettings)
    base_frame: str = ''
    frame_prefix: str = ''
    file: str = ''

    @classmethod
    def of(cls, text: str, settings: Settings) -> ModelRequest:
        """Return the request for a description under these settings."""
        return cls(
            text,
            settings.closures,
            settings.active_goals,
            settings.tick_options,
            settings.root,
            settings.joints,
            settings.base_frame,
            settings.frame_prefix,
            settings.robot_file,
        )

    def changed(self, settings: Settings) -> ModelRequest:
        """Return the request for the same description and closures under other settings."""
        return dataclasses.replace(ModelRequest.of(self.text, settings), closures=self.closures)

    def builds_same(self, other: ModelRequest | None) -> bool:
        """Return True if both requests build the same model."""
        return (
            other is not None
            and self.builds_same_robot(other)
            and self.goal_structure == other.goal_structure
            and (self.base_frame, self.frame_prefix) == (other.base_frame, other.frame_prefix)
        )

    def builds_same_robot(self, other: ModelRequest) -> bool:
        """Return True if both requests build the same robot and loops, whatever the goals."""
        mine, others = (
            (request.text, request.closures, request.root) for request in (self, other)
        )
        return mine == others

    @property
    def goal_structure(self) -> tuple[object, ...]:
        """Return those settings of the goals that need a new solver when they change."""
        return tuple(goal.structure for goal in self.goals)
