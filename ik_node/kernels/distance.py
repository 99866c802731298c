r"""
Signed distances of convex bodies; docs/theory.md, section 16.

A body is a core, a point, segment, box, cylinder or hull of points in its own frame, plus a
radius, or a half-space :math:`z \le 0`. The distance of two bodies is that of their cores less
both radii, so that its gradient stays exact in shallow contact. Pairs of points and segments, of a
point and a box or cylinder, and of all with a half-space are computed in closed form. All others
go by GJK (Gilbert, Johnson & Keerthi 1988), which finds the point v of the Minkowski difference
A - B that is nearest to the origin. Where the cores overlap, v is on the boundary of A - B, and
the distance is minus its length: the penetration depth, from the expanding polytope (van den
Bergen 2001).
"""

from __future__ import annotations

from math import sqrt

from ik_node.kernels.decorators import entry, FLOATS, INTS, kernel, rare
from ik_node.kernels.forward import compose, frame_rows, put_frame
from ik_node.kernels.layout import FACES, Floats, Ints, open_solve, RESULT, Solve, VERTICES
from ik_node.kernels.links import place_links
from ik_node.kernels.rotation import Vector
from ik_node.kernels.unchecked_array import table

# Shapes of bodies; that of a pair's first body does not come after the other's. `body_size` holds
# half the edges of a box; half the length of a segment or cylinder as third number, and the radius
# of the cylinder as first; the radius around the core; the radius of a ball about the origin of
# the frame that contains the body.
POINT, SEGMENT, BOX, CYLINDER, HULL, HALF_SPACE = range(6)
SIZE, RADIUS, BALL = 5, 3, 4
ENDLESS = 1e300
# Relative gap between the bounds of a distance at which GJK ends, and most iterations.
GAP, GJK_ROUNDS = 1e-13, 100
# Cores that are nearer than this overlap [L]: below, the direction between them is rounding.
TOUCHING = 1e-9
# Relative difference of a foot from its plane above which edges are looked at, too.
SAME = 1e-9
# Thickness below which points are collinear or coplanar [L], and a point is in a face's plane.
FLAT, BEYOND = 1e-10, 1e-12
# The expanding polytope ends when its nearest face is so near the boundary [L].
EPA_GAP = 1e-8
# Distance of overlapping cores after A is moved out [L]; most moves, and the gain of the last one.
OUT, MOVES, SHORTER = 0.01, 100, 1e-15


@kernel
def cross(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> Vector:
    """Return a x b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@rare
def perpendicular(x: float, y: float, z: float) -> Vector:
    """Return a unit vector at right angles to (x, y, z), which may be zero."""
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        px, py, pz = 0.0, -z, y
    elif abs(y) <= abs(z):
        px, py, pz = z, 0.0, -x
    else:
        px, py, pz = -y, x, 0.0
    length = sqrt(px * px + py * py + pz * pz)
    if length == 0.0:
        return 0.0, 0.0, 1.0
    return px / length, py / length, pz / length


@kernel
def into_root(frame: Floats, x: float, y: float, z: float) -> Vector:
    """Return the point (x, y, z) of a frame in root axes."""
    return (
        frame[0] * x + frame[1] * y + frame[2] * z + frame[9],
        frame[3] * x + frame[4] * y + frame[5] * z + frame[10],
        frame[6] * x + frame[7] * y + frame[8] * z + frame[11],
    )


@rare
def local_support(s: Solve, b: int, dx: float, dy: float, dz: float) -> Vector:
    """Return the point of body b's core farthest along a direction in root axes, in its frame."""
    frame, size, shape = s.body_frame[12 * b :], s.body_size[SIZE * b :], s.body_shape[b]
    x = frame[0] * dx + frame[3] * dy + frame[6] * dz
    y = frame[1] * dx + frame[4] * dy + frame[7] * dz
    z = frame[2] * dx + frame[5] * dy + frame[8] * dz
    if shape == HULL:
        first, best = s.body_point0[b], -ENDLESS
        farthest = first
        for p in range(first, s.body_point0[b + 1]):
            along = s.hull_point[3 * p] * x + s.hull_point[3 * p + 1] * y
            along += s.hull_point[3 * p + 2] * z
            if along > best:
                farthest, best = p, along
        point = s.hull_point[3 * farthest :]
        return point[0], point[1], point[2]
    half = size[2] if z > 0.0 else -size[2]
    if shape == POINT:
        return 0.0, 0.0, 0.0
    if shape == SEGMENT:
        return 0.0, 0.0, half
    if shape == BOX:
        return (size[0] if x > 0.0 else -size[0]), (size[1] if y > 0.0 else -size[1]), half
    across = sqrt(x * x + y * y)
    if across < 1e-12 * abs(z) or across == 0.0:
        return 0.0, 0.0, half
    return size[0] * x / across, size[0] * y / across, half


@rare
def add_support(s: Solve, index: int, a: int, b: int, dx: float, dy: float, dz: float) -> None:
    """
    Write the point of A - B farthest along a direction as vertex `index` of `vertex`.

    A vertex is nine numbers: the point of A and the point of B, each in its own frame, then their
    difference in root axes.
    """
    v = s.vertex[9 * index :]
    v[0], v[1], v[2] = local_support(s, a, dx, dy, dz)
    v[3], v[4], v[5] = local_support(s, b, -dx, -dy, -dz)
    place_vertex(s, index, a, b)


@kernel
def place_vertex(s: Solve, index: int, a: int, b: int) -> None:
    """Write the difference of both points of a vertex."""
    v = s.vertex[9 * index :]
    ax, ay, az = into_root(s.body_frame[12 * a :], v[0], v[1], v[2])
    bx, by, bz = into_root(s.body_frame[12 * b :], v[3], v[4], v[5])
    v[6], v[7], v[8] = ax - bx, ay - by, az - bz


@kernel
def keep_vertex(s: Solve, source: int, to: int) -> None:
    """Copy a vertex."""
    for k in range(9):
        s.vertex[9 * to + k] = s.vertex[9 * source + k]


@kernel
def share_inside(value: float) -> float:
    """Return a number within [0, 1]."""
    return min(max(value, 0.0), 1.0)


@kernel
def normal_of(s: Solve, p: int, q: int, r: int) -> Vector:
    """Return the normal of a triangle of vertices; its length is twice the area."""
    a, b, c = s.vertex[9 * p + 6 :], s.vertex[9 * q + 6 :], s.vertex[9 * r + 6 :]
    return cross(b[0] - a[0], b[1] - a[1], b[2] - a[2], c[0] - a[0], c[1] - a[1], c[2] - a[2])


@rare
def nearest_on_edge(s: Solve, p: int, q: int, least: float) -> float:
    """Write the point of edge p q nearest to the origin if its square is below `least`."""
    a, b = s.vertex[9 * p + 6 :], s.vertex[9 * q + 6 :]
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    square, t = x * x + y * y + z * z, 0.0
    if square > 0.0:
        t = share_inside(-(a[0] * x + a[1] * y + a[2] * z) / square)
    x, y, z = a[0] + t * x, a[1] + t * y, a[2] + t * z
    square = x * x + y * y + z * z
    if square >= least:
        return least
    for k in range(4):
        s.vertex_share[k] = 0.0
    s.vertex_share[q] = t
    s.vertex_share[p] = 1.0 - t
    for k in range(3):
        s.nearest[k] = a[k] + t * (b[k] - a[k]) if t < 1.0 else b[k]
    return float(square)


@rare
def nearest_on_triangle(s: Solve, p: int, q: int, r: int, least: float) -> float:
    """Write the point of a triangle nearest to the origin if its square is below `least`."""
    nx, ny, nz = normal_of(s, p, q, r)
    square = nx * nx + ny * ny + nz * nz
    if square > 0.0:
        a, b, c = s.vertex[9 * p + 6 :], s.vertex[9 * q + 6 :], s.vertex[9 * r + 6 :]
        # The areas beside the foot of the normal from the origin are the shares of the corners.
        x, y, z = cross(b[0] - a[0], b[1] - a[1], b[2] - a[2], -a[0], -a[1], -a[2])
        w = (x * nx + y * ny + z * nz) / square
        x, y, z = cross(-a[0], -a[1], -a[2], c[0] - a[0], c[1] - a[1], c[2] - a[2])
        v = (x * nx + y * ny + z * nz) / square
        u = 1.0 - v - w
        if u >= 0.0 and v >= 0.0 and w >= 0.0:
            x = u * a[0] + v * b[0] + w * c[0]
            y = u * a[1] + v * b[1] + w * c[1]
            z = u * a[2] + v * b[2] + w * c[2]
            squared = x * x + y * y + z * z
            if squared < least:
                for k in range(4):
                    s.vertex_share[k] = 0.0
                s.vertex_share[p], s.vertex_share[q], s.vertex_share[r] = u, v, w
                s.nearest[0], s.nearest[1], s.nearest[2] = x, y, z
                least = squared
            # In a triangle that is nearly a line, the foot is rounding.
            along = a[0] * nx + a[1] * ny + a[2] * nz
            if squared * square <= (1.0 + SAME) * along * along:
                return least
    least = nearest_on_edge(s, p, q, least)
    least = nearest_on_edge(s, q, r, least)
    return nearest_on_edge(s, r, p, least)


@rare
def nearest_on_simplex(s: Solve, count: int) -> int:
    """
    Write the point nearest to the origin of a simplex, and keep the vertices that it needs.

    Returns
    -------
    int
        Number of vertices left, the first ones of `vertex`; 4 if the origin is inside.

    """
    least, thin, inside = ENDLESS, ENDLESS, count == 4
    if count < 4:
        # An edge or a point is a triangle of equal corners.
        nearest_on_triangle(s, 0, count // 2, count - 1, least)
    else:
        # All faces, because the heights of a flat simplex are rounding.
        for t in range(4):
            p, q, r = (1 if t == 0 else 0), (2 if t < 2 else 1), (3 if t < 3 else 2)
            a, d, n = s.vertex[9 * p + 6 :], s.vertex[9 * t + 6 :], normal_of(s, p, q, r)
            below = a[0] * n[0] + a[1] * n[1] + a[2] * n[2]
            height = (d[0] - a[0]) * n[0] + (d[1] - a[1]) * n[1] + (d[2] - a[2]) * n[2]
            inside = inside and below * height < 0.0
            if inside:
                square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2]
                thin = min(thin, height * height / square)
            least = nearest_on_triangle(s, p, q, r, least)
    # Inside, the origin is nearer to a face than the least height.
    if inside and least <= thin:
        return 4
    left = 0
    for t in range(count):
        if s.vertex_share[t] > 0.0:
            if left < t:
                keep_vertex(s, t, left)
                s.vertex_share[left] = s.vertex_share[t]
            left += 1
    return left


@rare
def separate(s: Solve, check: int, a: int, b: int) -> bool:
    """
    Find the nearest points of two cores by GJK, from the last simplex of this pair.

    Writes the vector between them to `nearest` and their shares to `vertex_share`. Returns False
    if the cores overlap.
    """
    count = s.check_count[check]
    for t in range(count):
        for k in range(6):
            s.vertex[9 * t + k] = s.check_simplex[24 * check + 6 * t + k]
        place_vertex(s, t, a, b)
    if count == 0:
        x = s.body_frame[12 * b + 9] - s.body_frame[12 * a + 9]
        y = s.body_frame[12 * b + 10] - s.body_frame[12 * a + 10]
        z = s.body_frame[12 * b + 11] - s.body_frame[12 * a + 11]
        add_support(s, 0, a, b, x, y, z)
        count = 1
    last, apart = ENDLESS, True
    for _ in range(GJK_ROUNDS):
        count = nearest_on_simplex(s, count)
        v = s.nearest
        square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
        if count == 4 or square <= TOUCHING * TOUCHING:
            apart = False
            break
        if square >= last:
            break
        last = square
        add_support(s, count, a, b, -v[0], -v[1], -v[2])
        w = s.vertex[9 * count + 6 :]
        if square - (v[0] * w[0] + v[1] * w[1] + v[2] * w[2]) <= GAP * square:
            break
        count += 1
    s.check_count[check] = count if apart else 0
    for t in range(count if apart else 0):
        for k in range(6):
            s.check_simplex[24 * check + 6 * t + k] = s.vertex[9 * t + k]
    return apart


@kernel
def add_face(s: Solve, index: int, p: int, q: int, r: int) -> None:
    """Write face `index` of the polytope, with its outer normal and distance from the origin."""
    a = s.vertex[9 * p + 6 :]
    nx, ny, nz = normal_of(s, p, q, r)
    length = sqrt(nx * nx + ny * ny + nz * nz)
    s.face[3 * index], s.face[3 * index + 1], s.face[3 * index + 2] = p, q, r
    plane = s.plane[4 * index :]
    # A face without an area is never the nearest one.
    plane[0], plane[1], plane[2], plane[3] = 0.0, 0.0, 0.0, ENDLESS
    if length > FLAT * FLAT:
        plane[0], plane[1], plane[2] = nx / length, ny / length, nz / length
        plane[3] = plane[0] * a[0] + plane[1] * a[1] + plane[2] * a[2]


@rare
def first_faces(s: Solve, a: int, b: int) -> bool:
    """
    Write a tetrahedron of points of A - B, from vertex 4 on. Return False if A - B is flat.

    Each vertex is the one farthest from the point, line or plane of those before, of those that
    are extreme along the axes beside it, the first rows of `plane`. `nearest` is a unit normal of
    what is flat.
    """
    v, axes = s.vertex[36:], s.plane
    for k in range(9):
        axes[k] = 1.0 if k % 4 == 0 else 0.0
    add_support(s, 4, a, b, 1.0, 0.0, 0.0)
    for stage in range(3):
        best = FLAT
        for e in range(2 * stage, 6):
            sign, axis = 1.0 - 2.0 * (e % 2), axes[3 * (e // 2) :]
            add_support(s, 8, a, b, sign * axis[0], sign * axis[1], sign * axis[2])
            x, y, z = 0.0, 0.0, 0.0
            for k in range(stage, 3):
                n = axes[3 * k :]
                along = (v[42] - v[6]) * n[0] + (v[43] - v[7]) * n[1] + (v[44] - v[8]) * n[2]
                x, y, z = x + along * n[0], y + along * n[1], z + along * n[2]
            aside = sqrt(x * x + y * y + z * z)
            if aside > best:
                best = aside
                keep_vertex(s, 8, stage + 5)
                s.nearest[0], s.nearest[1], s.nearest[2] = x / aside, y / aside, z / aside
        if best == FLAT:
            for k in range(3):
                s.nearest[k] = axes[3 * stage + k]
            return False
        for k in range(3):
            axes[3 * stage + k] = s.nearest[k]
        if stage == 0:
            axes[3], axes[4], axes[5] = perpendicular(axes[0], axes[1], axes[2])
        axes[6], axes[7], axes[8] = cross(axes[0], axes[1], axes[2], axes[3], axes[4], axes[5])
    nx, ny, nz = axes[6], axes[7], axes[8]
    above = (v[33] - v[6]) * nx + (v[34] - v[7]) * ny + (v[35] - v[8]) * nz > 0.0
    one, other = (6, 5) if above else (5, 6)
    add_face(s, 0, 4, one, other)
    add_face(s, 1, 4, other, 7)
    add_face(s, 2, other, one, 7)
    add_face(s, 3, one, 4, 7)
    return True


@kernel
def add_edge(s: Solve, edges: int, p: int, q: int) -> int:
    """Add an edge of a removed face, or remove it if its other face is removed, too."""
    for e in range(edges):
        if s.edge[2 * e] == q and s.edge[2 * e + 1] == p:
            s.edge[2 * e] = s.edge[2 * edges - 2]
            s.edge[2 * e + 1] = s.edge[2 * edges - 1]
            return edges - 1
    s.edge[2 * edges], s.edge[2 * edges + 1] = p, q
    return edges + 1


@kernel
def borders(s: Solve, f: int, edges: int) -> bool:
    """Return True if a face is at an edge of the hole."""
    for e in range(edges):
        p, q = s.edge[2 * e], s.edge[2 * e + 1]
        for k in range(3):
            if s.face[3 * f + k] == q and s.face[3 * f + (k + 1) % 3] == p:
                return True
    return False


@rare
def expand(s: Solve, faces: int, best: int, vertex: int) -> int:
    """
    Replace the faces that a vertex is beyond; return how many there are, 0 without room.

    The vertex is beyond the best face. Neighbours in whose plane it is are replaced, too, so that
    no face is without an area, and the hole is in one piece.
    """
    w = s.vertex[9 * vertex + 6 :]
    edges, index, left = 0, best, faces
    while index < faces:
        n = s.plane[4 * index :]
        beside = edges == 0
        if not beside and n[0] * w[0] + n[1] * w[1] + n[2] * w[2] - n[3] > -BEYOND:
            beside = borders(s, index, edges)
        if beside:
            p, q, r = s.face[3 * index], s.face[3 * index + 1], s.face[3 * index + 2]
            edges = add_edge(s, edges, p, q)
            edges = add_edge(s, edges, q, r)
            edges = add_edge(s, edges, r, p)
            faces -= 1
            for k in range(3):
                s.face[3 * index + k] = s.face[3 * faces + k]
            for k in range(4):
                s.plane[4 * index + k] = s.plane[4 * faces + k]
        else:
            index += 1
        if index >= faces and faces < left:
            # A larger hole may have more neighbours.
            index, left = 0, faces
    if faces + edges > FACES:
        return 0
    for e in range(edges):
        add_face(s, faces, s.edge[2 * e], s.edge[2 * e + 1], vertex)
        faces += 1
    return faces


@rare
def penetrate(s: Solve, check: int, a: int, b: int) -> float:
    """
    Return the negative penetration depth of two cores.

    Writes the unit normal from B to A to `nearest`. The shortest way out is found by the expanding
    polytope. The origin may also be just outside: the face with the least signed distance is
    expanded until it is on the boundary. Then A is moved out on this way, and GJK gives the
    nearest points. Where they are not on the way, as beside curved sides, their direction is a
    shorter one.
    """
    faces, d, vertex = 0, 0.0, 8
    if first_faces(s, a, b):
        faces, d = 4, ENDLESS
    x, y, z = s.nearest[0], s.nearest[1], s.nearest[2]
    while faces > 0 and vertex < VERTICES:
        best = 0
        for f in range(1, faces):
            if s.plane[4 * f + 3] < s.plane[4 * best + 3]:
                best = f
        n, w = s.plane[4 * best :], s.vertex[9 * vertex + 6 :]
        add_support(s, vertex, a, b, n[0], n[1], n[2])
        reach = n[0] * w[0] + n[1] * w[1] + n[2] * w[2]
        if reach < d:
            d, x, y, z = reach, n[0], n[1], n[2]
        faces = expand(s, faces, best, vertex) if reach - n[3] > EPA_GAP else 0
        vertex += 1
    place, direction, ahead = s.body_frame[12 * a + 9 :], (x, y, z), 0.0
    px, py, pz = place[0], place[1], place[2]
    for _ in range(MOVES):
        out, v = d + OUT, s.nearest
        place[0], place[1], place[2] = px - out * x, py - out * y, pz - out * z
        is_apart = separate(s, check, a, b)
        gap = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        less = -gap - out * (x * v[0] + y * v[1] + z * v[2]) / gap if is_apart else ENDLESS
        if less < d - SHORTER:
            before, d, direction = direction, less, (-v[0] / gap, -v[1] / gap, -v[2] / gap)
            # The directions approach the shortest way by steps that are nearly equal.
            x = direction[0] + ahead * (direction[0] - before[0])
            y = direction[1] + ahead * (direction[1] - before[1])
            z = direction[2] + ahead * (direction[2] - before[2])
            length = sqrt(x * x + y * y + z * z)
            x, y, z = x / length, y / length, z / length
            ahead = 2.0 * ahead + 1.0
        elif ahead == 0.0:
            break
        else:
            ahead = 0.0
            x, y, z = direction
    place[0], place[1], place[2] = px, py, pz
    s.nearest[0], s.nearest[1], s.nearest[2] = -x, -y, -z
    return -d


@kernel
def write_pair(s: Solve, check: int, d: float, n: Vector, a: Vector) -> None:
    """Write distance, normal and nearest points of a pair, given those of the cores."""
    one = s.body_size[SIZE * s.check_a[check] + RADIUS]
    other = s.body_size[SIZE * s.check_b[check] + RADIUS]
    out = s.check_result[RESULT * check :]
    out[0] = d - one - other
    for k in range(3):
        out[1 + k] = n[k]
        out[4 + k] = a[k] - one * n[k]
        out[7 + k] = a[k] - (d - other) * n[k]


@rare
def above_plane(s: Solve, check: int, a: int, b: int) -> None:
    """Write the distance of body a from half-space b."""
    frame = s.body_frame[12 * b :]
    nx, ny, nz = frame[2], frame[5], frame[8]
    x, y, z = local_support(s, a, -nx, -ny, -nz)
    x, y, z = into_root(s.body_frame[12 * a :], x, y, z)
    d = (x - frame[9]) * nx + (y - frame[10]) * ny + (z - frame[11]) * nz
    write_pair(s, check, d, (nx, ny, nz), (x, y, z))


@rare
def between_segments(s: Solve, check: int, a: int, b: int) -> None:
    """Write the distance of two points or segments (Ericson 2005, section 5.1.9)."""
    fa, fb = s.body_frame[12 * a :], s.body_frame[12 * b :]
    ha, hb = s.body_size[SIZE * a + 2], s.body_size[SIZE * b + 2]
    ux, uy, uz = 2.0 * ha * fa[2], 2.0 * ha * fa[5], 2.0 * ha * fa[8]
    vx, vy, vz = 2.0 * hb * fb[2], 2.0 * hb * fb[5], 2.0 * hb * fb[8]
    px, py, pz = fa[9] - 0.5 * ux, fa[10] - 0.5 * uy, fa[11] - 0.5 * uz
    qx, qy, qz = fb[9] - 0.5 * vx, fb[10] - 0.5 * vy, fb[11] - 0.5 * vz
    rx, ry, rz = px - qx, py - qy, pz - qz
    uu, vv = 4.0 * ha * ha, 4.0 * hb * hb
    uv = ux * vx + uy * vy + uz * vz
    ur, vr = ux * rx + uy * ry + uz * rz, vx * rx + vy * ry + vz * rz
    t, w, across = 0.0, 0.0, uu * vv - uv * uv
    if across > 1e-14 * uu * vv:
        t = share_inside((uv * vr - ur * vv) / across)
    if vv > 0.0:
        w = share_inside((uv * t + vr) / vv)
    if uu > 0.0 and (w == 0.0 or w == 1.0):
        t = share_inside((uv * w - ur) / uu)
    px, py, pz = px + t * ux, py + t * uy, pz + t * uz
    x, y, z = px - (qx + w * vx), py - (qy + w * vy), pz - (qz + w * vz)
    d = sqrt(x * x + y * y + z * z)
    if d > TOUCHING:
        x, y, z = x / d, y / d, z / d
    else:
        x, y, z = cross(ux, uy, uz, vx, vy, vz)
        length = sqrt(x * x + y * y + z * z)
        if length > FLAT * sqrt(uu * vv) and length > 0.0:
            x, y, z = x / length, y / length, z / length
        elif uu >= vv:
            x, y, z = perpendicular(ux, uy, uz)
        else:
            x, y, z = perpendicular(vx, vy, vz)
    write_pair(s, check, d, (x, y, z), (px, py, pz))


@rare
def point_to_solid(s: Solve, check: int, a: int, b: int) -> None:
    """Write the distance of point a from box or cylinder b, the latter with its x towards a."""
    frame, half, point = s.body_frame[12 * b :], s.body_size[SIZE * b :], s.body_frame[12 * a :]
    x, y, z = point[9] - frame[9], point[10] - frame[10], point[11] - frame[11]
    px = frame[0] * x + frame[3] * y + frame[6] * z
    py = frame[1] * x + frame[4] * y + frame[7] * z
    pz = frame[2] * x + frame[5] * y + frame[8] * z
    cosine, sine, wide = 1.0, 0.0, half[1]
    if s.body_shape[b] == CYLINDER:
        across, wide = sqrt(px * px + py * py), ENDLESS
        if across > 0.0:
            cosine, sine = px / across, py / across
        px, py = across, 0.0
    x = px - min(max(px, -half[0]), half[0])
    y = py - min(max(py, -wide), wide)
    z = pz - min(max(pz, -half[2]), half[2])
    d = sqrt(x * x + y * y + z * z)
    if d > TOUCHING:
        x, y, z = x / d, y / d, z / d
    else:
        # Inside, or on the surface: out through the nearest face.
        dx, dy, dz = abs(px) - half[0], abs(py) - wide, abs(pz) - half[2]
        x, y, z, d = 0.0, 0.0, 0.0, max(dx, dy, dz)
        if d == dx:
            x = 1.0 if px >= 0.0 else -1.0
        elif d == dy:
            y = 1.0 if py >= 0.0 else -1.0
        else:
            z = 1.0 if pz >= 0.0 else -1.0
    x, y = cosine * x - sine * y, sine * x + cosine * y
    nx = frame[0] * x + frame[1] * y + frame[2] * z
    ny = frame[3] * x + frame[4] * y + frame[5] * z
    nz = frame[6] * x + frame[7] * y + frame[8] * z
    write_pair(s, check, d, (nx, ny, nz), (point[9], point[10], point[11]))


@rare
def between_cores(s: Solve, check: int, a: int, b: int) -> None:
    """Write the distance of two cores by GJK, or their penetration depth."""
    if separate(s, check, a, b):
        x, y, z = s.nearest[0], s.nearest[1], s.nearest[2]
        d = sqrt(x * x + y * y + z * z)
        x, y, z = x / d, y / d, z / d
    else:
        d = penetrate(s, check, a, b)
        x, y, z = s.nearest[0], s.nearest[1], s.nearest[2]
    px, py, pz = 0.0, 0.0, 0.0
    for t in range(s.check_count[check]):
        v, share = s.vertex[9 * t :], s.vertex_share[t]
        px, py, pz = px + share * v[0], py + share * v[1], pz + share * v[2]
    write_pair(s, check, d, (x, y, z), into_root(s.body_frame[12 * a :], px, py, pz))


@rare
def measure(s: Solve, check: int) -> None:
    """Write distance, normal and nearest points of a pair to `check_result`."""
    a, b = s.check_a[check], s.check_b[check]
    one, other = s.body_shape[a], s.body_shape[b]
    if other == HALF_SPACE:
        above_plane(s, check, a, b)
    elif other <= SEGMENT:
        between_segments(s, check, a, b)
    elif one == POINT and other <= CYLINDER:
        point_to_solid(s, check, a, b)
    else:
        between_cores(s, check, a, b)


@kernel
def place_bodies(s: Solve) -> None:
    """Write the frames of all bodies in the root frame, from those of the columns."""
    for b in range(s.bodies):
        placed = frame_rows(s.body_offset, 12 * b)
        if s.body_column[b] >= 0:
            placed = compose(s.frame, 12 * s.body_column[b], placed)
        put_frame(placed, s.body_frame, 12 * b)


@kernel
def apart(s: Solve, check: int, reach: float) -> bool:
    """Return True if the balls around two bodies are farther apart than `reach` [L]."""
    a, b = s.check_a[check], s.check_b[check]
    one, other = s.body_frame[12 * a :], s.body_frame[12 * b :]
    x, y, z = one[9] - other[9], one[10] - other[10], one[11] - other[11]
    own, its = s.body_size[SIZE * a + BALL], s.body_size[SIZE * b + BALL]
    if its == ENDLESS:
        return bool(x * other[2] + y * other[5] + z * other[8] > reach + own)
    limit = reach + own + its
    return bool(x * x + y * y + z * z > limit * limit)


@kernel
def measure_all(s: Solve, reach: float) -> None:
    """Measure all pairs; those whose balls are farther apart than `reach` [L] are endless."""
    for check in range(s.checks):
        if apart(s, check, reach):
            s.check_result[RESULT * check] = ENDLESS
        else:
            measure(s, check)


@entry(INTS, FLOATS, INTS, *4 * [FLOATS])
def distances(
    i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, reach: Floats, out: Floats
) -> int:
    """
    Write the distances of all pairs of bodies at q.

    Parameters
    ----------
    i, f, k, w : ndarray
        Packed model of all bodies, see `links.place_links`, and its workspace.
    q : ndarray, shape (nq,)
        All joint values [rad or m], taken as they are.
    reach : ndarray, shape (2,)
        Pairs whose bounding balls are farther apart than the first number [m] count as endless
        (1e300); the second is not 0 if the last simplex of a pair is where GJK begins.
    out : ndarray, shape (checks, 10)
        Distance [m], unit normal from B to A, and the nearest points of A and B [m], root frame.

    Returns
    -------
    int
        The nearest pair, -1 if all are endless.

    """
    s = open_solve(i, f, k, w, q, w, w)
    place_links(s)
    place_bodies(s)
    if reach[1] == 0.0:
        for check in range(s.checks):
            s.check_count[check] = 0
    measure_all(s, reach[0] / s.length)
    made, best, least = table(out, s.checks, RESULT), -1, ENDLESS
    for check in range(s.checks):
        result = s.check_result[RESULT * check :]
        for r in range(RESULT):
            made[check, r] = result[r] * (1.0 if 1 <= r < 4 or result[0] == ENDLESS else s.length)
        if result[0] < least:
            best, least = check, result[0]
    return best
