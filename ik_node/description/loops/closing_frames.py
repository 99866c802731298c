"""
Frames that onshape-to-robot writes for a mate `closing_NAME` that closes a loop.

The frames are links: closing_NAME_1 and closing_NAME_2. For a hinge, versions since 2025 add
closing_NAME_1_z and closing_NAME_2_z further along its axis. The kind of mate is not written.
`<closing_frames guess="false"/>` below the root element says that such names mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
import re

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet
from ik_node.description.loops.loop_frames import turn_frame
from ik_node.description.tree import poses_at_zero
from ik_node.description.xml_document import Array, XmlDocument
import numpy as np

DIALECT = 'closing frames'
TAG = 'closing_frames'  # of the element that forbids the guess
CLOSING = re.compile(r'(closing_.+)_([12])')


def read_closing_frames(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read pairs of closing frames: as a hinge if there are `_z` frames, else as a point.

    A point closure constrains only what fastened, ball and hinge mates all constrain, so it never
    constrains more than the mate did, unless the mate was a slider.
    """
    result = LoopSet(document.source, DIALECT)
    told = document.root.find(TAG)
    if told is not None and told.get('guess') == 'false':
        return result
    links = description.links
    tied = _tied(description.loops)
    poses: dict[str, Array] = {}
    for name in list(links):
        match = CLOSING.fullmatch(name)
        if match is None:
            continue
        base, number = match.groups()
        other = f'{base}_{3 - int(number)}'
        if other not in links:
            description.notes.append(
                f'link {name!r} looks like a frame that closes a loop, but there is no {other!r}'
            )
            continue
        if number == '2' or frozenset((name, other)) in tied:
            continue
        loop = Loop(base, LoopFrame(name), LoopFrame(other), 'point')
        if f'{name}_z' in links and f'{other}_z' in links:
            poses = poses or poses_at_zero(description)
            loop.type_name = 'hinge'
            for frame in (loop.frame_a, loop.frame_b):
                delta = poses[f'{frame.link}_z'][:3, 3] - poses[frame.link][:3, 3]
                if np.max(np.abs(delta)) > 1e-9:
                    turn_frame(frame, poses[frame.link][:3, :3].T @ delta)
        else:
            description.notes.append(
                f'{base!r}: a URDF does not contain the kind of this mate; it is taken '
                'as a point. For another kind, give a closures file with frame_a and frame_b '
                f'at {name!r} and {other!r}'
            )
        result.loops.append(loop)
    return result


def is_closing_frame(name: str) -> bool:
    """Return True if a link of this name is taken as a frame that closes a loop."""
    return CLOSING.fullmatch(name) is not None


def drop_guesses(description: Description, others: Iterable[LoopSet]) -> None:
    """Remove guessed loops between two links that another source connects."""
    tied = _tied(others)
    for loop_set in description.loops:
        if loop_set.dialect == DIALECT and tied:
            loop_set.loops = [loop for loop in loop_set.loops if frozenset(loop.ends) not in tied]


def _tied(loop_sets: Iterable[LoopSet]) -> set[frozenset[str]]:
    """Return the pairs of links that loops connect."""
    return {frozenset(loop.ends) for each in loop_sets for loop in each.loops}
