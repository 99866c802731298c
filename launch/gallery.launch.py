"""Start ik_node for one of our robots, `name:=scissor_lift`: goals go to ik_node/goals/<goal>."""

from ik_node.gallery import NAMES
from ik_node.gallery.launch_item import launch_item
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration

ARGUMENTS = (
    (
        'name',
        'hexapod',
        f'Which robot: {", ".join(NAMES)}. The other arguments are those of ik_node.launch.py.',
    ),
)


def start(context):
    """Return the general launch description with what the robot needs."""
    return launch_item(LaunchConfiguration('name').perform(context)).entities


def generate_launch_description():
    """Return the argument and what it starts."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=about)
        for name, default, about in ARGUMENTS
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])
