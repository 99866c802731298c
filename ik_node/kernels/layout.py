# flake8: noqa: E203
"""
What travels into a kernel: four packed arrays, the tables of a solve, and where everything is.

Calling a compiled function costs about 70 ns an array, and passing a hundred arrays from kernel to
kernel costs more than the arithmetic. So the fields of a model are laid end to end in one integer
array `i` and one float array `f`, everything a solve writes in `k` (integers) and `w` (floats),
and `Solve` names the place where each field begins: field x of variable v is s.w[s.x + v].

Indices are int64, -1 = none. A column is one elementary motion of a joint, its frame turned so
that it moves along or about its own z axis; a variable is a value the solver is free to choose; an
entry is one column that moves one end of a constraint; a slot is one variable of a constraint.
Frames are twelve numbers: rotation row by row, then position. Every constraint has room for
six rows, the k-th row of constraint c is row 6 c + k; rows that it does not have stay zero.

Inside, lengths count in units of the chain's characteristic length [L], so that a solve does not
depend on the robot's size. The packed model and the workspace are in [rad] and [L]; what comes in
and goes out (q, joints, options, poses, the constraint table, error) is in [rad] and [m].
"""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from ik_node.kernels._jit import kernel
from ik_node.kernels.solve_state import COUNTS, NUMBERS, PHASE, PHASE_DONE
from ik_node.kernels.unchecked_array import flat, kept
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Solve(NamedTuple):
    """
    One solve of one chain: its arrays, its sizes, and where each field begins.

    A field is annotated with its array, its length and what it holds.
    """

    i: Ints  # packed model
    f: Floats  # packed model
    k: Ints  # workspace
    w: Floats  # workspace
    q: Floats  # (nq,) all joint values [rad or m]; the start, and in the end the answer
    joints: Floats  # (8, nq) rows JOINT_*
    options: Floats  # (OPTION_COUNT,)
    n: int  # columns
    nv: int  # variables
    nc: int  # constraints
    nr: int  # rows, BLOCK a constraint
    ne: int  # entries
    ns: int  # slots
    nb: int  # blocks of unknowns in the system of a step
    nm: int  # blocks of numbers that its matrix keeps: nb on the diagonal, then the edges
    edges: int
    updates: int
    pairs: int
    parts: int
    links: int
    width: int  # coefficients of a coupling, at least 2
    groups: int  # groups of closures with rows that are redundant up to rounding
    nd: int  # rows of all closures in groups
    parent: Annotated[int, 'i', 'n', 'column that carries this one, ascending; -1 = root frame']
    prismatic: Annotated[int, 'i', 'n', '1 = moves along z, 0 = turns about z']
    column_q: Annotated[int, 'i', 'n', 'place in q']
    var: Annotated[int, 'i', 'n', 'variable that moves it; -1 = held in this chain']
    ball: Annotated[int, 'i', 'n', '1, 2, 3 = column EZ, EY, EX of a ball joint, else 0']
    var_q: Annotated[int, 'i', 'nv', 'place in q']
    angle: Annotated[int, 'i', 'nv', '1 = a full turn of it changes nothing']
    a_column: Annotated[int, 'i', 'nc', 'column that carries frame A; -1 = root frame']
    b_column: Annotated[int, 'i', 'nc', 'the same for frame B']
    kind: Annotated[int, 'i', 'nc', 'KIND_*']
    axes: Annotated[int, 'i', 'nc', 'AXES_*']
    mask: Annotated[int, 'i', 'nc', 'bit k set = component X Y Z EX EY EZ [k] takes part']
    row_end: Annotated[int, 'i', 'nc', 'end of the rows that a constraint has']
    turning: Annotated[int, 'i', 'nc', 'first row that goes by angular velocity']
    angular: Annotated[int, 'i', 'nc', 'first row that counts in [rad]']
    slot0: Annotated[int, 'i', 'nc + 1', 'first slot']
    entry0: Annotated[int, 'i', 'nc + 1', 'first entry']
    entry_column: Annotated[int, 'i', 'ne', 'column']
    entry_side: Annotated[int, 'i', 'ne', '1 = moves frame A, -1 = moves frame B']
    entry_slot: Annotated[int, 'i', 'ne', 'slot, counted within the constraint']
    entry_up: Annotated[int, 'i', 'ne', 'centre of mass: entry of the column below, -1 = none']
    slot_var: Annotated[int, 'i', 'ns', 'variable']
    block_constraint: Annotated[int, 'i', 'nb', 'whose rows a block is; -1 = variables']
    block_size: Annotated[int, 'i', 'nb', 'how many']
    block_var: Annotated[int, 'i', '6 * nb', 'its variables, -1 = none']
    var_place: Annotated[int, 'i', 'nv', 'place in block_var; -1 = eliminated before all blocks']
    edge0: Annotated[int, 'i', 'nb + 1', 'first edge of a block, to blocks after it']
    edge_to: Annotated[int, 'i', 'edges', 'block, ascending; edge e is kept at nb + e']
    update_at: Annotated[int, 'i', 'updates', 'what each two edges of a block change, in order']
    pair_at: Annotated[int, 'i', 'pairs', 'block of the matrix that variables change directly']
    part0: Annotated[int, 'i', 'pairs + 1', 'first of them']
    part_a: Annotated[int, 'i', 'parts', 'slot of the variable in the rows of that block']
    part_b: Annotated[int, 'i', 'parts', 'slot in its columns']
    part_var: Annotated[int, 'i', 'parts', 'variable']
    link_at: Annotated[int, 'i', 'links', "where a variable's Jacobian column goes in the matrix"]
    link_stride: Annotated[int, 'i', 'links', 'and in which steps']
    link_slot: Annotated[int, 'i', 'links', 'slot']
    length: Annotated[int, 'f', '1', 'characteristic length [m], 1 L']
    unit: Annotated[int, 'f', 'nv', 'that length for a variable that slides [m], 1 for an angle']
    group0: Annotated[int, 'i', 'groups + 1', 'first of the rows of a group']
    group_rank: Annotated[int, 'i', 'groups', 'how many of them are independent']
    dense_row: Annotated[int, 'i', 'nd', 'which row it is']
    group_slack: Annotated[
        int, 'f', 'groups', 'a row that others imply differs from them by no more'
    ]
    offset: Annotated[int, 'f', '12 * n', 'frame before its motion in the parent column']
    coefficients: Annotated[int, 'f', 'width * n', 'value = sum over p of c_p variable^p']
    a_offset: Annotated[int, 'f', '12 * nc', 'frame A in its column']
    b_offset: Annotated[int, 'f', '12 * nc', 'parent of frame B in its column']
    mass: Annotated[int, 'f', 'nc', 'centre of mass: of all that counts [kg]']
    moment: Annotated[int, 'f', '3 * nc', 'the same: mass times place of what stands still [kg L]']
    entry_mass: Annotated[int, 'f', 'ne', 'the same: what the column itself carries [kg]']
    entry_moment: Annotated[int, 'f', '3 * ne', 'mass times place in the column [kg L]']
    numbers: Annotated[int, 'w', 'NUMBERS', 'scalars, see `counters`; always at 0']
    record: Annotated[int, 'w', 'RECORD', 'RECORD_*; error and constraints follow at once']
    error: Annotated[int, 'w', '2 * nc', 'residual norms [m], [rad] of every constraint']
    constraints: Annotated[int, 'w', '14 * nc', 'the constraint table, columns CON_*']
    held: Annotated[int, 'w', 'n', 'values of columns this chain does not move [rad or L]']
    value: Annotated[int, 'w', 'n', 'value of every column [rad or L]']
    rate: Annotated[int, 'w', 'n', 'd value / d variable']
    sine: Annotated[int, 'w', 'n + 3', 'of the value, where it turns; in fours']
    cosine: Annotated[int, 'w', 'n + 3', 'the same']
    frame: Annotated[int, 'w', '12 * n', 'frame of every column after its motion, in root']
    b_local: Annotated[int, 'w', '12 * nc', 'frame B in its column']
    a_frame: Annotated[int, 'w', '12 * nc', 'frame A in root']
    b_frame: Annotated[int, 'w', '12 * nc', 'frame B in root']
    carried: Annotated[int, 'w', '4 * ne', 'mass, and mass times place, of all beyond a column']
    lever: Annotated[
        int, 'w', '6 * nc', "points whose velocity counts, for A's and for B's motion [L]"
    ]
    vector: Annotated[int, 'w', '18 * nc', 'world vectors of rows: six x, six y, six z']
    trial: Annotated[int, 'w', 'nr', 'residual of the last `residuals` [L or rad]']
    residual: Annotated[int, 'w', 'nr', 'residual at x [L or rad]']
    weight: Annotated[int, 'w', 'nr', 'squared weight of a row']
    softness: Annotated[int, 'w', 'nr', "1 / weight of a row in the step's system"]
    hold: Annotated[int, 'w', 'nr', 'what a row of a finished level is held at [L or rad]']
    rhs: Annotated[int, 'w', 'nr', 'what a row is short of zero without a step [L or rad]']
    load: Annotated[int, 'w', 'nr', 'what the system is solved for; then its multipliers']
    jac: Annotated[int, 'w', '6 * ns', 'Jacobian at x: six rows a slot']
    x: Annotated[int, 'w', 'nv', 'variables: the accepted iterate [rad or L]']
    x_try: Annotated[int, 'w', 'nv', 'the iterate that is tried']
    x_start: Annotated[int, 'w', 'nv', 'where the solve began']
    x_best: Annotated[int, 'w', 'nv', 'best iterate of the present start']
    x_kept: Annotated[int, 'w', 'nv', 'the best effort so far']
    candidate: Annotated[int, 'w', '8 * nv', 'iterates that starts have ended at, the best ones']
    candidate_cost: Annotated[int, 'w', '8', 'their costs, loops closed']
    candidate_reach: Annotated[int, 'w', '8', 'costs of all rows before that']
    level_cost: Annotated[int, 'w', 'nc + 2', 'cost of every level at the end of an effort']
    kept_cost: Annotated[int, 'w', 'nc + 2', 'that of the best effort so far']
    lower: Annotated[int, 'w', 'nv', 'bounds, limits and window together']
    upper: Annotated[int, 'w', 'nv', '']
    target: Annotated[int, 'w', 'nv', 'wished value of a variable: joint target or rest pose']
    pull: Annotated[int, 'w', 'nv', 'weight of the wish']
    gain: Annotated[int, 'w', 'nv', 'share of the way to the wish in one step']
    step: Annotated[int, 'w', 'nv', "change of x, in the ball's own axes for a free ball"]
    full: Annotated[int, 'w', 'nv', 'step that would be taken without further bounds']
    wish: Annotated[int, 'w', 'nv', 'step that would be taken if there were no rows']
    damping: Annotated[int, 'w', 'nv', '']
    gradient: Annotated[int, 'w', 'nv', "of the phase's cost"]
    give: Annotated[int, 'w', 'nv', '1 / damping of variables eliminated first, 0 = held']
    matrix: Annotated[int, 'w', '36 * nm', 'blocks, row by row; then their factor']
    inverse: Annotated[int, 'w', '6 * nb', '1 / pivot']
    scaled: Annotated[int, 'w', '36', 'an edge times the inverses of its pivots']
    y: Annotated[int, 'w', '6 * nb', 'solution, block by block']
    scratch: Annotated[int, 'w', '12', '']
    dense: Annotated[int, 'w', 'nd * nv', 'weighted Jacobian of grouped rows; then its basis Q']
    share: Annotated[int, 'w', 'nd * nd', 'coordinates L of grouped rows in that basis']
    normal: Annotated[int, 'w', 'nd * nd', 'Cholesky factor of L^T L, group by group']
    raw: Annotated[int, 'w', 'nd', 'residual of grouped rows, as it is [m or rad]']
    least: Annotated[int, 'w', 'nd', 'its least-squares coordinates in the basis']
    counts: Annotated[int, 'k', 'COUNTS', 'integers, see `counters`; always at 0']
    fixed: Annotated[int, 'k', 'nv', 'why a variable is held in a step, see `step`']
    free_ball: Annotated[int, 'k', 'nv', '1 = one of three variables of a ball without limits']
    winds: Annotated[int, 'k', 'nv', '1 = beyond a bound it comes in again at the other']
    wants: Annotated[int, 'k', 'nv', 'WANTS_*: what a variable is drawn to']
    implied: Annotated[
        int, 'k', 'nr', '1 = others of its group imply a row; it counts for nothing'
    ]
    chosen: Annotated[int, 'k', 'nd', 'independent rows of a group, in the order of their choice']
    chosen_end: Annotated[int, 'k', 'groups', 'end of them']


# Rows that a constraint has room for, and unknowns in a block.
BLOCK = 6
# What a solve leaves, in order: how it ended; steps towards goals; starts; steps that did nothing
# but close loops. Residual norms and the table of constraints follow.
RECORD_STATUS, RECORD_STEPS, RECORD_STARTS, RECORD_CLOSING = range(4)
RECORD = 4
# Where starts ended, kept to be improved: how many.
CANDIDATE_ROOM = 8

FIXED = {'NUMBERS': NUMBERS, 'COUNTS': COUNTS, 'RECORD': RECORD}
SIZES = tuple(name for name in Solve._fields if Solve.__annotations__[name] is int)
FIELDS: dict[str, tuple[str, str, str]] = {
    name: hint.__metadata__
    for name, hint in Solve.__annotations__.items()
    if hasattr(hint, '__metadata__')
}

# Constraint kinds and the axes in which their components are counted.
KIND_FRAME, KIND_UNIVERSAL, KIND_DISTANCE, KIND_LOOK_AT, KIND_MASS = 0, 1, 2, 3, 4
AXES_B, AXES_WORLD, AXES_A = 0, 1, 2

# What a variable is drawn to, in the order in which it is granted.
WANTS_NOTHING, WANTS_TARGET, WANTS_REST_POSE = 0, 1, 2

# Rows of the joint table.
(
    JOINT_LOWER,  # [rad or m], -inf = none
    JOINT_UPPER,  # [rad or m], inf = none
    JOINT_WINDOW,  # largest |q - q0| of a call [rad or m], inf = none, 0 = locked
    JOINT_TARGET,  # wished value [rad or m]
    JOINT_TARGET_WEIGHT,  # 0 = no target
    JOINT_REST,  # rest pose [rad or m]
    JOINT_REST_ON,  # 1 = has a rest pose, 0 = none
    JOINT_TURNS,  # 1 = an angle, of which full turns do not count
) = range(8)
JOINT_ROWS = 8

# Columns of the constraint table.
(
    CON_POSE,  # frame B in its parent: xyz [m], quat_xyzw
    CON_WEIGHT,  # weight of the rows, > 0
    CON_TRANSLATION_TOLERANCE,  # [m]
    CON_ROTATION_TOLERANCE,  # [rad]
    CON_LEVEL,  # 0 = closure, 1.. = goals in order of priority
    CON_DISTANCE,  # wanted distance [m], kind distance only
    CON_TRANSLATION_MISFIT,  # up to which a grouped closure may be open beside its tolerance [m]
    CON_ROTATION_MISFIT,  # [rad]
) = (0, 7, 8, 9, 10, 11, 12, 13)
CON_COLUMNS = 14


def lay_out(sizes: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """
    Place all fields for the given sizes.

    Returns
    -------
    begins : dict
        Where every field begins in its array.
    totals : dict
        Length of the arrays i, f, k, w.

    """
    names = {**sizes, **FIXED}
    totals = {'i': len(SIZES) + len(FIELDS), 'f': 0, 'k': 0, 'w': 0}
    begins = {}
    for name, (array, length, _) in FIELDS.items():
        begins[name] = totals[array]
        totals[array] += _length(length, names)
    return begins, totals


def _length(expression: str, names: Mapping[str, int]) -> int:
    """Work out a length: a name or a number, or two of them times each other or added."""
    left, sign, right = expression.partition(' ')
    length = names[left] if left in names else int(left)
    if not sign:
        return length
    other = names[right[2:]] if right[2:] in names else int(right[2:])
    return length + other if right[0] == '+' else length * other


def pack_model(
    sizes: Mapping[str, int], fields: Mapping[str, NDArray[np.generic]]
) -> tuple[Ints, Floats]:
    """
    Lay the fields of a model end to end; sizes and places first.

    Raises
    ------
    ValueError
        If a field does not have the length that `FIELDS` says.

    """
    begins, totals = lay_out(sizes)
    ints = np.zeros(totals['i'], dtype=np.int64)
    floats = np.zeros(totals['f'])
    header = [sizes[name] for name in SIZES] + [begins[name] for name in FIELDS]
    ints[: len(header)] = header
    names = {**sizes, **FIXED}
    for name, (array, length, _) in FIELDS.items():
        if array in 'if':
            wanted = _length(length, names)
            if fields[name].size != wanted:
                raise ValueError(f'{name}: {fields[name].size} numbers, not {wanted}')
            into = ints if array == 'i' else floats
            into[begins[name] : begins[name] + wanted] = np.ravel(fields[name])
    return ints, floats


def make_workspace(ints: Ints) -> tuple[Ints, Floats]:
    """Return the arrays k and w for a packed model, with no solve under way."""
    _, totals = lay_out(dict(zip(SIZES, ints[: len(SIZES)].tolist(), strict=True)))
    counts = np.zeros(totals['k'], dtype=np.int64)
    counts[PHASE] = PHASE_DONE
    return counts, np.zeros(totals['w'])


def begin_of(ints: Ints, name: str) -> int:
    """Return where a field begins in its array."""
    return int(ints[len(SIZES) + list(FIELDS).index(name)])


@kernel
def open_solve(
    i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, joints: Floats, options: Floats
) -> Solve:
    """Name the parts of a solve; sizes and places stand at the head of i, in order."""
    i = kept(i)
    return Solve(
        i,
        kept(f),
        flat(k),
        flat(w),
        flat(q),
        flat(joints),
        flat(options),
        i[0],
        i[1],
        i[2],
        i[3],
        i[4],
        i[5],
        i[6],
        i[7],
        i[8],
        i[9],
        i[10],
        i[11],
        i[12],
        i[13],
        i[14],
        i[15],
        i[16],
        i[17],
        i[18],
        i[19],
        i[20],
        i[21],
        i[22],
        i[23],
        i[24],
        i[25],
        i[26],
        i[27],
        i[28],
        i[29],
        i[30],
        i[31],
        i[32],
        i[33],
        i[34],
        i[35],
        i[36],
        i[37],
        i[38],
        i[39],
        i[40],
        i[41],
        i[42],
        i[43],
        i[44],
        i[45],
        i[46],
        i[47],
        i[48],
        i[49],
        i[50],
        i[51],
        i[52],
        i[53],
        i[54],
        i[55],
        i[56],
        i[57],
        i[58],
        i[59],
        i[60],
        i[61],
        i[62],
        i[63],
        i[64],
        i[65],
        i[66],
        i[67],
        i[68],
        i[69],
        i[70],
        i[71],
        i[72],
        i[73],
        i[74],
        i[75],
        i[76],
        i[77],
        i[78],
        i[79],
        i[80],
        i[81],
        i[82],
        i[83],
        i[84],
        i[85],
        i[86],
        i[87],
        i[88],
        i[89],
        i[90],
        i[91],
        i[92],
        i[93],
        i[94],
        i[95],
        i[96],
        i[97],
        i[98],
        i[99],
        i[100],
        i[101],
        i[102],
        i[103],
        i[104],
        i[105],
        i[106],
        i[107],
        i[108],
        i[109],
        i[110],
        i[111],
        i[112],
        i[113],
        i[114],
        i[115],
        i[116],
        i[117],
        i[118],
        i[119],
        i[120],
        i[121],
        i[122],
        i[123],
        i[124],
        i[125],
        i[126],
        i[127],
        i[128],
        i[129],
    )


@kernel
def asked(s: Solve, c: int, column: int) -> float:
    """Return what the constraint table says of constraint c, CON_*."""
    return float(s.w[s.constraints + CON_COLUMNS * c + column])


@kernel
def unit_of_column(s: Solve, j: int) -> float:
    """Return by what the value of a column is multiplied to count in [rad or m]."""
    return float(s.f[s.length]) if s.i[s.prismatic + j] == 1 else 1.0
