"""An MJCF with its includes put in."""

from __future__ import annotations

from os.path import abspath
from pathlib import Path
from xml.etree.ElementTree import Element

from ik_node.description.xml_document import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    parse_xml,
    XmlDocument,
)
from ik_node.errors import DescriptionError, shown

MAX_INCLUDES = 200
# What replicas and attached models may add to the elements that are written.
MAX_ADDED = 6_000
FALSE_TRUE = ('false', 'true')


class MjcfDocument(XmlDocument):
    """
    An XML document made of several files; each element knows its own.

    Parameters
    ----------
    document : XmlDocument
        The main file. Its elements are used, not copied.
    outer : MjcfDocument, optional
        The model that it is attached to.

    Attributes
    ----------
    repeated : set of str
        Files that are included more than once, which MuJoCo refuses.

    Raises
    ------
    DescriptionError
        If an include cannot be read or includes itself, or all together are too much.

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
        """Make the exception for a fault in an element, with the file it is in."""
        source = self._sources.get(element, self.source)
        return XmlDocument(element, self._lines, source).error(element, message, kind)

    def stand_in(self, element: Element, tag: str, attributes: dict[str, str]) -> Element:
        """Return another element at the same place in the file."""
        made = Element(tag, attributes)
        if element in self._lines:
            self._lines[made] = self._lines[element]
        if element in self._sources:
            self._sources[made] = self._sources[element]
        return made

    def sections(self, tag: str) -> list[Element]:
        """Return the elements of a tag below the root."""
        return self.root.findall(tag)

    def word(self, element: Element, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return an attribute that is one of a few words."""
        text = element.get(name, default)
        if text not in allowed:
            raise self.error(element, f'{name}="{text[:60]}"; allowed: {" ".join(allowed)}')
        return text

    def is_true(self, element: Element, name: str, default: str) -> bool:
        """Return an attribute that is true or false."""
        return self.word(element, name, default, FALSE_TRUE) == 'true'

    def some_numbers(self, element: Element, name: str, most: int) -> list[float]:
        """Return the numbers of an attribute, 1 to `most` of them; none if it is not there."""
        count = len(element.get(name, '').split())
        if element.get(name) is not None and not 1 <= count <= most:
            raise self.error(element, f'{name}: expected 1 to {most} numbers, got {count}')
        return self.numbers(element, name, (0.0,) * count)

    def _put_in(
        self, parent: Element, folder: Path | None, depth: int, chain: tuple[str, ...]
    ) -> None:
        """Replace the includes below an element by what is in their files."""
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
        """Return the model that an element names as its file."""
        part = self._open(element, self._folder)
        if abspath(part.source) in self._chain:
            raise self.error(element, 'the model is attached to itself')
        if len(self._chain) > MAX_DEPTH // 4:
            raise self.error(element, 'models are attached to models without end')
        return MjcfDocument(part, self)

    def check_depth(self) -> None:
        """Refuse elements that are nested too deep, by what is put in."""
        level = [self.root]
        for _ in range(MAX_DEPTH):
            level = [child for element in level for child in element]
        if level:
            raise self.error(level[0], f'elements are nested more than {MAX_DEPTH} deep')

    def spend(self, element: Element, count: float, data: float = 0.0) -> None:
        """Count what is added to the file, and refuse too much of it."""
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
        """Return what an include stands for."""
        part = self._open(element, folder)
        path = abspath(part.source)
        if path in chain:
            raise self.error(element, f'the file {shown(element.get("file"))} includes itself')
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
        """Return the path of an include: from the main file's folder, else from its own."""
        if folder is None or self._folder is None:
            raise self.error(
                element,
                f'file="{name[:200]}": a description that is a text has no folder; '
                'read it from its file',
            )
        for start in (self._folder, folder):
            try:
                if (start / name).is_file():
                    return start / name
            except (OSError, ValueError):
                break
        raise self.error(element, f'there is no file {name[:200]!r} in {str(self._folder)!r}')
