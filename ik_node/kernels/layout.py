"""
What travels into a kernel: four packed arrays, and the tables of a solve.

Passing a hundred arrays to a compiled function costs more than the arithmetic. Therefore the
fields of a model are laid end to end in one integer array `i` and one float array `f`, and all
that a solve writes in `k` (integers) and `w` (floats); where each begins stands at the head of
`i`. `open_solve` returns a `Solve`, with one array for each field: x of variable v is s.x[v].

Indices are int64, -1 = none. A column is one elementary motion of a joint, its frame turned so
that it moves along or about its own z axis; a variable is a value the solver is free to choose; an
entry is one column that moves one end of a constraint; a slot is one variable of a constraint.
Frames are twelve numbers: rotation row by row, then position. Every constraint has room for six
rows, the k-th row of constraint c is row 6 c + k; rows that it does not have stay zero.

Inside, lengths count in units of the chain's characteristic length [L], so that a solve does not
depend on the robot's size. The packed model and the workspace are in [rad] and [L]; what comes in
and goes out (q, joints, options, poses, the constraint table, error) is in [rad] and [m].
"""

from collections.abc import Callable, Mapping
from typing import Annotated, NamedTuple

from ik_node.kernels.decorators import kernel
from ik_node.kernels.fields import Fields, length_of, lengths_of, opener
from ik_node.kernels.options import OPTION_COUNT
from ik_node.kernels.solve_state import COUNTS, NUMBERS, PHASE, PHASE_DONE
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Solve(NamedTuple):
    """
    One solve of one chain: its tables, its sizes and its fields.

    A field is annotated with its packed array, its length and what it holds.
    """

    q: Floats  # (nq,) all joint values [rad or m]; the start, and in the end the answer
    joints: Floats  # (8, nq) rows JOINT_*
    options: Floats  # (OPTION_COUNT,)
    i_size: int  # lengths of the four packed arrays
    f_size: int
    k_size: int
    w_size: int
    nq: int  # joint values
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
    nt: int  # terms of couplings with several masters
    seen: int  # frames that users' goals see
    bodies: int  # convex shapes, see `distance`
    hull_points: int  # of all hulls
    checks: int  # pairs of bodies whose distance counts
    solid: int  # 1 = there are bodies
    parent: Annotated[Ints, 'i', 'n', 'column that carries this one, ascending; -1 = root frame']
    prismatic: Annotated[Ints, 'i', 'n', '1 = moves along z, 0 = turns about z']
    column_q: Annotated[Ints, 'i', 'n', 'place in q']
    var: Annotated[Ints, 'i', 'n', 'variable that moves it; -1 = held in this chain']
    ball: Annotated[Ints, 'i', 'n', '1, 2, 3 = column EZ, EY, EX of a ball joint, else 0']
    var_q: Annotated[Ints, 'i', 'nv', 'place in q']
    angle: Annotated[Ints, 'i', 'nv', '1 = a full turn of it changes nothing']
    a_column: Annotated[Ints, 'i', 'nc', 'column that carries frame A; -1 = root frame']
    b_column: Annotated[Ints, 'i', 'nc', 'the same for frame B']
    kind: Annotated[Ints, 'i', 'nc', 'KIND_*, see `kinds`']
    axes: Annotated[Ints, 'i', 'nc', 'AXES_*']
    mask: Annotated[Ints, 'i', 'nc', 'bit k set = component X Y Z EX EY EZ [k] takes part']
    row_end: Annotated[Ints, 'i', 'nc', 'end of the rows that a constraint has']
    turning: Annotated[Ints, 'i', 'nc', 'first row that goes by angular velocity']
    angular: Annotated[Ints, 'i', 'nc', 'first row that counts in [rad]']
    slot0: Annotated[Ints, 'i', 'nc + 1', 'first slot']
    entry0: Annotated[Ints, 'i', 'nc + 1', 'first entry']
    entry_column: Annotated[Ints, 'i', 'ne', 'column']
    entry_side: Annotated[Ints, 'i', 'ne', '1 = moves frame A, -1 = frame B; user: 1 + frame']
    entry_slot: Annotated[Ints, 'i', 'ne', 'slot, counted within the constraint']
    entry_up: Annotated[Ints, 'i', 'ne', 'centre of mass: entry of the column below, -1 = none']
    slot_var: Annotated[Ints, 'i', 'ns', 'variable']
    block_constraint: Annotated[Ints, 'i', 'nb', 'whose rows a block is; -1 = variables']
    block_size: Annotated[Ints, 'i', 'nb', 'how many']
    block_var: Annotated[Ints, 'i', '6 * nb', 'its variables, -1 = none']
    var_place: Annotated[Ints, 'i', 'nv', 'place in block_var; -1 = eliminated before all blocks']
    edge0: Annotated[Ints, 'i', 'nb + 1', 'first edge of a block, to blocks after it']
    edge_to: Annotated[Ints, 'i', 'edges', 'block, ascending; edge e is kept at nb + e']
    update_at: Annotated[Ints, 'i', 'updates', 'what each two edges of a block change, in order']
    pair_at: Annotated[Ints, 'i', 'pairs', 'block of the matrix that variables change directly']
    part0: Annotated[Ints, 'i', 'pairs + 1', 'first of them']
    part_a: Annotated[Ints, 'i', 'parts', 'slot of the variable in the rows of that block']
    part_b: Annotated[Ints, 'i', 'parts', 'slot in its columns']
    part_var: Annotated[Ints, 'i', 'parts', 'variable']
    term0: Annotated[Ints, 'i', 'nc', 'coupling: its first term']
    seen0: Annotated[Ints, 'i', 'nc + 1', 'first frame that a goal of a user sees']
    seen_column: Annotated[Ints, 'i', 'seen', 'column that carries it; -1 = root frame']
    link_at: Annotated[Ints, 'i', 'links', "where a variable's Jacobian column goes in the matrix"]
    link_stride: Annotated[Ints, 'i', 'links', 'and in which steps']
    link_slot: Annotated[Ints, 'i', 'links', 'slot']
    length: Annotated[float, 'f', '1', 'characteristic length [m], 1 L']
    unit: Annotated[
        Floats, 'f', 'nv', '1 L in metres for a variable that slides [m], 1 for an angle [rad]'
    ]
    group0: Annotated[Ints, 'i', 'groups + 1', 'first of the rows of a group']
    group_rank: Annotated[Ints, 'i', 'groups', 'how many of them are independent']
    dense_row: Annotated[Ints, 'i', 'nd', 'which row it is']
    group_slack: Annotated[
        Floats,
        'f',
        'groups',
        'difference up to which a row counts as implied by others [L or rad]',
    ]
    offset: Annotated[
        Floats, 'f', '12 * n', "frame before its motion, in the parent column's frame [1, L]"
    ]
    coefficients: Annotated[
        Floats,
        'f',
        'width * n',
        'c_p of value = sum over p of c_p variable^p [rad or L per (rad or L)^p]',
    ]
    term: Annotated[
        Floats,
        'f',
        'width * nt',
        'c_p of a row, sum over columns and p of c_p value^p [rad or L per (rad or L)^p]',
    ]
    a_offset: Annotated[Floats, 'f', '12 * nc', 'frame A in its column [1, L]']
    b_offset: Annotated[Floats, 'f', '12 * nc', 'parent of frame B in its column [1, L]']
    seen_offset: Annotated[Floats, 'f', '12 * seen', 'frame that is seen, in its column [1, L]']
    mass: Annotated[Floats, 'f', 'nc', 'centre of mass: mass of all links that count [kg]']
    moment: Annotated[Floats, 'f', '3 * nc', 'centre of mass: moment of what does not move [kg L]']
    entry_mass: Annotated[Floats, 'f', 'ne', 'centre of mass: mass of the column itself [kg]']
    entry_moment: Annotated[Floats, 'f', '3 * ne', 'mass times position, in the column [kg L]']
    body_column: Annotated[Ints, 'i', 'bodies', 'column that carries a body; -1 = root frame']
    body_shape: Annotated[Ints, 'i', 'bodies', 'POINT, SEGMENT, ... of `distance`']
    body_point0: Annotated[Ints, 'i', 'bodies + 1', 'first point of a hull']
    check_a: Annotated[Ints, 'i', 'checks', 'first body of a pair']
    check_b: Annotated[Ints, 'i', 'checks', 'second body of a pair']
    body_offset: Annotated[Floats, 'f', '12 * bodies', 'frame of a body in its column [1, L]']
    body_size: Annotated[Floats, 'f', '5 * bodies', 'sizes, see `distance` [L]']
    hull_point: Annotated[Floats, 'f', '3 * hull_points', 'points of hulls, in the body [L]']
    w: Annotated[Floats, 'w', 'NUMBERS', 'scalars, see `solve_state`; always at 0 [units there]']
    record: Annotated[Floats, 'w', 'RECORD', 'RECORD_*; error and constraints follow directly [1]']
    error: Annotated[Floats, 'w', '2 * nc', 'residual norms [m], [rad] of every constraint']
    constraints: Annotated[Floats, 'w', '20 * nc', 'constraint table, columns CON_* [units there]']
    held: Annotated[Floats, 'w', 'n', 'values of columns that this chain does not move [rad or L]']
    value: Annotated[Floats, 'w', 'n + 3', 'value of every column, in fours [rad or L]']
    rate: Annotated[Floats, 'w', 'n', 'd value / d variable [rad or L per rad or L]']
    sine: Annotated[Floats, 'w', 'n + 3', 'sine of the value of a column that turns, in fours [1]']
    cosine: Annotated[Floats, 'w', 'n + 3', 'cosine of it [1]']
    frame: Annotated[Floats, 'w', '12 * n', 'frame of a column after its motion, in root [1, L]']
    b_local: Annotated[Floats, 'w', '12 * nc', 'frame B in its column [1, L]']
    a_frame: Annotated[Floats, 'w', '12 * nc', 'frame A in root [1, L]']
    b_frame: Annotated[Floats, 'w', '12 * nc', 'frame B in root [1, L]']
    seen_frame: Annotated[Floats, 'w', '12 * seen', 'frame that is seen, in root [1, L]']
    seen_vector: Annotated[
        Floats,
        'w',
        '36 * seen',
        'derivatives of six rows by its linear and angular velocity [L or rad per L, per rad]',
    ]
    carried: Annotated[
        Floats,
        'w',
        '4 * ne',
        'mass, and mass times position, of all links beyond a column [kg, kg L]',
    ]
    lever: Annotated[Floats, 'w', '6 * nc', 'points whose velocity counts, of A and of B [L]']
    vector: Annotated[Floats, 'w', '18 * nc', 'row vectors in root axes: six x, six y, six z [1]']
    trial: Annotated[Floats, 'w', 'nr', 'residual of the last `residuals` [L or rad]']
    residual: Annotated[Floats, 'w', 'nr', 'residual at x [L or rad]']
    weight: Annotated[Floats, 'w', 'nr', 'squared weight of a row [1]']
    softness: Annotated[Floats, 'w', 'nr', 'M = 1 / weight of a row in the system of a step [1]']
    relief: Annotated[Floats, 'w', 'nr', 'g of M = diag(softness) - g g^T in a TOLERANT phase [1]']
    hold: Annotated[Floats, 'w', 'nr', 'value at which a finished row is held [L or rad]']
    rhs: Annotated[Floats, 'w', 'nr', 'right-hand side of a row in a step [L or rad]']
    load: Annotated[Floats, 'w', 'nr', 'rhs of the system, then multipliers y [L or rad; y per M]']
    jac: Annotated[Floats, 'w', '6 * ns', 'Jacobian at x, six rows a slot [L or rad per rad or L]']
    x: Annotated[Floats, 'w', 'nv', 'variables: the accepted iterate [rad or L]']
    x_try: Annotated[Floats, 'w', 'nv', 'the iterate that is tried [rad or L]']
    x_frames: Annotated[Floats, 'w', 'nv', 'where frames and residual are known [rad or L]']
    x_start: Annotated[Floats, 'w', 'nv', 'the start of the solve [rad or L]']
    x_best: Annotated[Floats, 'w', 'nv', 'best iterate of the present start [rad or L]']
    x_stride: Annotated[Floats, 'w', 'nv', 'where the last stride of a level ended [rad or L]']
    x_kept: Annotated[Floats, 'w', 'nv', 'the best answer so far [rad or L]']
    candidate: Annotated[Floats, 'w', '8 * nv', 'ends of starts, the best ones [rad or L]']
    candidate_cost: Annotated[Floats, 'w', '8', 'their costs with closed loops [L^2, rad^2]']
    candidate_reach: Annotated[
        Floats, 'w', '8', 'costs of all rows before the loops were closed [L^2, rad^2]'
    ]
    level_cost: Annotated[
        Floats, 'w', 'nc + 2', 'cost of every level at the end of a pass [L^2, rad^2]'
    ]
    kept_cost: Annotated[
        Floats, 'w', 'nc + 2', 'cost of every level of the best answer so far [L^2, rad^2]'
    ]
    lower: Annotated[Floats, 'w', 'nv', 'lower bound, from limits and window [rad or L]']
    upper: Annotated[Floats, 'w', 'nv', 'upper bound [rad or L]']
    target: Annotated[
        Floats, 'w', 'nv', 'preferred value x* of a variable: joint target or rest pose [rad or L]'
    ]
    pull: Annotated[Floats, 'w', 'nv', 'weight of the preference [1]']
    gain: Annotated[Floats, 'w', 'nv', 'share g of the way to x* in one step [1]']
    step: Annotated[Floats, 'w', 'nv', 'change of x [rad or L]; of a free ball in its own axes']
    full: Annotated[Floats, 'w', 'nv', 'step without further bounds [rad or L]']
    preferred_step: Annotated[Floats, 'w', 'nv', 'g (x* - x), the step without rows [rad or L]']
    damping: Annotated[Floats, 'w', 'nv', 'D of the system of a step [1]']
    gradient: Annotated[Floats, 'w', 'nv', "gradient of the phase's cost [L^2, rad^2 per x]"]
    inverse_damping: Annotated[Floats, 'w', 'nv', '1 / D if eliminated first; 0 if fixed [1]']
    matrix: Annotated[
        Floats, 'w', '36 * nm', 'blocks of the system, row by row, then their factor [1]'
    ]
    inverse: Annotated[Floats, 'w', '6 * nb', '1 / pivot [1]']
    scaled: Annotated[Floats, 'w', '36', 'an edge times the inverses of its pivots [1]']
    y: Annotated[Floats, 'w', '6 * nb', 'solution of the system [rad, L or multipliers]']
    scratch: Annotated[Floats, 'w', '12', '[any]']
    dense: Annotated[Floats, 'w', 'nd * nv', 'Jacobian of grouped rows, then basis Q [1]']
    share: Annotated[
        Floats,
        'w',
        'nd + nd * nd',
        'coordinates L of grouped rows in that basis, column by column, then those made '
        'orthonormal; each with its size [1]',
    ]
    raw: Annotated[Floats, 'w', 'nd', 'unreduced residual of grouped rows [L or rad]']
    body_frame: Annotated[Floats, 'w', '12 * bodies', 'frame of a body in root [1, L]']
    check_result: Annotated[
        Floats, 'w', '10 * checks', 'distance, normal and nearest points of a pair [L]'
    ]
    check_margin: Annotated[
        Floats, 'w', 'checks', 'distance of a pair above which its row is 0 or less [L]'
    ]
    check_simplex: Annotated[
        Floats, 'w', '24 * checks', 'last simplex of GJK: points of A and of B, in each body [L]'
    ]
    vertex: Annotated[Floats, 'w', 'VERTEX_ROOM * solid', 'points of A, of B and of A - B [L]']
    vertex_share: Annotated[Floats, 'w', '4 * solid', 'shares of vertices in nearest point [1]']
    nearest: Annotated[Floats, 'w', '3 * solid', 'nearest point of A - B, or a normal [L]']
    plane: Annotated[Floats, 'w', 'PLANE_ROOM * solid', 'normals and distances of faces [L]']
    k: Annotated[Ints, 'k', 'COUNTS', 'integers, see `solve_state`; always at 0']
    fixed: Annotated[Ints, 'k', 'nv', 'state of a variable in a step, see `step`']
    free_ball: Annotated[Ints, 'k', 'nv', '1 = one of three variables of a ball without limits']
    wraps: Annotated[Ints, 'k', 'nv', '1 = a step past a bound continues at the other bound']
    preference: Annotated[Ints, 'k', 'nv', 'PREFERS_*: which preference a variable has']
    active: Annotated[Ints, 'k', 'nr', '1 = the inequality of a row counts in the present step']
    row_check: Annotated[Ints, 'k', 'nr', 'pair of a row of kind avoid, -1 = none']
    check_row: Annotated[Ints, 'k', 'checks', 'row of a pair, -1 = none']
    implied: Annotated[Ints, 'k', 'nr', '1 = others of its group imply this row: no effect']
    chosen: Annotated[Ints, 'k', 'nd', 'independent rows of a group, in the order of their choice']
    chosen_end: Annotated[Ints, 'k', 'groups', 'end of them']
    function: Annotated[Ints, 'k', '1', "address of the function of users' goals, see `user_rows`"]
    check_count: Annotated[Ints, 'k', 'checks', 'vertices of the last simplex of a pair']
    face: Annotated[Ints, 'k', 'FACE_ROOM * solid', 'vertices of the faces of a polytope']
    edge: Annotated[Ints, 'k', 'EDGE_ROOM * solid', 'edges between removed and kept faces']


# Rows that a constraint has room for, and unknowns in a block.
BLOCK = 6
# The record of a solve: status; steps towards goals; starts; steps that only closed loops; why no
# further start was made, ENDED_*. Residual norms and the constraint table follow.
RECORD_STATUS, RECORD_STEPS, RECORD_STARTS, RECORD_CLOSING, RECORD_ENDED = range(5)
RECORD = 5
# Largest number of q and poses [rad or m], so that squares stay finite; least |quaternion|.
LARGEST, SMALLEST_QUATERNION = 1e40, 1e-9
# Rounding error of a sum of squares that is 1.
NORMALISED = 2e-15
# Number of candidates that are kept.
CANDIDATE_ROOM = 8

# Numbers of a measured pair: distance, normal from B to A, nearest points of A and of B [L].
RESULT = 10
# Room for vertices, faces and edges of the polytope that measures how deep bodies overlap.
VERTICES, FACES, EDGES = 192, 384, 384
VERTEX_ROOM, PLANE_ROOM, FACE_ROOM, EDGE_ROOM = 9 * VERTICES, 4 * FACES, 3 * FACES, 2 * EDGES

FIXED = {
    'NUMBERS': NUMBERS,
    'COUNTS': COUNTS,
    'RECORD': RECORD,
    'VERTEX_ROOM': VERTEX_ROOM,
    'PLANE_ROOM': PLANE_ROOM,
    'FACE_ROOM': FACE_ROOM,
    'EDGE_ROOM': EDGE_ROOM,
}
SIZES, FIELDS = lengths_of(Solve)
PACKED = 'ifkw'

# The axes in which the components of a constraint are counted.
AXES_B, AXES_WORLD, AXES_A = 0, 1, 2

# The preference of a variable, in the order in which preferences are met.
PREFERS_NOTHING, PREFERS_TARGET, PREFERS_REST_POSE = 0, 1, 2

# Rows of the joint table.
(
    JOINT_LOWER,  # [rad or m], -inf = none
    JOINT_UPPER,  # [rad or m], inf = none
    JOINT_WINDOW,  # largest |q - q0| of a call [rad or m], inf = none, 0 = locked
    JOINT_TARGET,  # target value [rad or m]
    JOINT_TARGET_WEIGHT,  # 0 = no target
    JOINT_REST,  # rest pose [rad or m]
    JOINT_REST_ON,  # 1 = has a rest pose, 0 = none
    JOINT_TURNS,  # 1 = an angle, of which full turns do not count
) = range(8)
JOINT_ROWS = 8

# Columns of the constraint table.
(
    CON_POSE,  # frame B in its parent: xyz [m], then quat_xyzw
    CON_QUAT,
    CON_WEIGHT,  # weight of the rows, > 0
    CON_TRANSLATION_TOLERANCE,  # [m]
    CON_ROTATION_TOLERANCE,  # [rad]
    CON_LEVEL,  # 0 = closure, 1.. = goals in order of priority
    CON_DISTANCE,  # wanted distance [m], kind distance; largest angle [rad], kind cone
    CON_TRANSLATION_MISFIT,  # up to which a grouped closure may be open beside its tolerance [m]
    CON_ROTATION_MISFIT,  # [rad]
    CON_ROW_TOLERANCE,  # of every row [m or rad]; -1 first = only the norms have tolerances
) = (0, 3, 7, 8, 9, 10, 11, 12, 13, 14)
CON_COLUMNS = 20


def lay_out(
    sizes: Mapping[str, int], fields: Fields = FIELDS, header: int = len(SIZES) + len(FIELDS)
) -> tuple[dict[str, int], dict[str, int]]:
    """
    Return where every field begins in its array, and the length of every array.

    `sizes`: value of every size. `fields`: the fields of a table, see `lengths_of`. `header`:
    number of sizes and places, which stand first in the first array.
    """
    names = {**sizes, **FIXED}
    totals = dict.fromkeys((array for array, _, _ in fields.values()), 0)
    totals[next(iter(totals))] = header
    begins = {}
    for name, (array, length, _) in fields.items():
        begins[name] = totals[array]
        totals[array] += length_of(length, names)
    return begins, totals


def pack_model(
    sizes: Mapping[str, int], fields: Mapping[str, NDArray[np.generic]]
) -> tuple[Ints, Floats]:
    """
    Lay the fields of a model end to end; sizes and places first.

    Raise ValueError if a field does not have the length that `FIELDS` says.
    """
    begins, totals = lay_out(sizes)
    ints = np.zeros(totals['i'], dtype=np.int64)
    floats = np.zeros(totals['f'])
    names = {**sizes, **FIXED, **{f'{array}_size': size for array, size in totals.items()}}
    header = [names[name] for name in SIZES] + [begins[name] for name in FIELDS]
    ints[: len(header)] = header
    for name, (array, length, _) in FIELDS.items():
        if array in 'if':
            count = length_of(length, names)
            if fields[name].size != count:
                raise ValueError(f'{name}: {fields[name].size} numbers, not {count}')
            into = ints if array == 'i' else floats
            into[begins[name] : begins[name] + count] = np.ravel(fields[name])
    return ints, floats


def make_workspace(ints: Ints) -> tuple[Ints, Floats]:
    """Return the arrays k and w for a packed model, with no solve under way."""
    counts = np.zeros(int(ints[SIZES.index('k_size')]), dtype=np.int64)
    counts[PHASE] = PHASE_DONE
    return counts, np.zeros(int(ints[SIZES.index('w_size')]))


def begin_of(ints: Ints, name: str) -> int:
    """Return where a field begins in its array."""
    return int(ints[len(SIZES) + list(FIELDS).index(name)])


# Takes (i, f, k, w, q, joints, options) and returns a `Solve`.
open_solve: Callable[..., Solve] = opener(
    Solve,
    PACKED,
    ('q', 'joints', 'options'),
    {
        'q': ('nq',),
        'joints': (str(JOINT_ROWS), 'nq'),
        'options': (str(OPTION_COUNT),),
        'constraints': ('nc', str(CON_COLUMNS)),
    },
    FIXED,
)


@kernel
def unit_of_column(s: Solve, j: int) -> float:
    """Return the factor from the unit of a column, [rad or L], to [rad or m]."""
    return s.length if s.prismatic[j] == 1 else 1.0
