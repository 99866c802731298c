"""YAML parser with line numbers and a limit on size, for plain types only."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ik_node.description.xml_document import MAX_NUMBER
from ik_node.errors import DescriptionError, shown
import numpy as np


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
        return list(value)

    def names(self, top: Mapping[str, Any], key: str) -> list[str]:
        """Return the unique names in the list under a key."""
        result = [self.text(item, f'{key}[{i}]') for i, item in enumerate(self.items(top, key))]
        return list(dict.fromkeys(result))

    def text(self, value: object, what: str) -> str:
        """Return a value that must be a name."""
        if not isinstance(value, str) or not value:
            raise self.fail(f'{what}: expected a name, got {shown(value)} (quote it: "...")')
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

    def fail(self, message: str) -> DescriptionError:
        """Return the exception for a fault on the present line."""
        return DescriptionError(message, source=self.source, line=self.line)


MAX_BYTES = 2**20


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


def read_bytes(path: Any, what: str = '', hint: str = '') -> bytes:
    """Return a file, of which no more is read than a YAML text may have."""
    try:
        with Path(path).open('rb') as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        message = f'{what}cannot be read: {reason}{hint}'
        raise DescriptionError(message, source=str(path)[:200]) from None


def parse_yaml(data: bytes | str, source: str) -> Any:
    """
    Parse one YAML document; dates, and numbers in another base, stay text.

    DescriptionError, with the line, is raised if it is too large, too deep or not valid YAML, or
    if it has a duplicate key, a merge key or the tag of an object.
    """
    import yaml  # imported only if needed

    line: int | None = None
    try:
        if len(data) <= MAX_BYTES:
            return yaml.load(data, Loader=_loader())
        message = f'{len(data)} bytes; the largest YAML read is {MAX_BYTES} bytes'
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message, line = str(error.problem), None if mark is None else mark.line + 1
    except yaml.reader.ReaderError as error:  # of the encoding, or of a character
        newline = '\n' if isinstance(data, str) else b'\n'
        line = data.count(newline, 0, error.position) + 1  # type: ignore[arg-type]
        message = str(error).partition('\n')[0]
    except (yaml.YAMLError, ValueError) as error:
        message = str(error).partition('\n')[0]
    except RecursionError:
        message = 'nested too deep'
    raise DescriptionError(f'not valid YAML: {message}', source=source, line=line)


@cache
def _loader() -> Any:
    """Return PyYAML's safe loader with lines, without equal keys and slow numbers."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def mapping(loader: Any, node: Any) -> _Mapping:
        result = _Mapping()
        result.line = node.start_mark.line + 1
        for named, each in node.value:
            key, fault = loader.construct_object(named, deep=True), ''
            if not isinstance(key, Hashable):
                fault = 'a mapping or list cannot be a key; expected a name'
            elif key in result:
                fault = f'the key {shown(key)} occurs twice'
            if fault:
                raise yaml.constructor.ConstructorError(
                    problem=fault, problem_mark=named.start_mark
                )
            result[key] = loader.construct_object(each, deep=True)
            result.lines[key] = named.start_mark.line + 1
        return result

    def sequence(loader: Any, node: Any) -> _Sequence:
        result = _Sequence(loader.construct_object(each, deep=True) for each in node.value)
        result.line = node.start_mark.line + 1
        return result

    constructors = {
        'map': mapping,
        'seq': sequence,
        'python/tuple': sequence,
        **dict.fromkeys(('int', 'float'), lambda _, node: _number(node.value)),
        'timestamp': lambda _, node: node.value,
    }
    for kind, constructor in constructors.items():
        Loader.add_constructor(f'tag:yaml.org,2002:{kind}', constructor)
    return Loader


def _number(text: str) -> int | float | str:
    """Return a number; one in another base, or of a thousand digits, stays text."""
    digits = text.lower().replace('_', '').replace('.inf', 'inf').replace('.nan', 'nan')
    for number in (int, float) if len(digits) < 16 else (float,):
        with suppress(ValueError):
            return number(digits) if len(text) <= 1000 else text
    return text
