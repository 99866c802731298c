"""Notes on a robot that can be read, but is probably not what its author meant."""

from __future__ import annotations

import math
import re

from ik_node.description.angles import looks_like_degrees
from ik_node.description.description import Description
from ik_node.errors import listed

# Rotation limits above this are rather degrees: 15 rad are more than two turns.
_LEAST_DEGREES = 15.0
# No part of a robot is that far from the next one [m]; ten millimetres are usual.
_FAR = 10.0
# Names of frames that close a loop begin like this, in other writings than closing_NAME_1.
_CLOSING = re.compile(r'(^|[-_. ])clos(ing|ure)([-_. \d]|$)', re.IGNORECASE)
_FRAMES = re.compile(r'closing_.+_[12](_z)?')


def note_suspicious_values(description: Description) -> None:
    """Add a note for limits in degrees, for millimetres, and for misnamed closing frames."""
    for note in (_degrees(description), _millimetres(description), _closing_frames(description)):
        if note:
            description.notes.append(note)


def _degrees(description: Description) -> str:
    found = {}
    for joint in description.joint_order:
        for name, dof in zip(joint.value_names, joint.dof, strict=True):
            limits = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
            if dof.is_rotation and any(
                looks_like_degrees(limit, _LEAST_DEGREES) for limit in limits
            ):
                found[name] = f'[{limits[0]:g}, {limits[1]:g}]'
    if not found:
        return ''
    name, limits_text = next(iter(found.items()))
    return (
        f'limits of {listed(found)} look like degrees, but count as rad: {limits_text} of '
        f'{name!r} allows many turns; write 3.14159 for 180 degrees'
    )


def _millimetres(description: Description) -> str:
    loops = description.closures.values()
    frames = [*description.joints.values(), *description.links.values(), *loops]
    distances = [(math.hypot(*frame.position), frame.name) for frame in frames]
    distances += [(math.hypot(*loop.offset_position), loop.name) for loop in loops]
    distance, name = max(distances, default=(0.0, ''))
    if distance <= _FAR:
        return ''
    return (
        f'{name!r} is {distance:.4g} m from its parent: lengths count as metres; if '
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
