"""The layout of packed models as a C header, so that `ik_node.c` has no second copy of it."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.kernels import distance, kinds, layout, options, solve_state, transmit
from ik_node.kernels.fields import Fields

# What `ik_node.c` uses besides sizes and fields: name of the number -> its module.
_NUMBERS = {
    layout: (
        'BLOCK',
        'RECORD',
        'JOINT_ROWS',
        'JOINT_LOWER',
        'JOINT_UPPER',
        'JOINT_WINDOW',
        'CON_COLUMNS',
        'CON_LEVEL',
        'AXES_A',
        'VERTEX_ROOM',
        'PLANE_ROOM',
        'FACE_ROOM',
        'EDGE_ROOM',
    ),
    kinds: ('KIND_COUPLING', 'KIND_USER', 'KIND_AVOID'),
    distance: ('HULL', 'HALF_SPACE'),
    transmit: (
        'RESULTS',
        'GIVES_POSITION',
        'GIVES_VELOCITY',
        'GIVES_EFFORT',
        'TRACKED',
        'VARIABLE_LOCKED',
        'RESULT_PIVOT',
    ),
    options: ('OPTION_COUNT', 'MAX_ITERATIONS', 'RESTARTS', 'SEED', 'AGREEING_STARTS'),
    solve_state: (
        'NUMBERS',
        'COUNTS',
        'PHASE',
        'PHASE_DONE',
        'STATUS_RUNNING',
        'STATUS_REFUSED',
        'ITERATIONS',
        'CLOSING',
        'STARTS',
        'INTERRUPTED',
    ),
}


def layout_header() -> str:
    """
    Return the text of `layout.h`.

    `SIZE_x` is the place of size x in the header of a packed model, `FIELD_x` the place of the
    beginning of field x. `FIELDS(FIELD)` expands to FIELD(name, array, length) for all fields,
    where a length is an expression of `SIZE(x)`. `TRANSMIT_SIZE_x`, `TRANSMIT_FIELD_x` and
    `TRANSMIT_FIELDS` are the same for the arrays of a transmission.
    """
    lines = ['/* Made by layout_header.py. */', '#include <stdint.h>', 'enum {']
    lines += [f'    SIZE_{name},' for name in layout.SIZES]
    lines += [f'    FIELD_{name},' for name in layout.FIELDS]
    lines += ['    HEADER', '};', 'enum {']
    for module, names in _NUMBERS.items():
        lines += [f'    {name} = {getattr(module, name)},' for name in names]
    lines += ['};', f'static const double LARGEST = {layout.LARGEST!r};']
    lines += ['enum {', *(f'    TRANSMIT_SIZE_{name},' for name in transmit.SIZES)]
    lines += [*(f'    TRANSMIT_FIELD_{name},' for name in transmit.FIELDS)]
    lines += ['    TRANSMIT_HEADER', '};']
    lines += [_fields('FIELDS', layout.FIELDS, layout.SIZES)]
    return '\n'.join([*lines, _fields('TRANSMIT_FIELDS', transmit.FIELDS, transmit.SIZES), ''])


def _fields(macro: str, fields: Fields, sizes: Sequence[str]) -> str:
    """Return a macro of all fields, with their lengths in C."""
    rows = []
    for name, (array, length, _) in fields.items():
        words = (f'SIZE({word})' if word in sizes else word for word in length.split())
        rows.append(f'FIELD({name}, {array}, {" ".join(words)})')
    listed = ' \\\n    '.join(rows)
    return f'#define {macro}(FIELD) \\\n    {listed}'
