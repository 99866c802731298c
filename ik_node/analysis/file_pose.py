"""How open the loops are in the file's own pose, and the joint motion that closes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import dist
from typing import NamedTuple

from ik_node.errors import merge_alike
from ik_node.model.constraint import Closure
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.request import request_of
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Smaller gaps need no note [m], [rad].
CLOSED = 1e-6
# A larger gap is a warning: this share of the length of the loop, or this angle [rad]. Rounding to
# three digits stays below it.
LARGE_SHARE, LARGE_ANGLE = 0.01, 0.02
WARNING = 'warning: '
ROTATIONS = (DOF.EX, DOF.EY, DOF.EZ)


class FileGap(NamedTuple):
    """
    How open a loop is in the file's own pose, and what closing it took.

    Attributes
    ----------
    position : float
        [m]
    orientation : float
        [rad]
    length : float
        Length of the loop, through the origins of its joints [m].
    joint : str
        The joint of the loop that moved most while the loops were closed; '' = none moved.
    motion : float
        Its motion [rad or m].
    unit : str
        'rad' or 'm'.

    """

    position: float
    orientation: float
    length: float
    joint: str = ''
    motion: float = 0.0
    unit: str = 'rad'

    @property
    def share(self) -> float:
        """Return the gap in position as a share of the length of the loop."""
        return self.position / self.length

    @property
    def is_large(self) -> bool:
        """Return True if rounding in the file does not explain the gap."""
        return self.share > LARGE_SHARE or self.orientation > LARGE_ANGLE


class FilePose:
    """
    A robot in the pose in which its file describes it.

    All joints have their values in the file, usually 0, also where limits exclude that value.

    Parameters
    ----------
    joints : iterable of Joint
        The movable joints, at the values of the file within their limits.
    closures : mapping of str to Closure

    """

    def __init__(self, joints: Iterable[Joint], closures: Mapping[str, Closure]) -> None:
        self._joints = list(joints)
        self._closures = {k: each for k, each in closures.items() if request_of(each).takes_part}
        self._values = self._all_values()
        self._gaps = self._measured()
        inside = {joint: joint.dof_values.copy() for joint in self._joints}
        for joint in self._joints:
            for dof in joint.dof:
                lower, upper = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
                if joint.dof_values[dof] == min(max(0.0, lower), upper):
                    joint.dof_values[dof] = 0.0
                    joint.set_matrix_dof_needs_update()
        drawn = self._measured()
        if _largest(drawn) < _largest(self._gaps):
            self._values, self._gaps = self._all_values(), drawn
        for joint, values in inside.items():
            joint.dof_values[:] = values
            joint.set_matrix_dof_needs_update()

    def gaps(self) -> dict[str, FileGap]:
        """Return the gap of every loop, and the largest motion of its joints until now."""
        result = {}
        for name, gap in self._gaps.items():
            joints = [joint for branch in loop_branches(self._closures[name]) for joint in branch]
            moved = {joint: self._motion(joint) for joint in joints}
            farthest = max(moved, key=lambda joint: moved[joint], default=None)
            if farthest is not None and moved[farthest][0] > 0.0:
                motion, unit = moved[farthest]
                gap = gap._replace(joint=farthest.name, motion=motion, unit=unit)
            result[name] = gap
        return result

    def _all_values(self) -> dict[Joint, tuple[Array, Array]]:
        return {each: (each.dof_values.copy(), each.matrix_dof.copy()) for each in self._joints}

    def _measured(self) -> dict[str, FileGap]:
        result = {}
        for name, closure in self._closures.items():
            rows, count = closure.get_residual(), request_of(closure).metre_row_count
            position, orientation = (float(np.linalg.norm(x)) for x in np.split(rows, [count]))
            result[name] = FileGap(position, orientation, loop_length(closure))
        return result

    def _motion(self, joint: Joint) -> tuple[float, str]:
        """Return the largest motion of a joint and its unit; that of a ball joint is one angle."""
        values, pose = self._values.get(joint, (joint.dof_values, joint.matrix_dof))
        moved = np.abs(joint.dof_values - values)
        if joint.rotation_dof_count == 3:
            cosine = 0.5 * (np.trace(pose[:3, :3].T @ joint.matrix_dof[:3, :3]) - 1.0)
            moved[3:] = np.arccos(np.clip(cosine, -1.0, 1.0))
        return float(moved.max()), 'rad' if int(moved.argmax()) in ROTATIONS else 'm'


def gap_notes(gaps: Mapping[str, FileGap]) -> list[str]:
    """
    Return notes on the loops that are open in the file's own pose, the largest gap first.

    A note begins with `WARNING` if rounding in the file does not explain the gap.
    """
    order = sorted(gaps.items(), key=lambda each: -max(each[1].share, each[1].orientation))
    result = []
    for name, gap in order:
        if max(gap[:2]) <= CLOSED:
            continue
        text = (
            f'loop {name!r} is {gap.position:.3g} m, {gap.orientation:.3g} rad open in the '
            f"file's own pose, {100.0 * gap.share:.2g} % of its length"
        )
        if gap.joint:
            text += f'; closing it moved joint {gap.joint!r} by {gap.motion:.3g} {gap.unit}'
        if gap.is_large:
            text = (
                f'{WARNING}{text}. If the file was made with the loop closed, a length, a sign or '
                'an axis in it is wrong'
            )
        result.append(text)
    merge_alike(result)
    return result


def _largest(gaps: Mapping[str, FileGap]) -> float:
    return max((max(gap.share, gap.orientation) for gap in gaps.values()), default=0.0)


def loop_branches(closure: Closure) -> list[list[Joint]]:
    """Return the movable joints above both ends of a loop, up to the link that they share."""
    above = []
    for link in (closure.child, closure.parent):
        joints: list[Joint] = []
        frame: Frame | None = link
        while frame is not None:
            if isinstance(frame, Joint) and frame.dof:
                joints.append(frame)
            frame = frame.parent
        above.append(joints)
    shared = {id(joint) for joint in above[0]} & {id(joint) for joint in above[1]}
    return [[joint for joint in joints if id(joint) not in shared] for joints in above]


def loop_length(closure: Closure) -> float:
    """Return the length of a loop through its ends and the origins of its joints [m]."""
    ends = [closure.matrix_world[:3, 3]]
    if closure.child is not None:
        pose = closure.child.matrix_world
        ends.insert(0, pose[:3, :3] @ closure.offset_position + pose[:3, 3])
    first, second = (
        [end, *(joint.matrix_world[:3, 3] for joint in branch)]
        for end, branch in zip(ends, loop_branches(closure), strict=True)
    )
    path = [*first, *second[::-1]]
    length = sum(dist(a, b) for a, b in pairwise(path))
    return length if length > CLOSED else 1.0
