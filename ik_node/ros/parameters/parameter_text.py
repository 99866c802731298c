# flake8: noqa: E203
"""The parameter table as text for `--help` and for config/ik_node.yaml."""

from __future__ import annotations

import textwrap

from ik_node.ros.parameters.parameter_spec import ParameterSpec, Value
from ik_node.ros.parameters.parameter_table import (
    NODE_PARAMETERS,
    parameter_table,
    solver_parameters,
)

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


def yaml_value(value: Value) -> str:
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
    for spec in (*NODE_PARAMETERS, *solver_parameters()):
        before, group = group, spec.name.rpartition('.')[0]
        if group not in ('', before):
            lines.append(f'    {group}:')
        lines += _yaml_row(spec, f'{group}.' if group else '', '      ' if group else '    ')
    return '\n'.join(lines) + '\n'


def _yaml_row(spec: ParameterSpec, prefix: str, indent: str) -> list[str]:
    about = f'{spec.doc} ({spec.allowed})'
    lines = textwrap.wrap(about, 99, initial_indent=f'{indent}# ', subsequent_indent=f'{indent}# ')
    return [*lines, f'{indent}{spec.name[len(prefix) :]}: {yaml_value(spec.default)}']


def help_text(width: int = 99) -> str:
    """Return the table for the terminal: name, type, default, and the description below."""
    lines = []
    for spec in parameter_table():
        live = '' if spec.live else '  (at start only)'
        lines.append(f'  {spec.name}: {spec.allowed}, default {yaml_value(spec.default)}{live}')
        lines += textwrap.wrap(
            spec.doc, width, initial_indent='      ', subsequent_indent='      '
        )
    return '\n'.join(lines)
