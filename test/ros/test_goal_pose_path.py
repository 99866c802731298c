"""The files through which a goal pose passes are those of docs/architecture.md."""

from pathlib import Path
import re
import sys

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from support.waiting import wait_until

MOST_FILES = 20


class Calls:
    """The files of the package whose functions are called while goals lead the robot."""

    def __init__(self, package):
        self.package, self.files, self.aside = package, set(), 0

    def __call__(self, frame, event, _argument):
        """Note a call, unless it belongs to what the node does once a second."""
        if frame.f_code.co_name == '_diagnose':
            self.aside += {'call': 1, 'return': -1}.get(event, 0)
        path = Path(frame.f_code.co_filename)
        if event == 'call' and not self.aside and self.package in path.parents:
            file = path.relative_to(self.package)
            # Kernels are seen only where they are not compiled.
            if file.parts[0] not in ('kernels', 'native'):
                self.files.add(file.as_posix())


def test_goal_pose_passes_through_the_files_of_the_page(context, urdf, repository):
    """From the subscription to the joint states, in a node with the default parameters."""
    import ik_node
    from ik_node.ros.node import IkNode

    goal = {'goals.foot.link': 'foot_link', 'goals.foot.dof': 'EX EY', 'goal_names': ['foot']}
    values = {'robot_description': urdf('ankle'), **goal}
    node = IkNode(
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
    )
    client = rclpy.create_node('client', context=context)
    received = []
    client.create_subscription(JointState, 'ik_node/joint_states', received.append, 10)
    sender = client.create_publisher(PoseStamped, 'ik_node/goals/foot', 1)
    executor = SingleThreadedExecutor(context=context)
    for each in (node, client):
        executor.add_node(each)

    def turn(count):
        end = len(received) + count

        def send():
            message = PoseStamped()
            message.pose.orientation.x = 0.002 * (len(received) % 7)
            sender.publish(message)
            executor.spin_once(timeout_sec=0.01)

        wait_until(lambda: len(received) >= end, 'joint states', meanwhile=send)

    calls = Calls(Path(ik_node.__file__).parent)
    try:
        turn(50)
        before = sys.getprofile()
        sys.setprofile(calls)
        try:
            turn(50)
        finally:
            sys.setprofile(before)
    finally:
        executor.shutdown()
        for each in (node, client):
            each.destroy_node()
    page = (repository / 'docs' / 'architecture.md').read_text()
    section = page.partition('## How one goal pose flows')[2].partition('\n## ')[0]
    listed = set(re.findall(r'`([a-z_]+(?:/\w+)*\.py)`', section))
    listed = {file for file in listed if file.split('/')[0] not in ('kernels', 'test')}
    assert sorted(calls.files) == sorted(listed)
    assert len(listed) <= MOST_FILES
