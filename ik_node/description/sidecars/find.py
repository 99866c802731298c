"""The files beside a description that say its loops."""

from __future__ import annotations

from pathlib import Path

from ik_node.description.sidecars.read import read_annotations
from ik_node.description.sidecars.sidecar import Sidecar

SIDECAR = '.closures.yaml'


def sidecars_beside(path: Path) -> list[Sidecar]:
    """Read the first of the sidecars that a description of this path may have."""
    beside = path.with_name(path.stem + SIDECAR)
    return [read_annotations(beside)] if beside.is_file() else []
