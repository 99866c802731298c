"""Publishers of joint states, reached poses, transforms, solve status and diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TransformStamped
from ik_node.errors import IkError
from ik_node.model.rotation import Array, pose_from_matrix, pose_inverse
from ik_node.robot import Robot
from ik_node.ros.loading.loaded_model import LoadedModel, multi_dof_joint_links
from ik_node.ros.messages.convert import fill_pose, Pose
from ik_node.ros.messages.names import base_poses, frame_name, root_frame
from ik_node.ros.messages.status_row import fill_diagnostics, status_name, StatusRow
from ik_node.ros.outputs.diagnostics import (
    residual_labels,
    residual_numbers,
    solve_rows,
    TickReport,
)
from ik_node.ros.process.named_entities import add_publisher, LATCHED, NamedEntities
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
        """
        Send the transforms of one configuration.

        `prefix`: prefix of link names.
        """
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


class ResidualOutput:
    """The publisher of residuals as numbers, labelled with the names of goals and closures."""

    def __init__(self, node: Node) -> None:
        self._publisher = add_publisher(node, Float64MultiArray, '~/residuals')
        self._message = Float64MultiArray()
        self._labels: tuple[str, ...] | None = None

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick as `NodeOutputs.publish_status` does; without a solve, nothing."""
        solution = report.solution
        if solution is None or not self._publisher.get_subscription_count():
            return
        labels = residual_labels(solution)
        if labels != self._labels:
            self._labels = labels
            self._message.layout.dim = [
                MultiArrayDimension(
                    label=','.join(labels), size=len(labels), stride=2 * len(labels)
                ),
                MultiArrayDimension(label='position [m],orientation [rad]', size=2, stride=2),
            ]
        self._message.data = residual_numbers(solution)
        self._publisher.publish(self._message)


class StatusOutput:
    """The publisher of the solver's status of each chain."""

    def __init__(self, node: Node) -> None:
        self._name = status_name(node)
        self._publisher = add_publisher(node, DiagnosticArray, '~/solve_status')
        self._message = DiagnosticArray()
        self._last_content: tuple[object, ...] = ()

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one tick, see `NodeOutputs.publish_status`."""
        if not self._publisher.get_subscription_count():
            return
        content = (report.solution, report.held, report.notes, report.under_way, model.robot.name)
        if content == self._last_content:
            self._message.header.stamp = stamp
        else:
            self._last_content = content
            rows = solve_rows(self._name, report)
            fill_diagnostics(self._message, rows, stamp, model.robot.name)
        self._publisher.publish(self._message)


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


# Largest number of goals per tick whose topics are checked for subscribers.
_CHECKED_PER_TICK = 64


class ReachedOutput:
    """The publishers of the reached pose of each goal's frame."""

    def __init__(self, node: Node) -> None:
        # One publisher `~/reached/<name>` for each goal.
        self.topics = NamedEntities(
            'goal',
            '~/reached/{}',
            node.resolve_topic_name,
            lambda name, topic: add_publisher(node, PoseStamped, topic),
            node.destroy_publisher,
        )
        self._next_goal = 0
        self._subscribed: set[str] = set()

    def publish(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish one configuration, see `NodeOutputs.publish_state`."""
        goals = model.request.goals
        # Counting the subscribers of a thousand goals would take longer than a tick.
        first = self._next_goal if self._next_goal < len(goals) else 0
        self._next_goal = first + _CHECKED_PER_TICK
        checked = {goal.name for goal in goals[first : self._next_goal]} | self._subscribed
        self._subscribed = {name for name in checked if self._publish(name, report, model, stamp)}

    def _publish(self, name: str, report: TickReport, model: LoadedModel, stamp: Any) -> bool:
        """Publish one goal's pose if its topic has subscribers; return True if it has."""
        publisher = self.topics.entities.get(name)
        if publisher is None or name not in model.goal_links:
            return False
        if not publisher.get_subscription_count():
            return False
        message = PoseStamped()
        message.header.stamp = stamp
        message.header.frame_id = model.root_frame
        fill_pose(message.pose, model.reached(name, report.q))
        publisher.publish(message)
        return True


class JointStateOutput:
    """The publisher of joint states. Its message is reused, so that the names stay the same."""

    def __init__(self, node: Node) -> None:
        self._publisher = add_publisher(node, JointState, '~/joint_states')
        self._message = JointState()

    def set_model(self, model: LoadedModel) -> None:
        """Use the joint names of this model from now on."""
        self._message = JointState(name=list(model.joint_names))

    def publish(
        self, position: Array, velocity: Array, stamp: Any, effort: Array | None = None
    ) -> None:
        """
        Publish one configuration.

        `effort` (nq,): efforts [N m or N]; None = unknown.
        """
        message = self._message
        message.header.stamp = stamp
        message.position, message.velocity = position.tolist(), velocity.tolist()
        message.effort = [] if effort is None else effort.tolist()
        self._publisher.publish(message)


class NodeOutputs:
    """The publishers of each tick. Messages without subscribers are not computed."""

    def __init__(self, node: Node) -> None:
        self._joint_states = JointStateOutput(node)
        self._diagnostics = add_publisher(node, DiagnosticArray, '/diagnostics')
        self._reached = ReachedOutput(node)
        self._every_tick = (StatusOutput(node), ResidualOutput(node))

    @property
    def goal_topics(self) -> NamedEntities:
        """Return the publishers `~/reached/<name>`."""
        return self._reached.topics

    def set_model(self, model: LoadedModel) -> None:
        """Use the joint names of this model from now on."""
        self._joint_states.set_model(model)

    def publish_state(
        self, report: TickReport, model: LoadedModel, stamp: Any, joints: bool
    ) -> None:
        """
        Publish the configuration of a report: `~/joint_states` and `~/reached/<name>`.

        `report`: the configuration and its velocity. `model`: the model that the report is of.
        `stamp`: time of the configuration: that of the tick or of the measurement. `joints`: True
        to publish `~/joint_states` this time.
        """
        if joints:
            self._joint_states.publish(report.q, report.velocity, stamp, report.effort)
        self._reached.publish(report, model, stamp)

    def publish_status(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish `~/solve_status` and `~/residuals` of a tick; for arguments see above."""
        for output in self._every_tick:
            output.publish(report, model, stamp)

    def publish_diagnostics(self, rows: Sequence[StatusRow], stamp: Any, hardware_id: str) -> None:
        """Publish rows on /diagnostics."""
        message = DiagnosticArray()
        fill_diagnostics(message, rows, stamp, hardware_id)
        self._diagnostics.publish(message)
