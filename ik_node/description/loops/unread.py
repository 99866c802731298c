"""What looks like a loop and is not read."""

from __future__ import annotations

from collections import Counter
import re

from ik_node.description.description import Description
from ik_node.description.listed import listed
from ik_node.description.loop import LoopSet
from ik_node.description.xml_document import XmlDocument

READ = ('loop_joint', 'loop', 'coupling', 'constraint', 'joint_coupling')
WORDS = ('loop', 'closure', 'constraint', 'coupling', 'equality')
OLD_NAMES = re.compile(r'.*(fermeture|closed_?loop).*', re.IGNORECASE)


def note_unread(document: XmlDocument, description: Description) -> LoopSet:
    """Note elements whose names speak of loops, but which no reader of a URDF knows."""
    tags = Counter(str(element.tag) for element in document.root)
    for tag, count in tags.items():
        plain = tag.lower()
        if plain in READ or plain.startswith('drake:'):
            continue
        if any(word in plain for word in WORDS):
            description.notes.append(f'<{tag}> is not read ({count} of them)')
    return LoopSet(document.source)


def note_unnamed_pairs(description: Description) -> None:
    """
    Note links that by their names close loops, where nothing says which ones and how.

    Models of Gepetto's example-parallel-robots keep that in a `robot.yaml` beside the URDF.
    """
    names = [name for name in description.links if OLD_NAMES.fullmatch(name)]
    if names and not description.closures:
        description.notes.append(
            f'links {listed(names, 6)} look like ends of loops, but nothing says which belong '
            'together: put the robot.yaml of the model beside its URDF, or give a closures file '
            'with a closure a pair'
        )
