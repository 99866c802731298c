"""Notes on values that can be read, but are probably not what their authors meant."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot, pi, radians, remainder
import re

from ik_node.description.description import Description, quoted
from ik_node.description.loops.closing_frames import is_closing_frame
from ik_node.errors import listed

# An angle this near to a multiple of pi is one [rad].
_HALF_TURN = 0.02
# Angles of poses above this look like degrees: no pose is turned by more than a whole turn; and
# limits of rotations: 15 rad are more than two turns. Larger numbers mean "unlimited" [rad].
_POSE, _LIMIT, _LARGEST = 6.4, 15.0, 720.0
# No part of a robot is that far from the next one [m]; ten millimetres are usual.
_FAR = 10.0
# Names of frames that close a loop, in other writings than closing_NAME_1, and Gepetto's.
_CLOSING = re.compile(r'(^|[-_. ])clos(ing|ure)([-_. \d]|$)|fermeture|closed_?loop', re.IGNORECASE)


def _looks_like_degrees(angle: float, least: float) -> bool:
    """Return True for an angle [rad] above `least` that is no multiple of half a turn."""
    return least <= abs(angle) <= _LARGEST and abs(remainder(angle, pi)) > _HALF_TURN


def note_degrees(angles: Iterable[float]) -> list[str]:
    """Return a note on the angles of poses [rad] that look like degrees; [] if none does."""
    found = [angle for angle in angles if _looks_like_degrees(angle, _POSE)]
    said = quoted([f'{angle:g}' for angle in dict.fromkeys(found)])
    return [
        f'angles of poses look like degrees, but count as rad: {said}; '
        f'write {radians(angle):.8g} for {angle:g} degrees'
        for angle in found[:1]
    ]


def note_suspicious_values(description: Description) -> None:
    """Add notes for limits in degrees, for millimetres, and for names of unread ends of loops."""
    notes, loops = description.notes, description.closures.values()
    limits = {
        name: (joint.min_dof_limit[dof], joint.max_dof_limit[dof])
        for name, (joint, dof) in description.values.items()
        if dof.is_rotation
    }
    turns = [
        name for name, ends in limits.items() if any(_looks_like_degrees(x, _LIMIT) for x in ends)
    ]
    for name in turns[:1]:
        low, high = limits[name]
        notes.append(
            f'limits of {listed(turns)} look like degrees, but count as rad: [{low:g}, {high:g}] '
            f'of {name!r} allows many turns; write 3.14159 for 180 degrees'
        )
    frames = [*description.joints.values(), *description.links.values(), *loops]
    distances = [(hypot(*frame.position), frame.name) for frame in frames]
    distances += [(hypot(*loop.offset_position), loop.name) for loop in loops]
    distance, name = max(distances, default=(0.0, ''))
    if distance > _FAR:
        notes.append(
            f'{name!r} is {distance:.4g} m from its parent: lengths count as metres; if they are '
            'millimetres, divide them by 1000'
        )
    ends = {end for loop in loops for end in (loop.child, loop.parent)}
    names = [
        name
        for name, link in description.links.items()
        if _CLOSING.search(name)
        and not is_closing_frame(name.removesuffix('_z'))
        and link not in ends
        and not link.children
    ]
    if names:
        notes.append(
            f'links {quoted(names)} look like ends of loops, but no loop is made of them: name '
            'pairs closing_NAME_1 and closing_NAME_2, put the robot.yaml of a model of Gepetto '
            'beside its URDF, or give a closures file with one closure per pair'
        )
