"""The layout of packed models as a C header, so that `ik_node.c` has no second copy of it."""

from __future__ import annotations

from ik_node.kernels import kinds, layout, options, solve_state, transmit

# What `ik_node.c` uses besides sizes and fields: name of the number -> its module.
_NUMBERS = {
    layout: ('JOINT_ROWS', 'JOINT_LOWER', 'JOINT_UPPER', 'JOINT_WINDOW', 'CON_COLUMNS', 'RESULT'),
    kinds: ('KIND_AVOID',),
    transmit: (
        *('GIVES_POSITION', 'GIVES_VELOCITY', 'GIVES_EFFORT', 'TRACKED', 'JOINT_SPACE'),
        'RESULT_PIVOT',
    ),
    options: ('OPTION_COUNT',),
    solve_state: (
        *('PHASE', 'PHASE_DONE', 'STATUS_RUNNING', 'STATUS_REFUSED'),
        *('ITERATIONS', 'CLOSING', 'STARTS', 'INTERRUPTED'),
    ),
}


def layout_header() -> str:
    """
    Return the text of `layout.h`.

    `SIZE_x` is the place of size x in the header of a packed model, `FIELD_x` the place of the
    beginning of field x. `TRANSMIT_SIZE_x` and `TRANSMIT_FIELD_x` are the same for the arrays of a
    transmission.
    """
    lines = ['/* Made by layout_header.py. */', '#include <stdint.h>']
    for table, prefix in ((layout, ''), (transmit, 'TRANSMIT_')):
        lines += ['enum {', *(f'    {prefix}SIZE_{name},' for name in table.SIZES)]
        lines += [*(f'    {prefix}FIELD_{name},' for name in table.FIELDS), '};']
    lines += ['enum {']
    for module, names in _NUMBERS.items():
        lines += [f'    {name} = {getattr(module, name)},' for name in names]
    return '\n'.join([*lines, '};', f'static const double LARGEST = {layout.LARGEST!r};', ''])
