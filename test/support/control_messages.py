"""
Messages of ros2_controllers, for the types alone: control_msgs is not among the wheels.

Fields, their defaults and the codes are those of the published definition.
"""

from builtin_interfaces.msg import Duration
from std_msgs.msg import Header
from support.moveit_messages import message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

JointJog = message(
    'JointJog', header=Header, joint_names=list, displacements=list, velocities=list, duration=0.0
)


class FollowJointTrajectory:
    """As control_msgs/FollowJointTrajectory."""

    Goal = message(
        'Goal',
        trajectory=JointTrajectory,
        path_tolerance=list,
        goal_tolerance=list,
        goal_time_tolerance=Duration,
    )

    class Result(message('Result', error_code=0, error_string='')):
        """What is answered at the end."""

        SUCCESSFUL = 0
        INVALID_GOAL = -1
        INVALID_JOINTS = -2
        OLD_HEADER_TIMESTAMP = -3
        PATH_TOLERANCE_VIOLATED = -4
        GOAL_TOLERANCE_VIOLATED = -5

    Feedback = message(
        'Feedback',
        header=Header,
        joint_names=list,
        **dict.fromkeys(('desired', 'actual', 'error'), JointTrajectoryPoint),
    )
