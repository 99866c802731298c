"""An MJCF document with its includes expanded."""

from __future__ import annotations

from math import inf
from os.path import abspath
from pathlib import Path
from xml.etree.ElementTree import Element

from ik_node.description.limits import is_beyond
from ik_node.description.xml_document import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    parse_xml,
    XmlDocument,
)
from ik_node.errors import DescriptionError

MAX_INCLUDES = 200
# Limit on the elements that replicas and attached models add.
MAX_ADDED = 6_000
FALSE_TRUE = ('false', 'true')


class MjcfDocument(XmlDocument):
    """
    An XML document made of several files, with the source file of every element.

    Parameters
    ----------
    document : XmlDocument
        The main file. Its elements are modified, not copied.
    outer : MjcfDocument, optional
        The model that this one is attached to.

    Attributes
    ----------
    repeated : set of str
        Files that are included more than once, which MuJoCo rejects.

    Raises
    ------
    DescriptionError
        If an include cannot be read or includes itself, or the includes exceed a limit.

    """

    def __init__(self, document: XmlDocument, outer: MjcfDocument | None = None) -> None:
        super().__init__(document.root, dict(document._lines), document.source)
        self._sources: dict[Element, str] = {}
        is_file = document.source != '<text>'
        self._folder = Path(document.source).parent if is_file else None
        main = (abspath(document.source),) if is_file else ()
        self._included: list[str] = []
        self.repeated: set[str] = set()
        self._chain: tuple[str, ...] = (outer._chain if outer else ()) + main
        self._spent: list[float] = outer._spent if outer else [0.0, 0.0]  # elements, bytes
        self._put_in(self.root, self._folder, 1, main)

    def error(
        self, element: Element, message: str, kind: type[DescriptionError] = DescriptionError
    ) -> DescriptionError:
        """Return the exception for a fault in an element, with its file."""
        source = self._sources.get(element, self.source)
        return XmlDocument(element, self._lines, source).error(element, message, kind)

    def stand_in(self, element: Element, tag: str, attributes: dict[str, str]) -> Element:
        """Return a new element with the file and line of another one."""
        made = Element(tag, attributes)
        if element in self._lines:
            self._lines[made] = self._lines[element]
        if element in self._sources:
            self._sources[made] = self._sources[element]
        return made

    def sections(self, tag: str) -> list[Element]:
        """Return the children of the root with a given tag."""
        return self.root.findall(tag)

    def word(self, element: Element, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return an attribute that must be one of the allowed words."""
        text = element.get(name, default)
        if text not in allowed:
            raise self.error(element, f'{name}="{text[:60]}"; allowed: {" ".join(allowed)}')
        return text

    def is_true(self, element: Element, name: str, default: str) -> bool:
        """Return the value of an attribute that must be true or false."""
        return self.word(element, name, default, FALSE_TRUE) == 'true'

    def limits(
        self,
        element: Element,
        name: str,
        limited_name: str,
        autolimits: bool,
        notes: list[str] | None = None,
    ) -> tuple[float, float]:
        """
        Return the limits in an attribute; infinite if it does not limit, or from 1e12 on.

        Parameters
        ----------
        element : Element
            An element with the attributes of its class.
        name, limited_name : str
            The attribute with the two limits, and the one that states whether they count.
        autolimits : bool
            Whether two limits count if nothing is stated.
        notes : list of str, optional
            What is assumed is appended.

        Raises
        ------
        DescriptionError
            If the limits are not two numbers, or they count and are not in order, or nothing
            states whether they count.

        """
        text = element.get(name, '')
        lower, upper = self.numbers(element, name, (0.0, 0.0), infinite=True)
        limited = self.word(element, limited_name, 'auto', (*FALSE_TRUE, 'auto'))
        if limited == 'auto' and not autolimits and (lower or upper):
            raise self.error(
                element,
                f'{name}="{text}", but neither {limited_name}="true" or "false" nor '
                '<compiler autolimits="true"/>',
            )
        if limited == 'true' and not lower < upper:
            why = '; the limits are reversed, exchange them' * (lower > upper)
            raise self.error(
                element, f'{name}="{lower:g} {upper:g}": the first must be below the second{why}'
            )
        counts = limited == 'true' or (limited == 'auto' and lower < upper)
        if notes is not None:
            what = f'<{element.tag}> {element.get("name", "")!r}: {name}="{text}"'
            if limited == 'auto' and lower >= upper and (lower or upper):
                why = 'reversed' if lower > upper else 'empty'
                notes.append(f'{what} is {why}; as in MuJoCo it does not limit')
            elif counts and any(map(is_beyond, text.split())):
                notes.append(f'{what}: numbers beyond 1e12 are taken as no limit')
        return (lower, upper) if counts else (-inf, inf)

    def some_numbers(self, element: Element, name: str, most: int) -> list[float]:
        """Return the 1 to `most` numbers of an attribute; an empty list if it is missing."""
        count = len(element.get(name, '').split())
        if element.get(name) is not None and not 1 <= count <= most:
            raise self.error(element, f'{name}: expected 1 to {most} numbers, got {count}')
        return self.numbers(element, name, (0.0,) * count)

    def _put_in(
        self, parent: Element, folder: Path | None, depth: int, chain: tuple[str, ...]
    ) -> None:
        """Replace the includes below an element by the contents of their files."""
        if depth > MAX_DEPTH:
            raise self.error(parent, f'elements are nested more than {MAX_DEPTH} deep')
        children: list[Element] = []
        for child in parent:
            if child.tag == 'include':
                children += self._read(child, folder, depth, chain)
            else:
                self._put_in(child, folder, depth + 1, chain)
                children.append(child)
        parent[:] = children

    def attached(self, element: Element) -> MjcfDocument:
        """Return the model in the file that an element names."""
        part = self._open(element, self._folder)
        if abspath(part.source) in self._chain:
            raise self.error(element, 'the model is attached to itself')
        if len(self._chain) > MAX_DEPTH // 4:
            raise self.error(element, 'models are attached to models without end')
        return MjcfDocument(part, self)

    def check_depth(self) -> None:
        """Raise DescriptionError if the expanded elements are nested too deep."""
        level = [self.root]
        for _ in range(MAX_DEPTH):
            level = [child for element in level for child in element]
        if level:
            raise self.error(level[0], f'elements are nested more than {MAX_DEPTH} deep')

    def spend(self, element: Element, count: float, data: float = 0.0) -> None:
        """Count added elements and bytes, and raise DescriptionError above the limit."""
        self._spent[0] += count
        self._spent[1] += data
        if self._spent[0] > MAX_ADDED or self._spent[1] > MAX_BYTES:
            raise self.error(
                element,
                f'more than {MAX_ADDED} elements by replicas and attached models, or more than '
                f'{MAX_BYTES} bytes in other files',
            )

    def _read(
        self, element: Element, folder: Path | None, depth: int, chain: tuple[str, ...]
    ) -> list[Element]:
        """Return the elements that replace an include."""
        part = self._open(element, folder)
        path = abspath(part.source)
        if path in chain:
            raise self.error(element, f'the file {element.get("file")!r} includes itself')
        if path in self._included:
            self.repeated.add(part.source)
        self._included.append(path)
        if len(self._included) > MAX_INCLUDES or (
            len(self._lines) + len(part._lines) > MAX_ELEMENTS
        ):
            raise self.error(
                element, f'more than {MAX_INCLUDES} files or {MAX_ELEMENTS} elements are included'
            )
        self._lines.update(part._lines)
        self._sources.update(dict.fromkeys(part._lines, part.source))
        self._put_in(part.root, Path(part.source).parent, depth, (*chain, path))
        return list(part.root)

    def _open(self, element: Element, folder: Path | None) -> XmlDocument:
        """Parse the file that an element names."""
        name = self.attribute(element, 'file')
        path = self._find(element, name, folder)
        try:
            with path.open('rb') as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, 'strerror', None) or str(error)
            raise self.error(element, f'the file {name!r} cannot be read: {reason}') from None
        self.spend(element, 0.0, len(data))
        return parse_xml(data, str(path))

    def _find(self, element: Element, name: str, folder: Path | None) -> Path:
        """Return the path of an include, relative to the main file, else to the including file."""
        if folder is None or self._folder is None:
            raise self.error(
                element,
                f'file="{name[:200]}": a description given as text has no folder; '
                'read it from its file',
            )
        for start in (self._folder, folder):
            try:
                if (start / name).is_file():
                    return start / name
            except (OSError, ValueError):
                break
        raise self.error(element, f'there is no file {name[:200]!r} in {str(self._folder)!r}')
