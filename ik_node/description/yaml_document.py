"""YAML parser with line numbers and limits on size, depth and expansion, for plain types only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ik_node.description.xml_document import MAX_NUMBER
from ik_node.errors import DescriptionError, IkError, shown
from ik_node.model.dof import DOF, parse_dofs
import numpy as np

MAX_NAME = 500
MAX_ITEMS = 5000


class Checked:
    """
    Checked access to parsed YAML, with errors that name the file and line.

    `line` is that of the mapping or list that was read last; None = not known.
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
        result = [self.text(item, f'{key}[{i}]') for i, item in enumerate(self.items(top, key))]
        return list(dict.fromkeys(result))

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
        if isinstance(parts, np.ndarray):
            parts = parts.tolist()
        if not isinstance(parts, list | tuple):
            parts = ()
        numbers = []
        for part in parts:
            with suppress(TypeError, ValueError, OverflowError):
                # YAML 1.1 reads 1e-6 as text
                number = float('nan') if isinstance(part, bool) else float(part)
                if abs(number) <= MAX_NUMBER:  # False for nan
                    numbers.append(number)
        if len(numbers) != count or len(parts) != count:
            expected = f'{count} finite number' + 's' * (count > 1)
            raise self.fail(
                f'{what}: expected {expected} up to {MAX_NUMBER:g}, got {shown(value)}'
            )
        return numbers

    def number(
        self, fields: Mapping[str, Any], key: str, what: str, default: float = 1.0
    ) -> float:
        """Return the number under a key, which must be 0 or more."""
        self.line = line_of(fields, key) or self.line
        (number,) = self.numbers([fields.get(key, default)], 1, f'{what}: {key}')
        if number < 0.0:
            raise self.fail(f'{what}: {key}: {number:g} is below zero')
        return number

    def vector(
        self, fields: Mapping[str, Any], key: str, what: str, unit: str = '[m]'
    ) -> list[float]:
        """Return the three numbers under a key; zeros if it is missing."""
        self.line = line_of(fields, key) or self.line
        return self.numbers(fields.get(key, (0, 0, 0)), 3, f'{what}: {key} {unit}')

    def need(self, fields: Mapping[str, Any], key: str, what: str, example: str = 'NAME') -> Any:
        """Return the value under a key that must exist."""
        if key not in fields:
            raise self.fail(f'{what}: {key} is missing; write {key}: {example}')
        return fields[key]

    def one_of(self, value: object, allowed: Iterable[str], what: str) -> str:
        """Return a word in lower case that must be one of those allowed."""
        word = self.text(value, what).strip().lower()
        if word not in allowed:
            raise self.fail(f'{what} {shown(value)} is not known; allowed: {" ".join(allowed)}')
        return word

    def axes(self, value: object, what: str) -> tuple[DOF, ...]:
        """Return the axes in a list or text."""
        try:
            return parse_dofs(value)  # type: ignore[arg-type]
        except (IkError, TypeError) as error:
            raise self.fail(f'{what}: {error}') from None

    def fail(self, message: str) -> DescriptionError:
        """Return the exception for a fault on the present line."""
        return DescriptionError(message, source=self.source, line=self.line)


MAX_BYTES = 2**20
MAX_NODES = 50_000
MAX_DEPTH = 50


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
    """
    Parse one YAML document; dates stay text.

    DescriptionError, with the line, is raised if it is too large, too deep or not valid YAML, if
    its references expand too much, or if it has a duplicate key, a merge key or a tag.
    """
    import yaml  # imported only if needed

    if len(data) > MAX_BYTES:
        raise DescriptionError(
            f'{len(data)} bytes; the largest YAML read is {MAX_BYTES} bytes', source=source
        )
    try:
        root = yaml.compose(data, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise _fault(str(error.problem), source, line) from None
    except yaml.reader.ReaderError as error:  # of the encoding, or of a character
        newline = '\n' if isinstance(data, str) else b'\n'
        line = data.count(newline, 0, error.position) + 1  # type: ignore[arg-type]
        raise _fault(str(error).partition('\n')[0], source, line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise _fault(str(error).partition('\n')[0], source, None) from None
    except RecursionError:
        raise _fault(f'nested more than {MAX_DEPTH} deep', source, None) from None
    return None if root is None else _Builder(source).value(root, MAX_DEPTH)


def _fault(message: str, source: str, line: int | None) -> DescriptionError:
    return DescriptionError(f'not valid YAML: {message}', source=source, line=line)


class _Builder:
    """A builder of values from the nodes of PyYAML, which counts them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._nodes = 0

    def value(self, node: Any, depth: int) -> Any:
        """Return the value of a node; a node that references repeat is expanded again."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            message = f'more than {MAX_NODES} values after expansion of references'
            raise self._fail(node, message)
        if depth == 0:
            raise self._fail(node, f'nested more than {MAX_DEPTH} deep')
        kind = node.tag.removeprefix('tag:yaml.org,2002:')
        if kind == 'merge':
            message = 'the merge key << is not supported; write the keys themselves'
            raise self._fail(node, message)
        if kind not in KINDS[node.id]:
            raise self._fail(node, f'the tag {node.tag[:60]!r} is not read; leave it out')
        if node.id == 'scalar':
            return _scalar(kind, node.value)
        if node.id == 'sequence':
            items = _Sequence(self.value(each, depth - 1) for each in node.value)
            items.line = node.start_mark.line + 1
            return items
        result = _Mapping()
        result.line = node.start_mark.line + 1
        for named, each in node.value:
            if named.id != 'scalar':
                message = 'a mapping or list cannot be a key; expected a name'
                raise self._fail(named, message)
            key = self.value(named, depth - 1)
            if key in result:
                raise self._fail(named, f'the key {str(key)[:60]!r} occurs twice')
            result[key] = self.value(each, depth - 1)
            result.lines[key] = named.start_mark.line + 1
        return result

    def _fail(self, node: Any, message: str) -> DescriptionError:
        return _fault(message, self._source, node.start_mark.line + 1)


# The tags that PyYAML gives to plain values, by kind of node.
KINDS = {
    'scalar': ('str', 'int', 'float', 'bool', 'null', 'timestamp', 'value'),
    'sequence': ('seq', 'python/tuple'),
    'mapping': ('map',),
}
WORDS = {
    **dict.fromkeys(('yes', 'on', 'true'), True),
    **dict.fromkeys(('no', 'off', 'false'), False),
}


def _scalar(kind: str, text: str) -> Any:
    """Return a plain value; dates, and numbers in another base, stay text."""
    if kind == 'null':
        return None
    if kind == 'bool':
        return WORDS.get(text.lower(), text)
    if kind not in ('int', 'float') or len(text) > 1000:
        return text
    digits = text.lower().replace('_', '').replace('.inf', 'inf').replace('.nan', 'nan')
    for number in (int, float) if len(digits) < 16 else (float,):
        try:
            return number(digits)
        except ValueError:
            continue
    return text
