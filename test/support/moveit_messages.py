"""
Messages of MoveIt, for the types alone: moveit_msgs is not among the wheels.

Fields and their defaults are those of the published definitions; what they are made of is real.
"""

from types import SimpleNamespace
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Pose, PoseStamped
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Header


def message(name: str, **defaults: Any) -> Any:
    """Return a class with these fields; the default of a field is a number, text or class."""

    def begin(self: Any, **fields: Any) -> None:
        assert fields.keys() <= defaults.keys(), fields
        made = {n: each() if callable(each) else each for n, each in defaults.items()}
        SimpleNamespace.__init__(self, **made | fields)

    return type(name, (SimpleNamespace,), {'__init__': begin})


RobotState = message(
    'RobotState',
    joint_state=JointState,
    multi_dof_joint_state=MultiDOFJointState,
    attached_collision_objects=list,
    is_diff=False,
)
KINDS = ('joint', 'position', 'orientation', 'visibility')
Constraints = message('Constraints', **{f'{kind}_constraints': list for kind in KINDS})
PositionIKRequest = message(
    'PositionIKRequest',
    group_name='',
    robot_state=RobotState,
    constraints=Constraints,
    avoid_collisions=False,
    ik_link_name='',
    pose_stamped=PoseStamped,
    ik_link_names=list,
    pose_stamped_vector=list,
    timeout=Duration,
)
OldErrorCodes = message('OldErrorCodes', val=0)  # of Humble
ErrorCodes = message('ErrorCodes', val=0, message='', source='')


class GetPositionIK:
    """As moveit_msgs/GetPositionIK."""

    Request = message('Request', ik_request=PositionIKRequest)
    Response = message('Response', solution=RobotState, error_code=ErrorCodes)


CollisionObject = message(
    'CollisionObject',
    header=Header,
    pose=Pose,
    id='',
    operation=b'\x00',
    **dict.fromkeys(('primitives', 'primitive_poses', 'meshes', 'mesh_poses'), list),
    **dict.fromkeys(('planes', 'plane_poses'), list),
)
ENTRIES = ('entry_names', 'entry_values', 'default_entry_names', 'default_entry_values')
AllowedCollisionMatrix = message('AllowedCollisionMatrix', **dict.fromkeys(ENTRIES, list))
PlanningScene = message(
    'PlanningScene',
    robot_state=RobotState,
    allowed_collision_matrix=AllowedCollisionMatrix,
    link_padding=list,
    link_scale=list,
    world=lambda: SimpleNamespace(
        collision_objects=[], octomap=SimpleNamespace(octomap=SimpleNamespace(data=[]))
    ),
    is_diff=True,
)


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
