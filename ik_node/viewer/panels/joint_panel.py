"""The panel of joint sliders."""

from __future__ import annotations

from collections.abc import Iterable
import itertools
import json
from math import floor, isfinite, log10, pi
import time
from typing import Any

from ik_node.analysis.link_motion import motor_values
from ik_node.errors import plain
from ik_node.robot import Robot
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.sessions.session import Session
import numpy as np


def configuration_yaml(names: Iterable[str], values: Iterable[float]) -> str:
    """
    Return joint values as a YAML mapping, with one joint per line.

    The parameters `rest_pose` and `joint_targets` of the node accept this format.
    """
    lines = []
    for name, value in zip(names, values, strict=True):
        # YAML 1.1 reads `no` without quotes as False, and 1e-07 as text.
        number = np.format_float_positional(round(value, 9) + 0.0, trim='0')
        lines.append(f'{json.dumps(name, ensure_ascii=False)}: {number}\n')
    return ''.join(lines) or '{}\n'


# After the user has moved a slider, the page does not change it for this time [s].
LEFT_ALONE = 0.4


class JointPanel:
    """Sliders that show the joint values and set them in forward mode, and the values as YAML."""

    def __init__(self, gui: Any, queue: SessionQueue) -> None:
        self._gui = gui
        self._queue = queue
        self._robot: Robot | None = None
        self._folders: list[Any] = []
        self._sliders: list[_Slider] = []
        self._locks: dict[str, Any] = {}
        self._names: list[str] = []
        self._hint = gui.add_markdown('Goals lead: choose **solve from joints** to move joints.')
        hint = 'joints drift to where they are now'
        by_hand(
            gui.add_button('Save rest pose', color='gray', hint=hint),
            lambda _: queue.do(lambda s: s.save_rest_pose()),
        )
        # Below all joints.
        self._yaml = gui.add_text('as YAML', '', multiline=True, order=1e9)

    def rebuild(self, robot: Robot) -> None:
        """Add a slider for every joint value of another robot, actuated ones first."""
        if robot is self._robot:
            return
        self._robot = robot
        for folder in self._folders:
            folder.remove()
        self._names, motors = robot.joint_names, motor_values(robot)
        followers = {name for name in self._names if robot._master_of(name)}
        self._sliders, self._folders = [], []
        rows = [*zip(itertools.count(), self._names, robot.lower.tolist(), robot.upper.tolist())]
        turns = [dof.is_rotation for joint in robot.joint_order for dof in joint.dof]
        for label, chosen in (
            ('motors' if robot.actuated else 'joints', [row for row in rows if row[1] in motors]),
            ('other joints', [row for row in rows if row[1] not in motors]),
        ):
            if not chosen:
                continue
            folder = self._gui.add_folder(label, expand_by_default=label != 'other joints')
            self._folders.append(folder)
            with folder:
                self._sliders += [
                    _Slider(self._gui, self._queue, row, turns[row[0]], row[1] in followers)
                    for row in chosen
                ]
        folder = self._gui.add_folder('lock joints', expand_by_default=False)
        self._folders.append(folder)
        with folder:
            lockable = [name for name in self._names if name in motors - followers]
            self._locks = {name: self._add_lock(name) for name in lockable}

    def refresh(self, session: Session) -> None:
        """Show the configuration, and which joints are locked."""
        now, q, forward, locked = time.monotonic(), session.q, session.forward, session.locked
        for slider in self._sliders:
            slider.refresh(float(q[slider.place]), now, forward and slider.name not in locked)
        for name, handle in self._locks.items():
            handle.value = name in locked
        self._hint.visible = not forward
        self._yaml.value = configuration_yaml(self._names, q.tolist())

    def _add_lock(self, name: str) -> Any:
        return by_hand(
            self._gui.add_checkbox(plain(name), False),
            lambda value: self._queue.do(lambda s: s.set_locked(name, value), undo=True),
        )


class _Slider:
    """The slider of a joint value."""

    def __init__(
        self,
        gui: Any,
        queue: SessionQueue,
        row: tuple[int, str, float, float],
        turns: bool,
        follows: bool,
    ) -> None:
        self.place, name, low, high = row
        self.name = name
        widest = pi if turns else 1.0
        self._low = low if isfinite(low) else min(-widest, high - 2.0 * widest)
        self._high = high if isfinite(high) else max(widest, self._low + 2.0 * widest)
        self._touched = -LEFT_ALONE
        self._follows = follows
        unit = 'rad' if turns else 'm'
        self._handle = gui.add_slider(
            f'{plain(name)} [{unit}]',
            self._low,
            self._high,
            step=10.0 ** (floor(log10(min(max(self._high - self._low, 1e-6), 1.0))) - 3),
            initial_value=self._low,
            disabled=True,
            hint=f'from {low:g} to {high:g}' + (', follows another joint' if follows else ''),
        )

        def moved(value: float) -> None:
            self._touched = time.monotonic()
            queue.do(
                lambda session: session.set_joint(name, value), key=('joint', name), undo=True
            )

        by_hand(self._handle, moved)

    def refresh(self, value: float, now: float, moves: bool) -> None:
        """Show a value, and whether the slider moves it."""
        disabled = self._follows or not moves
        if self._handle.disabled != disabled:
            self._handle.disabled = disabled
        if now - self._touched < LEFT_ALONE:
            return
        # A joint without limits can have any value.
        if value < self._low:
            self._low = self._handle.min = value - 1.0
        if value > self._high:
            self._high = self._handle.max = value + 1.0
        self._handle.value = round(value, 6)
