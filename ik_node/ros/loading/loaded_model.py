"""A robot with its goals and a solver that is ready for the first tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ik_node.description.mesh_path import mesh_path, Visual
from ik_node.description.visuals import visuals_of
from ik_node.model.rotation import pose_matrix
from ik_node.robot import Robot
from ik_node.ros.loading.mobility_count import loop_limits, MobilityCount
from ik_node.ros.loading.model_request import ModelRequest
from ik_node.ros.messages.convert import quat_xyzw_from_rpy
from ik_node.ros.messages.frame_names import frame_name, own_name, prefix_of, root_frame
from ik_node.scene import IKRootsHelper
from ik_node.solver import Solver
from ik_node.solver.problem.joint_table import LIMIT_SLACK
import numpy as np
from numpy.typing import NDArray


def link_visuals(robot: Robot) -> list[Visual]:
    """Return the visuals of a robot with meshes as URLs; missing meshes are left out."""
    found = []
    for visual in visuals_of(robot.description):
        if visual.kind != 'mesh' or visual.file.startswith('package://'):
            found.append(visual)  # a package is found where the viewer runs
            continue
        path = mesh_path(visual.file, visual.source)
        if path is not None:
            found.append(replace(visual, file=path.resolve().as_uri()))
    return found


@dataclass(frozen=True)
class LoadedModel:
    """
    The robot, its solver and constant arrays; replaced as a whole by the next model.

    Attributes
    ----------
    request : ModelRequest
        The request that the model was built from.
    robot : Robot
        The robot, with the goals of the request.
    solver : Solver
        The solver of the robot, with kernels loaded.
    offsets : mapping of str to ndarray, shape (4, 4)
        Goal name to the pose of its frame in its link, for poses other than the identity.
    q_start : ndarray, shape (nq,)
        Configuration of the description with closed loops [rad or m].
    joint_names : tuple of str
        Names of the values of q.
    lower, upper, max_velocity : ndarray, shape (nq,)
        Limits of positions [rad or m] and velocities [rad/s or m/s]; infinite if there is none.
    loop_limits : mapping of str to float
        Residual up to which each loop counts as closed [m or rad].

    """

    request: ModelRequest
    robot: Robot
    solver: Solver
    offsets: Mapping[str, NDArray[np.float64]]
    q_start: NDArray[np.float64]
    joint_names: tuple[str, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    max_velocity: NDArray[np.float64]
    loop_limits: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ModelRequest, robot: Robot) -> LoadedModel:
        """
        Return the model of a robot with closed loops and the goals of the request.

        Raises
        ------
        TopologyError
            If a loop is open by more than rounding errors.

        """
        limits = loop_limits(robot)
        return cls(
            request=request,
            robot=robot,
            solver=Solver(robot, request.options),
            offsets=offset_matrices(request),
            q_start=robot.q,
            joint_names=tuple(robot.joint_names),
            lower=np.array(robot.lower),
            upper=np.array(robot.upper),
            max_velocity=np.array(robot.max_velocity),
            loop_limits=limits,
        )

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """
        Return lower and upper limits, shape (nq,) each, widened by `LIMIT_SLACK`.

        The largest float replaces an infinite limit.
        """
        largest = np.finfo(np.float64).max
        return (
            np.maximum(self.lower - LIMIT_SLACK, -largest),
            np.minimum(self.upper + LIMIT_SLACK, largest),
        )

    def start_within(self, q: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
        """
        Return q with values that are far outside their limits moved to these.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            [rad or m]
        tolerance : float
            Excess that is kept [rad]; a tenth of it for values in [m].

        """
        within: NDArray[np.float64] = np.clip(q, self.lower, self.upper)
        if not tolerance or (within == q).all():
            return within
        far = np.abs(q - within) > tolerance * np.where(self.angular, 1.0, 0.1)
        start: NDArray[np.float64] = np.where(far, within, q)
        return start

    def with_outside(
        self, q: NDArray[np.float64], wanted: NDArray[np.float64], tolerance: float
    ) -> NDArray[np.float64]:
        """Return q with those values of `wanted` that are outside by at most the tolerance."""
        outside = (wanted < self.lower) | (wanted > self.upper)
        if not outside.any():
            return q
        kept = self.start_within(wanted, tolerance)
        mixed: NDArray[np.float64] = np.where(outside & (kept == wanted), wanted, q)
        return mixed

    @cached_property
    def angular(self) -> NDArray[np.bool_]:
        """Return True for each value in [rad], False for each in [m], (nq,)."""
        return np.array([dof.is_rotation for _, dof in self.solver.tree.owner], dtype=np.bool_)

    @cached_property
    def turning(self) -> NDArray[np.bool_]:
        """Return True for each unlimited angle, which sensors may report modulo 2 pi."""
        turning: NDArray[np.bool_] = self.angular & np.isinf(self.lower) & np.isinf(self.upper)
        return turning

    def nearest_turn(
        self, q: NDArray[np.float64], reference: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return q with every unlimited angle within half a turn of a reference."""
        if not self.turning.any():
            return q
        turns = np.round((reference - q) / (2.0 * np.pi))
        nearest: NDArray[np.float64] = q + np.where(self.turning, 2.0 * np.pi * turns, 0.0)
        return nearest

    @cached_property
    def goal_links(self) -> dict[str, str]:
        """Return the link of each goal."""
        return {goal.name: goal.link for goal in self.request.goals}

    @cached_property
    def mobility_count(self) -> MobilityCount:
        """Return the counter of degrees of freedom."""
        return MobilityCount(self.robot, self.solver)

    @property
    def mobility(self) -> int:
        """Return the last counted number of degrees of freedom."""
        return self.mobility_count.last

    @cached_property
    def helper(self) -> IKRootsHelper:
        """Return the helper that computes the shapes of the robot; created on first use."""
        return IKRootsHelper(self.robot, seen=lambda: link_visuals(self.robot))

    @cached_property
    def frame_prefix(self) -> str:
        """Return the prefix of link names in messages and on /tf."""
        request = self.request
        return prefix_of(request.frame_prefix, request.base_frame, self.robot.links)

    def frame(self, name: str) -> str:
        """Return the frame name of a link, with the prefix; any other name unchanged."""
        return frame_name(name, self.frame_prefix, self.robot.links)

    def link(self, frame_id: str) -> str:
        """Return the link name of a frame, without the prefix; any other name unchanged."""
        return own_name(frame_id, self.frame_prefix, self.robot.links)

    @property
    def root_frame(self) -> str:
        """Return the name of the root frame, with the prefix."""
        return self.frame(root_frame(self.robot))

    def reached(self, goal: str, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the pose (4, 4) of a goal's frame at `q`, in the root frame."""
        matrix: NDArray[np.float64] = self.robot.forward(q, self.goal_links[goal])
        offset = self.offsets.get(goal)
        return matrix if offset is None else matrix @ offset

    def start_from(self, other: LoadedModel, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """
        Return the start configuration when this model replaces another one at `q`.

        A robot with the same joints continues at `q`. Any other robot starts at the configuration
        of its description.
        """
        if self.joint_names != other.joint_names:
            return self.q_start.copy()
        return np.clip(q, self.lower, self.upper)


def offset_matrices(request: ModelRequest) -> dict[str, NDArray[np.float64]]:
    """Return the offsets of goals that are not the identity, as (4, 4) matrices."""
    return {
        goal.name: pose_matrix(goal.offset[:3], quat_xyzw_from_rpy(goal.offset[3:]))
        for goal in request.goals
        if any(goal.offset)
    }
