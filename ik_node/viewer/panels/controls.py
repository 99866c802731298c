"""The panel beside the scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from ik_node.viewer.panels.configuration_yaml import configuration_yaml
from ik_node.viewer.panels.copy_html import copy_html
from ik_node.viewer.panels.goal_panel import GoalPanel
from ik_node.viewer.panels.handle_panel import HandlePanel, MOVE, TURN
from ik_node.viewer.panels.history import History
from ik_node.viewer.panels.joint_panel import JointPanel
from ik_node.viewer.panels.keys import add_keys, Key, keys_html
from ik_node.viewer.panels.option_panel import OptionPanel
from ik_node.viewer.panels.plot_panel import PlotPanel
from ik_node.viewer.panels.session_queue import by_hand, Desk
from ik_node.viewer.panels.state_panel import StatePanel
from ik_node.viewer.panels.status_html import status_html
from ik_node.viewer.panels.view_panel import ViewPanel
from ik_node.viewer.sessions.session import Session

IK, FK = 'IK: goals lead', 'FK: joints lead'
UNDO, RESET, REST = 'Undo', 'Reset', 'Rest pose'
ADVICE = (
    '<div style="padding:0 10px;font-size:0.85em">Goals lead now: switch the mode to FK to move '
    'joints by hand.</div>'
)
KEYS = {'W': 'move', 'E': 'turn', 'Q': 'axes', 'G': 'grid', 'F': 'view', 'Ctrl+Z': 'undo'}
TABS = ('Goals', 'Joints', 'Solver', 'Plots', 'View')


class Controls:
    """
    Status, switches and tabs.

    Parameters
    ----------
    gui : viser.GuiApi
    desk : Desk
    undo : callable
        Goes a step back.
    redraw : callable
        Called when something else is to be drawn.
    choices : mapping of str to str
        Robots to choose from, and what there is to say about each.
    choose : callable
        Called with the one that was chosen.
    look : callable
        Called with the number of a browser that is to look at the robot.

    """

    def __init__(
        self,
        gui: Any,
        desk: Desk,
        undo: Callable[[], None],
        redraw: Callable[[], None],
        choices: Mapping[str, str],
        choose: Callable[[str], None],
        look: Callable[[int], None],
    ) -> None:
        self._status = gui.add_html('')
        self._choices = choices
        self._chooser: Any = None
        if choices:
            first = next(iter(choices))
            self._chooser = gui.add_dropdown('robot', tuple(choices))
            self._about = gui.add_html(about_html(choices[first]))
            by_hand(self._chooser, choose)
        self._lead = gui.add_dropdown('mode', (IK, FK))
        by_hand(self._lead, lambda value: desk.do(lambda s: s.set_forward(value == FK)))
        self._play = gui.add_checkbox('move by itself', False, visible=False)
        by_hand(self._play, lambda value: desk.do(lambda s: s.play(value)))
        actions: dict[str, Callable[[], None]] = {
            UNDO: undo,
            RESET: lambda: desk.do(lambda s: s.reset(), undo=True),
            REST: lambda: desk.do(lambda s: s.save_rest_pose()),
        }
        buttons = gui.add_button_group(
            'actions', tuple(actions), hint='rest pose: joints drift to where they are now'
        )
        by_hand(buttons, lambda value: actions[value]())
        tabs = gui.add_tab_group()
        made = {label: tabs.add_tab(label) for label in TABS}
        with made['Goals']:
            self.handles = HandlePanel(gui, redraw)
            gui.add_html(keys_html(KEYS))
            self.goals = GoalPanel(gui, desk)
        with made['Joints']:
            self._advice = gui.add_html('')
            # Below whatever joints there are.
            self._yaml = gui.add_html('', order=1e9)
            self._joints = JointPanel(gui, desk)
        with made['Solver']:
            self._options = OptionPanel(gui, desk)
        with made['Plots']:
            self._plots = PlotPanel(gui)
        with made['View']:
            self.view = ViewPanel(gui, redraw)
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
                Key('F', None, 'Look at the robot', look),
                Key('Z', 'cmd/ctrl', UNDO, lambda _: undo()),
            ],
        )

    def show_choice(self, name: str) -> None:
        """Say which robot is shown."""
        if self._chooser is not None:
            self._chooser.value = name
            self._about.content = about_html(self._choices.get(name, ''))

    def rebuild(self, session: Session) -> None:
        """Have panels for another robot, or other goals."""
        robot = session.robot
        if robot is None:
            return
        with self._made['Goals']:
            self.goals.rebuild(robot)
        with self._made['Joints']:
            self._joints.rebuild(robot)
        self._state.rebuild(robot)
        self._options.forget()
        self._play.visible = session.can_play

    def refresh(self, session: Session, history: History) -> None:
        """Show how things are."""
        self._status.content = status_html(session.title, session.note, session.reports)
        self._lead.value = FK if session.forward else IK
        self._play.value = session.playing
        robot = session.robot
        if robot is None:
            return
        self._state.show(self.view.state)
        self._state.refresh(robot, session.q)
        self.goals.refresh(robot)
        self._joints.refresh(session.q, forward=session.forward)
        self._options.refresh(session.options)
        self._advice.content = '' if session.forward else ADVICE
        self._yaml.content = copy_html(
            configuration_yaml(robot.joint_names, session.q.tolist()), 'configuration as YAML'
        )
        with self._made['Plots']:
            self._plots.refresh(history)


def about_html(text: str) -> str:
    """Return a line below the chooser; of nothing, nothing."""
    style = 'padding:0 10px;font-size:0.85em;opacity:0.8'
    return f'<div style="{style}">{escape(text)}</div>' if text else ''
