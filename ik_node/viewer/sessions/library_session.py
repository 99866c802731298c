"""A session that solves with the library in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import time
from typing import Any, NamedTuple

from ik_node.description.description import Names
from ik_node.description.files import description_path
from ik_node.errors import OptionError
from ik_node.gallery import gallery_item
from ik_node.gallery.gallery_item import Terrain
from ik_node.model.constraint import Goal
from ik_node.model.dof import parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.joint import save_rest_pose
from ik_node.model.rotation import pose_matrix, quat_identity
from ik_node.robot import load_robot, Robot
from ik_node.scene.chain_report import ChainReport
from ik_node.solver.options import COST_METHODS, SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.result import SolveResult
from ik_node.solver.solver import ANY_STEP, Solver
from ik_node.solver.status import Status
from ik_node.viewer.sessions.goal_memory import GoalMemory, restore_goals
from ik_node.viewer.sessions.session import Ground, Knob, Session
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def gallery_session(name: str, robot: Robot | None = None, **options: Any) -> LibrarySession:
    """
    Return a session for a robot of the gallery, with its goals and its motion.

    `robot` is that robot if it is loaded already, `options` are further ones of the solver.
    """
    item = gallery_item(name)
    robot = robot or load_robot(description_path(item.description))
    moves, base = item.moves(robot), robot.roots[0]

    def motion(moment: float) -> dict[str, Array]:
        if item.base_motion is None:
            return moves(moment)
        base.set_pose(item.base_motion(moment))
        return moves(0.0)

    terrain = None if item.ground is None else Terrain(item.ground, item.standing)
    tilted = None if item.base_motion is None else base
    chosen = dataclasses.replace(OPTIONS, **{**item.solver_options, **options})
    return LibrarySession(robot, motion, chosen, terrain=terrain, base=tilted)


# Returns the root-frame pose (4, 4) of each goal at a time [s].
Motion = Callable[[float], dict[str, Array]]

# No restarts, because a restart during a drag could jump to another assembly branch.
OPTIONS = SolverOptions(restarts=0)

# Solves per update until the wheels stand on the ground, and the remaining error [m].
SETTLES, SETTLED = 10, 1e-5
TERRAIN, TILT = 'terrain height', 'base tilt [deg]'


class Memory(NamedTuple):
    """The state that `restore` restores."""

    q: Array
    goals: list[GoalMemory]
    targets: dict[str, list[float]]  # of the joints that have targets
    closed: dict[str, bool]  # whether each closure is enabled
    knobs: dict[str, float]  # numbers of the scene
    locked: set[str]  # joint values that the solver must not move


class LibrarySession(Session):
    """
    A `Session` that solves with the library, and changes the joint values of a robot.

    `motion` moves its goals while playing, `terrain` is the ground on which links stand, and
    `base` the root link, if users can tilt it.
    """

    robot: Robot
    _solver: Solver
    solves = True

    def __init__(
        self,
        robot: Robot,
        motion: Motion | None = None,
        options: SolverOptions = OPTIONS,
        *,
        terrain: Terrain | None = None,
        base: Frame | None = None,
    ) -> None:
        self.robot = robot
        self.motion = motion
        self.can_play = motion is not None
        self.terrain = terrain
        self.base = base
        self._tilt = 0.0
        self._solver: Solver = Solver(robot, options)
        self._comfort = options.comfort
        self._solver.warm()
        self._start = self.remember()
        self._clock: tuple[float, float] | None = None  # time of last update, time of the motion
        self._driven: dict[str, float] = {}
        self._stale, self._taking = True, False
        self._seen = self._state()

    @property
    def q(self) -> Array:
        """Return the present configuration."""
        return self._solver.q

    def update(self, now: float) -> bool:
        """
        Solve if anything has changed since the last update; return True if it has.

        A solve that ended at its limit of iterations goes on in the next update.
        """
        self._play(now)
        self._notice()
        if not self._stale:
            return False
        self._stale = False
        if not self._taking:
            self.solutions = None
        self._taking = False
        if self.forward:
            solution = self._solver.drive(self._driven)
            self._driven = {}
            self._solver.accept(solution)
            for goal in self.robot.goals.values():
                self._carry(goal)
            results = list(solution.chains)
        elif not self.solving:
            self._seen = self._state()
            return True
        else:
            results = self._solve()
        self.reports = [ChainReport.of(result) for result in results]
        self._seen = self._state()
        return True

    def _notice(self) -> None:
        """Notice what the program that owns the robot has changed since the last solve."""
        state = self._state()
        if state != self._seen:
            self._stale = True
            self.structure += state[0] != self._seen[0]
            self._seen = state

    def _state(self) -> tuple[list[str], list[bytes | bool]]:
        """Return the names of the goals, and everything else that may change without a call."""
        goals = self.robot.goals
        poses = [goal.matrix_world.tobytes() for goal in goals.values()]
        return list(goals), [self._solver.q.tobytes(), *poses, self.solving, self.strict]

    def _solve(self) -> list[SolveResult]:
        """Solve, with the standing links on the ground."""
        before = self._solver.q
        for _ in range(SETTLES):
            heights = self._heights()
            for goal, height in heights.items():
                pose = (goal.child or goal).matrix_world.copy()
                pose[2, 3] = height
                self._place(goal, pose)
            results = self._step()
            if all(abs(each - heights[goal]) < SETTLED for goal, each in self._heights().items()):
                break
        statuses = {result.status for result in results}
        if self.strict and statuses - {Status.CONVERGED}:
            self._solver.q = before
        else:
            # Among bodies, a step goes on where it was shortened.
            moves = self._avoids and np.abs(self._solver.q - before).max(initial=0.0) > SETTLED
            self._stale = Status.TIMEOUT in statuses or (moves and statuses != {Status.CONVERGED})
        return results

    @property
    def _avoids(self) -> bool:
        return self.robot.collisions.avoided(self.options.avoid_collisions)

    def _step(self) -> list[SolveResult]:
        """Solve once; if bodies are avoided, on a way without contact."""
        if not self._avoids:
            return self._solver.solve()
        goals = {name: None for name, goal in self.robot.goals.items() if goal.enabled}
        solution = self._solver.solve_pose(goals, max_step=np.full(len(self.q), ANY_STEP))
        self._solver.accept(solution)
        return list(solution.chains)

    def _heights(self) -> dict[Goal, float]:
        """Return the heights of the goals of standing links for their present places [m]."""
        return {} if self.terrain is None else self.terrain.heights(self.robot)

    def _play(self, now: float) -> None:
        """Advance the time of the motion and move the goals."""
        before, played = self._clock or (now, 0.0)
        if not (self.playing and self.motion is not None) or self.forward:
            self._clock = (now, played)
            return
        self._clock = (now, played + now - before)
        for name, pose in self.motion(played + now - before).items():
            if name in self.robot.goals:
                self._place(self.robot.goals[name], pose)
        self._stale = True

    # -- numbers of the scene

    @property
    def knobs(self) -> Sequence[Knob]:
        """Return the numbers of the scene that users can change."""
        knobs = []
        if self.terrain is not None:
            text = 'factor of the height of the bumps; the wheels follow'
            knobs.append(Knob(TERRAIN, 0.0, 2.0, 0.05, self.terrain.scale, text))
        if self.base is not None:
            text = 'about x; the goals stay in place'
            knobs.append(
                Knob(TILT, -17.0, 17.0, 0.5, round(float(np.degrees(self._tilt)), 6), text)
            )
        return knobs

    def set_knob(self, name: str, value: float) -> None:
        """Change a number of the scene; raise OptionError if there is none of that name."""
        if name == TERRAIN and self.terrain is not None:
            self.terrain = self.terrain._replace(scale=value)
        elif name == TILT and self.base is not None:
            self._tilt = float(np.radians(value))
            half = 0.5 * self._tilt
            self.base.set_quaternion(np.sin(half), 0.0, 0.0, np.cos(half))
        else:
            super().set_knob(name, value)
        self._stale = True

    @property
    def ground(self) -> Ground | None:
        """Return the ground on which the robot stands, another object if it changes; or None."""
        return None if self.terrain is None else self.terrain.height

    # -- all solutions

    def take_solution(self, number: int) -> None:
        """Move the robot to one of the solutions, which stay."""
        if self.solutions is not None:
            self._solver.q = self.solutions.q[number]
            self._stale = self._taking = True

    # -- goals

    def release_goal(self, name: str) -> None:
        """Move a goal to the pose that its link has reached."""
        self.update(time.monotonic())
        self._carry(self.robot.goals[name])
        self._stale = True

    def move_goal(self, name: str, position: ArrayLike, quat_xyzw: ArrayLike) -> None:
        """Set the pose of a goal, root frame [m]."""
        x, y, z, *quat = unit_pose(name, (position, quat_xyzw))
        self._place(self.robot.goals[name], pose_matrix((x, y, z), quat))
        self._stale = True

    def add_goal(self, link: str, dof: str, point: Array | None = None) -> str:
        """Add a goal at a link's frame, or at a point of the link, root frame [m]."""
        name = Names((*self.robot.goals, *self.robot.closures)).unique(link)
        offset = None
        if link in self.robot.links:
            offset = (self._offset_in_link(self.robot.links[link], point), quat_identity())
        self.robot.add_goal(link, name=name, dof=dof, offset=offset)
        self._anew()
        return name

    def move_offset(self, name: str, point: Array | None = None) -> None:
        """Move a goal to a point of its link, root frame [m], or to the link's frame."""
        goal = self.robot.goals[name]
        if goal.child is not None:
            goal.set_offset(self._offset_in_link(goal.child, point), goal.offset_quaternion)
            self._carry(goal)
            self._anew()

    def remove_goal(self, name: str) -> None:
        """Remove a goal."""
        self.robot.remove_goal(name)
        self._anew()

    def change_goal(
        self, name: str, *, dof: str | None = None, enabled: bool | None = None
    ) -> None:
        """Change the constrained axes of a goal, or enable or disable it."""
        goal = self.robot.goals[name]
        if enabled is not None:
            goal.enabled = enabled
        if dof is not None:
            goal.set_goal_dof(*parse_dofs(dof))
            self._anew()
        self._stale = True

    def set_closure(self, name: str, enabled: bool) -> None:
        """Enable or disable a closure."""
        self.robot.closures[name].enabled = enabled
        self._stale = True

    # -- joints

    def set_forward(self, forward: bool) -> None:
        """Switch between forward mode and inverse mode, in which goals start at their links."""
        self.forward = forward
        self._driven = {}
        self._stale = True

    def set_locked(self, name: str, locked: bool) -> None:
        """Lock a joint value, or unlock it."""
        for joint in self.robot.joint_order:
            for dof in joint.dof:
                if joint.value_name(dof) == name:
                    (joint.lock if locked else joint.unlock)(dof)
        self._stale = True

    def set_joint(self, name: str, value: float) -> None:
        """Move a joint with closed loops; for an actuated joint, hold the other actuated ones."""
        if not self.forward:
            raise OptionError(
                'joint', name, '`solve from joints` to move joints: now the goals lead'
            )
        motors = {
            value for name in self.robot.actuated for value in self.robot.joints[name].value_names
        }
        held = motors if name in motors else set()
        present = zip(self.robot.joint_names, self.q.tolist(), strict=True)
        self._driven = {**{n: v for n, v in present if n in held}, **self._driven, name: value}
        self._stale = True

    def reset(self) -> None:
        """Restore the initial state; this can be undone."""
        self.restore(self._start)
        self._clock = None

    def save_rest_pose(self) -> None:
        """Make the present configuration the rest pose."""
        for root in self._solver.roots:
            save_rest_pose(root)
        self._stale = True

    # -- options

    def set_option(self, name: str, value: Any) -> None:
        """Change an option of the solver; `comfort` is used only by methods that support it."""
        options = dataclasses.replace(self._solver.options, comfort=None)
        options = dataclasses.replace(options, **{name: value})
        if options.method in COST_METHODS:
            options = dataclasses.replace(options, comfort=self._comfort)
        self._solver.options = options
        self._stale = True

    # -- back

    def remember(self) -> Memory:
        """Return the configuration, the goals, the joint targets and the enabled closures."""
        goals = [GoalMemory.of(goal) for goal in self.robot.goals.values()]
        joints = [joint for joint in self.robot.joint_order if joint.target_set]
        targets = {joint.name: joint.dof_target[joint.dof].tolist() for joint in joints}
        closed = {name: each.enabled for name, each in self.robot.closures.items()}
        knobs = {knob.name: knob.value for knob in self.knobs}
        return Memory(self.q, goals, targets, closed, knobs, self.locked)

    def restore(self, memory: Memory) -> None:
        """Restore a state that `remember` returned."""
        if restore_goals(self.robot, memory.goals):
            self._anew()
        for joint in self.robot.joint_order:
            if joint.name in memory.targets:
                joint.set_target_values(*memory.targets[joint.name])
            else:
                joint.target_set = False
        for name, closed in memory.closed.items():
            self.robot.closures[name].enabled = closed
        for name in self.locked ^ memory.locked:
            self.set_locked(name, name in memory.locked)
        for name, value in memory.knobs.items():
            self.set_knob(name, value)
        self._solver.q = memory.q
        self._stale = True

    # -- within

    def _anew(self) -> None:
        self.structure += 1
        self._stale = True

    def _carry(self, goal: Goal) -> None:
        """Move a goal of kind frame to its link."""
        if goal.kind == 'frame' and goal.child is not None:
            offset = goal.offset_matrix
            self._place(goal, goal.child.matrix_world @ offset)
