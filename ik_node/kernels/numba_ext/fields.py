"""The compiled form of a table of fields: the addresses of its packed arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ik_node.kernels.numba_ext.intrinsics import intrinsic_of
from ik_node.kernels.numba_ext.unchecked_array import CHECKED, describe, Flat
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, register_model

# The head of a packed array, and what is in it, do not change during a solve.
HEAD = Flat(types.int64, kept=True)


class Opened(types.Type):
    """The Numba type of a table; see `kernels.fields.opener` for the parameters."""

    def __init__(
        self,
        table: type[Any],
        sizes: Sequence[str],
        fields: Mapping[str, tuple[str, str, str]],
        packed: str,
        separate: Sequence[str],
        shapes: Mapping[str, tuple[str, ...]],
        fixed: Mapping[str, int],
    ) -> None:
        self.sizes, self.fields, self.packed, self.separate = sizes, fields, packed, separate
        self.place = {name: index for index, name in enumerate((*sizes, *fields))}
        self.shapes = {**{name: (length,) for name, (_, length, _) in fields.items()}, **shapes}
        self.fixed = fixed
        self.hints = table.__annotations__
        super().__init__(name=f'Opened({table.__name__})')

    def array(self, letter: str) -> Flat:
        """Return the type of a packed array."""
        return Flat(types.int64 if letter in 'ikp' else types.float64, kept=letter in 'if')

    def of(self, name: str) -> Any:
        """Return the type of an attribute; None if there is none."""
        if name in self.sizes:
            return types.int64
        if name in self.separate:
            return Flat(types.float64, kept=False)
        if name not in self.fields:
            return None
        array = self.array(self.fields[name][0])
        return array.dtype if self.is_number(name) else array

    def is_number(self, name: str) -> bool:
        """Return True for a field that is a number and no array."""
        return getattr(self.hints[name], '__origin__', None) is float


@register_model(Opened)
class _OpenedModel(models.StructModel):
    def __init__(self, manager: Any, of: Opened) -> None:
        kinds = [(letter, of.array(letter).dtype) for letter in of.packed]
        kinds += [(name, types.float64) for name in of.separate]
        super().__init__(manager, of, [(name, types.CPointer(kind)) for name, kind in kinds])


@infer_getattr
class _OpenedAttributes(AttributeTemplate):
    key = Opened

    def generic_resolve(self, of: Opened, name: str) -> Any:
        return of.of(name)


def _has_head(builder: Any, of: Opened) -> None:
    """
    Tell LLVM that the head can be read at any time, so that it is read before a loop, not in it.

    Of a function whose table is `s`, or that opens it from the first packed array.
    """
    for argument in builder.function.args:
        if argument.name in ('arg.s.0', f'arg.{of.packed[0]}'):
            argument.attributes.dereferenceable = 8 * len(of.place)
            argument.attributes.align = 8


@lower_getattr_generic(Opened)
def _get(context: Any, builder: Any, of: Opened, value: Any, name: str) -> Any:
    if of.packed == 'ifkw':
        _has_head(builder, of)
    table = cgutils.create_struct_proxy(of)(context, builder, value=value)

    def number(word: str) -> Any:
        kind = ir.IntType(64)
        if word.isdigit() or word in of.fixed:
            return ir.Constant(kind, of.fixed.get(word) or int(word))
        place = builder.gep(getattr(table, of.packed[0]), [ir.Constant(kind, of.place[word])])
        return describe(builder, HEAD, builder.load(place))

    def length(expression: str) -> Any:
        left, sign, right = expression.partition(' ')
        if not sign:
            return number(left)
        join = builder.add if right[0] == '+' else builder.mul
        return join(number(left), length(right[2:]))

    if name in of.sizes:
        return number(name)
    if name in of.separate:
        start = getattr(table, name)
    else:
        letter = of.fields[name][0]
        start = builder.gep(getattr(table, letter), [number(name)])
        if of.is_number(name):
            return describe(builder, of.array(letter), builder.load(start))
    made = cgutils.create_struct_proxy(of.of(name))(context, builder)
    made.data = start
    shape = of.shapes[name]
    if len(shape) > 1:
        made.width = length(shape[1])
    if CHECKED:
        size = length(shape[0])
        made.size = size if len(shape) == 1 else builder.mul(size, made.width)
    return made._getvalue()


def opener_of(of: Opened) -> Callable[..., Any]:
    """Return the function that makes a table of the addresses of its arrays."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        _has_head(builder, of)
        made = cgutils.create_struct_proxy(of)(context, builder)
        for name, value in zip((*of.packed, *of.separate), values, strict=True):
            setattr(made, name, value)
        return made._getvalue()

    opener: Callable[..., Any] = intrinsic_of(len(of.packed) + len(of.separate), of, build)
    return opener
