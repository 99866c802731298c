"""Show a running ik_node in RViz, and optionally in the viewer in a browser."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, GroupAction, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

CONFIG = PathJoinSubstitution([FindPackageShare('ik_node'), 'config'])
ARGUMENTS = (
    ('namespace', '', 'Namespace of the shown node.'),
    ('use_sim_time', 'false', 'Whether nodes use the time of /clock.'),
    ('rviz', 'true', 'Whether to start rviz2.'),
    (
        'rviz_config',
        PathJoinSubstitution([CONFIG, 'ik_node.rviz']),
        'Configuration file of rviz2.',
    ),
    ('fixed_frame', '', 'Fixed frame of rviz2; empty = as in rviz_config.'),
    ('goal', '', 'Name of the goal that rviz2 shows.'),
    ('viewer', 'false', 'Whether to serve the page that shows the robot in a browser.'),
    ('log_level', 'info', 'Least severity that is logged: debug, info, warn, error or fatal.'),
    ('respawn', 'false', 'Whether a viewer that ends is started again after two seconds.'),
)


def start(context):
    """Return the actions for the present values of the arguments."""
    value = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    switches = ('rviz', 'viewer', 'respawn')
    wants = {name: IfCondition(value[name]).evaluate(context) for name in switches}
    actions = []
    if wants['rviz']:
        # Check first: without rviz2 no process must start.
        FindPackageShare('rviz2').perform(context)
        actions.append(rviz(value))
    if wants['viewer']:
        actions.append(viewer(value['namespace'], value['log_level'], wants['respawn']))
    return actions


def rviz(value):
    """Return RViz, which shows one goal and the reached pose of its link."""
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
    """Return the viewer, which reports itself what to install if viser is missing."""
    command = [ExecutableInPackage('ik', 'ik_node'), 'view', '--ros']
    command += ['--ros-args', '--log-level', log_level]
    if namespace:
        command += ['-r', f'__ns:=/{namespace.strip("/")}']
    return ExecuteProcess(cmd=command, output='screen', respawn=respawn, respawn_delay=2.0)


def generate_launch_description():
    """Return the arguments and actions in a scope that does not affect including files."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=about)
        for name, default, about in ARGUMENTS
    ]
    return LaunchDescription([GroupAction([*arguments, OpaqueFunction(function=start)])])
