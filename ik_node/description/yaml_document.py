"""YAML read with line numbers, bounded in size, without duplicate keys."""

from __future__ import annotations

from functools import cache
from typing import Any

from ik_node.errors import DescriptionError

MAX_BYTES = 2**20


class LocatedDict(dict[Any, Any]):
    """A mapping that knows the line it began on."""

    line: int | None = None


def line_of(value: object) -> int | None:
    """Return the line on which a parsed mapping began, where known."""
    return value.line if isinstance(value, LocatedDict) else None


def parse_yaml(data: bytes | str, source: str) -> Any:
    """
    Parse one YAML document with plain types only.

    Raises
    ------
    DescriptionError
        If it is too large, not valid YAML or has a key twice.

    """
    import yaml  # only read where a description has YAML

    if len(data) > MAX_BYTES:
        raise DescriptionError(
            f'{len(data)} bytes; the largest YAML read is {MAX_BYTES} bytes', source=source
        )
    try:
        return yaml.load(data, Loader=_loader())  # a SafeLoader, below
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise DescriptionError(
            f'not valid YAML: {error.problem}', source=source, line=line
        ) from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DescriptionError(f'not valid YAML: {first}', source=source) from None
    except RecursionError:
        raise DescriptionError('not valid YAML: nested too deep', source=source) from None


@cache
def _loader() -> Any:
    import yaml

    class LocatedLoader(yaml.SafeLoader):
        """A safe loader whose mappings know their line."""

        def construct_located(self, node: Any) -> Any:
            found = LocatedDict()
            found.line = node.start_mark.line + 1
            yield found
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node)
                if isinstance(key, str) and key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f'the key {key!r} comes twice', key_node.start_mark
                    )
                if isinstance(key, str):
                    seen.add(key)
            found.update(self.construct_mapping(node, deep=True))

        def flatten_mapping(self, node: Any) -> None:
            """Leave merge keys alone: nested ones can be made to fill any memory."""

    LocatedLoader.add_constructor(
        yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, LocatedLoader.construct_located
    )
    return LocatedLoader
