"""Readers of motions of key points: CSV, NPZ and BVH."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
import warnings
from zipfile import BadZipFile

from ik_node.errors import DescriptionError, OptionError
from ik_node.motion.pose_table import LinkPoses, poses_by_name, read_csv, rows_of
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

SUFFIXES = ('.csv', '.npz', '.bvh')
# Widths of an array of poses: x y z, and with qx qy qz qw.
WIDTHS = (3, 7)


@dataclass(frozen=True)
class MotionFile:
    """The key points of a motion, in the axes and units of its file."""

    path: Path
    points: dict[str, LinkPoses]  # Poses by the name of the key point, all of the same number
    times: Array | None  # Time of each frame (N,) [s]; None = not in the file

    @property
    def frame_count(self) -> int:
        """Return the number of frames."""
        return len(next(iter(self.points.values())).positions)


def read_motion(path: Path) -> MotionFile:
    """
    Read a motion.

    A CSV file has the columns time [s] and NAME.x NAME.y NAME.z of each key point, with
    orientation also NAME.qx NAME.qy NAME.qz NAME.qw. A NPZ file has an array of shape (N, 3) or
    (N, 7) with the same columns for each key point, and `times` (N,) [s]. Both may leave out the
    times. DescriptionError, with file, line or array, is raised if the file cannot be used, and
    OptionError if it has another ending or a package for its format is missing.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise OptionError('--motion', str(path), f'a file that ends in {" or ".join(SUFFIXES)}')
    if not path.is_file():
        raise DescriptionError('no such file', source=str(path))
    motion = {'.csv': _of_csv, '.npz': _of_npz, '.bvh': _of_bvh}[kind](path)
    if not motion.points or motion.frame_count == 0:
        raise DescriptionError('no key points with frames', source=str(path))
    return motion


def _of_csv(path: Path) -> MotionFile:
    names, table = read_csv(path)
    if not names:
        allowed = 'time, and NAME.x NAME.y NAME.z of each key point'
        raise DescriptionError(
            f'no names of columns; allowed: {allowed}', source=str(path), line=1
        )
    if len(names) != table.shape[1]:
        result = f'{len(names)} names for {table.shape[1]} columns'
        raise DescriptionError(result, source=str(path), line=1)
    times = None
    if 'time' in names:
        column = names.index('time')
        times = table[:, column]
        late = np.flatnonzero(np.diff(times) <= 0.0)
        if late.size:
            row = int(late[0]) + 1
            line = [number for number, _ in rows_of(path)][row]
            result = f'the time {times[row]:g} comes after {times[row - 1]:g}'
            raise DescriptionError(result, source=str(path), line=line)
        names = [name for index, name in enumerate(names) if index != column]
        table = np.delete(table, column, axis=1)
    return MotionFile(path, poses_by_name(path, names, table), times)


def _of_npz(path: Path) -> MotionFile:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, BadZipFile, MemoryError) as error:
        raise DescriptionError(f'not a file of arrays: {error}', source=str(path)) from None
    given = arrays.pop('times', None)
    points, count = {}, -1
    for name, array in arrays.items():
        what = f'the array {name!r}'
        width = array.shape[1] if array.ndim == 2 else 0
        if width not in WIDTHS or array.dtype.kind not in 'fiu':
            result = f'{array.dtype} of shape {array.shape}'
            allowed = 'numbers of shape (N, 3): x y z, or (N, 7): x y z qx qy qz qw'
            raise DescriptionError(f'{what} is {result}; allowed: {allowed}', source=str(path))
        count = len(array) if count < 0 else count
        if len(array) != count:
            result = f'{what} has {len(array)} frames, but the arrays before {count}'
            raise DescriptionError(result, source=str(path))
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if bad.size:
            raise DescriptionError(f'{what} is not finite in row {bad[0]}', source=str(path))
        values = np.asarray(array, dtype=np.float64)
        quats = np.tile((0.0, 0.0, 0.0, 1.0), (count, 1)) if width == 3 else values[:, 3:]
        zero = np.flatnonzero(np.abs(quats).max(axis=1, initial=0.0) < 1e-9)
        if zero.size:
            result = f'the quaternion of {name!r} is zero in row {zero[0]}'
            raise DescriptionError(result, source=str(path))
        points[name] = LinkPoses(values[:, :3], quats, width == 7)
    times = None
    if given is not None and points:
        times = np.asarray(given, dtype=np.float64) if given.dtype.kind in 'fiu' else np.zeros(0)
        if times.shape != (count,) or not (np.diff(times) > 0.0).all():
            result = f'the array times has shape {given.shape}'
            raise DescriptionError(
                f'{result}; allowed: {count} increasing numbers', source=str(path)
            )
    return MotionFile(path, points, times)


def _of_bvh(path: Path) -> MotionFile:
    try:
        from pybvh import read_bvh_file
    except ImportError:
        allowed = "a .csv or .npz file; .bvh needs pybvh: `pip install 'ik_node[motion]'`"
        raise OptionError('--motion', str(path), allowed) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # about the vertical axis, which the mapping states
            motion: Any = read_bvh_file(path, world_up='+y')
            positions = np.asarray(motion.node_positions(), dtype=np.float64)
    except (ValueError, KeyError, IndexError) as error:
        raise DescriptionError(f'not BVH: {error}', source=str(path)) from None
    if not np.isfinite(positions).all():
        raise DescriptionError('not BVH: numbers that are not finite', source=str(path))
    topology, angles = motion.fk_topology, motion.joint_angles
    turns: list[Rotation] = []
    points = {}
    for name, node in motion.node_index.items():
        above, joint = int(topology.parent_idx[node]), int(topology.joint_idx[node])
        # The end of a chain has no angles; it turns with its joint.
        local = Rotation.identity(len(positions))
        if joint >= 0:
            local = Rotation.from_euler(motion.euler_orders[joint], angles[:, joint])
        turns.append(turns[above] * local if above >= 0 else local)
        points[name] = LinkPoses(positions[:, node], turns[node].as_quat(), turned=True)
    return MotionFile(path, points, motion.frame_time * np.arange(len(positions)))
