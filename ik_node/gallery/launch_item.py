"""The launch description of a robot that we ship; needs ROS 2's launch."""

from __future__ import annotations

from typing import Any

from ik_node.gallery import gallery_item
from ik_node.gallery.parameter_file import parameter_file


def launch_item(name: str) -> Any:
    """
    Return ik_node.launch.py with a gallery item's description, parameters and goal as defaults.

    Parameters
    ----------
    name : str
        Of the item; its parameters are in config/NAME.yaml, or come from the item itself.

    Returns
    -------
    launch.LaunchDescription
        To be started, or included in another one, into which no argument leaks.

    Raises
    ------
    UnknownFrameError
        If there is no such item.

    """
    from launch import LaunchDescription
    from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch.substitutions import PathJoinSubstitution
    from launch_ros.substitutions import FindPackageShare

    item = gallery_item(name)

    def shared(*parts: str) -> PathJoinSubstitution:
        return PathJoinSubstitution([FindPackageShare('ik_node'), *parts])

    defaults = (
        ('description', shared('urdf', item.description), f'File with the {name}.'),
        ('params_file', str(parameter_file(item)), 'YAML file with parameters.'),
        ('goal', next(iter(item.goals)), 'Name of the goal that rviz2 shows.'),
    )
    arguments = [
        DeclareLaunchArgument(argument, default_value=default, description=about)
        for argument, default, about in defaults
    ]
    general = PythonLaunchDescriptionSource(shared('launch', 'ik_node.launch.py'))
    return LaunchDescription([GroupAction([*arguments, IncludeLaunchDescription(general)])])
