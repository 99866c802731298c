"""The page of all parameters of the node."""

from __future__ import annotations

from ik_node.ros.parameters.parameter_table import parameter_table, ParameterSpec

HEAD = """# Parameters of the node

This table is made from the node's own table, as `config/ik_node.yaml` and `ik_node node --help`
are. ROS 2 is strict about types: write `rate: 250.0`, not `250`. Parameters marked *at the start*
cannot change while the node runs.

| name | default | range | meaning |
|---|---|---|---|
"""


def parameters_page() -> str:
    """Return the page as Markdown."""
    return HEAD + ''.join(row(spec) for spec in parameter_table())


def row(spec: ParameterSpec) -> str:
    """Return the row of one parameter."""
    default = list(spec.default) if isinstance(spec.default, tuple) else spec.default
    allowed = ', '.join(f'`{choice}`' for choice in spec.choices)
    if spec.low is not None or spec.high is not None:
        allowed = ' to '.join('' if end is None else f'{end:g}' for end in (spec.low, spec.high))
    allowed = f'{allowed} {spec.unit}'.strip()
    text = spec.doc.replace('|', r'\|').replace('<', r'\<').replace('*', r'\*')
    note = '' if spec.live else ' *At the start.*'
    return f'| `{spec.name}` | `{default!r}` | {allowed} | {text}{note} |\n'
