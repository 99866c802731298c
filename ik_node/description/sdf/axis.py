"""An <axis> or <axis2> of SDFormat."""

from __future__ import annotations

from math import inf

from ik_node.description.sdf.flag import is_true
from ik_node.description.sdf.frame import SdfFrame
from ik_node.description.sdf.frame_graph import FrameGraph
from ik_node.description.sdf.limit import read_bound
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import shown
from ik_node.model.rotation import unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SdfAxis:
    """
    A direction with its limits.

    Parameters
    ----------
    document : XmlDocument
    graph : FrameGraph
    version : tuple of int
        Up to 1.4 the direction counts in the model's frame, from 1.5 on in the joint's.
    joint : SdfFrame
    tag : str
        'axis' or 'axis2'.
    notes : list of str
        What was guessed is appended.

    Attributes
    ----------
    element : Element or None
    direction : ndarray, shape (3,)
        Unit vector in the joint frame.
    lower, upper : float
        [rad] or [m]; infinite = none.
    velocity : float
        [rad/s] or [m/s]; infinite = none.
    effort : float or None
        As written.

    Raises
    ------
    DescriptionError
        If the direction is zero, a number is none, or the limits are the wrong way round.

    """

    def __init__(
        self,
        document: XmlDocument,
        graph: FrameGraph,
        version: tuple[int, ...],
        joint: SdfFrame,
        tag: str,
        notes: list[str],
    ) -> None:
        self.element = joint.element.find(tag)
        what = f'joint {shown(joint.name)}'
        if self.element is None:
            notes.append(f'{what}: no <{tag}>, taken as 0 0 1')
        xyz = None if self.element is None else self.element.find('xyz')
        direction = document.text_numbers(xyz, (0.0, 0.0, 1.0))
        if max(map(abs, direction)) < 1e-12:
            raise document.error(joint.element, f'its <{tag}> 0 0 0 has no direction')
        self.direction = unit(direction)
        turned = self._expressed_in(version, joint, tag, notes)
        if turned is not None:
            there, here = graph.pose(turned)[:3, :3], graph.pose(joint)[:3, :3]
            self.direction = unit(here.T @ there @ self.direction)
        limit = None if self.element is None else self.element.find('limit')
        self.lower = read_bound(document, limit, 'lower', -inf)
        self.upper = read_bound(document, limit, 'upper')
        if self.lower > self.upper:
            message = f'lower {self.lower:g} is above upper {self.upper:g}'
            raise document.error(joint.element, message)
        if self.lower == self.upper:
            notes.append(f'{what}: lower and upper are both {self.lower:g}, it cannot move')
        self.velocity = read_bound(document, limit, 'velocity')
        if self.velocity <= 0.0:
            notes.append(f'{what}: velocity {self.velocity:g}, taken as unlimited')
            self.velocity = inf
        effort = None if limit is None else limit.find('effort')
        self.effort = None if effort is None else read_bound(document, limit, 'effort')

    def _expressed_in(
        self, version: tuple[int, ...], joint: SdfFrame, tag: str, notes: list[str]
    ) -> SdfFrame | None:
        """Return the frame the direction counts in, None for the joint's."""
        element = self.element
        if element is None:
            return None
        xyz = element.find('xyz')
        name = '' if xyz is None else xyz.get('expressed_in', '').strip()
        if name:
            return joint.scope.need(name, joint.element, f'<{tag}><xyz expressed_in>')
        in_model = is_true(element.findtext('use_parent_model_frame'))
        if version >= (1, 7):
            if in_model:
                notes.append(
                    f'joint {shown(joint.name)}: <use_parent_model_frame> ended with '
                    f'SDFormat 1.6 and '
                    'is ignored; expressed_in="__model__" says it now'
                )
            return None
        return joint.scope.frame if version < (1, 5) or in_model else None
