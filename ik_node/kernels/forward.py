"""Forward kinematics: where every column's frame, and both ends of every constraint, are."""

from ik_node.kernels._jit import kernel
from ik_node.kernels.layout import CON_COLUMNS, CON_POSE, Floats, KIND_MASS, Solve
from ik_node.kernels.rotation import quaternion_to_matrix, sine_cosine


@kernel
def compose(a: Floats, at_a: int, b: Floats, at_b: int, out: Floats, at: int) -> None:
    """Write the product of two frames to out[at:at + 12]."""
    b0, b1, b2 = b[at_b], b[at_b + 1], b[at_b + 2]
    b3, b4, b5 = b[at_b + 3], b[at_b + 4], b[at_b + 5]
    b6, b7, b8 = b[at_b + 6], b[at_b + 7], b[at_b + 8]
    p0, p1, p2 = b[at_b + 9], b[at_b + 10], b[at_b + 11]
    for r in range(3):
        a0, a1, a2 = a[at_a + 3 * r], a[at_a + 3 * r + 1], a[at_a + 3 * r + 2]
        out[at + 3 * r] = a0 * b0 + a1 * b3 + a2 * b6
        out[at + 3 * r + 1] = a0 * b1 + a1 * b4 + a2 * b7
        out[at + 3 * r + 2] = a0 * b2 + a1 * b5 + a2 * b8
        out[at + 9 + r] = a0 * p0 + a1 * p1 + a2 * p2 + a[at_a + 9 + r]


@kernel
def copy_frame(a: Floats, at_a: int, out: Floats, at: int) -> None:
    """Copy twelve numbers."""
    for r in range(12):
        out[at + r] = a[at_a + r]


@kernel
def place_b_frames(s: Solve) -> None:
    """Compose the pose of every frame B, which may change from call to call, with its parent."""
    w = s.w
    for c in range(s.nc):
        pose = s.constraints + CON_COLUMNS * c + CON_POSE
        quaternion_to_matrix(w[pose + 3], w[pose + 4], w[pose + 5], w[pose + 6], w, s.scratch)
        for r in range(3):
            w[s.scratch + 9 + r] = w[pose + r]
        compose(s.f, s.b_offset + 12 * c, w, s.scratch, w, s.b_local + 12 * c)


@kernel
def column_values(s: Solve, x: int) -> None:
    """
    Work out the value of every column and its rate of change with its variable.

    `x` is where the variables begin in s.w.
    """
    for j in range(s.n):
        v = s.i[s.var + j]
        if v < 0:
            s.w[s.value + j] = s.w[s.held + j]
            s.w[s.rate + j] = 0.0
        else:
            total, slope = 0.0, 0.0
            at = s.coefficients + s.width * j
            for p in range(s.width - 1, -1, -1):
                slope = slope * s.w[x + v] + total
                total = total * s.w[x + v] + s.f[at + p]
            s.w[s.value + j] = total
            s.w[s.rate + j] = slope


@kernel
def place_centre_of_mass(s: Solve, c: int) -> None:
    """Put frame A at the centre of mass, and find what every column carries up to its tips."""
    w = s.w
    first, last = s.i[s.entry0 + c], s.i[s.entry0 + c + 1]
    for e in range(first, last):
        own, at = s.entry_moment + 3 * e, s.carried + 4 * e
        j = s.frame + 12 * s.i[s.entry_column + e]
        mass = s.f[s.entry_mass + e]
        w[at] = mass
        for r in range(3):
            w[at + 1 + r] = (
                w[j + 3 * r] * s.f[own]
                + w[j + 3 * r + 1] * s.f[own + 1]
                + w[j + 3 * r + 2] * s.f[own + 2]
                + w[j + 9 + r] * mass
            )
    a = s.a_frame + 12 * c
    for r in range(9):
        w[a + r] = 1.0 if r % 4 == 0 else 0.0
    for r in range(3):
        w[a + 9 + r] = s.f[s.moment + 3 * c + r]
    for e in range(last - 1, first - 1, -1):
        if s.i[s.entry_side + e] > 0:
            up = s.i[s.entry_up + e]
            for r in range(4):
                if up >= 0:
                    w[s.carried + 4 * up + r] += w[s.carried + 4 * e + r]
                elif r > 0:
                    w[a + 8 + r] += w[s.carried + 4 * e + r]
    for r in range(3):
        w[a + 9 + r] /= s.f[s.mass + c]


@kernel
def forward(s: Solve, x: int) -> None:
    """Place every column's frame (after its motion) and both ends of every constraint."""
    column_values(s, x)
    frame = s.w
    for j in range(s.n):
        at = s.frame + 12 * j
        p = s.i[s.parent + j]
        if p < 0:
            copy_frame(s.f, s.offset + 12 * j, frame, at)
        else:
            compose(frame, s.frame + 12 * p, s.f, s.offset + 12 * j, frame, at)
        q = s.w[s.value + j]
        if s.i[s.prismatic + j] == 1:
            for r in range(3):
                frame[at + 9 + r] += q * frame[at + 3 * r + 2]
        else:
            turn_s, turn_c = sine_cosine(q)
            for r in range(3):
                r0, r1 = frame[at + 3 * r], frame[at + 3 * r + 1]
                frame[at + 3 * r] = turn_c * r0 + turn_s * r1
                frame[at + 3 * r + 1] = turn_c * r1 - turn_s * r0
    for c in range(s.nc):
        a, b = s.i[s.a_column + c], s.i[s.b_column + c]
        a_frame, b_frame = s.a_frame + 12 * c, s.b_frame + 12 * c
        if s.i[s.kind + c] == KIND_MASS:
            place_centre_of_mass(s, c)
        elif a < 0:
            copy_frame(s.f, s.a_offset + 12 * c, s.w, a_frame)
        else:
            compose(frame, s.frame + 12 * a, s.f, s.a_offset + 12 * c, s.w, a_frame)
        if b < 0:
            copy_frame(s.w, s.b_local + 12 * c, s.w, b_frame)
        else:
            compose(frame, s.frame + 12 * b, s.w, s.b_local + 12 * c, s.w, b_frame)
