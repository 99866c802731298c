"""
A joint_trajectory_controller's stand-in in a process of its own, with motors that follow at once.

    python -m support.controller_process NAME MOTOR [MOTOR ...] [--nonzero-end]

It keeps the rules of `trajectory_controller`: it refuses what the controller refuses, cancels by
holding, lets a newer plan replace an older one, and takes trajectories on its topic as well. The
motors are measured on `joint_states`. It needs control_msgs only for the action.
"""

import argparse
import contextlib
from itertools import pairwise
import threading
import time

import numpy as np
import rclpy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from support.trajectory_controller import objection, spline, State
from trajectory_msgs.msg import JointTrajectory

PERIOD = 0.01


class Controller:
    """The controller, its motors and their sensors."""

    def __init__(self, node, joints, nonzero_end):
        self.node, self.joints, self.nonzero_end = node, joints, nonzero_end
        self.state = State(0.0, np.zeros(len(joints)), np.zeros(len(joints)))
        self.ways, self.goal, self.lock = [], None, threading.Lock()
        group = ReentrantCallbackGroup()
        # As the controller itself, without a guarantee of delivery.
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_subscription(JointTrajectory, '~/joint_trajectory', self.on_topic, qos)
        with contextlib.suppress(ImportError):
            from control_msgs.action import FollowJointTrajectory

            self.type = FollowJointTrajectory
            self.server = ActionServer(
                node,
                FollowJointTrajectory,
                '~/follow_joint_trajectory',
                self.execute,
                callback_group=group,
                goal_callback=self.on_goal,
                cancel_callback=lambda goal: CancelResponse.ACCEPT,
            )
        # Whoever has measurements has most likely discovered the rest.
        self.measured = node.create_publisher(JointState, 'joint_states', 10)
        node.create_timer(PERIOD, self.update)

    def objection(self, message):
        return objection(message, self.joints, time.time(), self.nonzero_end)

    def on_topic(self, message):
        reason = self.objection(message)
        print('refused' if reason else 'took', len(message.points), reason, flush=True)
        if not reason:
            self.take(message)

    def on_goal(self, request):
        reason = self.objection(request.trajectory)
        print(
            'refused' if reason else 'accepted', len(request.trajectory.points), reason, flush=True
        )
        return GoalResponse.REJECT if reason else GoalResponse.ACCEPT

    def take(self, message):
        order = [list(message.joint_names).index(name) for name in self.joints]
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        begin = stamp or time.time()
        with self.lock:
            now = State(begin, self.state.position, self.state.velocity)
            points = []
            for each in message.points:
                span = each.time_from_start.sec + 1e-9 * each.time_from_start.nanosec
                rest = np.zeros(len(order))
                velocity = np.array(each.velocities)[order] if len(each.velocities) else rest
                points.append(State(begin + span, np.array(each.positions)[order], velocity))
            self.ways = [now, *points] if points[0].time > begin else points

    def update(self):
        now = time.time()
        with self.lock:
            for before, after in pairwise(self.ways):
                if before.time <= now < after.time:
                    self.state = spline(before, after, now)
            if self.ways and now >= self.ways[-1].time:
                last = self.ways[-1]
                self.state, self.ways = State(now, last.position, 0.0 * last.velocity), []
        message = JointState(name=self.joints, position=self.state.position.tolist())
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.velocity = self.state.velocity.tolist()
        self.measured.publish(message)

    def execute(self, goal):
        self.goal = goal
        self.take(goal.request.trajectory)
        result = self.type.Result()
        while self.ways:
            time.sleep(PERIOD)
            if goal.is_cancel_requested:
                self.hold()
                print('cancelled', flush=True)
                goal.canceled()
                return result
            if self.goal is not goal:
                result.error_string = 'Current goal cancelled due to new incoming action.'
                goal.abort()
                return result
            feedback = self.type.Feedback(joint_names=self.joints)
            for part in (feedback.desired, feedback.actual):
                part.positions = self.state.position.tolist()
                part.velocities = self.state.velocity.tolist()
            goal.publish_feedback(feedback)
        print('followed', flush=True)
        goal.succeed()
        return result

    def hold(self):
        with self.lock:
            self.ways = []
            self.state = State(time.time(), self.state.position, 0.0 * self.state.velocity)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('name')
    parser.add_argument('joints', nargs='+')
    parser.add_argument('--nonzero-end', action='store_true')
    args = parser.parse_args()
    rclpy.init()
    node = rclpy.create_node(args.name)
    Controller(node, args.joints, args.nonzero_end)
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    with contextlib.suppress(KeyboardInterrupt):
        executor.spin()


if __name__ == '__main__':
    main()
