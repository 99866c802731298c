"""The panel of the load on a link and of the efforts that hold it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

from ik_node.errors import IkError, plain
from ik_node.robot import Robot
from ik_node.transmission.motor_load import Load, MotorEffort, MotorStatics, NEAR, statement
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.panels.text_html import box, explain, line, ORANGE, RED, short, table
from ik_node.viewer.sessions.session import Array, Session
import numpy as np

# Length of the arrow of the first load, as a multiple of a gizmo's arrows.
ARROW = 1.5
# Largest number of digits of the inputs: of forces [N], and of positions [m].
FORCE_STEP, POINT_STEP = 1e-3, 1e-4
# Share of the limit above which an effort is marked as high, and number of listed motors.
HIGH, MOST = 0.8, 40
SHOW, LINK = 'show a load', 'on link'
HINT = (
    'Drag the ball at the tip of the arrow to change the force, and the ball on its shaft to move '
    'the load along its link.'
)


def quantity(value: float, unit: str) -> str:
    """Return a number with three digits and its unit."""
    return f'{short(round(value, 3) + 0.0)} {unit}'


def efforts_html(efforts: Sequence[MotorEffort]) -> str:
    """Return a row for each motor with its effort and its share of the limit, red beyond it."""
    rows = []
    for effort in efforts:
        share = f'{100.0 * min(effort.share, 9.99):.0f} %' if isfinite(effort.limit) else ''
        colour = RED if effort.is_over else ORANGE if effort.share > HIGH else ''
        rows.append((effort.name, (quantity(effort.effort, effort.unit), share), colour))
    over = sum(effort.is_over for effort in efforts)
    return box(
        line('efforts of the motors', bold=True),
        line(f'{over} over the limit', RED) if over else '',
        table(rows, MOST),
    )


def singularity_html(statics: MotorStatics, q: Array) -> str:
    """Return a line with the distance to the nearest singularity; '' if the robot has none."""
    if not (statics.robot.closures and statics.robot.actuated):
        return ''
    try:
        result = statics.singularity(q)
    except IkError as error:
        return box(line(f'distance to singularity: {statement(error)}'))
    if result is None:
        return ''
    nearness, warning = result
    near = nearness < NEAR
    text = f'distance to singularity: {100.0 * nearness:.{1 if near else 0}f} %'
    return box(line(text + ', near' * near, RED * near), line(warning, RED))


class LoadArrow(NamedTuple):
    """The arrow of a load on a link: from start to end (3,), root frame [m], and its text."""

    link: str
    start: Array
    end: Array
    text: str


class LoadPanel:
    """A load, and the efforts of the motors that hold it; `statics` returns those of a robot."""

    def __init__(
        self, gui: Any, queue: SessionQueue, statics: Callable[[Robot], MotorStatics]
    ) -> None:
        self._statics = statics
        self._robot: Robot | None = None
        self.load: Load | None = None
        self._first_length = 1.0
        self._names: dict[str, str] = {}
        self._show = gui.add_checkbox(
            SHOW, False, hint='a force on a link, which the motors hold at rest'
        )
        zero = (0.0, 0.0, 0.0)
        self._folder = gui.add_folder('load', visible=False)
        with self._folder:
            gui.add_markdown(HINT)
            self._link = gui.add_dropdown(LINK, ('',))
            self._force = gui.add_vector3(
                'force [N]', zero, step=FORCE_STEP, hint='axes of the world'
            )
            self._point = gui.add_vector3('acts at [m]', zero, step=POINT_STEP, hint='in the link')
            self._scale = gui.add_number(
                'arrow [N/m]', 100.0, min=1e-6, step=1e-6, hint='force per length'
            )
            self._gravity = gui.add_checkbox(
                'gravity', True, hint='the motors hold the weight of the robot too'
            )
        self._text = gui.add_html('')
        explain(gui, self._show, self._force, self._point, self._scale, self._gravity)
        by_hand(self._show, lambda _: queue.do(self._begin))
        by_hand(self._link, lambda _: queue.do(self._begin))
        for handle in (self._force, self._point, self._gravity, self._scale):
            by_hand(handle, lambda _: queue.do(self._read))

    def arrow(self, robot: Robot) -> LoadArrow | None:
        """Return the arrow of the load at the robot's present values; None = there is no load."""
        load = self.load
        if load is None or robot is not self._robot:
            return None
        start, force = load.start(robot), np.array(load.force)
        size = quantity(float(np.sqrt(force @ force)), 'N')
        return LoadArrow(load.link, start, start + force / self._newtons, size)

    def pull(self, robot: Robot, part: str, place: Array) -> None:
        """Move the tip of the arrow ('force') or its start ('point') to a place (3,) [m]."""
        load = self.load
        if load is None or robot is not self._robot:
            return
        if part == 'force':
            self.load = load.with_force(self._newtons * (place - load.start(robot)))
        else:
            self.load = load.moved(robot, place)
        self._write(self.load)

    def rebuild(self, robot: Robot, size: float) -> None:
        """Prepare the panel for a robot whose gizmos have arrows of a length [m]."""
        if robot is self._robot:
            return
        self._robot, self.load, self._first_length = robot, None, ARROW * size
        self._show.value = False
        self._names = {plain(name): name for name in robot.links}
        self._link.options = (*self._names,)
        goals = [goal.child.name for goal in robot.goals.values() if goal.child is not None]
        self._link.value = plain((goals or [*robot.links][-1:])[0])
        self._text.content = ''
        self._reveal()

    def refresh(self, robot: Robot, q: Array) -> None:
        """Show the efforts at a configuration."""
        statics = self._statics(robot)
        if statics.refusal:
            self._show.disabled = True
            self._text.content = box(line(f'no efforts: {statics.refusal}'))
            return
        self._show.disabled = False
        if self.load is None:
            self._text.content = ''
            return
        try:
            self._text.content = efforts_html(statics.efforts(q, self.load))
        except IkError as error:
            self._text.content = box(line(f'no efforts: {statement(error)}'))

    @property
    def _newtons(self) -> float:
        """Return the force per length of the arrow [N/m]."""
        return max(float(self._scale.value), 1e-6)

    def _begin(self, session: Session) -> None:
        """Place the first load on the chosen link, or remove the load."""
        robot = session.robot
        if robot is None or robot is not self._robot:
            return
        before, self.load = self.load, None
        if self._show.value:
            link = self._names[str(self._link.value)]
            try:
                load = self._statics(robot).first_load(session.q, link, self._first_length)
            except IkError:
                self._show.value = False
                self._reveal()
                raise
            if before is None:
                self._scale.value = float(f'{max(map(abs, load.force)) / self._first_length:.2g}')
            else:
                # On another link it is the same force.
                load = replace(load, force=before.force, gravity=before.gravity)
            self.load = load
            self._write(load)
        self._reveal()

    def _read(self, _: Session) -> None:
        """Take the load over from the inputs."""
        if self.load is not None:
            fx, fy, fz = self._force.value
            x, y, z = self._point.value
            self.load = replace(
                self.load, force=(fx, fy, fz), point=(x, y, z), gravity=bool(self._gravity.value)
            )

    def _write(self, load: Load) -> None:
        self._force.value, self._point.value = load.force, load.point
        self._gravity.value = load.gravity

    def _reveal(self) -> None:
        """Show the inputs if there is a load."""
        self._folder.visible = self.load is not None
        self._gravity.visible = self._robot is not None and self._robot.mass > 0.0
