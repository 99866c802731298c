"""The entries and the layout of packed models as a C header, so that C has no second copy."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.kernels import kinds, layout, options, solve_state, transmit
from ik_node.kernels.decorators import entries, INT
from ik_node.native.compile import load_entries
from ik_node.native.levels import LEVELS

# Entries in the order of the library's table, `ik_node_kernels`.
TABLE = (
    *('advance', 'advance_batch', 'linearise', 'external_step', 'link_poses', 'link_jacobian'),
    *('transmit', 'velocity', 'advance_path', 'distances', 'find_solutions'),
    'determinants',
)
# What C sources use besides sizes and fields: name of the number -> its module.
_NUMBERS = {
    layout: (
        *('JOINT_ROWS', 'JOINT_LOWER', 'JOINT_UPPER', 'JOINT_WINDOW'),
        *('CON_COLUMNS', 'CON_POSE', 'RESULT'),
    ),
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


def layout_header(levels: Sequence[str] = ()) -> str:
    """
    Return the text of `layout.h` for a library with code for some levels.

    `SIZE_x` is the place of size x in the header of a packed model, `FIELD_x` the place of the
    beginning of field x. `TRANSMIT_SIZE_x` and `TRANSMIT_FIELD_x` are the same for the arrays of a
    transmission. `ENTRY_x` is the place of entry x in the table of a level, and `x_t` its type.
    IK_ENTRIES and IK_LEVELS list the entries, and the levels with what a processor must support.
    """
    load_entries()
    lines = ['/* Made by layout_header.py. */', '#include <stdint.h>']
    lines += ['#define IK_ENTRIES(LEVEL) ' + ' '.join(f'ENTRY({name}, LEVEL)' for name in TABLE)]
    lines += ['#define IK_LEVELS ' + ' '.join(f'LEVEL({n}, {_supported(n)})' for n in levels)]
    lines += ['enum {', *(f'    ENTRY_{name},' for name in TABLE), '};']
    lines += ['typedef void (*entry_t)(void);']
    for name in TABLE:
        types = ['int64_t' if kind == INT else 'const void *' for kind in entries[name].parameters]
        lines += [f'typedef int64_t (*{name}_t)({", ".join(types)});']
    for table, prefix in ((layout, ''), (transmit, 'TRANSMIT_')):
        lines += ['enum {', *(f'    {prefix}SIZE_{name},' for name in table.SIZES)]
        lines += [*(f'    {prefix}FIELD_{name},' for name in table.FIELDS), '};']
    lines += ['enum {']
    for module, names in _NUMBERS.items():
        lines += [f'    {name} = {getattr(module, name)},' for name in names]
    return '\n'.join([*lines, '};', f'static const double LARGEST = {layout.LARGEST!r};', ''])


def _supported(level: str) -> str:
    """Return a C expression that is true on processors of a level."""
    needs = [flag.replace('_', '.') for flag in LEVELS[level].needs]
    return ' && '.join(f'__builtin_cpu_supports("{flag}")' for flag in needs) or '1'
