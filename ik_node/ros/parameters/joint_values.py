"""Parameters that map joints to values."""

from __future__ import annotations

import math

from ik_node.description.yaml_document import parse_yaml
from ik_node.errors import DescriptionError, OptionError

_ALLOWED = "a YAML mapping of joints to finite numbers, '{elbow: 0.5, wrist: -1.0}'"


def parse_joint_values(parameter: str, text: str) -> dict[str, float]:
    """
    Read a mapping of joints to values [rad or m] out of a parameter's text; '' has none.

    Raises
    ------
    OptionError
        If it is no YAML mapping, or a value is not a finite number.

    """
    if not text.strip():
        return {}
    try:
        found = parse_yaml(text, parameter)
    except DescriptionError as error:
        raise OptionError(parameter, text[:80], f'{_ALLOWED} ({error})') from None
    if not isinstance(found, dict):
        raise OptionError(parameter, text[:80], _ALLOWED)
    values = {}
    for joint, value in found.items():
        if not isinstance(joint, str):
            raise OptionError(parameter, joint, f'{_ALLOWED}; names of joints are text')
        number = _number(value)
        if not math.isfinite(number):
            raise OptionError(parameter, {joint: value}, _ALLOWED)
        values[joint] = number
    return values


def _number(value: object) -> float:
    """Return a number, NaN for what is none."""
    if isinstance(value, bool):
        return math.nan
    try:
        # YAML 1.1 reads 1e-3 as text.
        return float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return math.nan
