"""What links look like, for viewers that fetch meshes themselves."""

from __future__ import annotations

from dataclasses import replace

from ik_node.description.mesh_path import mesh_path
from ik_node.description.visual import Visual
from ik_node.description.visuals import read_visuals
from ik_node.robot import Robot


def seen_links(robot: Robot) -> list[Visual]:
    """Return the visuals of a robot; meshes by their URL, those not found left out."""
    description = robot.description
    found = []
    for visual in read_visuals(description.text, description.source):
        if visual.kind != 'mesh' or visual.file.startswith('package://'):
            found.append(visual)  # a package is found where the viewer runs
            continue
        path = mesh_path(visual.file, description.source)
        if path is not None:
            found.append(replace(visual, file=path.resolve().as_uri()))
    return found
