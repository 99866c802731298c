"""A robot that we ship, with something to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ik_node.model.rotation import pose_matrix
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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
    about : str
        One line for lists and pages: what it is and what it shows.
    options : mapping of str to str, float, int or bool
        Solver options that it needs, by the names of `SolverOptions`.
    comfort : callable, optional
        Joint values [rad or m] -> cost, the solver option of that name. The node, whose parameters
        are no functions, goes without.
    reachable : bool
        Whether every goal of the motion can be met; an arm with too few joints stays as near as
        it can.
    ground : callable, optional
        x, y [m] -> height of the ground [m], root link's axes; None = there is no ground.
    standing : mapping of str to float
        Goal's name to the height above the ground [m] at which its link is to be, wherever it is
        by then; the motion leaves these goals out.
    wishes : callable, optional
        Time [s] -> values of joints that no goal decides [rad or m], such as wheels that roll.

    """

    name: str
    description: str
    goals: Mapping[str, str]
    motion: Callable[[float], dict[str, Pose]]
    dof: Mapping[str, str] = field(default_factory=dict)
    about: str = ''
    options: Mapping[str, str | float | int | bool] = field(default_factory=dict)
    comfort: Callable[[Array], float] | None = None
    reachable: bool = True
    ground: Callable[[float, float], float] | None = None
    standing: Mapping[str, float] = field(default_factory=dict)
    wishes: Callable[[float], dict[str, float]] | None = None

    def poses(
        self, time: float, homes: Mapping[str, Array], here: Callable[[str], Array]
    ) -> dict[str, Array]:
        """
        Return where the goals are at a time.

        Parameters
        ----------
        time : float
            Since the start [s].
        homes : mapping of str to ndarray, shape (4, 4)
            Goal's name to the pose of its link at the start, root frame.
        here : callable
            A link's name -> its pose now, root frame, for goals that stand on the ground.

        Returns
        -------
        dict of str to ndarray, shape (4, 4)
            Goal's name to its pose in the root frame.

        """
        poses = {}
        for goal, (position, quat_xyzw) in self.motion(time).items():
            poses[goal] = homes[goal] @ pose_matrix((0.0, 0.0, 0.0), quat_xyzw)
            poses[goal][:3, 3] += position
        for goal, height in self.standing.items():
            pose = here(self.goals[goal]).copy()
            x, y = float(pose[0, 3]), float(pose[1, 3])
            pose[2, 3] = height + (self.ground(x, y) if self.ground else 0.0)
            poses[goal] = pose
        return poses

    @property
    def solver_options(self) -> dict[str, Any]:
        """Return what `SolverOptions` takes of it."""
        return {**self.options, 'comfort': self.comfort}

    @property
    def parameters(self) -> dict[str, str | float | int | bool | list[str]]:
        """Return what the node must be told of the goals, parameter's name to its value."""
        told: dict[str, str | float | int | bool | list[str]] = {'goal_names': list(self.goals)}
        told.update({f'goals.{goal}.link': link for goal, link in self.goals.items()})
        told.update({f'goals.{goal}.dof': axes for goal, axes in self.dof.items()})
        told.update({f'solver.{option}': value for option, value in self.options.items()})
        return told
