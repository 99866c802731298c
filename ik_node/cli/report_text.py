"""The report of `check`: text with a tree, and the graph as DOT text for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ik_node.analysis.file_pose import WARNING
from ik_node.display import printable
from ik_node.errors import counted

# Longer lists of names are shortened to this number and a count.
MOST_NAMES = 12
HELD = {
    'limits': 'lower and upper limit are equal',
    'locked': 'it is locked',
    'followers': 'limits of what follows it leave it one value',
    'coupling': 'its master does not move',
    'loops': 'the loops prevent motion here',
    'loops and limits': 'the loops allow one motion, which leaves the limits both ways',
}


def as_text(facts: dict[str, Any], mobility: str) -> str:
    """Return the report as text, of `facts_of` and `Mobility.report`."""
    lines = [
        f'robot {facts["name"]} ({facts["dialect"]}), root {facts["root"]}',
        f'{counts(facts)}, mobility {facts["mobility"]}',
        *_tree(facts),
        *(_loop(loop) for loop in facts['closures']),
    ]
    lines += [f'  {line}' for line in mobility.splitlines()] if facts['closures'] else []
    # First what was assumed while the file was read: it may explain what the loops do.
    lines += [
        f'  {note}' if note.startswith(WARNING) else f'  note: {note}' for note in facts['notes']
    ]
    lines += [f'  {line}' for line in _remarks(facts)]
    lines += _collisions(facts['collisions']) if 'collisions' in facts else []
    if not facts['joints']:
        lines.append('nothing can move: no joint has a degree of freedom')
    elif len(facts['held']) == len(facts['joints']):
        lines.append('nothing can move: the reason for each joint is above')
    if facts['closures']:
        state = 'close' if facts['loops_closed'] else 'do NOT close'
        if facts['loops_closed'] and not facts['can_move']:
            state = 'close, but can NOT move'
        elif facts['loops_closed'] and any(loop['disagreement'] for loop in facts['closures']):
            state = 'close up to rounding'
        lines.append(f'the loops {state}: {facts["message"]}')
    return printable(lines)


def _collisions(facts: dict[str, Any]) -> Iterator[str]:
    """Yield how many pairs count, what each rule left out, and which pairs touch."""
    bodies = 'body' if facts['bodies'] == 1 else 'bodies'
    yield f'collisions: {facts["bodies"]} {bodies}, {counted(facts["pairs"], "pair")} checked'
    for rule, count in facts['removed'].items():
        yield f'  {counted(count, "pair")} left out: {rule}'
    for a, b in facts['touching_always']:
        yield f'  always in contact, not checked: {a}, {b}'
    for each in facts['contacts']:
        yield f'  in contact now: {", ".join(each["pair"])}, {-each["d"]:.3g} m deep'
    yield from (f'  note: {note}' for note in facts['notes'])


def counts(facts: dict[str, Any]) -> str:
    """Return the numbers of links, joint values and loops."""
    numbers = {'links': 'link', 'joints': 'joint value', 'closures': 'loop'}
    return ', '.join(counted(len(facts[key]), what) for key, what in numbers.items())


def _tree(facts: dict[str, Any]) -> list[str]:
    """Return one line per link, below its parent, with the joint between them."""
    rows, values = [], values_of_joints(facts)
    for row, ahead in zip(facts['tree'], branches(facts['tree']), strict=True):
        if row['joint'] is None:
            rows.append((f'  {row["link"]}', ''))
            continue
        indent = ''.join('│  ' if more else '   ' for more in ahead[:-1])
        mark = '├─ ' if ahead and ahead[-1] else '└─ '
        name = row['link'] or '?'
        left = f'  {indent}{mark}{row["joint"]} ── {name}'
        rows.append((left, '  '.join([row['type'], *_of_joint(values[row['joint']])])))
    width = min(max((len(left) for left, right in rows if right), default=0), 72)
    return [f'{left:<{width}}  {right}'.rstrip() for left, right in rows]


def branches(tree: list[dict[str, Any]]) -> list[list[bool]]:
    """Return, for every row and every depth from 1, True if the branch continues below the row."""
    result: list[list[bool]] = []
    after: set[int] = set()
    for row in reversed(tree):
        depth = row['depth']
        result.append([index in after for index in range(1, depth + 1)])
        after = {index for index in after if index < depth} | {depth}
    return result[::-1]


def values_of_joints(facts: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the values of every joint by its name."""
    values: dict[str, list[dict[str, Any]]] = {
        row['joint']: [] for row in facts['tree'] if row['joint'] is not None
    }
    for value in facts['joints']:
        values[value['joint']].append(value)
    return values


def _of_joint(values: list[dict[str, Any]]) -> list[str]:
    """Return limits, motor and master of every value of a joint."""
    if len(values) == 1:
        return _of_value(values[0])
    parts = []
    for value in values:
        said = _of_value(value)
        if said:
            parts.append(f'{value["name"].rpartition(".")[2]} {" ".join(said)}')
    return parts


def _of_value(value: dict[str, Any]) -> list[str]:
    parts = []
    if value['lower'] is not None or value['upper'] is not None:
        parts.append(f'{_range(value)} {value["unit"]}')
    if value['actuated']:
        parts.append('motor')
    if value['follows'] is not None:
        parts.append(f'= {polynomial(value["follows"])}')
    return parts


def polynomial(follows: dict[str, Any]) -> str:
    """Return the formula of a coupled value."""
    terms = []
    for each in (follows, *follows.get('others', ())):
        for power, factor in enumerate(each['coefficients']):
            if factor == 0.0:
                continue
            name = '' if power == 0 else each['name'] + (f'^{power}' if power > 1 else '')
            text = f'{factor:g} {name}'.strip()
            if name and abs(factor) == 1.0:
                text = name if factor > 0.0 else f'-{name}'
            terms.append(text)
    return ' + '.join(terms).replace('+ -', '- ') or '0'


def _loop(loop: dict[str, Any]) -> str:
    kind = '' if loop['type'] is None else f' ({loop["type"]})'
    axes = loop['dof']
    if loop['distance'] is not None:
        axes, kind = f'{loop["distance"]:g} m apart', ' (distance)'
    text = f'  loop {loop["name"]}  {loop["link_a"]} on {loop["link_b"]}, {axes}{kind}: '
    if not loop['enabled']:
        return text + 'not in use'
    text += f'{loop["position"]:.1e} m, {loop["orientation"]:.1e} rad open'
    if loop['redundant_rows']:
        text += f'; {loop["redundant_rows"]} of {loop["rows"]} rows redundant'
        text += f' ({" ".join(loop["implied_rows"])})' if loop['implied_rows'] else ''
    if loop['disagreement'] is not None:
        off = loop['disagreement']
        text += (
            f'; because of rounding it stays open by up to {off["position"]:.1e} m, '
            f'{off["orientation"]:.1e} rad, as its rows disagree with the others'
        )
    gap = loop['in_the_file']
    if gap is not None:
        text += f"; in the file's own pose {gap['position']:.1e} m, {gap['orientation']:.1e} rad"
        if gap['joint']:
            text += f', closing it moved {gap["joint"]} by {gap["motion"]:.2g} {gap["unit"]}'
    return text + ('; NOT CLOSED' if loop['open'] else '')


def _remarks(facts: dict[str, Any]) -> Iterator[str]:
    """Yield remarks on possible faults of the robot."""
    if len(facts['roots']) > 1:
        yield f'several roots: {_listed(facts["roots"])}'
    for entry in facts['limits_in_the_way']:
        value = next(each for each in facts['joints'] if each['name'] == entry['name'])
        yield (
            f'limits that prevent closing: {entry["name"]} {_range(value)}; without limits the '
            f'loops close at {entry["value_without_limits"]:.4g} {value["unit"]}'
        )
    values = {value['name']: value for value in facts['joints']}
    for entry in facts['wrong_parts']:
        yield _wrong_part(entry, values)
    for entry in facts['wrong_axes']:
        axis, other = (' '.join(f'{x:g}' for x in entry[key]) for key in ('axis', 'freeing_axis'))
        opposite = entry['axis'] == [0.0 - x for x in entry['freeing_axis']]
        yield (
            f'loop {entry["name"]} turns about {axis} in {entry["link"]}, '
            + (
                'opposite to its other side'
                if opposite
                else f'joint {entry["joint"]} about {other}'
            )
            + f'; with {other} the mobility would be {entry["mobility"]}'
        )
    for why, text in HELD.items():
        names = [name for name, by in facts['held'].items() if by == why]
        if names:
            yield f'cannot move, as {text}: {_listed(names)}'
    freeing = facts['freeing_tolerances']
    if freeing is not None:
        loops = [f'{_gap(pair)} for loop {name}' for name, pair in freeing['loops'].items()]
        yield (
            f'joints can move with a tolerance of at least {_listed(loops)}; then the '
            f'mobility would be {freeing["mobility"]}'
        )
    for entry in facts['blocking_followers']:
        follower, master = values[entry['name']], values[entry['master']]
        yield (
            f'{entry["master"]} {_range(master)} stays at {master["value"]:.4g}: '
            f'{entry["name"]} = {polynomial(follower["follows"])} is within its limits '
            f'{_range(follower)} only there'
            + ('; with the opposite sign it could move' if entry['opposite_sign'] else '')
        )
    loose = [f'{each["joint"]} ({each["link"]} hangs free)' for each in facts['loose_joints']]
    if loose:
        yield f'in no loop, and without motor or coupling: {_listed(loose)}; is a loop missing?'
    still = [name for name in facts['still_links'] if name not in facts['roots']]
    if still and len(facts['joints']):
        yield f'links that cannot move: {_listed(still)}'


def _wrong_part(entry: dict[str, Any], values: dict[str, dict[str, Any]]) -> str:
    """Return a change of joints or of a coupling with which a loop would close and move."""
    names, loop = _listed(entry['joints']), entry['loop']
    axis = ' '.join(f'{x:g}' for x in entry['axis'] or ())
    after = f'the mobility would be {entry["mobility"]}'
    if entry['kind'] == 'no_axis':
        return (
            f'no <axis>, taken as 1 0 0: {names}; with <axis xyz="{axis}"/> loop {loop} would '
            f'close and {after}'
        )
    if entry['kind'] == 'joint_axis':
        own = ' '.join(f'{x:g}' for x in entry['own_axis'])
        return (
            f'joint {names} turns about {own}, the other joints of loop {loop} about {axis} (root '
            f"frame, in the file's pose); with that axis {after}"
        )
    follows = values[entry['joints'][0]]['follows'] if names in values else None
    rule = f'{names} = {polynomial(follows)}' if follows is not None else f'of {names}'
    return f'the coupling {rule} contradicts loop {loop}; without the coupling {after}'


def _listed(names: list[str]) -> str:
    rest = len(names) - MOST_NAMES
    return ', '.join(names[:MOST_NAMES]) + (f' and {rest} more' if rest > 0 else '')


def _gap(pair: list[float]) -> str:
    parts = [f'{gap:g} {unit}' for gap, unit in zip(pair, ('m', 'rad'), strict=True) if gap]
    return ' and '.join(parts)


def _range(value: dict[str, Any]) -> str:
    low = '-inf' if value['lower'] is None else f'{value["lower"]:g}'
    high = 'inf' if value['upper'] is None else f'{value["upper"]:g}'
    return f'[{low}, {high}]'


# Joints that need no word of their type: they are drawn as plain edges.
PLAIN_TYPES = ('revolute', 'continuous', 'prismatic')
WORLD = 'the world'


def as_dot(facts: dict[str, Any]) -> list[str]:
    """
    Return the lines of a graph with links as boxes, joints as edges and loops as dashed edges.

    Joints with a motor are bold, fixed ones dotted, and loops that are open are red.
    """
    title = f'{facts["name"]}: {counts(facts)}, mobility {facts["mobility"]}'
    lines = [
        'digraph robot {',
        f'  graph [rankdir=LR, labelloc=t, label={_quoted(title)}];',
        '  node [shape=box, style=rounded];',
    ]
    values, above = values_of_joints(facts), dict[int, str]()
    for row in facts['tree']:
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
    for loop in facts['closures']:
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
