"""YAML parser with line numbers and limits on size, depth and expansion, for plain types only."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from math import isfinite
import re
from typing import Any

from ik_node.description.xml_document import MAX_NUMBER
from ik_node.errors import DescriptionError, shown
import numpy as np

MAX_NAME = 500
MAX_ITEMS = 5000


class Checked:
    """
    Checked access to parsed YAML, with errors that name the file and line.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    line : int or None
        Line of the mapping or list that was read last; None = not known.

    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.line: int | None = None

    def mapping(
        self, value: object, what: str, keys: tuple[str, ...], *, others: bool = False
    ) -> Mapping[str, Any]:
        """Return a mapping; unknown keys raise DescriptionError unless `others` is True."""
        if not isinstance(value, Mapping):
            raise self.fail(f'{what}: expected keys {" ".join(keys)}, got {shown(value)}')
        self.line = line_of(value) or self.line
        for key in () if others else value:
            if key not in keys:
                raise self.fail(
                    f'{what}: the key {shown(key)} is not known; allowed: {" ".join(keys)}'
                )
        return value

    def items(self, top: Mapping[str, Any], key: str) -> list[Any]:
        """Return the list under a key; an empty list if the key is missing."""
        self.line = line_of(top, key) or self.line
        value = top.get(key)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self.fail(f'{key}: expected a list, got {shown(value)}')
        if len(value) > MAX_ITEMS:
            raise self.fail(f'{key}: {len(value)} entries; at most {MAX_ITEMS} are read')
        return list(value)

    def names(self, top: Mapping[str, Any], key: str) -> list[str]:
        """Return the unique names in the list under a key."""
        found = [self.text(item, f'{key}[{i}]') for i, item in enumerate(self.items(top, key))]
        return list(dict.fromkeys(found))

    def text(self, value: object, what: str) -> str:
        """Return a value that must be a name."""
        if not isinstance(value, str) or not value:
            raise self.fail(f'{what}: expected a name, got {shown(value)} (quote it: "...")')
        if len(value) > MAX_NAME:
            raise self.fail(f'{what}: a name of {len(value)} characters; allowed: {MAX_NAME}')
        return value

    def numbers(self, value: object, count: int, what: str) -> list[float]:
        """Return `count` finite numbers from a list or text."""
        parts = value.split() if isinstance(value, str) else value
        wanted = f'{count} finite number' + ('s' if count > 1 else '')
        if isinstance(parts, np.ndarray):
            parts = parts.tolist()
        if not isinstance(parts, list | tuple) or len(parts) != count:
            raise self.fail(f'{what}: expected {wanted}, got {shown(value)}')
        numbers = []
        for part in parts:
            try:
                # YAML 1.1 reads 1e-6 as text
                number = float('nan') if isinstance(part, bool) else float(part)
            except (TypeError, ValueError, OverflowError):
                number = float('nan')
            if not isfinite(number) or abs(number) > MAX_NUMBER:
                raise self.fail(
                    f'{what}: expected {wanted} up to {MAX_NUMBER:g}, got {shown(value)}'
                )
            numbers.append(number)
        return numbers

    def fail(self, message: str) -> DescriptionError:
        """Return the exception for a fault on the present line."""
        return DescriptionError(message, source=self.source, line=self.line)


MAX_BYTES = 2**20
MAX_NODES = 50_000
MAX_DEPTH = 50
CORE = 'tag:yaml.org,2002:'
WORDS = {
    **dict.fromkeys(('yes', 'on', 'true'), True),
    **dict.fromkeys(('no', 'off', 'false'), False),
    **dict.fromkeys(('', '~', 'null'), None),
}
NOT_TEXT = re.compile('[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')


class _Mapping(dict[Any, Any]):
    """A mapping with its line number and that of each key."""

    line = 0

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[Any, int] = {}


class _Sequence(list[Any]):
    """A list with its line number."""

    line = 0


def line_of(value: object, key: object = None) -> int | None:
    """Return the line of a parsed mapping or list, or of a mapping's key."""
    if isinstance(value, _Mapping):
        return value.line if key is None else value.lines.get(key)
    return value.line if isinstance(value, _Sequence) else None


def parse_yaml(data: bytes | str, source: str) -> Any:
    """Parse one YAML document; dates stay text."""
    if len(data) > MAX_BYTES:
        raise DescriptionError(
            f'{len(data)} bytes; the largest YAML read is {MAX_BYTES} bytes', source=source
        )
    text = data if isinstance(data, str) else _decoded(data, source)
    odd = NOT_TEXT.search(text)
    if odd is not None:
        raise DescriptionError(
            f'not valid YAML: the character {odd.group()!r} is not allowed',
            source=source,
            line=text.count('\n', 0, odd.start()) + 1,
        )
    return _Builder(source).build(text)


def _decoded(data: bytes, source: str) -> str:
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode('utf-16' if utf_16 else 'utf-8')
    except UnicodeDecodeError as error:
        line = data.count(b'\n', 0, error.start) + 1
        message = f'not valid YAML: not {"UTF-16" if utf_16 else "UTF-8"} text ({error.reason})'
        raise DescriptionError(message, source=source, line=line) from None


class _Builder:
    """A builder of values from the parser's events, which counts nodes."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._line = 1
        self._nodes = 0
        self._documents = 0
        # Open values with their anchors and the node counts before them, and keys without a value
        # yet.
        self._open: list[tuple[Any, str | None, int]] = []
        self._keys: list[list[Any]] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._result: Any = None

    def build(self, text: str) -> Any:
        for event in self._events(text):
            self._line = event.start_mark.line + 1
            kind = type(event).__name__
            if kind == 'ScalarEvent':
                self._count(1)
                value = self._scalar(event)
                self._keep(event.anchor, value, 1)
                self._place(value)
            elif kind == 'AliasEvent':
                if event.anchor not in self._anchors:
                    raise self._fail(f'*{event.anchor[:60]} refers to no anchor above it')
                value, size = self._anchors[event.anchor]
                self._count(size)
                self._place(value)
            elif kind in ('MappingStartEvent', 'SequenceStartEvent'):
                self._start(event, _Mapping() if kind[0] == 'M' else _Sequence())
            elif kind in ('MappingEndEvent', 'SequenceEndEvent'):
                value, anchor, before = self._open.pop()
                self._keys.pop()
                self._keep(anchor, value, self._nodes - before)
                self._line = value.line
                self._place(value)
            elif kind == 'DocumentStartEvent':
                self._documents += 1
                if self._documents > 1:
                    raise self._fail('a second document begins; only one is allowed')
        return self._result

    def _events(self, text: str) -> Iterator[Any]:
        import yaml  # imported only if needed

        try:
            yield from yaml.parse(text, Loader=getattr(yaml, 'CSafeLoader', yaml.SafeLoader))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._line = self._line if mark is None else mark.line + 1
            raise self._fail(str(error.problem)) from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise self._fail(first) from None

    def _start(self, event: Any, value: _Mapping | _Sequence) -> None:
        allowed = ('map',) if isinstance(value, _Mapping) else ('seq', 'python/tuple')
        if event.tag not in (None, '!', *(CORE + name for name in allowed)):
            raise self._fail(f'the tag {event.tag[:60]!r} is not read; leave it out')
        if len(self._open) >= MAX_DEPTH:
            raise self._fail(f'nested more than {MAX_DEPTH} deep')
        value.line = self._line
        self._open.append((value, event.anchor, self._nodes))
        self._keys.append([])
        self._count(1)

    def _place(self, value: Any) -> None:
        if not self._open:
            self._result = value
            return
        holder, keys = self._open[-1][0], self._keys[-1]
        if isinstance(holder, _Sequence):
            holder.append(value)
        elif keys:
            holder[keys.pop()] = value
        else:
            if isinstance(value, dict | list):
                raise self._fail('a mapping or list cannot be a key; expected a name')
            if value in holder:
                raise self._fail(f'the key {str(value)[:60]!r} occurs twice')
            holder.lines[value] = self._line
            keys.append(value)

    def _scalar(self, event: Any) -> Any:
        text, plain = event.value, event.implicit[0]
        if event.tag not in (None, '!'):
            name = event.tag.removeprefix(CORE)
            if name not in ('str', 'int', 'float', 'bool', 'null'):
                raise self._fail(f'the tag {event.tag[:60]!r} is not read; leave it out')
            plain = name != 'str'
        if not plain:
            return text
        if text == '<<' and isinstance(self._open[-1][0] if self._open else None, _Mapping):
            raise self._fail('the merge key << is not supported; write the keys themselves')
        return _plain(text)

    def _keep(self, anchor: str | None, value: Any, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)

    def _count(self, size: int) -> None:
        self._nodes += size
        if self._nodes > MAX_NODES:
            raise self._fail(f'more than {MAX_NODES} values after expansion of references')

    def _fail(self, message: str) -> DescriptionError:
        return DescriptionError(f'not valid YAML: {message}', source=self._source, line=self._line)


def _plain(text: str) -> Any:
    """Return the value of unquoted text as in YAML 1.1, except that dates and times stay text."""
    from yaml.resolver import Resolver

    for tag, pattern in Resolver.yaml_implicit_resolvers.get(text[:1], ()):
        if len(text) > 1000 or not pattern.match(text):
            continue
        if tag in (CORE + 'bool', CORE + 'null'):
            return WORDS[text.lower()]
        if tag in (CORE + 'int', CORE + 'float'):
            return _number(text)
    return text


def _number(text: str) -> int | float | str:
    """Return a decimal number; a number in another base stays text."""
    digits = text.lower().replace('_', '').replace('.inf', 'inf').replace('.nan', 'nan')
    try:
        return int(digits) if len(digits) < 16 else float(digits)
    except ValueError:
        pass
    try:
        return float(digits)
    except ValueError:
        return text
