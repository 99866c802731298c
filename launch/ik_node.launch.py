"""Start ik_node for any robot, with robot_state_publisher and optionally RViz or the viewer."""

from pathlib import Path
from xml.etree import ElementTree

from ik_node.description.xacro_source import expand_xacro
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

CONFIG = PathJoinSubstitution([FindPackageShare('ik_node'), 'config'])
ARGUMENTS = (
    (
        'description',
        '',
        'File with the robot description, URDF or xacro; empty = another process publishes it.',
    ),
    (
        'closures',
        '',
        'Closure annotations: a path or package:// URL; empty = NAME.closures.yaml beside the '
        'description if it exists, else the loops in the description.',
    ),
    ('xacro_seconds', '10.0', 'Longest time to expand a xacro description [s].'),
    (
        'params_file',
        PathJoinSubstitution([CONFIG, 'ik_node.yaml']),
        'YAML file with parameters of the node.',
    ),
    ('namespace', '', 'Namespace of all nodes.'),
    ('use_sim_time', 'false', 'Whether nodes use the time of /clock.'),
    ('rviz', 'false', 'Whether to start rviz2.'),
    (
        'rviz_config',
        PathJoinSubstitution([CONFIG, 'ik_node.rviz']),
        'Configuration file of rviz2.',
    ),
    ('fixed_frame', '', 'Fixed frame of rviz2; empty = root link of the description.'),
    ('goal', '', 'Name of the goal that rviz2 shows.'),
    ('viewer', 'false', 'Whether to serve the page that shows the robot in a browser.'),
    ('log_level', 'info', 'Least severity that is logged: debug, info, warn, error or fatal.'),
    ('respawn', 'false', 'Whether a node that ends is started again after two seconds.'),
)
NAMESPACE = LaunchConfiguration('namespace')
LOG_LEVEL = ['--log-level', LaunchConfiguration('log_level')]


def start(context):
    """Return the nodes for the present values of the arguments."""
    value = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    switches = ('rviz', 'viewer', 'respawn')
    wants = {name: IfCondition(value[name]).evaluate(context) for name in switches}
    needed = ['robot_state_publisher'] if value['description'] else []
    for package in [*needed, 'rviz2'] if wants['rviz'] else needed:
        # Check first: a package found missing later would leave started processes behind.
        FindPackageShare(package).perform(context)
    sim_time = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    shared = {'use_sim_time': sim_time}
    ended = {'respawn': wants['respawn'], 'respawn_delay': 2.0}
    path = Path(value['description'])
    actions = [ik_node(value['closures'] or sidecar(path), shared, wants['rviz'], ended)]
    if value['description']:
        text = read(path, float(value['xacro_seconds']))
        actions.append(robot_state_publisher(text, shared, ended))
        value['fixed_frame'] = value['fixed_frame'] or root_link(text)
    if wants['rviz'] or wants['viewer']:
        actions.append(view(value['fixed_frame']))
    return actions


def ik_node(closures, shared, interactive, ended):
    """Return the node ik_node; with RViz it also publishes interactive markers."""
    parameters = [LaunchConfiguration('params_file'), shared]
    if interactive:
        parameters.append({'markers.interactive': True})
    if closures:
        parameters.append({'closures': ParameterValue(closures, value_type=str)})
    return Node(
        package='ik_node',
        executable='ik_node',
        name='ik_node',
        namespace=NAMESPACE,
        output='screen',
        parameters=parameters,
        ros_arguments=LOG_LEVEL,
        **ended,
    )


def robot_state_publisher(text, shared, ended):
    """
    Return robot_state_publisher, which publishes the description and /tf.

    The node and RViz read the description from the latched topic robot_description.
    """
    own = {'robot_description': ParameterValue(text, value_type=str), 'publish_frequency': 60.0}
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=NAMESPACE,
        output='screen',
        parameters=[own, shared],
        remappings=[('joint_states', 'ik_node/joint_states')],
        ros_arguments=LOG_LEVEL,
        **ended,
    )


def view(fixed_frame):
    """Return the inclusion of view.launch.py; other arguments have the same names there."""
    source = PathJoinSubstitution([FindPackageShare('ik_node'), 'launch', 'view.launch.py'])
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(source), launch_arguments=[('fixed_frame', fixed_frame)]
    )


def sidecar(path):
    """Return the file of closure annotations beside a description; '' if there is none."""
    name = path.name.removesuffix('.xacro')
    beside = path.with_name(f'{Path(name).stem}.closures.yaml') if name else path
    return str(beside.resolve()) if beside.is_file() else ''


def read(path, xacro_seconds):
    """Return the text of a description with expanded xacro."""
    if path.suffix != '.xacro':
        return path.read_text(encoding='utf-8')
    return expand_xacro(path, seconds=xacro_seconds).decode()


def root_link(text):
    """Return the first link that is not a child of a joint; '' if the text cannot be parsed."""
    try:
        robot = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError:
        return ''  # the node reports the error
    children = {child.get('link') for child in robot.iterfind('joint/child')}
    links = (link.get('name') for link in robot.iterfind('link'))
    return next((link for link in links if link not in children), '')


def generate_launch_description():
    """Return the arguments and actions in a scope that does not affect including files."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=about)
        for name, default, about in ARGUMENTS
    ]
    return LaunchDescription([GroupAction([*arguments, OpaqueFunction(function=start)])])
