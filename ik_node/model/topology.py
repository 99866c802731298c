"""Walks over a graph of links, joints and closures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ik_node.errors import shown, TopologyError
from ik_node.model.connector import Connector
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link


def find_roots(frames: Frame | Iterable[Frame]) -> list[Frame]:
    """
    Return the roots of all trees that hang together with the given frames through closures.

    Parameters
    ----------
    frames : Frame or iterable of Frame
        Any frame of a system is enough to find the whole of it.

    Returns
    -------
    list of Frame
        Those of the given frames first, then in the order of discovery.

    """
    waiting = [frames] if isinstance(frames, Frame) else list(frames)
    for frame in waiting:
        if not isinstance(frame, Frame):
            raise TopologyError(f'roots must be frames (Link, Joint, Goal), not {shown(frame)}')
    roots: dict[int, Frame] = {}
    for frame in waiting:  # grows while it is walked
        top = frame
        while top.parent is not None:
            top = top.parent
        if id(top) not in roots:
            roots[id(top)] = top
            top.traverse(lambda found: waiting.extend(partners(found)))
    return list(roots.values())


def partners(frame: Frame) -> Iterator[Frame]:
    """Yield the frames that closures and goals tie to this one."""
    if isinstance(frame, Link):
        yield from frame.closure_joints
    elif isinstance(frame, Connector) and frame.is_closure and frame.child is not None:
        yield frame.child


def save_rest_pose(root: Frame) -> None:
    """Make the present values of every joint under a root its rest pose."""

    def save(frame: Frame) -> None:
        if isinstance(frame, Joint) and frame.dof:
            frame.dof_rest_pose[:] = frame.dof_values
            frame.rest_pose_set = True
            frame.revision.count_setting()

    root.traverse(save)
