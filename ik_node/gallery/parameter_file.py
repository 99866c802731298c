"""What the node is told of an item, as a file."""

from __future__ import annotations

import json
from pathlib import Path
import tempfile
from typing import Any

from ik_node.gallery.description_path import description_path
from ik_node.gallery.gallery_item import GalleryItem

RATE = 250.0  # [Hz]


def parameter_file(item: GalleryItem) -> Path:
    """
    Return config/NAME.yaml where it is, else a new temporary file that says the same.

    Raises
    ------
    DescriptionError
        If the item's description is not installed, beside which config/ is.

    """
    ours = description_path(item.description).parents[1] / 'config' / f'{item.name}.yaml'
    if ours.is_file():
        return ours
    values: dict[str, Any] = {'rate': RATE}
    for name, value in item.parameters.items():
        *groups, last = name.split('.')
        place = values
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    with tempfile.NamedTemporaryFile(
        'w', prefix=f'{item.name}_', suffix='.yaml', delete=False
    ) as file:
        # JSON is YAML, and has its strings in quotes: of a plain Y, ROS would make true.
        json.dump({'/**': {'ros__parameters': values}}, file, indent=2)
    return Path(file.name)
