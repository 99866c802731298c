"""A robot of the gallery with its goals, and the motions that several robots share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, pi, sin
from typing import Any, NamedTuple

from ik_node.description.files import description_path
from ik_node.mechanism import Mechanism
from ik_node.model.constraint import Goal
from ik_node.model.rotation import pose_matrix, quat_from_euler
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Vector = tuple[float, float, float]
Numbers = Sequence[float] | Array
Pose = tuple[Numbers, Numbers]  # Position [m] and quaternion xyzw
# Returns the pose of a goal, and of all goals by name, at a time [s].
PoseAt = Callable[[float], Pose]
Motion = Callable[[float], dict[str, Pose]]

# See `GalleryItem.moves`.
Moves = Callable[..., dict[str, Array]]

RAMP = 1.0  # time until full amplitude [s]


def ramp(time: float) -> float:
    """
    Return the amplitude of a motion at a time [s], as a share of its full amplitude.

    It rises from 0 to 1 with zero speed at both ends, so that the first goal is the robot's start.
    """
    share = min(max(time / RAMP, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def ramped(time: float) -> float:
    """
    Return the integral of `ramp` from 0 to a time [s].

    A motion with this phase starts smoothly and is uniform after the ramp.
    """
    share = min(max(time / RAMP, 0.0), 1.0)
    return RAMP * share**3 * (1.0 - 0.5 * share) + max(time - RAMP, 0.0)


def moving(**poses: PoseAt) -> Motion:
    """Return the motion of goals, given by name."""
    return lambda time: {goal: pose(time) for goal, pose in poses.items()}


def _still(_: float) -> Vector:
    return 0.0, 0.0, 0.0


def cycle(
    period: float,
    position: Callable[[float], Vector] = _still,
    angles: Callable[[float], Vector] = _still,
    *,
    slower: float = 1.0,
) -> PoseAt:
    """
    Return a periodic motion of a goal, which grows from its start.

    `position` and `angles` return x, y, z [m], and roll, pitch, yaw [rad], at a phase [rad] of the
    period [s]. The time until full amplitude is multiplied by `slower`.
    """

    def pose(time: float) -> Pose:
        phase, size = 2.0 * pi * time / period, ramp(time / slower)
        x, y, z = position(phase)
        roll, pitch, yaw = angles(phase)
        quat = quat_from_euler(size * roll, size * pitch, size * yaw)
        return (size * x, size * y, size * z), quat

    return pose


def sway(
    period: float, *, radius: float, lift: float, tilt: float, yaw: float, turns: float = 1.0
) -> PoseAt:
    """
    Return the motion of a body on legs: on a circle, up and down, leaning and turning.

    It moves on a horizontal circle of a `radius` [m] in a period [s], up and down by `lift` [m]
    twice per circle, leans to a side by `tilt` [rad] at most, and turns back and forth about the
    vertical by `yaw` [rad] at most, `turns` times per circle.
    """
    return cycle(
        period,
        lambda p: (radius * cos(p), radius * sin(p), lift * sin(2.0 * p)),
        lambda p: (tilt * sin(p), tilt * cos(p), yaw * sin(turns * p)),
    )


class Terrain(NamedTuple):
    """
    The ground of a robot with links that stand on it.

    `shape` returns its height [m] at x, y [m]; `standing` has the heights of links above it [m],
    by the goal's name.
    """

    shape: Callable[[float, float], float]
    standing: Mapping[str, float]
    scale: float = 1.0

    def height(self, x: float, y: float) -> float:
        """Return the height of the ground [m]."""
        return self.scale * self.shape(x, y)

    def heights(self, robot: Mechanism) -> dict[Goal, float]:
        """Return the heights [m] of the enabled goals of standing links for their places."""
        result = {}
        for name, above in self.standing.items():
            goal = robot.goals.get(name)
            if goal is not None and goal.enabled and goal.child is not None:
                x, y = goal.child.matrix_world[:2, 3].tolist()
                result[goal] = self.height(x, y) + above
        return result


@dataclass(frozen=True)
class GalleryItem:
    """A robot, its goals and how they move."""

    name: str  # In commands
    # Returns the poses of the goals at a time [s], by name, relative to the start of their links.
    # Positions are added in the root link's axes; rotations are applied in the link's axes.
    motion: Motion
    description: str = ''  # File name in urdf/; '' = NAME.urdf
    # Link of each goal, by the goal's name; empty = GOAL_link for each goal of the motion
    goals: Mapping[str, str] = field(default_factory=dict)
    # Constrained axes by the goal's name, if not all six
    dof: Mapping[str, str] = field(default_factory=dict)
    # Weights by the goal's name, if not 1
    weights: Mapping[str, float] = field(default_factory=dict)
    about: str = ''  # One line of description
    obstacles: str = ''  # Name of the file beside the description
    # Solver options that differ from the defaults
    options: Mapping[str, str | float | int | bool] = field(default_factory=dict)
    # Returns the cost of joint values [rad or m]; the solver option of that name. The node does
    # not use it, because parameters cannot be functions.
    comfort: Callable[[Array], float] | None = None
    reachable: bool = True  # Whether every goal of the motion can be met
    # Returns the pose of the root link at a time [s], for viewers that can move it; the goals then
    # stay in place, and `motion` is not used.
    base_motion: Callable[[float], Pose] | None = None
    # Returns the height of the ground [m] at x, y [m] in the root link's axes
    ground: Callable[[float, float], float] | None = None
    # Height of links above the ground [m], by the goal's name; `motion` does not contain these
    # goals.
    standing: Mapping[str, float] = field(default_factory=dict)
    # Returns targets [rad or m] at a time [s], by name, for joints that no goal determines, such
    # as rolling wheels.
    joint_targets: Callable[[float], dict[str, float]] | None = None

    def __post_init__(self) -> None:
        goals = self.goals or {goal: f'{goal}_link' for goal in self.motion(0.0)}
        object.__setattr__(self, 'goals', goals)
        object.__setattr__(self, 'description', self.description or f'{self.name}.urdf')

    def poses(
        self, time: float, homes: Mapping[str, Array], here: Callable[[str], Array]
    ) -> dict[str, Array]:
        """
        Return the pose (4, 4) of each goal at a time [s] since the start, root frame.

        `homes` are the start poses of the goals' links; `here` returns the present pose of a link,
        for goals on the ground.
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

    def moves(self, robot: Mechanism, dof: Mapping[str, str] | None = None) -> Moves:
        """
        Add the goals to a robot, which is at its start; return the motion.

        The motion is a function of the time [s], and of a function that returns the present pose
        of a link; None = of the robot. It sets joint targets and returns the poses of the goals.
        `dof` replaces the constrained axes.
        """
        homes = {goal: robot.forward(robot.q, link) for goal, link in self.goals.items()}
        for goal, link in self.goals.items():
            axes = (self.dof if dof is None else dof).get(goal)
            robot.add_goal(link, name=goal, dof=axes, weight=self.weights.get(goal, 1.0))

        def poses(time: float, here: Callable[[str], Array] | None = None) -> dict[str, Array]:
            for name, value in (self.joint_targets(time) if self.joint_targets else {}).items():
                robot.joints[name].set_target_values(value)
            return self.poses(time, homes, here or (lambda link: robot.forward(robot.q, link)))

        return poses

    @property
    def solver_options(self) -> dict[str, Any]:
        """Return the arguments for `SolverOptions`."""
        return {**self.options, 'comfort': self.comfort}

    @property
    def parameters(self) -> dict[str, str | float | int | bool | list[str]]:
        """Return the parameters of the node for the goals and solver options, by name."""
        told: dict[str, str | float | int | bool | list[str]] = {'goal_names': list(self.goals)}
        told.update({f'goals.{goal}.link': link for goal, link in self.goals.items()})
        told.update({f'goals.{goal}.dof': axes for goal, axes in self.dof.items()})
        told.update({f'goals.{goal}.weight': weight for goal, weight in self.weights.items()})
        if self.obstacles:
            told['collisions.obstacles_file'] = str(description_path(self.obstacles))
        told.update({f'solver.{option}': value for option, value in self.options.items()})
        return told
