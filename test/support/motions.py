"""A small motion of two key points as CSV, NPZ and BVH, and a robot arm that follows it."""

import numpy as np
from scipy.spatial.transform import Rotation

RATE = 20.0  # [Hz]
FRAMES = 12
# A body that moves and turns, and a hand on it, in axes with Y up and Z forward, in [cm].
BVH = """HIERARCHY
ROOT body
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT hand
  {
    OFFSET 10 0 20
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0 5
    }
  }
}
MOTION
Frames: 12
Frame Time: 0.05
"""
# From the axes of the file to x forward, y left, z up.
TO_ROBOT = Rotation.from_matrix([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def angles():
    """Return the angles about Z, X, Y of body and hand [deg], shape (FRAMES, 2, 3)."""
    at = np.linspace(0.0, 1.0, FRAMES)[:, None, None]
    return at * np.array([[20.0, -15.0, 40.0], [-30.0, 25.0, 10.0]])


def places():
    """Return the places of the body [cm], shape (FRAMES, 3)."""
    at = np.linspace(0.0, 1.0, FRAMES)[:, None]
    return np.array([0.0, 90.0, 0.0]) + at * np.array([5.0, -10.0, 30.0])


def key_points():
    """Return positions [cm] and rotations of body and hand in the axes of the BVH file."""
    turned = angles()
    body = Rotation.from_euler('ZXY', turned[:, 0], degrees=True)
    hand = body * Rotation.from_euler('ZXY', turned[:, 1], degrees=True)
    at = places()
    return {'body': (at, body), 'hand': (at + body.apply([10.0, 0.0, 20.0]), hand)}


def written(folder, kind):
    path = folder / f'small{kind}'
    times = np.arange(FRAMES) / RATE
    poses = {name: np.hstack((at, turn.as_quat())) for name, (at, turn) in key_points().items()}
    if kind == '.bvh':
        rows = np.hstack((places(), angles().reshape(FRAMES, 6)))
        path.write_text(BVH + '\n'.join(' '.join(map(repr, row.tolist())) for row in rows) + '\n')
    elif kind == '.npz':
        np.savez(path, times=times, **poses)
    else:
        axes = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
        names = ['time', *(f'{name}.{axis}' for name in poses for axis in axes)]
        table = np.hstack((times[:, None], *poses.values()))
        lines = [','.join(map(repr, row.tolist())) for row in table]
        path.write_text('\n'.join((','.join(names), *lines)) + '\n')
    return path
