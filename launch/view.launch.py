"""Look at an ik_node that runs already: RViz, and if wanted the viewer in a browser."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, GroupAction, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

CONFIG = PathJoinSubstitution([FindPackageShare('ik_node'), 'config'])
ARGUMENTS = (
    ('namespace', '', 'Namespace of the node that is looked at.'),
    ('use_sim_time', 'false', 'Whether the time comes from /clock.'),
    ('rviz', 'true', 'Whether to start rviz2.'),
    ('rviz_config', PathJoinSubstitution([CONFIG, 'ik_node.rviz']), 'What rviz2 shows.'),
    ('fixed_frame', '', 'Frame that rviz2 keeps still; empty = as rviz_config says.'),
    ('goal', '', 'Name of the goal that rviz2 shows.'),
    ('viewer', 'false', 'Whether to serve the page that shows the robot in a browser.'),
    ('log_level', 'info', 'Least severity that is logged: debug, info, warn, error or fatal.'),
    ('respawn', 'false', 'Whether the page is served again when it ends, after two seconds.'),
)


def start(context):
    """Return what is wanted, once the arguments have their values."""
    value = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    switches = ('rviz', 'viewer', 'respawn')
    wants = {name: IfCondition(value[name]).evaluate(context) for name in switches}
    actions = []
    if wants['rviz']:
        # Without it nothing is to be started.
        FindPackageShare('rviz2').perform(context)
        actions.append(rviz(value))
    if wants['viewer']:
        actions.append(viewer(value['namespace'], value['log_level'], wants['respawn']))
    return actions


def rviz(value):
    """Return RViz, which shows one goal and where its link is."""
    still = ['--fixed-frame', value['fixed_frame']] if value['fixed_frame'] else []
    goal = value['goal'] or 'none'
    sim_time = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    return Node(
        package='rviz2',
        executable='rviz2',
        namespace=LaunchConfiguration('namespace'),
        output='screen',
        arguments=['--display-config', LaunchConfiguration('rviz_config'), *still],
        parameters=[{'use_sim_time': sim_time}],
        ros_arguments=['--log-level', LaunchConfiguration('log_level')],
        remappings=[('goal', f'ik_node/goals/{goal}'), ('reached', f'ik_node/reached/{goal}')],
    )


def viewer(namespace, log_level, respawn):
    """Return the browser page, which says itself what to install where viser is missing."""
    command = [ExecutableInPackage('ik', 'ik_node'), 'view', '--ros']
    command += ['--ros-args', '--log-level', log_level]
    if namespace:
        command += ['-r', f'__ns:=/{namespace.strip("/")}']
    return ExecuteProcess(cmd=command, output='screen', respawn=respawn, respawn_delay=2.0)


def generate_launch_description():
    """Return the arguments and what they start; neither leaks into a file that includes this."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=about)
        for name, default, about in ARGUMENTS
    ]
    return LaunchDescription([GroupAction([*arguments, OpaqueFunction(function=start)])])
