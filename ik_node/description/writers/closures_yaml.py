"""Writer of closure annotations."""

from __future__ import annotations

from typing import Any

from ik_node.description.description import CouplingRule, Description
from ik_node.description.writers.plain_tree import (
    ends_of,
    OWN_TYPES,
    plain,
    PlainTree,
    rpy_of,
    settings_of,
)
from ik_node.model.closure import Closure
from ik_node.model.link import Link
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def to_closures(description: Description) -> str:
    """
    Write closures, couplings that <mimic> cannot express, and motors as YAML.

    It complements the text of `to_urdf(description, loops=False)`. TopologyError is raised if a
    closure does not connect two links.
    """
    tree = PlainTree(description)
    _, others = tree.couplings()
    closures = [_closure(closure) for closure in description.closures.values()]
    couplings = [_coupling(rule) for rule in others]
    lines = [f'# Loops of {description.name!r}; the numbers are in metres and radians.']
    lines += _section('closures', closures)
    if couplings:
        lines += _section('couplings', couplings)
    if description.actuated:
        lines.append(f'actuated: {_flow(tree.motors())}')
    return '\n'.join(lines) + '\n'


def _coupling(rule: CouplingRule) -> dict[str, Any]:
    if rule.others:
        return {'joint': rule.joint, 'of': {name: plain(c) for name, c in rule.terms}}
    return {'joint': rule.joint, 'of': rule.master, 'coefficients': plain(rule.coefficients)}


def _closure(closure: Closure) -> dict[str, Any]:
    link_a, link_b = ends_of(closure)
    return {
        'name': closure.name,
        'frame_a': _frame(link_a, closure.offset_position, closure.offset_quaternion),
        'frame_b': _frame(link_b, closure.position, closure.quaternion),
        **settings_of(closure, OWN_TYPES),
    }


def _frame(link: Link, position: Array, quat_xyzw: Array) -> dict[str, Any]:
    return {'link': link.name, 'xyz': plain(position), 'rpy': plain(rpy_of(quat_xyzw))}


def _section(key: str, entries: list[dict[str, Any]]) -> list[str]:
    lines = [f'{key}:' if entries else f'{key}: []']
    for entry in entries:
        marks = ['- ', *['  '] * len(entry)]
        lines += [
            f'  {mark}{name}: {_flow(value)}'
            for mark, (name, value) in zip(marks, entry.items(), strict=False)
        ]
    return lines


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    import yaml  # imported only if needed

    text = yaml.safe_dump(
        value, default_flow_style=True, width=float('inf'), allow_unicode=True, sort_keys=False
    )
    return text.removesuffix('\n').removesuffix('\n...')
