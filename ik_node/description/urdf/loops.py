"""The readers of all that a URDF may say about loops, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable

from ik_node.description.description import Description
from ik_node.description.loop import LoopSet
from ik_node.description.loops.closing_frames import read_closing_frames
from ik_node.description.loops.constraint import read_constraints
from ik_node.description.loops.drake import read_drake
from ik_node.description.loops.loop_joint import read_loop_joints
from ik_node.description.loops.mimic_elsewhere import read_mimic_elsewhere
from ik_node.description.loops.unread import note_unread
from ik_node.description.loops.urdf_plus import read_urdf_plus
from ik_node.description.sdf.gazebo_joint import read_gazebo_joints
from ik_node.description.urdf.joint_elements import read_joint_elements
from ik_node.description.xml_document import XmlDocument

# Closing frames come last but one: they are a guess, which gives way to what is said.
URDF_LOOPS: tuple[Callable[[XmlDocument, Description], LoopSet], ...] = (
    read_loop_joints,
    read_joint_elements,
    read_urdf_plus,
    read_constraints,
    read_drake,
    read_gazebo_joints,
    read_mimic_elsewhere,
    read_closing_frames,
    note_unread,
)
