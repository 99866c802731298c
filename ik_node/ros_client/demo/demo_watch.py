"""What the demo sees of the node, and its line a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
import statistics

from ik_node.model.closure import Closure
from ik_node.model.dof import parse_dofs
from ik_node.model.rotation import matrix_to_quat, pose_matrix, quat_to_rotation_vector
from ik_node.robot import Robot
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Goals sent so long ago may still be the one that a joint state solves.
_GOALS_KEPT = 20
_ALL = 'X Y Z EX EY EZ'
_AXES = parse_dofs(_ALL)
_WORST = ('CONVERGED', 'STALLED', 'DIVERGED', 'TIMEOUT')


class DemoWatch:
    """
    Measure the joint states by the robot's own kinematics, not by what the node says of them.

    Parameters
    ----------
    robot : Robot
        The one that the node was given, read a second time.
    goals : mapping of str to str
        Goal's name to its link.
    dof : mapping of str to str, optional
        Goal's name to the axes that are asked for; all six of a goal that is not named.

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
        asked = {name: parse_dofs((dof or {}).get(name, _ALL)) for name in goals}
        self._asked = {name: np.isin(_AXES, axes).reshape(2, 3) for name, axes in asked.items()}
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
        """Note a goal that was sent, 4x4."""
        self._sent[name].append(pose)

    def saw_joints(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Measure one joint state."""
        q = self.q
        q[self._indices(names)] = positions
        self._seen += 1
        self.ticks += 1
        for closure in self._closures:
            self._loop = max(self._loop, self._gap(q, closure))
        for name, sent in self._sent.items():
            if sent:
                here = self._robot.forward(q, self._goals[name])
                nearest = min(_distance(here, goal, self._asked[name]) for goal in sent)
                self._goal = max(self._goal, nearest)

    def saw_status(self, status: str, solve_time: float) -> None:
        """Note one status of a chain; `solve_time` in [s]."""
        self.converged += status == 'CONVERGED'
        self._times.append(solve_time)
        if status in _WORST and (
            not self._status or _WORST.index(status) > _WORST.index(self._status)
        ):
            self._status = status

    def line(self, elapsed: float, interval: float) -> str:
        """Return the line on the last `interval` seconds, and begin the next."""
        solve = f'{1e3 * statistics.median(self._times):.3f}' if self._times else '-'
        text = (
            f'{elapsed:5.1f} s  {self._status or "no status":9}  {self._seen / interval:5.1f} Hz  '
            f'solve {solve} ms  loops <= {self._loop:.1e} m  '
            f'goal <= {self._goal[0]:.1e} m, {self._goal[1]:.1e} rad'
        )
        self._begin_second()
        return text

    def _gap(self, q: Array, closure: Closure) -> float:
        """Return how far apart a loop's two points are on the axes on which they are to meet."""
        if not closure.child or not closure.parent:
            return 0.0
        point = self._robot.forward(q, closure.child.name) @ [*closure.offset_position, 1.0]
        above = self._robot.forward(q, closure.parent.name)
        there = above @ pose_matrix(closure.position, closure.quaternion)
        gap = there[:3, :3].T @ (point[:3] - there[:3, 3])
        if closure.kind == 'distance':
            return abs(float(np.linalg.norm(gap)) - closure.distance)
        return float(np.linalg.norm(gap[closure.dof_flags[:3]]))

    def _indices(self, names: Sequence[str]) -> NDArray[np.int64]:
        key = tuple(names)
        if key not in self._order:
            own = {name: index for index, name in enumerate(self._robot.joint_names)}
            self._order[key] = np.array([own[name] for name in key], dtype=np.int64)
        return self._order[key]


def _distance(pose_a: Array, pose_b: Array, asked: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad] between two poses, on the axes asked for."""
    move = (pose_a[:3, 3] - pose_b[:3, 3])[asked[0]]
    if asked[1].all():
        difference = pose_a[:3, :3] - pose_b[:3, :3]
        # |A - B| in the Frobenius norm is sqrt(8) sin(angle / 2): exact near zero, unlike arccos.
        sine = min(float(np.linalg.norm(difference)) / np.sqrt(8.0), 1.0)
        return float(np.linalg.norm(move)), 2.0 * float(np.arcsin(sine))
    if not asked[1].any():
        return float(np.linalg.norm(move)), 0.0
    turn = quat_to_rotation_vector(matrix_to_quat(pose_a[:3, :3] @ pose_b[:3, :3].T))
    return float(np.linalg.norm(move)), float(np.linalg.norm(turn[asked[1]]))
