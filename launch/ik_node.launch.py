"""Start ik_node for any robot, with robot_state_publisher and, if wanted, RViz."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = (
    ('description', '', 'File with the robot description; empty = somebody else publishes it.'),
    ('closures', '', 'Closure annotations: a path or package:// URL; empty = as described.'),
    (
        'params_file',
        PathJoinSubstitution([FindPackageShare('ik_node'), 'config', 'ik_node.yaml']),
        'YAML file with parameters of the node.',
    ),
    ('namespace', '', 'Namespace of all nodes.'),
    ('use_sim_time', 'false', 'Whether the time comes from /clock.'),
    ('rviz', 'false', 'Whether to start rviz2.'),
)


def nodes_of_description(context):
    """
    Return the nodes, once the arguments have their values.

    The description goes to robot_state_publisher, which publishes it latched on
    robot_description: from there the node and RViz take it. Its joint states are the node's.
    """
    shared = {'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)}
    parameters = [LaunchConfiguration('params_file'), shared]
    closures = LaunchConfiguration('closures').perform(context)
    if closures:
        parameters.append({'closures': ParameterValue(closures, value_type=str)})
    nodes = [
        Node(
            package='ik_node',
            executable='ik_node',
            name='ik_node',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=parameters,
        )
    ]
    description = LaunchConfiguration('description').perform(context)
    if description:
        text = Path(description).read_text(encoding='utf-8')
        nodes.append(
            Node(
                package='robot_state_publisher',
                executable='robot_state_publisher',
                namespace=LaunchConfiguration('namespace'),
                output='screen',
                parameters=[{'robot_description': ParameterValue(text, value_type=str)}, shared],
                remappings=[('joint_states', 'ik_node/joint_states')],
            )
        )
    return nodes


def generate_launch_description():
    """Return the arguments and what they start."""
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=about)
                for name, default, about in ARGUMENTS
            ),
            OpaqueFunction(function=nodes_of_description),
            Node(
                package='rviz2',
                executable='rviz2',
                namespace=LaunchConfiguration('namespace'),
                output='screen',
                condition=IfCondition(LaunchConfiguration('rviz')),
            ),
        ]
    )
