"""
Start times with a warm cache, for a robot of fifty joints in one loop.

"Ready" is the node's own log line: model built, kernels loaded.
"""

from __future__ import annotations

from pathlib import Path
import statistics
import tempfile
import time

from ik_node.ros.process import LATCHED
from node.node_process import LINK, NodeProcess
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String

_REPEATS = 5
_PATIENCE = 60.0


def fifty_joints() -> str:
    """Return the description of two arms of 25 hinges whose tips are joined by a ball joint."""
    parts = ['<robot name="fifty"><link name="base"/>']
    for arm, side in (('a', -0.3), ('b', 0.3)):
        parent = 'base'
        for k in range(25):
            last = arm == 'a' and k == 24
            child = LINK if last else f'{arm}{k}_link'
            place = f'{side} 0 0' if k == 0 else '0 0 0.04'
            axis = ('1 0 0', '0 1 0', '0 0 1')[k % 3]
            parts.append(
                f'<joint name="{arm}{k}" type="revolute"><parent link="{parent}"/>'
                f'<child link="{child}"/><origin xyz="{place}"/><axis xyz="{axis}"/>'
                f'<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
                f'<link name="{child}"/>'
            )
            parent = child
    parts.append(
        f'<loop_joint name="grip" type="spherical">'
        f'<link1 link="{LINK}" xyz="0.3 0 0" rpy="0 0 0"/>'
        f'<link2 link="b24_link" xyz="-0.3 0 0" rpy="0 0 0"/></loop_joint></robot>'
    )
    return ''.join(parts)


def start_to_ready(text: str) -> float:
    """Return the time from process start to the line `ready`, with the robot as parameter."""
    with tempfile.TemporaryDirectory() as folder:
        parameters = Path(folder) / 'robot.yaml'
        parameters.write_text(f"/**:\n  ros__parameters:\n    robot_description: '{text}'\n")
        begin = time.perf_counter()
        with NodeProcess.ik_node(100.0, '--params-file', str(parameters)) as process:
            _wait(process, 'ready: robot')
            return time.perf_counter() - begin


def start_to_waiting() -> float:
    """Return the time from process start to the line about a missing description."""
    begin = time.perf_counter()
    with NodeProcess.ik_node(100.0) as process:
        _wait(process, 'waiting for')
        return time.perf_counter() - begin


def description_to_joint_state(text: str) -> float:
    """Return the time from a description's message to the first joint state."""
    client = rclpy.create_node('benchmark_client')
    executor = SingleThreadedExecutor()
    executor.add_node(client)
    seen: list[JointState] = []
    client.create_subscription(JointState, 'ik_node/joint_states', seen.append, 10)
    publisher = client.create_publisher(String, 'robot_description', LATCHED)
    with NodeProcess.ik_node(100.0) as process:
        end = time.perf_counter() + _PATIENCE
        while not (
            publisher.get_subscription_count() and client.count_publishers('ik_node/joint_states')
        ):
            executor.spin_once(timeout_sec=0.1)
            _check(process, end)
        time.sleep(0.5)
        begin = time.perf_counter()
        publisher.publish(String(data=text))
        while not seen:
            executor.spin_once(timeout_sec=0.1)
            _check(process, end)
        taken = time.perf_counter() - begin
    executor.shutdown()
    client.destroy_node()
    return taken


def _wait(process: NodeProcess, words: str) -> None:
    end = time.perf_counter() + _PATIENCE
    while words not in process.output():
        _check(process, end)
        time.sleep(0.002)


def _check(process: NodeProcess, end: float) -> None:
    if not process.runs or time.perf_counter() > end:
        raise SystemExit(f'the node did not start:\n{process.output()}')


def print_start() -> None:
    """Print the medians and maxima of several starts."""
    text = fifty_joints()
    print(f'\nstarts, {_REPEATS} each, fifty joints in one loop\n')
    print('| | median | worst |\n|---|---|---|', flush=True)
    for what, measure in (
        ('node start to waiting for a description', start_to_waiting),
        ('node start to ready, robot as a parameter', lambda: start_to_ready(text)),
        ('description to first joint state', lambda: description_to_joint_state(text)),
    ):
        times = [measure() for _ in range(_REPEATS)]
        print(f'| {what} | {statistics.median(times):.2f} s | {max(times):.2f} s |', flush=True)
