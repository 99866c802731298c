"""Measurement of the node's joint states for the demo, and its line per second."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
import statistics

from ik_node.model.closure import Closure
from ik_node.model.dof import DOF, DOF_NAMES, parse_dofs
from ik_node.model.request import request_of
from ik_node.model.residual import residual_rows
from ik_node.model.rotation import pose_matrix
from ik_node.robot import Robot
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Number of sent goals that are kept, because a joint state may belong to any of them.
_GOALS_KEPT = 20
_WORST = ('CONVERGED', 'STALLED', 'DIVERGED', 'TIMEOUT')


class DemoWatch:
    """
    The measurement of joint states by forward kinematics, independent of the node's reports.

    Parameters
    ----------
    robot : Robot
        The robot of the node, read a second time.
    goals : mapping of str to str
        Goal name to its link.
    dof : mapping of str to str, optional
        Goal name to its constrained axes; a goal that is not named has all six.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        Values of the last joint state [rad or m].

    """

    def __init__(
        self, robot: Robot, goals: dict[str, str], dof: Mapping[str, str] | None = None
    ) -> None:
        self._robot = robot
        self.q = robot.q
        self._goals = goals
        # For each goal, which of X Y Z EX EY EZ it constrains.
        self._flags = {
            name: np.isin(tuple(DOF), parse_dofs((dof or {}).get(name, DOF_NAMES)))
            for name in goals
        }
        self._order: dict[tuple[str, ...], NDArray[np.int64]] = {}
        self._sent: dict[str, deque[Array]] = {name: deque(maxlen=_GOALS_KEPT) for name in goals}
        self.converged = 0
        self.ticks = 0
        self._closures = list(robot.closures.values())
        self._begin_second()

    def _begin_second(self) -> None:
        self._seen = 0
        self._status = ''
        self._times: list[float] = []
        self._loop = 0.0
        self._goal = (0.0, 0.0)

    def sent(self, name: str, pose: Array) -> None:
        """Record a goal pose (4, 4) that was sent."""
        self._sent[name].append(pose)

    def saw_joints(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Measure the residuals of one joint state."""
        q = self.q
        q[self._indices(names)] = positions
        self._seen += 1
        self.ticks += 1
        for closure in self._closures:
            self._loop = max(self._loop, self._loop_gap(q, closure))
        for name, sent in self._sent.items():
            if sent:
                here = self._robot.forward(q, self._goals[name])
                nearest = min(_goal_error(here, goal, self._flags[name]) for goal in sent)
                self._goal = max(self._goal, nearest)

    def saw_status(self, status: str, solve_time: float) -> None:
        """Record one status of a chain; `solve_time` in [s]."""
        self.converged += status == 'CONVERGED'
        self._times.append(solve_time)
        if status in _WORST and (
            not self._status or _WORST.index(status) > _WORST.index(self._status)
        ):
            self._status = status

    def line(self, elapsed: float, interval: float) -> str:
        """Return the line about the last `interval` [s], and start the next interval."""
        solve = f'{1e3 * statistics.median(self._times):.3f}' if self._times else '-'
        text = (
            f'{elapsed:5.1f} s  {self._status or "no status":9}  {self._seen / interval:5.1f} Hz  '
            f'solve {solve} ms  loops <= {self._loop:.1e} m  '
            f'goal <= {self._goal[0]:.1e} m, {self._goal[1]:.1e} rad'
        )
        self._begin_second()
        return text

    def _loop_gap(self, q: Array, closure: Closure) -> float:
        """Return the norm of the translational residual of a loop closure [m]."""
        if not closure.child or not closure.parent:
            return 0.0
        on_child = closure.offset_matrix
        on_parent = pose_matrix(closure.position, closure.quaternion)
        rows = residual_rows(
            closure.kind,
            closure.axes,
            closure.dof_flags,
            closure.distance,
            self._robot.forward(q, closure.child.name) @ on_child,
            self._robot.forward(q, closure.parent.name) @ on_parent,
        )
        return float(np.linalg.norm(rows[: request_of(closure).metre_row_count]))

    def _indices(self, names: Sequence[str]) -> NDArray[np.int64]:
        key = tuple(names)
        if key not in self._order:
            own = {name: index for index, name in enumerate(self._robot.joint_names)}
            self._order[key] = np.array([own[name] for name in key], dtype=np.int64)
        return self._order[key]


def _goal_error(pose: Array, goal: Array, flags: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the norms of the residual of a goal: position [m] and orientation [rad]."""
    rows = residual_rows('frame', 'world', flags, 0.0, pose, goal)
    position, orientation = np.split(rows, [np.count_nonzero(flags[:3])])
    return float(np.linalg.norm(position)), float(np.linalg.norm(orientation))
