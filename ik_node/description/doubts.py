"""Notes on a robot that can be read, but is probably not what its author meant."""

from __future__ import annotations

import math
import re

from ik_node.description.description import Description
from ik_node.errors import listed, shown

# Rotation limits in this range [rad] are rather degrees, except whole half turns: 15 rad are more
# than two turns, and larger numbers than 720 stand for "unlimited".
_LEAST_DEGREES, _MOST_DEGREES = 15.0, 720.0
# A limit this near to a multiple of pi is one [rad].
_HALF_TURN = 0.02
# No part of a robot is that far from the next one [m]; ten millimetres are usual.
_FAR = 10.0
# Names of frames that close a loop begin like this, in other writings than closing_NAME_1.
_CLOSING = re.compile(r'(^|[-_. ])clos(ing|ure)([-_. \d]|$)', re.IGNORECASE)
_FRAMES = re.compile(r'closing_.+_[12](_z)?')


def note_doubts(description: Description) -> None:
    """Add a note for limits in degrees, for millimetres, and for misnamed closing frames."""
    for note in (_degrees(description), _millimetres(description), _closing_frames(description)):
        if note:
            description.notes.append(note)


def _degrees(description: Description) -> str:
    found = {}
    for joint in description.joint_order:
        for name, dof in zip(joint.value_names, joint.dof, strict=True):
            limits = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
            if dof.is_rotation and any(_looks_like_degrees(limit) for limit in limits):
                found[name] = f'[{limits[0]:g}, {limits[1]:g}]'
    if not found:
        return ''
    name, limits_text = next(iter(found.items()))
    return (
        f'limits of {listed(found)} look like degrees, but count as rad: {limits_text} of '
        f'{shown(name)} allows many turns; write 3.14159 for 180 degrees'
    )


def _looks_like_degrees(limit: float) -> bool:
    in_range = _LEAST_DEGREES <= abs(limit) <= _MOST_DEGREES
    return in_range and abs(math.remainder(limit, math.pi)) > _HALF_TURN


def _millimetres(description: Description) -> str:
    frames = [*description.joints.values(), *description.links.values()]
    distances = ((math.hypot(*frame.position), frame.name) for frame in frames)
    distance, name = max(distances, default=(0.0, ''))
    if distance <= _FAR:
        return ''
    return (
        f'{shown(name)} is {distance:.4g} m from its parent: lengths count as metres; if '
        'they are millimetres, divide them by 1000'
    )


def _closing_frames(description: Description) -> str:
    connected = {
        end.name
        for closure in description.closures.values()
        for end in (closure.child, closure.parent)
        if end is not None
    }
    names = [
        name
        for name, link in description.links.items()
        if _CLOSING.search(name)
        and not _FRAMES.fullmatch(name)
        and name not in connected
        and not link.children
    ]
    if not names:
        return ''
    return (
        f'links {listed(names)}: they are named almost like frames that close a loop, which are '
        'pairs closing_NAME_1 and closing_NAME_2; no loop is made of them'
    )
