"""The graph of a robot as DOT text, which Graphviz lays out and draws."""

from __future__ import annotations

from typing import Any

from ik_node.cli.report_text import counts, polynomial, values_of_joints

# Joints that need no word of their type: they are drawn as plain edges.
PLAIN_TYPES = ('revolute', 'continuous', 'prismatic')
WORLD = 'the world'


def as_dot(found: dict[str, Any]) -> list[str]:
    """
    Return the lines of a graph with links as boxes, joints as edges and loops as dashed edges.

    Joints with a motor are bold, fixed ones dotted, and loops that are open are red. `found`: see
    `facts_of`.
    """
    title = f'{found["name"]}: {counts(found)}, mobility {found["mobility"]}'
    lines = [
        'digraph robot {',
        f'  graph [rankdir=LR, labelloc=t, label={_quoted(title)}];',
        '  node [shape=box, style=rounded];',
    ]
    values, above = values_of_joints(found), dict[int, str]()
    for row in found['tree']:
        depth, link = row['depth'], row['link'] or WORLD
        lines.append(f'  {_quoted(link)};')
        if depth - 1 in above and row['joint'] is not None:
            own = values.get(row['joint'], [])
            label = row['joint']
            if row['type'] not in PLAIN_TYPES:
                label += f' ({row["type"]})'
            label += ''.join(
                f' = {polynomial(value["follows"])}' for value in own if value['follows']
            )
            style = 'dotted' if row['type'] == 'fixed' else 'solid'
            style = 'bold' if any(value['actuated'] for value in own) else style
            lines.append(_edge(above[depth - 1], link, label=label, style=style))
        above[depth] = link
    for loop in found['closures']:
        kind = loop['type'] or loop['dof'] or 'nothing'
        if loop['distance'] is not None:
            kind = f'{loop["distance"]:g} m apart'
        label, colour = f'{loop["name"]} ({kind})', 'blue'
        if not loop['enabled']:
            label, colour = f'{label}, not in use', 'gray'
        elif loop['open']:
            gap = f'open {loop["position"]:.2g} m, {loop["orientation"]:.2g} rad'
            label, colour = f'{label}, {gap}', 'red'
        more = {'style': 'dashed', 'dir': 'none', 'constraint': 'false'}
        more |= {'color': colour, 'fontcolor': colour}
        lines.append(_edge(loop['link_a'], loop['link_b'], label=label, **more))
    return [*lines, '}']


def _edge(one: str, other: str, **attributes: str) -> str:
    listed = ', '.join(f'{name}={_quoted(value)}' for name, value in attributes.items())
    return f'  {_quoted(one)} -> {_quoted(other)} [{listed}];'


def _quoted(text: str) -> str:
    # A backslash would start an escape sequence of Graphviz, such as the name of the node.
    escaped = text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', ' ')
    return f'"{escaped}"'
