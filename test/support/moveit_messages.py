"""
Messages of MoveIt, for the types alone: moveit_msgs is not among the wheels.

Fields and their defaults are those of the published definitions; what they are made of is real.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Pose, PoseStamped
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Header


@dataclass
class RobotState:
    """As moveit_msgs/RobotState."""

    joint_state: JointState = field(default_factory=JointState)
    multi_dof_joint_state: MultiDOFJointState = field(default_factory=MultiDOFJointState)
    attached_collision_objects: list = field(default_factory=list)
    is_diff: bool = False


@dataclass
class Constraints:
    """As moveit_msgs/Constraints."""

    name: str = ''
    joint_constraints: list = field(default_factory=list)
    position_constraints: list = field(default_factory=list)
    orientation_constraints: list = field(default_factory=list)
    visibility_constraints: list = field(default_factory=list)


@dataclass
class PositionIKRequest:
    """As moveit_msgs/PositionIKRequest."""

    group_name: str = ''
    robot_state: RobotState = field(default_factory=RobotState)
    constraints: Constraints = field(default_factory=Constraints)
    avoid_collisions: bool = False
    ik_link_name: str = ''
    pose_stamped: PoseStamped = field(default_factory=PoseStamped)
    ik_link_names: list = field(default_factory=list)
    pose_stamped_vector: list = field(default_factory=list)
    timeout: Duration = field(default_factory=Duration)


@dataclass
class OldErrorCodes:
    """As moveit_msgs/MoveItErrorCodes of Humble."""

    val: int = 0


@dataclass
class ErrorCodes(OldErrorCodes):
    """As moveit_msgs/MoveItErrorCodes of later distributions."""

    message: str = ''
    source: str = ''


class GetPositionIK:
    """As moveit_msgs/GetPositionIK."""

    @dataclass
    class Request:
        """What is asked."""

        ik_request: PositionIKRequest = field(default_factory=PositionIKRequest)

    @dataclass
    class Response:
        """What is answered."""

        solution: RobotState = field(default_factory=RobotState)
        error_code: Any = field(default_factory=ErrorCodes)


def stamped(position: Any, quat_xyzw: Any = (0, 0, 0, 1), frame_id: str = '') -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame_id
    point, turn = message.pose.position, message.pose.orientation
    point.x, point.y, point.z = map(float, position)
    turn.x, turn.y, turn.z, turn.w = map(float, quat_xyzw)
    return message


def state_of(names: Any, values: Any) -> RobotState:
    positions = [float(value) for value in values]
    return RobotState(joint_state=JointState(name=list(names), position=positions))


def request_for(link: str, pose: PoseStamped, state: RobotState | None = None) -> Any:
    asked = PositionIKRequest(
        group_name='manipulator',
        robot_state=RobotState() if state is None else state,
        avoid_collisions=True,
        ik_link_name=link,
        pose_stamped=pose,
    )
    return GetPositionIK.Request(ik_request=asked)


@dataclass
class CollisionObject:
    """As moveit_msgs/CollisionObject."""

    header: Header = field(default_factory=Header)
    pose: Pose = field(default_factory=Pose)
    id: str = ''
    primitives: list = field(default_factory=list)
    primitive_poses: list = field(default_factory=list)
    meshes: list = field(default_factory=list)
    mesh_poses: list = field(default_factory=list)
    planes: list = field(default_factory=list)
    plane_poses: list = field(default_factory=list)
    operation: int = 0


@dataclass
class AllowedCollisionMatrix:
    """As moveit_msgs/AllowedCollisionMatrix."""

    entry_names: list = field(default_factory=list)
    entry_values: list = field(default_factory=list)
    default_entry_names: list = field(default_factory=list)
    default_entry_values: list = field(default_factory=list)


def _world() -> Any:
    octomap = SimpleNamespace(octomap=SimpleNamespace(data=[]))
    return SimpleNamespace(collision_objects=[], octomap=octomap)


@dataclass
class PlanningScene:
    """As moveit_msgs/PlanningScene."""

    robot_state: RobotState = field(default_factory=RobotState)
    allowed_collision_matrix: AllowedCollisionMatrix = field(
        default_factory=AllowedCollisionMatrix
    )
    link_padding: list = field(default_factory=list)
    link_scale: list = field(default_factory=list)
    world: Any = field(default_factory=_world)
    is_diff: bool = True
