"""A robot with its goals and a solver that is ready for the first tick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ik_node.analysis.mobility import mobility_of
from ik_node.description.mesh_path import mesh_path, Visual
from ik_node.description.visuals import visuals_of
from ik_node.errors import TopologyError
from ik_node.model.link import Link
from ik_node.model.rotation import Array, pose_matrix
from ik_node.robot import Robot
from ik_node.ros.messages.convert import quat_xyzw_from_rpy
from ik_node.ros.messages.names import frame_in_root, frame_name, own_name, prefix_of, root_frame
from ik_node.ros.parameters.settings import GoalSettings, Settings
from ik_node.scene import IKRootsHelper
from ik_node.solver import Solver
from ik_node.solver.problem.joint_table import LIMIT_SLACK
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ModelRequest:
    """A description and all settings that its solver depends on."""

    text: str  # The robot description; '' if there is a file.
    settings: Settings
    # Closure annotations, a path or text; '' = those in the description.
    closures: str

    @classmethod
    def of(cls, text: str, settings: Settings) -> ModelRequest:
        """Return the request for a description under these settings."""
        return cls(text, settings, settings.closures)

    def changed(self, settings: Settings) -> ModelRequest:
        """Return the request for the same description and closures under other settings."""
        return replace(self, settings=settings)

    @property
    def goals(self) -> tuple[GoalSettings, ...]:
        """Return the goals that have a link."""
        return self.settings.active_goals

    def builds_same(self, other: ModelRequest | None) -> bool:
        """Return True if both requests build the same model."""
        return other is not None and self.builds_same_robot(other) and self._rest == other._rest

    def builds_same_robot(self, other: ModelRequest) -> bool:
        """Return True if both requests build the same robot and loops, whatever the goals."""
        mine, others = ((r.text, r.closures, r.settings.root) for r in (self, other))
        return mine == others

    @property
    def _rest(self) -> tuple[object, ...]:
        """Return the other settings that need a new solver when they change."""
        goals = tuple(goal.structure for goal in self.goals)
        return goals, self.settings.base_frame, self.settings.frame_prefix


# Published configurations close their loops at least this well [m or rad].
LOOP_TOLERANCE = 1e-6
# A robot whose loops are open by more than this is refused [m or rad]; careless numbers in a
# description open them by less.
LARGEST_ROUNDING = 1e-3


def loop_limits(robot: Robot) -> dict[str, float]:
    """
    Return the residual [m or rad] up to which each loop of an assembled robot counts as closed.

    Rounded numbers in a description leave redundant loops open. The limit of such a loop is the
    effect of the rounding, or twice the residual after assembly; `robot.notes` says so. A
    tolerance of a closure is its limit. Raise TopologyError if a loop is open by more than that;
    the message names the worst loop.
    """
    result = robot.assembly
    if result is None:
        return {}
    loose = {name: each.allowance(name) for each in robot.redundancies for name in each.misfit}
    limits = {}
    for name, residual in result.closure_errors.items():
        # A sum of joints has a row, but no closure.
        closure = robot.closures.get(name)
        stated = None if closure is None else closure.tolerance
        limits[name] = max([LOOP_TOLERANCE, *(stated or ())])
        left = max(residual)
        if name in loose:
            if left > limits[name]:
                robot.notes.append(
                    f'loop {name!r} stays {left:.3g} open [m or rad]: its redundant rows disagree '
                    'by the rounding of the description; the solver meets them as well as possible'
                )
            limits[name] = max(limits[name], LOOP_TOLERANCE + max(loose[name]))
        if left <= limits[name]:
            continue
        if not left <= LARGEST_ROUNDING or stated is not None:
            raise TopologyError(
                f'the loops of robot {robot.name!r} cannot be closed: '
                f'{result.worst!r} stays '
                f'{max(result.closure_errors[result.worst]):.3g} open [m or rad] '
                f'({result.message})'
            )
        limits[name] = 2.0 * left
        robot.notes.append(
            f'loop {name!r} stays {left:.3g} open [m or rad], more than the digits of the '
            'description explain: the node moves the robot, but no answer is CONVERGED before the '
            'loop has a `tolerance`'
        )
    return limits


class MobilityCount:
    """
    A counter of degrees of freedom, which counts once for each set of closures and locks.

    Counting takes a millisecond with six loops and a tenth of a second with a hundred. The number
    is the same in nearly every configuration.
    """

    def __init__(self, robot: Robot, solver: Solver) -> None:
        self._robot = robot
        self._solver = solver
        self._known: dict[object, int] = {}
        self.last = 0  # The last counted number.

    def at(self, q: Array) -> int:
        """Return the number, counted at `q` (loops closed, [rad or m]) unless it is known."""
        held = self._held()
        if held not in self._known:
            self._known[held] = int(mobility_of(self._solver, self._robot.closures, q))
        self.last = self._known[held]
        return self.last

    def _held(self) -> object:
        robot = self._robot
        return (
            frozenset(name for name, closure in robot.closures.items() if closure.enabled),
            frozenset(
                name
                for joint in robot.joint_order
                for name, dof in zip(joint.value_names, joint.dof, strict=True)
                if joint.locked[dof]
            ),
        )


def link_visuals(robot: Robot) -> list[Visual]:
    """Return the visuals of a robot with meshes as URLs; missing meshes are left out."""
    result = []
    for visual in visuals_of(robot.description):
        if visual.kind != 'mesh' or visual.file.startswith('package://'):
            result.append(visual)  # a package is found where the viewer runs
            continue
        path = mesh_path(visual.file, visual.source)
        if path is not None:
            result.append(replace(visual, file=path.resolve().as_uri()))
    return result


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """The robot, its solver and constant arrays; replaced as a whole by the next model."""

    request: ModelRequest  # The request that the model was built from.
    robot: Robot  # The robot, with the goals of the request.
    solver: Solver  # The solver of the robot, with kernels loaded.
    # Goal name to the pose of its frame in its link, for poses other than the identity, (4, 4).
    offsets: Mapping[str, Array]
    # Configuration of the description with closed loops (nq,) [rad or m].
    q_start: Array
    joint_names: tuple[str, ...]  # Names of the values of q.
    # Limits of positions (nq,) [rad or m] and velocities [rad/s or m/s]; infinite if there is
    # none.
    lower: Array
    upper: Array
    max_velocity: Array
    # Residual up to which each loop counts as closed [m or rad].
    loop_limits: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ModelRequest, robot: Robot) -> LoadedModel:
        """Return the model of a robot; TopologyError if a loop is open by more than rounding."""
        limits = loop_limits(robot)
        return cls(
            request=request,
            robot=robot,
            solver=Solver(robot, request.settings.tick_options),
            offsets=offset_matrices(request),
            q_start=robot.q,
            joint_names=tuple(robot.joint_names),
            lower=np.array(robot.lower),
            upper=np.array(robot.upper),
            max_velocity=np.array(robot.max_velocity),
            loop_limits=limits,
        )

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Return limits (nq,), widened by `LIMIT_SLACK`; the largest float if there is none."""
        largest = np.finfo(np.float64).max
        return (
            np.maximum(self.lower - LIMIT_SLACK, -largest),
            np.minimum(self.upper + LIMIT_SLACK, largest),
        )

    def start_within(self, q: Array, tolerance: float) -> Array:
        """Return q with values outside by more than `tolerance` [rad, a tenth in m] inside."""
        within: Array = np.clip(q, self.lower, self.upper)
        if not tolerance or (within == q).all():
            return within
        far = np.abs(q - within) > tolerance * np.where(self.angular, 1.0, 0.1)
        start: Array = np.where(far, within, q)
        return start

    def with_outside(self, q: Array, target: Array, tolerance: float) -> Array:
        """Return q with those values of `target` that are outside by at most the tolerance."""
        outside = (target < self.lower) | (target > self.upper)
        if not outside.any():
            return q
        kept = self.start_within(target, tolerance)
        mixed: Array = np.where(outside & (kept == target), target, q)
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

    def nearest_turn(self, q: Array, reference: Array) -> Array:
        """Return q with every unlimited angle within half a turn of a reference."""
        if not self.turning.any():
            return q
        turns = np.round((reference - q) / (2.0 * np.pi))
        nearest: Array = q + np.where(self.turning, 2.0 * np.pi * turns, 0.0)
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
        return IKRootsHelper(self.solver, seen=lambda: link_visuals(self.robot))

    @cached_property
    def has_transforms(self) -> bool:
        """Return True if links move in ways that joint states cannot express."""
        return self.request.settings.root != 'fixed' or bool(multi_dof_joint_links(self.robot))

    @cached_property
    def frame_prefix(self) -> str:
        """Return the prefix of link names in messages and on /tf."""
        settings = self.request.settings
        return prefix_of(settings.frame_prefix, settings.base_frame, self.robot.links)

    def frame(self, name: str) -> str:
        """Return the frame name of a link, with the prefix; any other name unchanged."""
        return frame_name(name, self.frame_prefix, self.robot.links)

    def link(self, frame_id: str) -> str:
        """Return the link name of a frame, without the prefix; any other name unchanged."""
        return own_name(frame_id, self.frame_prefix, self.robot.links)

    def pose_of_frame(
        self, frame_id: str, base_frame: str, q: Array, lookup: Callable[[str, str], Array]
    ) -> Array | None:
        """Return the pose (4, 4) of a message's frame in the root frame, see `frame_in_root`."""
        return frame_in_root(frame_id, base_frame, self.robot, q, lookup, self.frame_prefix)

    @property
    def root_frame(self) -> str:
        """Return the name of the root frame, with the prefix."""
        return self.frame(root_frame(self.robot))

    def reached(self, goal: str, q: Array) -> Array:
        """Return the pose (4, 4) of a goal's frame at `q`, in the root frame."""
        matrix: Array = self.robot.forward(q, self.goal_links[goal])
        offset = self.offsets.get(goal)
        return matrix if offset is None else matrix @ offset

    def start_from(self, other: LoadedModel, q: Array) -> Array:
        """Return `q` if another model has the same joints, or else the own start."""
        if self.joint_names != other.joint_names:
            return self.q_start.copy()
        return np.clip(q, self.lower, self.upper)


def multi_dof_joint_links(robot: Robot) -> list[tuple[str, str]]:
    """Return the parent and child links of each joint with several DoF."""
    return [
        (joint.parent.name, joint.child.name)
        for joint in robot.joint_order
        if len(joint.dof) > 1 and isinstance(joint.parent, Link) and joint.child is not None
    ]


def offset_matrices(request: ModelRequest) -> dict[str, Array]:
    """Return the offsets of goals that are not the identity, as (4, 4) matrices."""
    return {
        goal.name: pose_matrix(goal.offset[:3], quat_xyzw_from_rpy(goal.offset[3:]))
        for goal in request.goals
        if any(goal.offset)
    }
