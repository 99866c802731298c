"""Forward kinematics and verification in NumPy, without code of any solver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tasks.mechanism import Joint, Loop, Mechanism

Array = NDArray[np.float64]
AXES = ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')


def rpy_matrix(rpy: tuple[float, float, float]) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        (
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        )
    )


def pose_matrix(xyz: tuple[float, float, float], rpy: tuple[float, float, float]) -> Array:
    """Return the 4x4 matrix of a URDF origin."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rpy_matrix(rpy), xyz
    return matrix


def quaternion_matrices(quats: Array) -> Array:
    """Return rotation matrices (n, 3, 3) of quaternions xyzw (n, 4)."""
    x, y, z, w = (quats / np.linalg.norm(quats, axis=1, keepdims=True)).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), 2, 0)


def quaternions(matrices: Array) -> Array:
    """Return quaternions xyzw (n, 4) of rotation matrices (n, 3, 3), w >= 0."""
    m = matrices
    trace = np.trace(m, axis1=1, axis2=2)
    # Four times the square of w, x, y, z; the largest is divided by.
    squares = np.stack([1 + trace, *(1 + 2 * m[:, i, i] - trace for i in range(3))], axis=1)
    largest = squares.argmax(axis=1)
    wx, wy, wz = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    w2, x2, y2, z2 = squares.T
    candidates = np.array(((wx, wy, wz, w2), (x2, xy, xz, wx), (xy, y2, yz, wy), (xz, yz, z2, wz)))
    quats = candidates[largest, :, np.arange(len(m))]
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    return quats * np.where(quats[:, 3:] < 0, -1.0, 1.0)


def turning(joint: Joint, values: Array) -> Array:
    """Return the 4x4 motions (n, 4, 4) of a joint for its values."""
    motion = np.broadcast_to(np.eye(4), (len(values), 4, 4)).copy()
    axis = np.array(joint.axis)
    if joint.kind == 'prismatic':
        motion[:, :3, 3] = values[:, None] * axis
    elif joint.kind == 'revolute':
        x, y, z = axis
        cross = np.array(((0, -z, y), (z, 0, -x), (-y, x, 0)))
        sine, versed = np.sin(values)[:, None, None], (1 - np.cos(values))[:, None, None]
        motion[:, :3, :3] += sine * cross + versed * (cross @ cross)
    return motion


def forward(mechanism: Mechanism, q: Array) -> dict[str, Array]:
    """Return the pose (n, 4, 4) of every link for values (n, number of joints)."""
    q = np.atleast_2d(q)
    poses = {'base': np.broadcast_to(np.eye(4), (len(q), 4, 4))}
    column = 0
    for joint in mechanism.joints:
        here = poses[joint.parent] @ pose_matrix(joint.xyz, joint.rpy)
        if joint.kind != 'fixed':
            here = here @ turning(joint, q[:, column])
            column += 1
        poses[joint.child] = here
    return poses


def angles_between(turn_a: Array, turn_b: Array) -> Array:
    """Return the angles (n,) between rotations (n, 3, 3), exact for small angles."""
    turn = turn_a @ np.swapaxes(turn_b, 1, 2)
    skew = np.stack(
        (
            turn[:, 2, 1] - turn[:, 1, 2],
            turn[:, 0, 2] - turn[:, 2, 0],
            turn[:, 1, 0] - turn[:, 0, 1],
        ),
        axis=1,
    )
    return np.arctan2(np.linalg.norm(skew, axis=1), np.trace(turn, axis1=1, axis2=2) - 1.0)


def loop_errors(loop: Loop, poses: dict[str, Array]) -> Array:
    """Return the gaps of a loop, (n, 2) in m and rad."""
    a = poses[loop.link_a] @ pose_matrix(loop.xyz_a, loop.rpy_a)
    b = poses[loop.link_b] @ pose_matrix(loop.xyz_b, loop.rpy_b)
    asked = loop.dof.split()
    gap = np.einsum('nji,nj->ni', b[:, :3, :3], a[:, :3, 3] - b[:, :3, 3])
    moved = np.linalg.norm(gap[:, [AXES.index(dof) for dof in asked if len(dof) == 1]], axis=1)
    turns = [dof for dof in asked if len(dof) == 2]
    if len(turns) == 3:
        turned = angles_between(a[:, :3, :3], b[:, :3, :3])
    elif turns == ['EX', 'EY']:
        across = np.linalg.norm(np.cross(a[:, :3, 2], b[:, :3, 2]), axis=1)
        turned = np.arctan2(across, np.einsum('ni,ni->n', a[:, :3, 2], b[:, :3, 2]))
    elif not turns:
        turned = np.zeros(len(gap))
    else:
        raise ValueError(f'no judgement for the axes {loop.dof!r}')
    return np.stack((moved, turned), axis=1)


def errors(mechanism: Mechanism, goals: list[tuple[str, str]], targets: Array, q: Array) -> Array:
    """
    Return the largest error of every answer, (n, 2) in m and rad, of loops and goals.

    `goals` are links and the kind of goal of each, 'pose' or 'position'; `targets` (n, goals, 7).
    """
    poses = forward(mechanism, q)
    worst = np.zeros((len(q), 2))
    for loop in mechanism.loops:
        worst = np.maximum(worst, loop_errors(loop, poses))
    for at, (link, asked) in enumerate(goals):
        moved = np.linalg.norm(poses[link][:, :3, 3] - targets[:, at, :3], axis=1)
        worst[:, 0] = np.maximum(worst[:, 0], moved)
        if asked == 'pose':
            wanted = quaternion_matrices(targets[:, at, 3:])
            turned = angles_between(poses[link][:, :3, :3], wanted)
            worst[:, 1] = np.maximum(worst[:, 1], turned)
    return worst


def limit_excess(mechanism: Mechanism, q: Array) -> Array:
    """Return the largest limit violation of every answer."""
    lower = np.array([joint.lower for joint in mechanism.movable])
    upper = np.array([joint.upper for joint in mechanism.movable])
    return np.maximum(lower - q, q - upper).max(axis=1, initial=0.0)
