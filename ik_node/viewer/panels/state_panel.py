"""The panel with the pose of a link and the joint values as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ik_node.display import escaped
from ik_node.errors import IkError
from ik_node.model.rotation import matrix_to_euler
from ik_node.robot import Robot
from ik_node.transmission.motor_load import MotorStatics, statement
from ik_node.viewer.panels.effort_html import singularity_html
from ik_node.viewer.panels.session_queue import by_hand
from ik_node.viewer.sessions.session import Array
import numpy as np

_CELL = 'style="padding:0 8px 0 0;text-align:right;white-space:nowrap"'
_NAME = (
    'style="padding:0 8px 0 0;text-align:left;white-space:nowrap;max-width:10em;'
    'overflow:hidden;text-overflow:ellipsis"'
)


def state_html(link: str, pose: Array | None, joints: Sequence[tuple[str, float, bool]]) -> str:
    """
    Return HTML tables of a link's pose and of joint values.

    Parameters
    ----------
    link : str
        Name of the link.
    pose : ndarray, shape (4, 4), or None
        Its pose in the root frame [m]; None = no link is chosen.
    joints : sequence of (str, float, bool)
        Name, value [rad or m], and True for a rotation.

    """
    parts = ['<div style="padding:2px 10px 6px;font-size:0.85em;line-height:1.5">']
    if pose is not None:
        angles = np.degrees(matrix_to_euler(pose)).tolist()
        parts.append(f'<div>link <b>{escaped(link)}</b></div>{_TABLE}')
        for names, values, digits, unit in (
            ('x y z', pose[:3, 3].tolist(), 4, 'm'),
            ('roll pitch yaw', angles, 2, 'deg'),
        ):
            cells = ''.join(f'<td {_CELL}>{_fixed(value, digits)}</td>' for value in values)
            parts.append(f'<tr><td {_NAME}>{names}</td>{cells}<td>{unit}</td></tr>')
        parts.append('</table>')
    parts.append(f'<div style="max-height:11em;overflow-y:auto">{_TABLE}')
    parts += [_row(*joint) for joint in joints]
    return ''.join([*parts, '</table></div></div>'])


_TABLE = '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">'


def _row(name: str, value: float, turns: bool) -> str:
    unit = 'rad' if turns else 'm'
    more = f'{_fixed(np.degrees(value), 2)} deg' if turns else f'{_fixed(1e3 * value, 2)} mm'
    return (
        f'<tr><td {_NAME} title="{escaped(name)}">{escaped(name)}</td>'
        f'<td {_CELL}>{_fixed(value, 4)} {unit}</td><td {_CELL}>{more}</td></tr>'
    )


def _fixed(value: float, digits: int) -> str:
    """Return a number with a fixed number of decimals, without a sign for zero."""
    text = f'{value:.{digits}f}'
    return text.lstrip('-') if not text.strip('-0.') else text


# Width and distance from the corner [px].
WIDTH, AWAY = 300, 12
NOTHING = 'no goal'


class StatePanel:
    """
    A panel with the pose of a goal's link, all joint values and the distance to singularities.

    Parameters
    ----------
    gui : viser.GuiApi
    changed : callable
        Called when another goal is chosen.

    """

    def __init__(self, gui: Any, changed: Callable[[], None]) -> None:
        self._panel = gui.add_panel()
        self._panel.float(x=AWAY, y=-AWAY, width=WIDTH)
        self._panel.minimize()
        with self._panel.add_tab('State'):
            self._goal = gui.add_dropdown('link of goal', (NOTHING,))
            self._text = gui.add_html('')
            self._singularity = gui.add_html('')
        by_hand(self._goal, lambda _: changed())
        self._turns: list[bool] = []

    def show(self, visible: bool) -> None:
        """Show or hide the panel."""
        self._panel.visible = visible

    def rebuild(self, robot: Robot) -> None:
        """Update the list of goals."""
        self._turns = [dof.is_rotation for joint in robot.joint_order for dof in joint.dof]
        chosen, names = self._goal.value, (*robot.goals,) or (NOTHING,)
        self._goal.options = names
        self._goal.value = chosen if chosen in names else names[0]

    def refresh(self, robot: Robot, q: Array, statics: MotorStatics) -> None:
        """Show the present pose, joint values and distance to singularities."""
        if not self._panel.visible:
            return
        goal = robot.goals.get(self._goal.value)
        link = None if goal is None else goal.child
        joints = zip(robot.joint_names, q.tolist(), self._turns, strict=True)
        self._text.content = state_html(
            '' if link is None else link.name,
            None if link is None else link.matrix_world,
            list(joints),
        )
        self._singularity.content = _singularity(q, statics)


def _singularity(q: Array, statics: MotorStatics) -> str:
    if not (statics.robot.closures and statics.robot.actuated):
        return ''
    try:
        return singularity_html(statics.singularity(q), statics.refusal)
    except IkError as error:
        return singularity_html(None, statement(error))
