"""Names for loops that have none."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import Description
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import shown


class LoopNames:
    """
    Gives every element a name that nothing else in the description has.

    Parameters
    ----------
    document : XmlDocument
    description : Description
        What is generated goes to its notes.

    """

    def __init__(self, document: XmlDocument, description: Description) -> None:
        self._taken = {element.get('name') for element in document.root.iter()}
        self._taken |= {loop.name for each in description.loops for loop in each.loops}
        self._notes = description.notes
        self._counts: dict[str, int] = {}

    def of(self, element: Element, *, noted: bool = True) -> str:
        """
        Return the element's own name, else a new one: its tag and a number.

        Parameters
        ----------
        element : Element
            Of the description.
        noted : bool
            Whether a missing name is noted: not where the dialect has none.

        """
        name = element.get('name')
        if name is not None and name.strip():
            return name
        tag = str(element.tag).rpartition(':')[2]
        made = self.new(tag)
        if noted:
            self._notes.append(f'<{element.tag}> without a name is called {shown(made)}')
        return made

    def new(self, base: str) -> str:
        """Return a name that nothing has yet: base_1, base_2, ..."""
        while True:
            self._counts[base] = self._counts.get(base, 0) + 1
            made = f'{base}_{self._counts[base]}'
            if made not in self._taken:
                self._taken.add(made)
                return made
