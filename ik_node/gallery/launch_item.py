"""Launch descriptions of gallery robots; requires ROS 2's launch package."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import tempfile
from typing import Any

from ik_node.description.files import description_path
from ik_node.gallery import gallery_item
from ik_node.gallery.gallery_item import GalleryItem

RATE = 250.0  # [Hz]


def parameter_file(item: GalleryItem) -> Path:
    """
    Return config/NAME.yaml if it exists, else a new temporary file with the same parameters.

    DescriptionError is raised if the item's description is not installed.
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
        # JSON is valid YAML with quoted strings; ROS would read an unquoted Y as true.
        json.dump({'/**': {'ros__parameters': values}}, file, indent=2)
    return Path(file.name)


def launch_item(name: Any) -> Any:
    """
    Return ik_node.launch.py with a gallery item's description, parameters and goal as defaults.

    `name` is a text or a substitution of launch. The parameters are in config/NAME.yaml, or come
    from the item itself. The LaunchDescription is to be started, or to be included in another one,
    which its arguments do not affect. UnknownFrameError is raised if there is no such item.
    """
    from launch import LaunchDescription, Substitution
    from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch.substitutions import PathJoinSubstitution, TextSubstitution
    from launch_ros.substitutions import FindPackageShare

    class OfItem(Substitution):  # type: ignore[misc]
        """A substitution by a text that depends on the launched item."""

        def __init__(self, about: str, read: Callable[[GalleryItem], str]) -> None:
            super().__init__()
            self._about = about
            self._read = read

        def describe(self) -> str:
            """Return the text for `--show-args`."""
            return self._about

        def perform(self, context: Any) -> str:
            """Return the text for the launched item."""
            return self._read(gallery_item(context.perform_substitution(chosen)))

    if isinstance(name, str):
        gallery_item(name)
    chosen = TextSubstitution(text=name) if isinstance(name, str) else name
    shown = name if isinstance(name, str) else 'NAME'

    def shared(*parts: Any) -> PathJoinSubstitution:
        return PathJoinSubstitution([FindPackageShare('ik_node'), *parts])

    description = OfItem(f"'{shown}.urdf'", lambda item: item.description)
    parameters = OfItem(f"'{shown}.yaml'", lambda item: str(parameter_file(item)))
    goal = OfItem("'its first goal'", lambda item: next(iter(item.goals)))
    defaults = (
        ('description', shared('urdf', description), f'File with the robot {shown}.'),
        ('params_file', parameters, 'YAML file with parameters.'),
        ('goal', goal, 'Name of the goal that rviz2 shows.'),
    )
    arguments = [
        DeclareLaunchArgument(argument, default_value=default, description=about)
        for argument, default, about in defaults
    ]
    general = PythonLaunchDescriptionSource(shared('launch', 'ik_node.launch.py'))
    return LaunchDescription([GroupAction([*arguments, IncludeLaunchDescription(general)])])
