"""A robot that we ship, with something to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# Position [m] and quaternion xyzw.
Pose = tuple[tuple[float, float, float], tuple[float, float, float, float]]


@dataclass(frozen=True)
class GalleryItem:
    """
    A robot, its goals and how they move.

    Attributes
    ----------
    name : str
        How commands call it.
    description : str
        File name in urdf/.
    goals : mapping of str to str
        Goal's name to the link that it moves.
    motion : callable
        Time [s] -> goal's name to its pose relative to where the link is at the start: the
        position is added in the root link's axes, the rotation comes after the link's own.
    dof : mapping of str to str
        Goal's name to the axes that are asked for; a goal that is not named asks for all six.

    """

    name: str
    description: str
    goals: Mapping[str, str]
    motion: Callable[[float], dict[str, Pose]]
    dof: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, str | list[str]]:
        """Return what the node must be told of the goals, parameter's name to its value."""
        told: dict[str, str | list[str]] = {'goal_names': list(self.goals)}
        told.update({f'goals.{goal}.link': link for goal, link in self.goals.items()})
        told.update({f'goals.{goal}.dof': axes for goal, axes in self.dof.items()})
        return told
