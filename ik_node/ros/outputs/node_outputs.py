"""Publishers of joint states, reached poses, transforms, solve status and diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TransformStamped
from ik_node.errors import IkError
from ik_node.model.rotation import Array, pose_from_matrix, pose_inverse
from ik_node.robot import Robot
from ik_node.ros.loading import LoadedModel, multi_dof_joint_links
from ik_node.ros.messages import (
    base_poses,
    fill_diagnostics,
    fill_pose,
    frame_name,
    Pose,
    root_frame,
    status_name,
    StatusRow,
)
from ik_node.ros.outputs.diagnostics import solve_rows, TickReport
from ik_node.ros.process import add_publisher, LATCHED, NamedEntities
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String


def multi_dof_joint_poses(robot: Robot, q: Array) -> dict[tuple[str, str], Pose]:
    """
    Return the link poses that do not follow from a joint state and the description.

    robot_state_publisher skips joints with several DoF (floating, planar, ball) and does not know
    a floating base. The result has the pose of the link in the frame, by frame and link; it is
    empty for most robots.
    """
    world = root_frame(robot)
    poses = {(world, link): pose for link, pose in base_poses(robot, q).items()}
    for parent, child in multi_dof_joint_links(robot):
        between: Array = pose_inverse(robot.forward(q, parent)) @ robot.forward(q, child)
        poses[parent, child] = pose_from_matrix(between)
    return poses


class TransformOutput:
    """
    The broadcaster of a floating base and of joints with several DoF.

    It sends nothing for other robots.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._broadcaster: Any = None

    def publish(self, model: LoadedModel, q: Array, stamp: Any, prefix: str = '') -> None:
        """Send the transforms of one configuration, with a prefix of link names."""
        if not model.has_transforms or not self._has_broadcaster():
            return
        poses, links = multi_dof_joint_poses(model.robot, q), model.robot.links
        transforms = []
        for (parent, child), pose in poses.items():
            frames = frame_name(parent, prefix, links), frame_name(child, prefix, links)
            transforms.append(transform_message(*frames, pose, stamp))
        self._broadcaster.sendTransform(transforms)

    def _has_broadcaster(self) -> bool:
        if self._broadcaster is None:
            try:
                from tf2_ros import TransformBroadcaster
            except ImportError:
                self._node.get_logger().warning(
                    'no transforms on /tf for the floating base and for joints with several '
                    'degrees of freedom: the package tf2_ros is not installed',
                    once=True,
                )
                return False
            self._broadcaster = TransformBroadcaster(self._node)
        return True


def transform_message(parent: str, child: str, pose: Pose, stamp: Any) -> TransformStamped:
    """Return the pose of frame `child` in frame `parent` as a message."""
    message = TransformStamped()
    message.header.stamp = stamp
    message.header.frame_id = parent
    message.child_frame_id = child
    move, rotation = message.transform.translation, message.transform.rotation
    (move.x, move.y, move.z), (rotation.x, rotation.y, rotation.z, rotation.w) = pose
    return message


class DescriptionOutput:
    """Publisher of the robot as URDF with its loops, for RViz and the browser page."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher: Publisher | None = None
        self._text = ''

    def publish(self, robot: Robot) -> None:
        """Publish a robot, latched."""
        try:
            self._text = robot.to_urdf()
        except IkError as error:
            self._node.get_logger().warning(f'robot_description is not published: {error}')
            return
        if self._publisher is None:
            self._publisher = self._node.create_publisher(String, 'robot_description', LATCHED)
        self._publisher.publish(String(data=self._text))

    def is_own(self, text: str) -> bool:
        """Return True if a description is the published one."""
        return text == self._text


class NodeOutputs:
    """The publishers of each tick. Messages without subscribers are not computed."""

    def __init__(self, node: Node) -> None:
        self._name = status_name(node)
        self._joint_states = add_publisher(node, JointState, '~/joint_states')
        self._diagnostics = add_publisher(node, DiagnosticArray, '/diagnostics')
        self._status = add_publisher(node, DiagnosticArray, '~/solve_status')
        self._residuals = add_publisher(node, Float64MultiArray, '~/residuals')
        # One publisher `~/reached/<name>` for each goal.
        self.goal_topics = NamedEntities(
            *(node, 'publisher', 'goal', '~/reached/{}'),
            lambda name, topic: add_publisher(node, PoseStamped, topic),
        )
        # Messages are reused, because only some of their parts change.
        self._joint_state = JointState()
        self._solve_status, self._told = DiagnosticArray(), tuple[object, ...]()

    def set_model(self, model: LoadedModel) -> None:
        """Use the joint names of this model from now on."""
        self._joint_state = JointState(name=list(model.joint_names))

    def publish_state(
        self, report: TickReport, model: LoadedModel, stamp: Any, joints: bool
    ) -> None:
        """Publish `~/reached/<name>` and, if `joints` is True, `~/joint_states` of a report."""
        if joints:
            message = self._joint_state
            message.header.stamp = stamp
            message.position, message.velocity = report.q.tolist(), report.velocity.tolist()
            message.effort = [] if report.effort is None else report.effort.tolist()
            self._joint_states.publish(message)
        for name, publisher in self.goal_topics.entities.items():
            if name in model.goal_links and publisher.get_subscription_count():
                reached = PoseStamped()
                reached.header.stamp, reached.header.frame_id = stamp, model.root_frame
                fill_pose(reached.pose, model.reached(name, report.q))
                publisher.publish(reached)

    def publish_status(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish `~/solve_status` and `~/residuals` of a tick."""
        if self._status.get_subscription_count():
            told = (report.solution, report.held, report.notes, report.under_way, model.robot.name)
            self._solve_status.header.stamp = stamp
            if told != self._told:
                self._told, rows = told, solve_rows(self._name, report)
                fill_diagnostics(self._solve_status, rows, stamp, model.robot.name)
            self._status.publish(self._solve_status)
        solution = report.solution
        if solution is not None and self._residuals.get_subscription_count():
            errors = [*solution.goal_errors.items(), *solution.closure_errors.items()]
            label, count = ','.join(name for name, _ in errors), len(errors)
            message = Float64MultiArray(data=[float(part) for _, each in errors for part in each])
            message.layout.dim = [
                MultiArrayDimension(label=label, size=count, stride=2 * count),
                MultiArrayDimension(label='position [m],orientation [rad]', size=2, stride=2),
            ]
            self._residuals.publish(message)

    def publish_diagnostics(self, rows: Sequence[StatusRow], stamp: Any, hardware_id: str) -> None:
        """Publish rows on /diagnostics."""
        message = DiagnosticArray()
        fill_diagnostics(message, rows, stamp, hardware_id)
        self._diagnostics.publish(message)
