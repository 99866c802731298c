"""The main panel, with status, switches and tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
import re
from typing import Any, NamedTuple

from ik_node.robot import Robot
from ik_node.transmission.motor_load import MotorStatics
from ik_node.viewer.panels.browser_html import (
    browser_html,
    DARK_KEY,
    DELETE_KEY,
    LIGHT_KEY,
    MODIFIER,
)
from ik_node.viewer.panels.goal_panel import GoalPanel
from ik_node.viewer.panels.handle_panel import HandlePanel, MOVE, TURN
from ik_node.viewer.panels.joint_panel import JointPanel
from ik_node.viewer.panels.legend import legend_html
from ik_node.viewer.panels.load_panel import LoadPanel
from ik_node.viewer.panels.option_panel import OptionPanel
from ik_node.viewer.panels.plot_panel import History, PlotPanel
from ik_node.viewer.panels.reach_panel import ReachPanel
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.panels.state_panel import StatePanel
from ik_node.viewer.panels.status_html import notes_html, status_html
from ik_node.viewer.panels.view_panel import Eyes, ViewPanel
from ik_node.viewer.sessions.session import Session


class Key(NamedTuple):
    """
    A key with a command.

    Attributes
    ----------
    key : str
        Name of the key in viser.
    modifier : str or None
        Modifier key.
    label : str
        Label in the list of commands.
    work : callable
        Called with the id of the browser.

    """

    key: str
    modifier: str | None
    label: str
    work: Callable[[int], None]


def add_keys(gui: Any, keys: list[Key]) -> None:
    """Add commands with keys, which work unless the user types into an input."""
    for each in keys:
        command = gui.add_command(each.label, hotkey=each.key, modifier=each.modifier)
        command.on_trigger(_worker(each.work))


def keys_html(keys: Mapping[str, str]) -> str:
    """Return a line that lists keys and their functions."""
    style = 'padding:2px 10px 4px;font-size:0.8em;opacity:0.8;word-spacing:0.1em'
    shown = ' '.join(
        '<span style="white-space:nowrap">'
        f'<kbd style="border:1px solid;border-radius:3px;padding:0 3px">{escape(key)}</kbd> '
        f'{escape(what)}</span>'
        for key, what in keys.items()
    )
    return f'<div style="{style}">{shown}</div>'


def _worker(work: Callable[[int], None]) -> Callable[[Any], Any]:
    async def pressed(event: Any) -> None:
        if event.client_id is not None:
            work(event.client_id)

    return pressed


# Names that are text in YAML 1.1, except the words below. Others need quotes: 1e3, 0x1f, ~.
_PLAIN = re.compile(r'[A-Za-z_][A-Za-z0-9_./-]*')
_WORDS = {'y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'}


def configuration_yaml(names: Iterable[str], values: Iterable[float]) -> str:
    """
    Return joint values as a YAML mapping, with one joint per line.

    The parameters `rest_pose` and `joint_targets` of the node accept this format.

    Parameters
    ----------
    names : iterable of str
        Names of the joint values.
    values : iterable of float
        [rad or m]

    """
    lines = [f'{_key(name)}: {_number(value)}' for name, value in zip(names, values, strict=True)]
    return '\n'.join(lines) + '\n' if lines else '{}\n'


def _key(name: str) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in _WORDS:
        return name
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def _number(value: float) -> str:
    # YAML 1.1 reads 1e-07 as text.
    text = f'{value + 0.0:.9f}'.rstrip('0')
    text = f'{text}0' if text.endswith('.') else text
    return '0.0' if text == '-0.0' else text


_PRESS = (
    "const t=this.parentElement.querySelector('textarea');t.select();"
    'if(navigator.clipboard&&window.isSecureContext)navigator.clipboard.writeText(t.value);'
    "else document.execCommand('copy');const b=this;b.textContent='Copied';"
    "setTimeout(()=>{b.textContent='Copy'},1200);"
)


def copy_html(text: str, name: str) -> str:
    """
    Return HTML for a text box with a copy button.

    Parameters
    ----------
    text : str
        The text to copy.
    name : str
        Label of the box.

    """
    lines = min(12, text.count('\n') + 1)
    return (
        '<div style="padding:2px 10px">'
        f'<div style="font-size:0.85em">{escape(name)}</div>'
        f'<textarea readonly rows="{lines}" aria-label="{escape(name)}" '
        f'style="width:100%;font-family:monospace;font-size:0.8em">{escape(text)}</textarea>'
        f'<button type="button" onclick="{escape(_PRESS)}" style="padding:2px 12px">Copy</button>'
        '</div>'
    )


IK, FK = 'IK: goals lead', 'FK: joints lead'
UNDO, RESET, REST = 'Undo', 'Reset', 'Rest pose'
ADVICE = (
    '<div style="padding:0 10px;font-size:0.85em">Goals lead now: switch the mode to FK to move '
    'joints by hand.</div>'
)
KEYS = {
    'W': 'move',
    'E': 'turn',
    'Q': 'axes',
    'G': 'grid',
    'F': 'view',
    'Del': 'delete goal',
    'Ctrl+Z': 'undo',
}
TABS = ('Goals', 'Joints', 'Load', 'Solver', 'Plots', 'View')


class KnobPanel:
    """
    Sliders for the numbers of the scene.

    Parameters
    ----------
    gui : viser.GuiApi
    queue : SessionQueue

    """

    def __init__(self, gui: Any, queue: SessionQueue) -> None:
        self._gui = gui
        self._queue = queue
        self._folder = gui.add_folder('scene', visible=False)
        self._sliders: dict[str, Any] = {}

    def rebuild(self, session: Session) -> None:
        """Add a slider for each number."""
        for slider in self._sliders.values():
            slider.remove()
        self._sliders = {}
        self._folder.visible = bool(session.knobs)
        with self._folder:
            for knob in session.knobs:
                slider = self._gui.add_slider(
                    knob.name, knob.low, knob.high, knob.step, knob.value, hint=knob.hint
                )
                by_hand(slider, self._changer(knob.name))
                self._sliders[knob.name] = slider

    def refresh(self, session: Session) -> None:
        """Show the present values."""
        for knob in session.knobs:
            if knob.name in self._sliders:
                self._sliders[knob.name].value = knob.value

    def _changer(self, name: str) -> Callable[[float], None]:
        return lambda value: self._queue.do(
            lambda s: s.set_knob(name, value), key=('knob', name), undo=True
        )


class Controls:
    """
    The main panel of the page.

    Parameters
    ----------
    gui : viser.GuiApi
    queue : SessionQueue
    undo : callable
        Undoes the last change.
    redraw : callable
        Called when the scene must be redrawn.
    choices : mapping of str to str
        Names and descriptions of the robots that users can choose.
    choose : callable
        Called with the name of the chosen robot.
    eyes : Eyes
        What each browser can choose for itself.
    delete : callable
        Deletes the selected goal.

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
        self._statics: MotorStatics | None = None
        gui.add_html(browser_html())
        self._status = gui.add_html('')
        self._notes = gui.add_html('')
        self._choices = choices
        self._chooser: Any = None
        if choices:
            first = next(iter(choices))
            self._chooser = gui.add_dropdown('robot', tuple(choices))
            self._about = gui.add_html(about_html(choices[first]))
            by_hand(self._chooser, choose)
        self._lead = gui.add_dropdown('mode', (IK, FK))
        by_hand(self._lead, lambda value: queue.do(lambda s: s.set_forward(value == FK)))
        self._play = gui.add_checkbox('move by itself', False, visible=False)
        by_hand(self._play, lambda value: queue.do(lambda s: s.play(value)))
        self._solve = gui.add_checkbox('solve', True, hint='off: goals move, the robot waits')
        by_hand(self._solve, lambda value: queue.do(lambda s: s.set_solving(value)))
        self._knobs = KnobPanel(gui, queue)
        actions: dict[str, Callable[[], None]] = {
            UNDO: undo,
            RESET: lambda: queue.do(lambda s: s.reset(), undo=True),
            REST: lambda: queue.do(lambda s: s.save_rest_pose()),
        }
        buttons = gui.add_button_group(
            'actions', tuple(actions), hint='rest pose: joints drift to where they are now'
        )
        by_hand(buttons, lambda value: actions[value]())
        self._legend = gui.add_html('')
        tabs = gui.add_tab_group()
        made = {label: tabs.add_tab(label) for label in TABS}
        with made['Goals']:
            self.handles = HandlePanel(gui, redraw)
            gui.add_html(keys_html(KEYS))
            self.goals = GoalPanel(gui, queue)
        with made['Joints']:
            self._advice = gui.add_html('')
            # Below all joints.
            self._yaml = gui.add_html('', order=1e9)
            self._joints = JointPanel(gui, queue)
        with made['Load']:
            self.load = LoadPanel(gui, queue, self._statics_of)
        with made['Solver']:
            self._strict = gui.add_checkbox(
                'converged only', False, hint='a robot that cannot reach its goals stays in place'
            )
            by_hand(self._strict, lambda value: queue.do(lambda s: s.set_strict(value)))
            self._options = OptionPanel(gui, queue)
        with made['Plots']:
            self._plots = PlotPanel(gui)
        with made['View']:
            self.reach = ReachPanel(gui, redraw)
            self.view = ViewPanel(gui, redraw, eyes)
        self._state = StatePanel(gui, redraw)
        self._made = made
        handles = self.handles
        add_keys(
            gui,
            [
                Key('W', None, 'Handles: move', lambda _: handles.choose(MOVE)),
                Key('E', None, 'Handles: turn', lambda _: handles.choose(TURN)),
                Key(
                    'Q',
                    None,
                    "Handles: axes of the world or the goal's",
                    lambda _: handles.swap_axes(),
                ),
                Key('G', None, 'Handles: snap to grid', lambda _: handles.swap_snap()),
                Key('F', None, 'Look at the robot', eyes.look),
                Key('Z', 'cmd/ctrl', UNDO, lambda _: undo()),
                Key(DELETE_KEY, MODIFIER, 'Delete the selected goal', lambda _: delete()),
                Key(DARK_KEY, MODIFIER, 'Dark page', lambda browser: eyes.dark(browser, True)),
                Key(LIGHT_KEY, MODIFIER, 'Light page', lambda browser: eyes.dark(browser, False)),
            ],
        )

    def show_choice(self, name: str) -> None:
        """Show which robot is chosen."""
        if self._chooser is not None:
            self._chooser.value = name
            self._about.content = about_html(self._choices.get(name, ''))

    def rebuild(self, session: Session, size: float) -> None:
        """
        Rebuild the panels for another robot or other goals.

        Parameters
        ----------
        session : Session
            The session.
        size : float
            Length of a gizmo's arrows [m].

        """
        robot = session.robot
        if robot is None:
            return
        self._notes.content = notes_html(robot.notes)
        with self._made['Goals']:
            self.goals.rebuild(robot)
        with self._made['Joints']:
            self._joints.rebuild(robot)
        self.load.rebuild(robot, size)
        self._state.rebuild(robot)
        self._options.forget()
        self._play.visible = session.can_play
        self._solve.visible = self._strict.visible = session.solves
        self.handles.allow_return(session.solves)
        self._knobs.rebuild(session)

    def refresh(self, session: Session, history: History) -> None:
        """Update all panels."""
        self._status.content = status_html(session.title, session.note, session.reports)
        self._lead.value = FK if session.forward else IK
        self._play.value = session.playing
        self._solve.value, self._strict.value = session.solving, session.strict
        self._knobs.refresh(session)
        self._legend.content = legend_html([*self.view.layers, *['load'] * self.load.shown])
        robot = session.robot
        if robot is None:
            return
        self._state.show(self.view.state)
        self._state.refresh(robot, session.q, self._statics_of(robot))
        self.load.refresh(robot, session.q)
        self.goals.refresh(robot)
        self._joints.refresh(session.q, forward=session.forward)
        self._options.refresh(session.options)
        self._advice.content = '' if session.forward else ADVICE
        self._yaml.content = copy_html(
            configuration_yaml(robot.joint_names, session.q.tolist()), 'configuration as YAML'
        )
        with self._made['Plots']:
            self._plots.refresh(history)

    def _statics_of(self, robot: Robot) -> MotorStatics:
        if self._statics is None or self._statics.robot is not robot:
            self._statics = MotorStatics(robot)
        return self._statics


def about_html(text: str) -> str:
    """Return HTML for the description below the chooser; '' if there is none."""
    style = 'padding:0 10px;font-size:0.85em;opacity:0.8'
    return f'<div style="{style}">{escape(text)}</div>' if text else ''
