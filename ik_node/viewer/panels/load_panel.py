"""The panel of the load on a link and of the efforts that hold it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from ik_node.errors import IkError, plain
from ik_node.robot import Robot
from ik_node.transmission.motor_load import Load, MotorStatics, statement
from ik_node.viewer.panels.effort_html import efforts_html, note_html, quantity
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.sessions.session import Array, Session
import numpy as np

# Length of the arrow of the first load, as a multiple of a gizmo's arrows.
ARROW = 1.5
# Largest number of digits of the inputs: of forces [N], and of positions [m].
FORCE_STEP, POINT_STEP = 1e-3, 1e-4
SHOW, LINK = 'show a load', 'on link'
HINT = (
    'Drag the ball at the tip of the arrow to change the force, and the ball on its shaft to move '
    'the load along its link.'
)


class LoadArrow(NamedTuple):
    """
    The arrow of a load.

    Attributes
    ----------
    link : str
        The link on which the load acts.
    start, end : ndarray, shape (3,)
        Point of application and tip of the arrow, root frame [m].
    text : str
        The size of the force with its unit.

    """

    link: str
    start: Array
    end: Array
    text: str


class LoadPanel:
    """
    A panel with a load, and with the efforts of the motors that hold it.

    Parameters
    ----------
    gui : viser.GuiApi
    queue : SessionQueue
    statics : callable
        Returns the statics of a robot.

    """

    def __init__(
        self, gui: Any, queue: SessionQueue, statics: Callable[[Robot], MotorStatics]
    ) -> None:
        self._statics = statics
        self._robot: Robot | None = None
        self._load: Load | None = None
        self._first_length = 1.0
        self._names: dict[str, str] = {}
        self._show = gui.add_checkbox(
            SHOW, False, hint='a force on a link, which the motors hold at rest'
        )
        self._hint = gui.add_html('')
        self._link = gui.add_dropdown(LINK, ('',), visible=False)
        self._force = gui.add_vector3(
            'force [N]', (0.0, 0.0, 0.0), step=FORCE_STEP, visible=False, hint='axes of the world'
        )
        self._point = gui.add_vector3(
            'acts at [m]',
            (0.0, 0.0, 0.0),
            step=POINT_STEP,
            visible=False,
            hint="in the link's frame",
        )
        self._scale = gui.add_number(
            'arrow [N/m]', 100.0, min=1e-6, step=1e-6, visible=False, hint='force per length'
        )
        self._gravity = gui.add_checkbox(
            'gravity', True, visible=False, hint='the motors hold the weight of the robot too'
        )
        self._text = gui.add_html('')
        by_hand(self._show, lambda _: queue.do(self._begin))
        by_hand(self._link, lambda _: queue.do(self._begin))
        for handle in (self._force, self._point, self._gravity, self._scale):
            by_hand(handle, lambda _: queue.do(self._read))

    @property
    def shown(self) -> bool:
        """Return True if there is a load."""
        return self._load is not None

    @property
    def load(self) -> Load | None:
        """Return the load; None = there is none."""
        return self._load

    def arrow(self, robot: Robot) -> LoadArrow | None:
        """Return the arrow of the load at the robot's present values; None = there is no load."""
        load = self._load
        if load is None or robot is not self._robot:
            return None
        start, force = load.start(robot), np.array(load.force)
        size = quantity(float(np.sqrt(force @ force)), 'N')
        return LoadArrow(load.link, start, start + force / self._newtons, size)

    def pull(self, robot: Robot, part: str, place: Array) -> None:
        """
        Move an end of the arrow.

        Parameters
        ----------
        robot : Robot
            The robot.
        part : str
            'force' for the tip of the arrow, 'point' for the point of application.
        place : ndarray, shape (3,)
            Where it is dragged to, root frame [m].

        """
        load = self._load
        if load is None or robot is not self._robot:
            return
        if part == 'force':
            self._load = load.with_force(self._newtons * (place - load.start(robot)))
        else:
            self._load = load.moved(robot, place)
        self._write(self._load)

    def rebuild(self, robot: Robot, size: float) -> None:
        """
        Prepare the panel for a robot or for other goals.

        Parameters
        ----------
        robot : Robot
            The robot.
        size : float
            Length of a gizmo's arrows [m].

        """
        if robot is self._robot:
            return
        self._robot, self._load, self._first_length = robot, None, ARROW * size
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
            self._text.content = note_html(f'no efforts: {statics.refusal}')
            return
        self._show.disabled = False
        if self._load is None:
            self._text.content = ''
            return
        try:
            self._text.content = efforts_html(statics.efforts(q, self._load))
        except IkError as error:
            self._text.content = note_html(f'no efforts: {statement(error)}')

    @property
    def _newtons(self) -> float:
        """Return the force per length of the arrow [N/m]."""
        return max(float(self._scale.value), 1e-6)

    def _begin(self, session: Session) -> None:
        """Place the first load on the chosen link, or remove the load."""
        robot = session.robot
        if robot is None or robot is not self._robot:
            return
        before, self._load = self._load, None
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
            self._load = load
            self._write(load)
        self._reveal()

    def _read(self, _: Session) -> None:
        """Take the load over from the inputs."""
        if self._load is not None:
            fx, fy, fz = self._force.value
            x, y, z = self._point.value
            self._load = replace(
                self._load,
                force=(fx, fy, fz),
                point=(x, y, z),
                gravity=self._load.gravity
                if not self._gravity.visible
                else bool(self._gravity.value),
            )

    def _write(self, load: Load) -> None:
        self._force.value, self._point.value = load.force, load.point
        self._gravity.value = load.gravity

    def _reveal(self) -> None:
        """Show the inputs if there is a load."""
        for handle in (self._link, self._force, self._point, self._scale):
            handle.visible = self.shown
        weighs = self._robot is not None and self._robot.mass > 0.0
        self._gravity.visible = self.shown and weighs
        self._hint.content = note_html(HINT) if self.shown else ''
