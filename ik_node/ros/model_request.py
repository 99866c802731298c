"""What a model is to be built from."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.ros.goal_settings import GoalSettings
from ik_node.solver import SolverOptions


@dataclass(frozen=True)
class ModelRequest:
    """
    A description and everything that shapes the solver with it.

    Attributes
    ----------
    text : str
        The robot description.
    closures : str
        Closure annotations, path or text; '' = those in the description.
    goals : tuple of GoalSettings
        The goals that have a link.
    options : SolverOptions
        Options to warm up with; they may change later without a new model.

    """

    text: str
    closures: str
    goals: tuple[GoalSettings, ...]
    options: SolverOptions

    def builds_same(self, other: ModelRequest | None) -> bool:
        """Tell whether both give the same model."""
        return (
            other is not None
            and self.builds_same_robot(other)
            and self.goal_structure == other.goal_structure
        )

    def builds_same_robot(self, other: ModelRequest) -> bool:
        """Tell whether both are of one robot with one set of loops, whatever the goals."""
        return self.text == other.text and self.closures == other.closures

    @property
    def goal_structure(self) -> tuple[object, ...]:
        """Say what of the goals needs a new solver when it changes."""
        return tuple(goal.structure for goal in self.goals)
