"""What a request for inverse kinematics asks for, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ik_node.ros.messages.convert import Pose
from ik_node.ros.moveit.ik_seed import IkSeed
from ik_node.ros.parameters.goal_settings import GoalSettings
from ik_node.solver import SolverOptions


@dataclass(frozen=True)
class IkQuestion:
    """
    A request, read and checked; nothing of it points to what another thread changes.

    Attributes
    ----------
    seed : IkSeed
        Where the solve starts, and how the answer is to be given.
    poses : mapping of str to (position, quat_xyzw)
        Link and where it is to be, in the root frame [m].
    goals : mapping of str to tuple of GoalSettings
        Link and the node's goals for it: what of the pose has to be met. A link without a goal has
        to meet the whole pose.
    movable : tuple of str or None
        Values that may change; None = all.
    held : str
        What is held and why, for the case that there is no answer; '' = nothing.
    closures : mapping of str to bool
        Which loops are to be closed.
    options : SolverOptions
        With the time budget of this request.
    checks_collisions : bool
        Whether the client asked for an answer free of collisions.

    """

    seed: IkSeed
    poses: Mapping[str, Pose]
    goals: Mapping[str, tuple[GoalSettings, ...]]
    movable: tuple[str, ...] | None
    held: str
    closures: Mapping[str, bool]
    options: SolverOptions
    checks_collisions: bool = False
