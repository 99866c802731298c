"""Names out of another program's file, held against the robot they are used on."""

from __future__ import annotations

from collections.abc import Iterable

from ik_node.description.description import Description
from ik_node.description.loop import Loop


def known_motors(
    names: list[str] | None, key: str, source: str, description: Description
) -> list[str] | None:
    """
    Return those of the names that are movable joints; the others are noted.

    Those programs pass over such names too, as joints get fixed or merged after the file is made.
    """
    if names is None:
        return None
    found = []
    for name in names:
        joint = description.joints.get(name)
        if joint is not None and joint.dof:
            found.append(name)
        else:
            why = 'there is no such joint' if joint is None else 'it is fixed'
            description.notes.append(f'{source}: {key}: {name!r} has no motor, as {why}')
    return found


def name_apart(loops: Iterable[Loop], description: Description) -> None:
    """Give loops whose name is taken a number; in those files names need not be unique."""
    declared = (loop.name for loop_set in description.loops for loop in loop_set.loops)
    taken = {*description.closures, *declared}
    counts: dict[str, int] = {}
    for loop in loops:
        name = loop.name
        while loop.name in taken:
            counts[name] = counts.get(name, 1) + 1
            loop.name = f'{name}_{counts[name]}'
        taken.add(loop.name)
