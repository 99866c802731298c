"""The main panel, with the state, switches and tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ik_node.robot import Robot
from ik_node.transmission.motor_load import MotorStatics
from ik_node.viewer.panels.browser_html import browser_html, DARK_KEY, HELD, label_style, LIGHT_KEY
from ik_node.viewer.panels.goal_panel import GoalPanel, MOVE, TURN
from ik_node.viewer.panels.joint_panel import JointPanel
from ik_node.viewer.panels.load_panel import LoadPanel, singularity_html
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.panels.solver_panel import History, OptionPanel, PlotPanel
from ik_node.viewer.panels.text_html import box, details_html, line, notes_html, state_of
from ik_node.viewer.panels.view_panel import Eyes, ReachPanel, ViewPanel
from ik_node.viewer.sessions.session import Knob, Session

GOALS, JOINTS = 'goals', 'joints'
UNDO, RESET = 'Undo', 'Reset'
HINT = (
    'Undo: the last move or change of goals, loops or locks. Reset: pose, goals, loops and locks '
    'of the start; of a node only the pose. Solver options stay.'
)
TABS = ('Goals', 'Joints', 'Solver', 'Plots', 'Load', 'View')


class Controls:
    """
    The main panel of the page.

    `undo`, `redraw` and `delete` are called to undo the last change, to draw the scene, and to
    delete the selected goal. `choices` has names and descriptions of robots for `choose`.
    """

    def __init__(
        self,
        gui: Any,
        queue: SessionQueue,
        undo: Callable[[], None],
        redraw: Callable[[], None],
        choices: Mapping[str, str],
        choose: Callable[[str], None],
        eyes: Eyes,
        delete: Callable[[], None],
    ) -> None:
        self._gui = gui
        self._statics: MotorStatics | None = None
        self._state = ('', '')
        gui.add_html(browser_html())
        self._style = gui.add_html('')
        self._notes = gui.add_html('')
        self._choices = choices
        self._chooser: Any = None
        if choices:
            first = next(iter(choices))
            self._chooser = by_hand(gui.add_dropdown('robot', tuple(choices)), choose)
            self._about = gui.add_html(box(line(choices[first])))
        self._lead = by_hand(
            gui.add_dropdown('solve from', (GOALS, JOINTS)),
            lambda value: queue.do(lambda s: s.set_forward(value == JOINTS)),
        )
        self._play = by_hand(
            gui.add_checkbox('play motion', False, visible=False),
            lambda value: queue.do(lambda s: setattr(s, 'playing', value)),
        )
        self._queue = queue
        self._scene = gui.add_folder('scene', visible=False)
        self._knobs: dict[str, Any] = {}
        by_hand(
            gui.add_button_group('go back', (UNDO, RESET), hint=HINT),
            lambda value: undo() if value == UNDO else queue.do(lambda s: s.reset(), undo=True),
        )
        with gui.add_folder('details', expand_by_default=False):
            self._details = gui.add_html('')
            self._singularity = gui.add_html('')
            gui.add_html(box(line(HINT)))
        tabs = gui.add_tab_group()
        made = self._made = {label: tabs.add_tab(label) for label in TABS}
        with made['Goals']:
            self.goals = GoalPanel(gui, queue, redraw)
        with made['Joints']:
            self._joints = JointPanel(gui, queue)
        with made['Load']:
            self.load = LoadPanel(gui, queue, self._statics_of)
        with made['Solver']:
            self._options = OptionPanel(gui, queue)
        with made['Plots']:
            self._plots = PlotPanel(gui)
        with made['View']:
            self.reach = ReachPanel(gui, redraw)
            self.view = ViewPanel(gui, redraw, eyes)
        self._command('W', 'Handles: move', lambda _: self.goals.choose(MOVE))
        self._command('E', 'Handles: turn', lambda _: self.goals.choose(TURN))
        self._command('Q', 'Handles: axes of world or goal', lambda _: self.goals.swap_axes())
        self._command('G', 'Handles: snap to grid', lambda _: self.goals.swap_snap())
        self._command('F', 'Look at the robot', eyes.look)
        self._command('Z', UNDO, lambda _: undo(), 'cmd/ctrl')
        self._command('delete', 'Delete the selected goal', lambda _: delete())
        self._command(DARK_KEY, 'Dark page', lambda browser: eyes.dark(browser, True), HELD)
        self._command(LIGHT_KEY, 'Light page', lambda browser: eyes.dark(browser, False), HELD)

    def _command(
        self, key: str, label: str, work: Callable[[int], None], modifier: str | None = None
    ) -> None:
        """Add a command with a key, which calls `work` with the id of the browser."""

        async def pressed(event: Any) -> None:
            if event.client_id is not None:
                work(event.client_id)

        self._gui.add_command(label, hotkey=key, modifier=modifier).on_trigger(pressed)

    def show_choice(self, name: str) -> None:
        """Show which robot is chosen."""
        if self._chooser is not None:
            self._chooser.value = name
            self._about.content = box(line(self._choices.get(name, '')))

    def rebuild(self, session: Session, size: float) -> None:
        """Rebuild the panels for another robot or goals; gizmos have arrows of `size` [m]."""
        robot = session.robot
        if robot is None:
            return
        with self._made['Goals']:
            self.goals.rebuild(robot, returns=session.solves)
        with self._made['Joints']:
            self._joints.rebuild(robot)
        self.load.rebuild(robot, size)
        self._options.forget()
        self._play.visible = session.can_play
        for slider in self._knobs.values():
            slider.remove()
        self._scene.visible = bool(session.knobs)
        with self._scene:
            self._knobs = {knob.name: self._add_knob(knob) for knob in session.knobs}

    def _add_knob(self, knob: Knob) -> Any:
        """Add a slider for a number of the scene."""
        name, numbers = knob.name, (knob.low, knob.high, knob.step, knob.value)
        return by_hand(
            self._gui.add_slider(name, *numbers, hint=knob.hint),
            lambda value: self._queue.do(
                lambda s: s.set_knob(name, value), key=('knob', name), undo=True
            ),
        )

    def refresh(self, session: Session, history: History) -> None:
        """Update all panels."""
        self._show_state(session)
        self._lead.value = JOINTS if session.forward else GOALS
        self._play.value = session.playing
        for knob in session.knobs:
            if knob.name in self._knobs:
                self._knobs[knob.name].value = knob.value
        self.view.show_legend(load=self.load.load is not None)
        robot = session.robot
        notes = [] if robot is None else robot.notes
        self._notes.content = notes_html(session.title, session.note, notes)
        if robot is None:
            return
        self._details.content = details_html(session.reports, robot)
        self._singularity.content = singularity_html(self._statics_of(robot), session.q)
        self.load.refresh(robot, session.q)
        self.goals.refresh(robot)
        self._joints.refresh(session)
        self._options.refresh(session)
        with self._made['Plots']:
            self._plots.refresh(history)

    def _show_state(self, session: Session) -> None:
        """Show the state in the title of the panel, which is visible while the panel is closed."""
        state = state_of(session)
        if state != self._state:
            self._state = state
            self._gui.set_panel_label(state[0])
            self._style.content = label_style(state[1])

    def _statics_of(self, robot: Robot) -> MotorStatics:
        if self._statics is None or self._statics.robot is not robot:
            self._statics = MotorStatics(robot)
        return self._statics
