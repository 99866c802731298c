"""The layout of packed models as a C header, so that `ik_node.c` has no second copy of it."""

from __future__ import annotations

from ik_node.kernels import layout, options, solve_state

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
        'KIND_MASS',
        'AXES_A',
    ),
    options: ('OPTION_COUNT', 'MAX_ITERATIONS', 'RESTARTS', 'SEED'),
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
    where a length is an expression of `SIZE(x)`.
    """
    lines = ['/* Made by layout_header.py. */', '#include <stdint.h>', 'enum {']
    lines += [f'    SIZE_{name},' for name in layout.SIZES]
    lines += [f'    FIELD_{name},' for name in layout.FIELDS]
    lines += ['    HEADER', '};', 'enum {']
    for module, names in _NUMBERS.items():
        lines += [f'    {name} = {getattr(module, name)},' for name in names]
    lines += ['};', f'static const double LARGEST = {layout.LARGEST!r};']
    fields = ' \\\n    '.join(
        f'FIELD({name}, {array}, {_expression(length)})'
        for name, (array, length, _) in layout.FIELDS.items()
    )
    return '\n'.join([*lines, f'#define FIELDS(FIELD) \\\n    {fields}', ''])


def _expression(length: str) -> str:
    """Return a length of `layout.FIELDS` in C."""
    return ' '.join(f'SIZE({w})' if w in layout.SIZES else w for w in length.split())
