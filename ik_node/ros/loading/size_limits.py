"""How large a robot may be that a node takes: it has to tick, on a robot's computer."""

from __future__ import annotations

import re

from ik_node.errors import DescriptionError
from ik_node.robot import Robot

# Reading takes about a millisecond each, some ten seconds in all, beside the running robot.
MOST_LINKS = 10_000
# Closing a thousand loops in one row takes a gigabyte and as many seconds.
MOST_LOOPS = 500

_LINK = re.compile(r'<(?:link|body)[\s/>]')


def count_links(text: str) -> int:
    """Return how many links a description seems to have, without reading it."""
    return sum(1 for _ in _LINK.finditer(text))


def check_text(text: str) -> None:
    """
    Refuse a description with too many links, before it is read.

    Raises
    ------
    DescriptionError
        Says how many it has, and how many are allowed.

    """
    links = count_links(text)
    if links > MOST_LINKS:
        raise DescriptionError(
            f'{links} links; a node takes a robot of at most {MOST_LINKS}, for reading more would '
            'keep it busy too long'
        )


def check_loops(robot: Robot) -> None:
    """
    Refuse a robot with too many loops, before they are closed.

    Raises
    ------
    DescriptionError
        Says how many it has, and how many are allowed.

    """
    loops = len(robot.closures)
    if loops > MOST_LOOPS:
        raise DescriptionError(
            f'{loops} loops; a node takes a robot of at most {MOST_LOOPS}, for more leave no time '
            'for a tick'
        )
