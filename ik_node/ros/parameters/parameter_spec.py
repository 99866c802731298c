"""One row of the node's parameter table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
import re
from typing import Any

from ik_node.errors import OptionError

# Numbers without a point, which YAML 1.1, `ros2 param set` and `load` read as text.
_POINTLESS = re.compile(r'[-+]?([0-9]+[eE][-+]?[0-9]+|inf)')

Value = bool | int | float | str | tuple[str, ...] | tuple[float, ...]


@dataclass(frozen=True)
class ParameterSpec:
    """
    The name, default, meaning and allowed values of one parameter.

    The type is that of the default: bool, int, float, str, a tuple of str or a tuple of float.

    Attributes
    ----------
    name : str
        Full name with dots, `goals.<name>.link` for a goal's.
    default : Value
        Value without an override. An empty list of names is `('',)`: ROS cannot type `[]`.
    doc : str
        One sentence for descriptors, `--help` and the README.
    unit : str
        SI unit, '' for none.
    low, high : float or None
        Smallest and largest allowed number, both included; None = no bound.
    choices : tuple of str
        The allowed strings; empty = any string.
    live : bool
        True if it may change while the node runs.
    form : str
        How a text is written, for messages; '' = any text.
    any_count : bool
        True if a list of numbers may have any length but 0.

    """

    name: str
    default: Value
    doc: str
    unit: str = ''
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = True
    form: str = ''
    any_count: bool = False

    @property
    def type_name(self) -> str:
        """Return the type as ROS writes it, `double[6]` for six numbers."""
        if isinstance(self.default, tuple):
            if isinstance(self.default[0], str):
                return 'string[]'
            return f'double[{len(self.default)}]'
        names: dict[type, str] = {bool: 'bool', int: 'int', float: 'double', str: 'string'}
        return names[type(self.default)]

    @property
    def allowed(self) -> str:
        """Return a description of the allowed values."""
        if self.choices or self.form:
            return self.form or ' or '.join(self.choices)
        unit = f' {self.unit}' if self.unit else ''
        if self.low is not None and self.high is not None and math.isfinite(self.high):
            return f'{self.type_name} from {self.low:g} to {self.high:g}{unit}'
        if self.low is not None:
            return f'{self.type_name} of at least {self.low:g}{unit}'
        return f'{self.type_name}{unit}'

    def check(self, value: Any) -> Value:
        """
        Return `value` in the type of the default; accept an int or '1e-6' for a double.

        Raises
        ------
        OptionError
            If the type, the number of entries or the value is not allowed.

        """
        checked = self._typed(value)
        numbers = checked if isinstance(checked, tuple) else (checked,)
        for number in numbers:
            if isinstance(number, (str, bool)):
                continue
            # An infinite value is allowed if it is a bound.
            if math.isnan(number) or (math.isinf(number) and number not in (self.low, self.high)):
                raise self._refusal(value)
            if self.low is not None and number < self.low:
                raise self._refusal(value)
            if self.high is not None and number > self.high:
                raise self._refusal(value)
        if self.choices and checked not in self.choices:
            raise self._refusal(value)
        return checked

    def _typed(self, value: Any) -> Value:
        default = self.default
        if isinstance(default, tuple):
            return self._typed_list(value, default)
        if isinstance(default, bool) or isinstance(value, bool):
            fits = isinstance(default, bool) and isinstance(value, bool)
        elif isinstance(default, float):
            if isinstance(value, str) and _POINTLESS.fullmatch(value):
                value = float(value)
            fits = isinstance(value, (int, float))
            value = float(value) if fits else value
        else:
            fits = isinstance(value, type(default))
        if not fits:
            raise self._refusal(value)
        checked: Value = value
        return checked

    def _typed_list(self, value: Any, default: tuple[Any, ...]) -> Value:
        if isinstance(value, (str, bytes)) or not _is_list(value):
            raise self._refusal(value)
        entries = list(value)
        if isinstance(default[0], str):
            if not all(isinstance(entry, str) for entry in entries):
                raise self._refusal(value)
            return tuple(entries) or ('',)
        numbers = [
            entry
            for entry in entries
            if isinstance(entry, (int, float)) and not isinstance(entry, bool)
        ]
        counted = bool(entries) if self.any_count else len(entries) == len(default)
        if len(numbers) != len(entries) or not counted:
            raise self._refusal(value)
        return tuple(float(entry) for entry in numbers)

    def _refusal(self, value: Any) -> OptionError:
        shown = list(value) if _is_list(value) and not isinstance(value, str) else value
        text = self.default[0] if isinstance(self.default, tuple) else self.default
        found = shown[0] if isinstance(shown, list) and shown else shown
        if isinstance(text, str) and isinstance(found, (bool, int, float)):
            # The file contains a text, but only the value that ROS made of it is known here.
            return OptionError(
                self.name,
                shown,
                f"{self.allowed}, in quotes, as 'Y': without them ROS reads Y, y, yes and on as "
                'true, N, n, no and off as false, and digits as a number',
            )
        return OptionError(self.name, shown, self.allowed)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) or hasattr(value, 'tolist')
