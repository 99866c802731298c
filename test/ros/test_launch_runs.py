"""The launch files, run by ROS 2's launch with real nodes, where launch is installed."""

from importlib.util import find_spec
import os
import re
import signal
import subprocess
import sys

from ik_node.gallery import gallery_item
import pytest
from support.gallery_motion import WITH_FILES
from support.waiting import PATIENCE, wait_until

# What stands in for robot_state_publisher and rviz2: the first publishes what it is told.
STAND_IN = """#!{python}
import signal, sys
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

print('arguments:', *sys.argv[1:], flush=True)
rclpy.init()
node = rclpy.create_node('{name}')
text = node.declare_parameter('robot_description', '').value
node.declare_parameter('publish_frequency', 20.0)
if text:
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, 'robot_description', latched)
    publisher.publish(String(data=text))
heard = lambda message: print('heard', len(message.name), 'joints', flush=True)
node.create_subscription(JointState, 'joint_states', heard, 1)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
signal.signal(signal.SIGINT, signal.SIG_IGN)
node.destroy_node()
rclpy.try_shutdown()
"""
RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

path, *words = sys.argv[1:]
included = IncludeLaunchDescription(
    PythonLaunchDescriptionSource(path), launch_arguments=[word.split(':=') for word in words]
)
service = LaunchService()
service.include_launch_description(LaunchDescription([included]))
sys.exit(service.run())
"""

# What the page says first.
PAGE = 'open http://127.0.0.1:' if find_spec('viser') else 'viser is not installed'


def is_there(wanted, text):
    """Tell whether a text has all these words, each as often as it is wanted."""
    return all(text.count(word) >= wanted.count(word) for word in wanted)


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """Return a function that runs a launch file until its log says so, or to its end."""
    pytest.importorskip('launch_ros', reason='launch comes with ROS 2 only')
    pytest.importorskip('rclpy')
    index = tmp_path / 'share/ament_index/resource_index/packages'
    index.mkdir(parents=True)
    for name in ('robot_state_publisher', 'rviz2'):
        (index / name).touch()
        program = tmp_path / 'lib' / name / name
        program.parent.mkdir(parents=True)
        program.write_text(STAND_IN.format(python=sys.executable, name=name))
        program.chmod(0o755)
    prefixes = f'{tmp_path}:{os.environ.get("AMENT_PREFIX_PATH", "")}'
    monkeypatch.setenv('AMENT_PREFIX_PATH', prefixes)
    monkeypatch.setenv('PYTHONUNBUFFERED', '1')
    monkeypatch.setenv('TMPDIR', str(tmp_path))

    def run(path, *words, until=None):
        log = tmp_path / 'log.txt'
        with log.open('w') as output:
            process = subprocess.Popen(
                [sys.executable, '-c', RUN, str(path), *words],
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

        def said():
            return until and is_there(until, log.read_text())

        try:
            wait_until(
                lambda: process.poll() is not None or said(),
                f'{until} in the log',
                about=log.read_text,
            )
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            code = process.wait(PATIENCE)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        text = log.read_text()
        assert is_there(until or (), text), text
        return code, text

    return run


@pytest.mark.parametrize('name', WITH_FILES)
def test_robot_launch_file_starts_node_rviz_and_page(repository, launched, name):
    item = gallery_item(name)
    code, log = launched(
        repository / 'launch' / f'{name}.launch.py',
        'rviz:=true',
        'viewer:=true',
        until=(f'ready: robot {name}', ' joints\n', '-r goal:=', PAGE),
    )
    assert code == 0
    (goal,) = item.goals
    assert f'-r goal:=ik_node/goals/{goal} -r reached:=ik_node/reached/{goal}' in log
    root = 'ground_link' if name == 'walker' else 'base_link'
    assert f'ik_node.rviz --fixed-frame {root} ' in log
    assert 'markers.interactive is set' in log or find_spec('interactive_markers')
    assert '[ik_node-1]: process has finished cleanly' in log
    assert re.search(r'\[ik-\d\]: process has finished cleanly', log) or not find_spec('viser')


@pytest.mark.parametrize(('name', 'goal'), [('peaucellier', 'pen')])
def test_gallery_robot_is_launched_by_name(repository, launched, name, goal):
    """A robot without its own launch file has its parameters from the gallery."""
    code, log = launched(
        repository / 'launch' / 'gallery.launch.py',
        f'name:={name}',
        'rviz:=true',
        until=(f'ready: robot {name}', f'goals: {goal}', ' joints\n', '-r goal:='),
    )
    assert code == 0
    assert f'-r goal:=ik_node/goals/{goal} -r reached:=ik_node/reached/{goal}' in log


def test_view_launch_starts_only_rviz_and_page(repository, launched):
    words = ('namespace:=left', 'goal:=hand', 'fixed_frame:=world', 'viewer:=true')
    code, log = launched(
        repository / 'launch' / 'view.launch.py', *words, until=('-r reached:=', PAGE)
    )
    assert code == 0
    assert 'ik_node.rviz --fixed-frame world ' in log
    assert '-r __ns:=/left' in log
    assert '-r goal:=ik_node/goals/hand -r reached:=ik_node/reached/hand' in log
    assert '[rviz2-1]: process has finished cleanly' in log


def test_closures_file_beside_the_description_is_found(repository, launched, tmp_path):
    text = (repository / 'urdf' / 'fivebar.urdf').read_text()
    (tmp_path / 'bars.urdf').write_text(re.sub(r'<loop_joint.*?</loop_joint>', '', text, flags=16))
    (tmp_path / 'bars.closures.yaml').write_text(
        'closures:\n  - {name: pin, type: hinge, frame_a: {link: left_fore_link, xyz: [0.24, 0, '
        '0.012]},\n     frame_b: {link: right_fore_link, xyz: [0.24, 0, 0]}}\n'
    )
    general = repository / 'launch' / 'ik_node.launch.py'
    said = 'ready: robot fivebar, 4 joints, 1 loop, mobility 2'
    code, _ = launched(general, f'description:={tmp_path}/bars.urdf', until=(said,))
    assert code == 0
