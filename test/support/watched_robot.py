"""A robot as a test knows it, and one in motion without ROS."""

from typing import Any
import xml.etree.ElementTree as ElementTree

import numpy as np


class Watched:
    """A robot as the test knows it: its limits, and the points of each loop read from the XML."""

    def __init__(self, text: str, root: str = 'fixed') -> None:
        from ik_node.robot import load_robot

        self.robot = load_robot(text, root=root)
        self.names = list(self.robot.joint_names)
        # Loops that a test has released.
        self.released: set[str] = set()
        self.loops = {}
        for loop in ElementTree.fromstring(text).iter('loop_joint'):
            ends = [loop.find('link1'), loop.find('link2')]
            self.loops[loop.get('name')] = [
                (end.get('link'), np.array([*map(float, end.get('xyz').split()), 1.0]))
                for end in ends
            ]

    def check(self, message: Any) -> np.ndarray:
        """Assert that a JointState is whole, within limits and closes all loops; return q."""
        q = np.array(message.position)
        assert np.isfinite(message.velocity).all(), f'velocity {message.velocity}'
        assert len(message.velocity) == len(q), f'{len(message.velocity)} velocities'
        self.check_q(q)
        return q

    def check_q(self, q: np.ndarray) -> None:
        assert np.isfinite(q).all(), f'q {q}'
        beyond = max((self.robot.lower - q).max(), (q - self.robot.upper).max())
        assert beyond <= 1e-9, f'{beyond} beyond a limit'
        for name in self.loops:
            gap = self.gap(name, q)
            assert name in self.released or gap < 2e-6, f'{name} is open by {gap}'

    def place(self, link: str, offset: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return a position [m], so far from where the description has a link."""
        return self.robot.forward(self.robot.q, link)[:3, 3] + np.asarray(offset)

    def motors(self, names: Any, link: str, offset: Any) -> dict[str, float]:
        """Return the values of joints that have a level link so far from its start."""
        from ik_node.solver import Solver, SolverOptions

        solver = Solver(self.robot, SolverOptions(restarts=0))
        q = solver.solve_pose({link: (self.place(link, offset), (0, 0, 0, 1))}).q
        return {name: float(q[self.names.index(name)]) for name in names}

    def gap(self, loop: str, q: Any) -> float:
        """Return how far a loop is open [m]."""
        (link_a, point_a), (link_b, point_b) = self.loops[loop]
        return float(
            np.linalg.norm(
                self.robot.forward(q, link_a) @ point_a - self.robot.forward(q, link_b) @ point_b
            )
        )


class Moving:
    """A robot in motion without ROS: its inputs are put in by hand, ticks are counted out."""

    def __init__(self, text: str, values: dict[str, Any]) -> None:
        from ik_node.ros.control.motion import Motion
        from ik_node.ros.inputs.inputs import GoalInbox, JointCommands, JointTargets, MeasuredState
        from ik_node.ros.loading import load_model, ModelRequest
        from ik_node.ros.parameters.settings import Settings

        self.goals, self.measured, self.targets = GoalInbox(), MeasuredState(), JointTargets()
        self.commands = JointCommands()
        self.values = {name.replace('__', '.'): value for name, value in values.items()}
        self.settings = Settings.from_values(self.values)
        self.now = 100.0
        self.model = load_model(ModelRequest.of(text, self.settings))
        self.watched = Watched(text)
        self.motion = Motion(self)
        self.motion.take_model(self.model, self.settings)
        self.tracker = self.motion.tracker

    # -- what Motion asks of its inputs

    def set_robot(self, model: Any, present_q: Any) -> None:
        self.measured.set_joint_names(model.joint_names)

    def forget(self) -> None:
        self.goals.clear()
        self.commands.clear()
        self.targets.forget()
        self.targets.apply(self.model.robot)

    # -- what a test does

    def configure(self, **values: Any) -> None:
        from ik_node.ros.parameters.settings import Settings

        self.values.update({name.replace('__', '.'): value for name, value in values.items()})
        self.settings = Settings.from_values(self.values)
        self.motion.apply(self.settings)

    def goal(self, name: str, offset: Any) -> np.ndarray:
        position = self.model.reached(name, self.model.q_start)[:3, 3] + np.array(offset)
        self.goals.put(name, (tuple(position.tolist()), (0.0, 0.0, 0.0, 1.0)), self.now)
        return position

    def command(self, **parts: dict[str, float]) -> None:
        from ik_node.ros.messages import JointValues

        values = [parts.get(part, {}) for part in ('positions', 'velocities', 'efforts')]
        self.commands.put(JointValues(*values), self.now)
        self.goals.clear()

    def measure(self, **values: float) -> None:
        self._update(self.now, values)

    def answer(self, stamp: float, **values: float) -> Any:
        """Have joint values measured at a time arrive now; return the report on them."""
        self._update(min(stamp, self.now), values)
        return self.motion.answer(self.tracker, list(values), self.settings, stamp, self.now)

    def _update(self, time: float, positions: dict[str, float]) -> None:
        from ik_node.ros.messages import JointValues

        self.measured.update(JointValues(positions), time)

    def tick(self, seconds: float = 0.01) -> tuple[Any, Any]:
        self.now += seconds
        return self.motion.tick(self.tracker, self.settings, self.now)

    def ticks(self, count: int) -> tuple[Any, Any]:
        for _ in range(count):
            outcome = self.tick()
        return outcome

    def of(self, stamp: float) -> float:
        return stamp or self.now

    def mobility(self) -> int:
        return self.model.count_mobility(self.tracker.q)

    def value(self, joint: str, q: Any = None) -> float:
        """Return a joint's value, the present one unless told."""
        q = self.tracker.q if q is None else q
        return float(q[self.model.joint_names.index(joint)])
