"""
How long from a goal message to the first joint state that solves it, seen by a client process.

    python benchmark/node_latency.py [--rate 250] [--goals 500]

The hexapod's platform is sent to goals at random times. In the same run, with the same client, a
bare rclpy node that does nothing but keep the last goal and publish at its next tick shows what
the middleware and the timer take by themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import time

from geometry_msgs.msg import PoseStamped
from ik_node.gallery.description_path import description_path
from ik_node.robot import load_robot
from ik_node.ros.latched import LATCHED
import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState
from std_msgs.msg import String

LINK = 'platform_link'
JOINTS = [f'joint{index}' for index in range(24)]


def echo(rate: float) -> None:
    """Be the bare node: the last goal's position goes out with the next tick."""
    rclpy.init()
    node = rclpy.create_node('ik_node')
    publisher = node.create_publisher(JointState, '~/joint_states', 10)
    message = JointState(name=JOINTS, position=[0.0] * 24, velocity=[0.0] * 24)

    def take(goal: PoseStamped) -> None:
        point = goal.pose.position
        message.position[:3] = type(message.position)('d', (point.x, point.y, point.z))

    def tick() -> None:
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)

    node.create_subscription(PoseStamped, '~/goals/platform', take, 1)
    node.create_timer(1.0 / rate, tick)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


def measure(
    words: list[str],
    name: str,
    text: str,
    home: np.ndarray,
    goals: int,
    position_of: Callable[[JointState], np.ndarray],
) -> np.ndarray:
    """Start a node, send it goals one after another, return the times [s]."""
    process = subprocess.Popen([sys.executable, *words], start_new_session=True)
    client = rclpy.create_node('latency_client')
    seen: list[tuple[float, JointState]] = []
    client.create_subscription(
        JointState,
        'ik_node/joint_states',
        lambda message: seen.append((time.perf_counter(), message)),
        10,
    )
    publisher = client.create_publisher(PoseStamped, 'ik_node/goals/platform', 1)
    description = client.create_publisher(String, 'robot_description', LATCHED)
    description.publish(String(data=text))
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(client)
    begin = time.monotonic()
    while not seen or not publisher.get_subscription_count():
        executor.spin_once(timeout_sec=0.1)
        if process.poll() is not None or time.monotonic() - begin > 120.0:
            raise SystemExit(f'{name} did not start')
    times = []
    chance = random.Random(1)
    for _ in range(goals):
        rest = time.perf_counter() + chance.uniform(0.01, 0.02)
        while time.perf_counter() < rest:
            executor.spin_once(timeout_sec=max(rest - time.perf_counter(), 0.0))
        seen.clear()
        goal = PoseStamped()
        wanted = home + [chance.uniform(-0.004, 0.004) for _ in range(3)]
        point = goal.pose.position
        point.x, point.y, point.z = wanted.tolist()
        sent = time.perf_counter()
        publisher.publish(goal)
        while True:
            executor.spin_once(timeout_sec=1.0)
            hits = [
                at for at, message in seen if np.linalg.norm(position_of(message) - wanted) < 2e-6
            ]
            if hits:
                times.append(hits[0] - sent)
                break
            seen.clear()
            if time.perf_counter() - sent > 5.0:
                raise SystemExit(f'{name}: a goal was not reached within 5 s')
    os.killpg(process.pid, signal.SIGINT)
    process.wait(20)
    executor.shutdown()
    client.destroy_node()
    return np.array(times)


def main() -> None:
    """Measure both nodes and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--rate', type=float, default=250.0, help='ticks a second [Hz]')
    parser.add_argument('--goals', type=int, default=500, help='goals to send')
    parser.add_argument('--echo', action='store_true', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.echo:
        echo(args.rate)
        return
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    path = description_path('hexapod.urdf')
    text = Path(path).read_text(encoding='utf-8')
    robot = load_robot(path)
    home = robot.forward(robot.q, LINK)[:3, 3]
    rclpy.init()
    print(f'goal message to joint state, {args.rate:g} Hz, {args.goals} goals, one at a time')
    results = {
        'ik_node': measure(
            [
                '-m',
                'ik_node',
                'node',
                '--ros-args',
                '-p',
                f'rate:={args.rate}',
                '-p',
                'goal_names:=[platform]',
                '-p',
                f'goals.platform.link:={LINK}',
            ],
            'ik_node',
            text,
            home,
            args.goals,
            lambda message: robot.forward(np.array(message.position), LINK)[:3, 3],
        ),
        'bare rclpy echo': measure(
            [__file__, '--echo', '--rate', str(args.rate)],
            'bare rclpy echo',
            text,
            home,
            args.goals,
            lambda message: np.array(message.position[:3]),
        ),
    }
    for name, times in results.items():
        median, late = 1e3 * np.median(times), 1e3 * np.percentile(times, 99)
        print(f'{name:16} median {median:5.2f} ms   p99 {late:6.2f} ms')
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
