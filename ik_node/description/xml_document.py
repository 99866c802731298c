"""XML parser with line numbers and size limits, without entities or external references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import copysign, inf, isfinite, isnan
import re
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ik_node.description.description import unknown
from ik_node.errors import DescriptionError, UnsupportedElementError
from ik_node.model.rotation import quat_from_euler, unit
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def is_true(text: str | None) -> bool:
    """Return True if a text is 'true' or '1'."""
    return text is not None and text.strip().lower() in ('true', '1')


MAX_BYTES = 32 * 2**20
MAX_ELEMENTS = 300_000
MAX_DEPTH = 300
MAX_NUMBER = 1e12


class XmlDocument:
    """
    A parsed XML file or text, with the line number of every element.

    A prefix is part of the tag ('drake:mimic') even if it is not declared, as in many real files.
    `source` is the file name, or '<text>', for messages.
    """

    def __init__(self, root: Element, places: dict[Element, tuple[str, int]], source: str) -> None:
        self.root = root
        self.source = source
        self.places = places  # File and line of each element

    def line(self, element: Element) -> int | None:
        """Return the line on which an element begins, counted from 1."""
        return self.places[element][1] if element in self.places else None

    def error(
        self, element: Element, message: str, kind: type[DescriptionError] = DescriptionError
    ) -> DescriptionError:
        """Return the exception for a fault in an element, with its line and start tag."""
        name = element.get('name')
        tag = element.tag if name is None else f'{element.tag} name="{name}"'
        source, line = self.places.get(element, (self.source, None))
        return kind(f'<{tag}>: {message}', source=source, line=line)

    def attribute(self, element: Element, name: str) -> str:
        """Return an attribute, which must exist and not be empty."""
        value = element.get(name)
        if value is None or not value.strip():
            result = 'is missing' if value is None else 'is empty'
            raise self.error(element, f'the attribute {name}="..." {result}')
        return value

    def word(
        self, element: Element, name: str, allowed: Sequence[str], default: str | None = None
    ) -> str:
        """
        Return an attribute in lower case, which must be one of the allowed words.

        Raises
        ------
        DescriptionError
            If it is another word; UnsupportedElementError for a word without a default.

        """
        text = self.attribute(element, name) if default is None else element.get(name, default)
        word = text.strip().lower()
        if word not in allowed:
            message = f'{name}="{text[:60]}" is not known; allowed: {" ".join(allowed)}'
            kind = UnsupportedElementError if default is None else DescriptionError
            raise self.error(element, message, kind)
        return word

    def known(
        self, element: Element, kind: str, name: str, names: Iterable[str], where: str = ''
    ) -> None:
        """Raise DescriptionError if a name is not among the known ones."""
        if name not in names:
            message = unknown(kind, name, list(names))
            raise self.error(element, f'{where}: {message}' if where else message)

    def once(
        self, element: Element, kind: str, name: str, seen: dict[str, Element | None]
    ) -> None:
        """Record a name, and raise DescriptionError if it is declared twice."""
        if name in seen:
            first = seen[name]
            where = f', on line {self.line(first)}' if first is not None else ''
            raise self.error(element, f'the {kind} {name!r} is declared already{where}')
        seen[name] = element

    def child(self, element: Element, tag: str) -> Element:
        """Return the first child with a given tag, which must exist."""
        result = element.find(tag)
        if result is None:
            raise self.error(element, f'the element <{tag}> is missing')
        return result

    def text(self, element: Element) -> str:
        """Return the text of an element, which must not be empty."""
        text = (element.text or '').strip()
        if not text:
            raise self.error(element, 'its text is missing')
        return text

    def numbers(
        self,
        element: Element | None,
        name: str,
        default: Sequence[float],
        *,
        infinite: bool = False,
    ) -> list[float]:
        """
        Return the numbers of an attribute, which must be as many as the default has.

        The default counts if the element or the attribute is missing. If `infinite`, inf and -inf
        are allowed, and numbers of 1e12 or more become infinite.
        """
        text = None if element is None else element.get(name)
        if element is None or text is None:
            return list(default)
        return self._numbers(element, name, text, len(default), infinite)

    def number(self, element: Element, name: str, text: str, *, infinite: bool = False) -> float:
        """Return the one number in a text, with the checks of `numbers`."""
        return self._numbers(element, name, text, 1, infinite)[0]

    def text_numbers(self, element: Element | None, default: Sequence[float]) -> list[float]:
        """Return the numbers in the text of an element, with the checks of `numbers`."""
        text = '' if element is None else (element.text or '').strip()
        if element is None or not text:
            return list(default)
        return self._numbers(element, '', text, len(default))

    def either(self, element: Element, name: str, default: float) -> float:
        """Return the number in an attribute, or in a child element or <param> of that name."""
        if element.get(name) is not None:
            return self.numbers(element, name, (default,))[0]
        child = element.find(name)
        child = element.find(f'param[@name="{name}"]') if child is None else child
        return self.text_numbers(child, (default,))[0]

    def direction(self, owner: Element, numbers: ArrayLike, what: str = 'axis') -> Array:
        """Return the unit vector along some numbers; an error names the element `owner`."""
        if np.max(np.abs(numbers)) < 1e-12:
            said = ' '.join(f'{value:g}' for value in np.asarray(numbers))
            raise self.error(owner, f'{what}="{said}" has no direction')
        return unit(numbers)

    def _numbers(
        self, element: Element, name: str, text: str, count: int, infinite: bool = False
    ) -> list[float]:
        parts = text.split()
        if len(parts) != count:
            said = f'{name}="{_short(text)}"' if name else repr(_short(text))
            plural = 's' * (count > 1)
            raise self.error(element, f'{said}: expected {count} number{plural}')
        return [self._number(element, name or 'its text', part, infinite) for part in parts]

    def _number(self, element: Element, name: str, text: str, infinite: bool) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float('nan')
        if '_' in text or isnan(value):
            raise self.error(element, f'{name}: {_short(text)!r} is not a number')
        if infinite and abs(value) >= MAX_NUMBER:
            return copysign(inf, value)
        if not isfinite(value) or abs(value) > MAX_NUMBER:
            raise self.error(
                element, f'{name}: {_short(text)!r} is out of range (up to {MAX_NUMBER:g})'
            )
        return value


def parse_xml(data: bytes | str, source: str, *, max_bytes: int = MAX_BYTES) -> XmlDocument:
    """Parse XML into elements."""
    if len(data) > max_bytes:
        raise DescriptionError(
            f'{len(data)} bytes; the largest description read is {max_bytes} bytes', source=source
        )
    try:
        return _Parser(source).parse(data)
    except DescriptionError:
        text = isinstance(data, str)
        mended = _mended(data.encode('utf-8', 'surrogatepass') if isinstance(data, str) else data)
        with suppress(DescriptionError):
            return _Parser(source).parse(
                mended.decode('utf-8', 'surrogatepass') if text else mended
            )
        raise


class _Parser:
    """An Expat parser without namespaces, with limits."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = TreeBuilder()
        self._places: dict[Element, tuple[str, int]] = {}
        self._depth = 0
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._builder.data
        # Entities allow XML bombs and file disclosure, and no description needs them.
        self._expat.EntityDeclHandler = self._refuse_entity
        self._expat.UnparsedEntityDeclHandler = self._refuse_entity
        self._expat.ExternalEntityRefHandler = self._refuse_entity
        self._expat.SkippedEntityHandler = self._refuse_entity

    def parse(self, data: bytes | str) -> XmlDocument:
        try:
            self._expat.Parse(data, True)
        except expat.ExpatError as error:
            raise DescriptionError(
                f'not well-formed XML: {expat.ErrorString(error.code)} '
                f'(column {error.offset + 1})',
                source=self._source,
                line=error.lineno,
            ) from None
        except (ValueError, LookupError) as error:  # lone surrogates, unknown encodings
            raise DescriptionError(f'cannot be decoded: {error}', source=self._source) from None
        return XmlDocument(self._builder.close(), self._places, self._source)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f'elements are nested more than {MAX_DEPTH} deep')
        if len(self._places) >= MAX_ELEMENTS:
            self._fail(f'more than {MAX_ELEMENTS} elements')
        place = self._source, self._expat.CurrentLineNumber
        self._places[self._builder.start(tag, attributes)] = place

    def _end(self, tag: str) -> None:
        self._depth -= 1
        self._builder.end(tag)

    def _refuse_entity(self, *details: object) -> NoReturn:
        self._fail(
            'declares or uses an XML entity; entities are not allowed, write the text itself'
        )

    def _fail(self, message: str) -> NoReturn:
        raise DescriptionError(message, source=self._source, line=self._expat.CurrentLineNumber)


def _mended(data: bytes) -> bytes:
    """
    Return XML without the faults that simulators accept.

    The faults are `--` inside a comment, and a declaration <?xml ...?> that is not at the very
    start. Newlines stay, so that line numbers stay the same.
    """

    def newlines(match: re.Match[bytes]) -> bytes:
        return match[0] if match[1] == b'' else b'\n' * match[0].count(b'\n')

    text = re.sub(rb'<!--.*?(-->|\Z)', newlines, data, flags=re.DOTALL)
    return re.sub(rb'\A[\xef\xbb\xbf\s]+<\?xml (.*?)\?>', newlines, text, flags=re.DOTALL)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + '...'


def read_origin(document: XmlDocument, element: Element | None) -> tuple[Array, Array]:
    """Return position (3,) [m] and quaternion of the attributes xyz, and quat_xyzw or rpy."""
    position = np.array(document.numbers(element, 'xyz', (0.0, 0.0, 0.0)))
    if element is None or element.get('quat_xyzw') is None:
        return position, quat_from_euler(*document.numbers(element, 'rpy', (0.0, 0.0, 0.0)))
    quat = document.numbers(element, 'quat_xyzw', (0.0, 0.0, 0.0, 1.0))  # of URDF 1.1
    return position, document.direction(element, quat, 'quat_xyzw')
