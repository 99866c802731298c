"""
Processor time of a tick against the number of unchanged goals.

The node and its executor run in this process; no goal is sent during the measurement.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import time

from geometry_msgs.msg import PoseStamped
from ik_node.ros.messages import fill_pose
from ik_node.ros.node import IkNode
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

LINK = 'platform_link'
ROBOT = Path(__file__).parents[2] / 'urdf' / 'hexapod.urdf'


def measure(count: int, seconds: float, rate: float, enabled: bool) -> tuple[float, float]:
    """Return joint states per second, and the processor time of a tick [s]."""
    names = [f'goal{k}' for k in range(count)]
    values = {'goal_names': names or [''], 'robot_description': ROBOT.read_text(), 'rate': rate}
    for name in names:
        values |= {f'goals.{name}.link': LINK, f'goals.{name}.enabled': enabled}
    overrides = [Parameter(name, value=value) for name, value in values.items()]
    node = IkNode(parameter_overrides=overrides)
    client = rclpy.create_node('benchmark_client')
    seen: list[JointState] = []
    executor = SingleThreadedExecutor()
    client.create_subscription(JointState, 'ik_node/joint_states', seen.append, 10)
    listening = SingleThreadedExecutor()
    for each, spun in ((node, executor), (client, listening)):
        spun.add_node(each)
    while not seen:
        executor.spin_once(timeout_sec=0.1)
        listening.spin_once(timeout_sec=0.0)
    message = PoseStamped()
    robot = node._motion.tracker.model.robot
    fill_pose(message.pose, robot.forward(robot.q, LINK))
    for name in names:
        node._inputs.goal_inputs.take_goal(name, message)
    begin = time.perf_counter() + 1.0
    while time.perf_counter() < begin:
        executor.spin_once(timeout_sec=0.1)
    ticks, cpu, begin = node._counts.ticks, time.process_time(), time.perf_counter()
    while time.perf_counter() < begin + seconds:
        executor.spin_once(timeout_sec=0.1)
    cpu, taken = time.process_time() - cpu, time.perf_counter() - begin
    ticks = node._counts.ticks - ticks
    for each in (executor, listening):
        each.shutdown()
    for each in (node, client):
        each.destroy_node()
    return ticks / taken, cpu / max(ticks, 1)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog='python -m ik_node bench goals')
    parser.add_argument('--counts', type=int, nargs='+', default=[0, 10, 100, 1000])
    parser.add_argument('--seconds', type=float, default=10.0)
    parser.add_argument('--rate', type=float, default=100.0)
    words = parser.parse_args()
    rclpy.init()
    print('| goals | | ticks | processor time of a tick |\n|---|---|---|---|')
    for count in words.counts:
        for enabled in (True, False) if count else (True,):
            rate, cpu = measure(count, words.seconds, words.rate, enabled)
            what = 'met' if enabled else 'not enabled'
            print(f'| {count} | {what} | {rate:.1f} Hz | {1e3 * cpu:.2f} ms |', flush=True)
    rclpy.shutdown()


if __name__ == '__main__':
    main()
