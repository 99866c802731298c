"""Start ik_node for our hexapod: send poses to ik_node/goals/platform."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = (
    ('namespace', '', 'Namespace of all nodes.'),
    ('use_sim_time', 'false', 'Whether the time comes from /clock.'),
    ('rviz', 'false', 'Whether to start rviz2.'),
)


def generate_launch_description():
    """Return the arguments and the general launch file with the hexapod's."""
    share = FindPackageShare('ik_node')
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=about)
                for name, default, about in ARGUMENTS
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(
                    PathJoinSubstitution([share, 'launch', 'ik_node.launch.py'])
                ),
                launch_arguments={
                    'description': PathJoinSubstitution([share, 'urdf', 'hexapod.urdf']),
                    'params_file': PathJoinSubstitution([share, 'config', 'hexapod.yaml']),
                    **{name: LaunchConfiguration(name) for name, _, _ in ARGUMENTS},
                }.items(),
            ),
        ]
    )
