"""
Tables of fields that lie end to end in a few packed arrays, and the views of them.

A table such as `layout.Solve` annotates each field with its packed array, its length and what it
holds. Sizes, then the place where each field begins, stand at the head of the first packed array.
Compiled (`numba_ext.fields`), a table is the pointers to its arrays: a field is the place of its
first number, which is read from the head where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ik_node.kernels.decorators import compiling

Fields = dict[str, tuple[str, str, str]]


def lengths_of(table: type[Any]) -> tuple[tuple[str, ...], Fields]:
    """Return the sizes of a table, and packed array, length and meaning of each field."""
    hints = table.__annotations__
    return tuple(name for name, hint in hints.items() if hint is int), {
        name: hint.__metadata__ for name, hint in hints.items() if hasattr(hint, '__metadata__')
    }


def length_of(expression: str, names: Mapping[str, int]) -> int:
    """Work out a length: names or numbers, each added to all that follows or times it."""
    left, sign, right = expression.partition(' ')
    length = names[left] if left in names else int(left)
    if not sign:
        return length
    other = length_of(right[2:], names)
    return length + other if right[0] == '+' else length * other


def opener(
    table: type[Any],
    packed: str,
    separate: Sequence[str] = (),
    shapes: Mapping[str, tuple[str, ...]] | None = None,
    fixed: Mapping[str, int] | None = None,
) -> Callable[..., Any]:
    """
    Return the function that opens packed arrays as a table.

    A field of `table` that is annotated as float is a number. `packed`: letters of the packed
    arrays, in the order of the arguments. `separate`: fields that are arrays of their own, in the
    order of the arguments that follow. `shapes`: lengths of the separate fields, and rows and
    columns of fields that are two-dimensional. `fixed`: values of other words in lengths.
    """
    sizes, fields = lengths_of(table)
    shapes, fixed = shapes or {}, fixed or {}
    if compiling:
        from ik_node.kernels.numba_ext.fields import Opened, opener_of

        return opener_of(Opened(table, sizes, fields, packed, separate, shapes, fixed))

    def opened(*arrays: Any) -> Any:
        """Return the table with a view for each field."""
        places = dict(zip((*sizes, *fields), arrays[0].reshape(-1).tolist(), strict=False))
        words = {**places, **fixed}
        of = dict(zip((*packed, *separate), arrays, strict=True))
        values: dict[str, Any] = {name: places[name] for name in sizes}
        for name in (*separate, *fields):
            letter, length, _ = fields.get(name, (name, '', ''))
            begin = places.get(name, 0)
            shape = [length_of(each, words) for each in shapes.get(name, (length,))]
            size = shape[0] if len(shape) == 1 else shape[0] * shape[1]
            values[name] = of[letter].reshape(-1)[begin : begin + size].reshape(shape)
            if getattr(table.__annotations__[name], '__origin__', None) is float:
                values[name] = float(values[name][0])
        return table(**values)

    return opened
