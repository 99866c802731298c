"""Start ik_node for a gallery robot, `name:=scissor_lift`; goals go to ik_node/goals/<goal>."""

from ik_node.gallery import NAMES
from ik_node.gallery.launch_item import launch_item
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration

ARGUMENTS = (('name', 'hexapod', f'Gallery robot: {", ".join(NAMES)}.'),)


def generate_launch_description():
    """Return the arguments and the actions of the robot."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=about)
        for name, default, about in ARGUMENTS
    ]
    return LaunchDescription([*arguments, *launch_item(LaunchConfiguration('name')).entities])
