"""The parameter table as text for `--help` and for config/ik_node.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
import re
import textwrap
from typing import Any

from ik_node.description.yaml_document import parse_yaml
from ik_node.errors import DescriptionError, listed
from ik_node.ros.parameters import parameter_table as table

_YAML_HEAD = """\
# Every parameter of ik_node with its default, made from the table in
# ik_node/ros/parameters/parameter_table.py.
# The /** matches the node in any namespace.
# Each name in goal_names has its own parameters, for example:
#   goal_names: [platform]
#   goals:
#     platform: {link: platform, dof: X Y Z EX EY EZ, axes: world,
#                offset: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], weight: 1.0, priority: 0, enabled: true}
/**:
  ros__parameters:
"""


def yaml_value(value: table.Value) -> str:
    """Return a value as YAML that ROS reads back with the same type."""
    if isinstance(value, tuple):
        return '[' + ', '.join(yaml_value(entry) for entry in value) + ']'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        text = repr(value).replace('inf', '.inf')
        if 'e' in text and '.' not in text:
            text = text.replace('e', '.0e')
        return text
    return str(value)


def yaml_text() -> str:
    """Return the text of config/ik_node.yaml."""
    lines = [_YAML_HEAD.rstrip('\n')]
    group = ''
    for spec in (*table.NODE_PARAMETERS, *table.solver_parameters()):
        before, group = group, spec.name.rpartition('.')[0]
        if group not in ('', before):
            lines.append(f'    {group}:')
        lines += _yaml_row(spec, f'{group}.' if group else '', '      ' if group else '    ')
    return '\n'.join(lines) + '\n'


def _yaml_row(spec: table.ParameterSpec, prefix: str, indent: str) -> list[str]:
    about = f'{spec.doc} ({spec.allowed})'
    lines = textwrap.wrap(about, 99, initial_indent=f'{indent}# ', subsequent_indent=f'{indent}# ')
    return [*lines, f'{indent}{spec.name[len(prefix) :]}: {yaml_value(spec.default)}']


def help_text(width: int = 99) -> str:
    """Return the table for the terminal: name, type, default, and the description below."""
    lines = []
    for spec in table.parameter_table():
        live = '' if spec.live else '  (at start only)'
        lines.append(f'  {spec.name}: {spec.allowed}, default {yaml_value(spec.default)}{live}')
        lines += textwrap.wrap(
            spec.doc, width, initial_indent='      ', subsequent_indent='      '
        )
    return '\n'.join(lines)


def unused_files(words: Sequence[str], node_name: str) -> Iterator[str]:
    """Yield a message for each parameter file of a command line that has nothing for a node."""
    for word, path in pairwise(words):
        if word != '--params-file':
            continue
        # rcl has read the file already; what it accepts beyond YAML is not judged here.
        try:
            nodes = list(_nodes_of(parse_yaml(Path(path).read_text(encoding='utf-8'), path)))
        except (OSError, ValueError, DescriptionError):
            continue
        if nodes and not any(_names(pattern, node_name) for pattern in nodes):
            yield (
                f'parameter file {path}: it has parameters for {listed(nodes, 5)}, none for '
                f'{node_name}, so it changes nothing; begin it with {node_name}: or with /**:'
            )


def _nodes_of(tree: Any, before: str = '') -> Iterator[str]:
    """Yield the names of all nodes in a parameter file, whose namespaces may be nested."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        name = f'{before}/{str(key).strip("/")}'
        if isinstance(value, dict) and 'ros__parameters' in value:
            yield name
        else:
            yield from _nodes_of(value, name)


def _names(pattern: str, node_name: str) -> bool:
    """Return True if a name in which * and ** stand for one and any number of parts names it."""
    parts = {'**': '(/[^/]+)*', '*': '/[^/]+'}
    expression = ''.join(parts.get(part, f'/{re.escape(part)}') for part in pattern[1:].split('/'))
    return re.fullmatch(expression, node_name) is not None
