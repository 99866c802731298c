"""Loops that come in a file of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ik_node.description.description import Description
from ik_node.description.loop import LoopSet
from ik_node.description.xml_document import XmlDocument


def _as_it_is(document: XmlDocument) -> None:
    """Change nothing."""


@dataclass
class Sidecar:
    """
    One such file, read.

    Attributes
    ----------
    loop_set : callable
        Says what it declares about loops, for a description whose links and joints are read.
    rewrite : callable
        Changes the parsed description before it is read, where the dialect retypes joints.
    ends : tuple of (str, str)
        The two names that each loop ties: of links, in some dialects of joints.

    """

    loop_set: Callable[[Description], LoopSet]
    rewrite: Callable[[XmlDocument], None] = _as_it_is
    ends: tuple[tuple[str, str], ...] = ()
