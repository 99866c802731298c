"""Which joints of an SDFormat file have a motor."""

from __future__ import annotations

from collections.abc import Iterable

from ik_node.description.sdf.joint import SdfJoint
from ik_node.description.sdf.scope import SdfScope

# in the file or class name of a plugin that moves the joints it lists
DRIVERS = ('jointpositioncontroller', 'jointcontroller', 'jointtrajectorycontroller', 'diffdrive')
TAGS = ('joint_name', 'left_joint', 'right_joint')


def read_motors(scopes: Iterable[SdfScope], joints: dict[str, SdfJoint]) -> list[str]:
    """
    Return the joints with a motor; empty where the file does not say.

    Those that a controller's <plugin> names. Without one: where some joints have an <effort> of
    0, which Drake takes for "no motor", those that have not.
    """
    named: dict[str, None] = {}
    for scope in scopes:
        prefix = f'{scope.frame.name}::' if scope.frame.name else ''
        for plugin in scope.frame.element.findall('plugin'):
            what = f'{plugin.get("filename", "")} {plugin.get("name", "")}'.lower()
            what = what.replace('-', '').replace('_', '')
            if not any(driver in what for driver in DRIVERS):
                continue
            for tag in TAGS:
                for element in plugin.findall(tag):
                    named[prefix + (element.text or '').strip()] = None
    driven = [part.name for name in named if name in joints for part in joints[name].parts[:1]]
    if driven:
        return driven
    moved = [
        (joint.part_of(tag), axis) for joint in joints.values() for tag, axis in joint.axes.items()
    ]
    if any(axis.effort == 0.0 for _, axis in moved):
        return [part.name for part, axis in moved if part is not None and axis.effort != 0.0]
    return []
