"""
Messages of ros2_controllers, for the types alone: control_msgs is not among the wheels.

Fields, their defaults and the codes are those of the published definition; what they are made of
is real.
"""

from dataclasses import dataclass, field

from builtin_interfaces.msg import Duration
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


@dataclass
class JointJog:
    """As control_msgs/JointJog."""

    header: Header = field(default_factory=Header)
    joint_names: list = field(default_factory=list)
    displacements: list = field(default_factory=list)
    velocities: list = field(default_factory=list)
    duration: float = 0.0


class FollowJointTrajectory:
    """As control_msgs/FollowJointTrajectory."""

    @dataclass
    class Goal:
        """What is asked."""

        trajectory: JointTrajectory = field(default_factory=JointTrajectory)
        path_tolerance: list = field(default_factory=list)
        goal_tolerance: list = field(default_factory=list)
        goal_time_tolerance: Duration = field(default_factory=Duration)

    @dataclass
    class Result:
        """What is answered at the end."""

        SUCCESSFUL = 0
        INVALID_GOAL = -1
        INVALID_JOINTS = -2
        OLD_HEADER_TIMESTAMP = -3
        PATH_TOLERANCE_VIOLATED = -4
        GOAL_TOLERANCE_VIOLATED = -5

        error_code: int = 0
        error_string: str = ''

    @dataclass
    class Feedback:
        """What is answered meanwhile."""

        header: Header = field(default_factory=Header)
        joint_names: list = field(default_factory=list)
        desired: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
        actual: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
        error: JointTrajectoryPoint = field(default_factory=JointTrajectoryPoint)
