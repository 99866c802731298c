"""Start ik_node for any robot, with robot_state_publisher and, if wanted, RViz or the viewer."""

from pathlib import Path
import shutil
from xml.etree import ElementTree

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

CONFIG = PathJoinSubstitution([FindPackageShare('ik_node'), 'config'])
ARGUMENTS = (
    (
        'description',
        '',
        'File with the robot description, URDF or xacro; empty = somebody else publishes it.',
    ),
    (
        'closures',
        '',
        'Closure annotations: a path or package:// URL; empty = NAME.closures.yaml beside the '
        'description if there is one, else as described.',
    ),
    (
        'params_file',
        PathJoinSubstitution([CONFIG, 'ik_node.yaml']),
        'YAML file with parameters of the node.',
    ),
    ('namespace', '', 'Namespace of all nodes.'),
    ('use_sim_time', 'false', 'Whether the time comes from /clock.'),
    ('rviz', 'false', 'Whether to start rviz2.'),
    ('rviz_config', PathJoinSubstitution([CONFIG, 'ik_node.rviz']), 'What rviz2 shows.'),
    ('fixed_frame', '', 'Frame that rviz2 keeps still; empty = root link of the description.'),
    ('goal', '', 'Name of the goal that rviz2 shows.'),
    ('viewer', 'false', 'Whether to serve the page that shows the robot in a browser.'),
)
NAMESPACE = LaunchConfiguration('namespace')


def start(context):
    """Return the nodes, once the arguments have their values."""
    value = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    wants = {name: IfCondition(value[name]).evaluate(context) for name in ('rviz', 'viewer')}
    needed = ['robot_state_publisher'] if value['description'] else []
    for package in [*needed, 'rviz2'] if wants['rviz'] else needed:
        # What is found missing later leaves behind the processes that were started before.
        FindPackageShare(package).perform(context)
    sim_time = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    shared = {'use_sim_time': sim_time}
    path = Path(value['description'])
    actions = [ik_node(value['closures'] or sidecar(path), shared, wants['rviz'])]
    if value['description']:
        text = read(path, context)
        actions.append(robot_state_publisher(text, shared))
        value['fixed_frame'] = value['fixed_frame'] or root_link(text)
    if wants['rviz'] or wants['viewer']:
        actions.append(view(value['fixed_frame']))
    return actions


def ik_node(closures, shared, interactive):
    """Return the node itself; RViz has a hand for goals that can be dragged."""
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
    )


def robot_state_publisher(text, shared):
    """
    Return what publishes the description and, from the node's joint states, /tf.

    The description is latched on robot_description: from there the node and RViz take it.
    """
    own = {'robot_description': ParameterValue(text, value_type=str), 'publish_frequency': 60.0}
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=NAMESPACE,
        output='screen',
        parameters=[own, shared],
        remappings=[('joint_states', 'ik_node/joint_states')],
    )


def view(fixed_frame):
    """Return what looks at the node; the other arguments have their names here and there."""
    source = PathJoinSubstitution([FindPackageShare('ik_node'), 'launch', 'view.launch.py'])
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(source), launch_arguments=[('fixed_frame', fixed_frame)]
    )


def sidecar(path):
    """Return the closure annotations beside a description; '' if there are none."""
    name = path.name.removesuffix('.xacro')
    beside = path.with_name(f'{Path(name).stem}.closures.yaml') if name else path
    return str(beside.resolve()) if beside.is_file() else ''


def read(path, context):
    """Return the text of a description, with its xacro expanded."""
    if path.suffix != '.xacro':
        return path.read_text(encoding='utf-8')
    if shutil.which('xacro') is None:
        raise RuntimeError(f'{path} needs xacro, which is not installed (ros-$ROS_DISTRO-xacro)')
    return Command(['xacro ', f'"{path}"']).perform(context)


def root_link(text):
    """Return the first link that is no joint's child; '' if the text is not to be parsed."""
    try:
        robot = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError:
        return ''  # the node says what is wrong with it
    children = {child.get('link') for child in robot.iterfind('joint/child')}
    links = (link.get('name') for link in robot.iterfind('link'))
    return next((link for link in links if link not in children), '')


def generate_launch_description():
    """Return the arguments and what they start; neither leaks into a file that includes this."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=about)
        for name, default, about in ARGUMENTS
    ]
    return LaunchDescription([GroupAction([*arguments, OpaqueFunction(function=start)])])
