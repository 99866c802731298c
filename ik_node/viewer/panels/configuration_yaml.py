"""A configuration as text."""

from __future__ import annotations

from collections.abc import Iterable
import re

# What YAML 1.1 would read as something else than text: true, off, 1e3, 0x1f, null, ~.
_PLAIN = re.compile(r'[A-Za-z_][A-Za-z0-9_./-]*')
_WORDS = {'y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'}


def configuration_yaml(names: Iterable[str], values: Iterable[float]) -> str:
    """
    Return joint values as a YAML mapping, one joint a line.

    The parameters `rest_pose` and `joint_targets` of the node take it as it is.

    Parameters
    ----------
    names : iterable of str
        Of the joints.
    values : iterable of float
        [rad or m]

    """
    lines = [f'{_key(name)}: {_number(value)}' for name, value in zip(names, values, strict=True)]
    return '\n'.join(lines) + '\n' if lines else '{}\n'


def _key(name: str) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in _WORDS:
        return name
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def _number(value: float) -> str:
    # YAML 1.1 reads 1e-07 as text.
    text = f'{value + 0.0:.9f}'.rstrip('0')
    text = f'{text}0' if text.endswith('.') else text
    return '0.0' if text == '-0.0' else text
