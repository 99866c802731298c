# flake8: noqa: E402, I100
"""Plans through the action: converted, followed by a controller, cancelled, refused."""

import sys
from types import ModuleType
from types import SimpleNamespace as Data

import pytest

pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus
from ik_node.ros.plans import plan_action
from ik_node.ros.plans.plan_action import add_plan_action
from ik_node.ros.plans.plan_conversion import PlanConversion
from rclpy.action import CancelResponse
from support.control_messages import FollowJointTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

MOTORS = ['motor_left', 'motor_right']
JOINTS = ['ankle_pitch', 'ankle_roll']
CONTROLLER = '/controller/follow_joint_trajectory'


class Later:
    """A result that comes when the test says so."""

    def __init__(self, value=None):
        self.value = value

    def __await__(self):
        """Wait until there is a value."""
        while self.value is None:
            yield
        return self.value


class Controller:
    """A controller as its action client sees it, and the goal that it follows."""

    def __init__(self, node, kind, name, callback_group):
        assert (kind, name) == (FollowJointTrajectory, CONTROLLER)
        self.ready = self.accepted = True
        self.request = self.feedback = None
        self.cancels = 0
        self.outcome = Later()

    def server_is_ready(self):
        """Tell whether the controller is there."""
        return self.ready

    def send_goal_async(self, request, feedback_callback):
        """Take a goal."""
        self.request, self.feedback = request, feedback_callback
        return Later(self)

    def cancel_goal_async(self):
        """Take a cancel."""
        self.cancels += 1

    def get_result_async(self):
        """Return the result, later."""
        return self.outcome

    def ends(self, status, code=0):
        """End the motion."""
        result = FollowJointTrajectory.Result(error_code=code)
        self.outcome.value = Data(status=status, result=result)


class Goal:
    """A goal as the server sees it."""

    def __init__(self, trajectory):
        self.request = FollowJointTrajectory.Goal(trajectory=trajectory)
        self.goal_id = Data(uuid=list(range(16)))
        self.is_cancel_requested = False
        self.state, self.feedback = '', []

    def succeed(self):
        """Succeed."""
        self.state = 'succeeded'

    def abort(self):
        """Abort."""
        self.state = 'aborted'

    def canceled(self):
        """End as cancelled."""
        self.state = 'canceled'

    def publish_feedback(self, feedback):
        """Keep feedback."""
        self.feedback.append(feedback)


class AtOnce:
    """Background work that is done at once."""

    async def run(self, work):
        """Return the result."""
        return work()


@pytest.fixture
def server(moving, monkeypatch):
    """Provide the action of an ankle, with its controller and its robot."""
    monkeypatch.setitem(sys.modules, 'control_msgs', ModuleType('control_msgs'))
    actions = ModuleType('control_msgs.action')
    actions.FollowJointTrajectory = FollowJointTrajectory
    monkeypatch.setitem(sys.modules, 'control_msgs.action', actions)
    monkeypatch.setattr(plan_action, 'ActionClient', Controller)
    monkeypatch.setattr(plan_action, 'ActionServer', lambda *given, **named: Data(**named))
    robot = moving(
        'ankle', actuated_joints=MOTORS, transmission__joints=JOINTS, output__type='commands'
    )
    robot.measure(motor_left=0.0, motor_right=0.0)
    logged = []
    log = Data(info=logged.append, warning=lambda text, once=False: logged.append(text))
    node = Data(get_logger=lambda: log)
    conversion = PlanConversion(robot.motion, lambda: robot.settings, lambda: robot.now, AtOnce())
    made = add_plan_action(node, CONTROLLER, conversion, robot.motion, lambda: robot.now)
    return Data(robot=robot, action=made, controller=made._client, logged=logged)


def plan(end=0.3):
    """Return a plan of two points."""
    message = JointTrajectory(joint_names=JOINTS)
    message.points.append(JointTrajectoryPoint(positions=[0.0, 0.0]))
    message.points.append(JointTrajectoryPoint(positions=[end, 0.1]))
    message.points[1].time_from_start.sec = 2
    return message


class Running:
    """A goal that is being executed."""

    def __init__(self, server, goal):
        self.goal, self.result = goal, None
        self._steps = server.action._execute(goal)
        self.step()

    def step(self):
        """Run until the goal waits for the controller, or ends."""
        try:
            self._steps.send(None)
        except StopIteration as end:
            self.result = end.value


@pytest.mark.parametrize(
    ('status', 'code', 'state'),
    [
        (GoalStatus.STATUS_SUCCEEDED, 0, 'succeeded'),
        (GoalStatus.STATUS_ABORTED, -5, 'aborted'),
        (GoalStatus.STATUS_CANCELED, 0, 'aborted'),
    ],
)
def test_controller_follows_the_plan_and_its_result_is_passed_on(server, status, code, state):
    """Motors move, not joints; a cancel that nobody asked for is a failure."""
    running = Running(server, Goal(plan()))
    sent = server.controller.request.trajectory
    assert list(sent.joint_names) == MOTORS
    assert len(sent.points) > 2
    assert running.result is None
    server.robot.tick()
    assert server.robot.motion.hardware.note == 'a joint-space plan is under way'
    server.controller.ends(status, code)
    running.step()
    assert (running.goal.state, running.result.error_code) == (state, code)


def test_feedback_is_in_the_joint_space(server):
    """Position errors are differences there."""
    running = Running(server, Goal(plan()))
    transmission = server.robot.model.robot.transmission(MOTORS, JOINTS)
    feedback = FollowJointTrajectory.Feedback(joint_names=MOTORS[::-1])
    for part, at in (('desired', [0.2, 0.05]), ('actual', [0.18, 0.04])):
        state = transmission.to_actuators(at, [0.1, 0.2])
        point = getattr(feedback, part)
        point.positions = state.actuator_position[::-1].tolist()
        point.velocities = state.actuator_velocity[::-1].tolist()
    server.controller.feedback(Data(feedback=feedback))
    (told,) = running.goal.feedback
    assert told.joint_names == JOINTS
    assert list(told.desired.positions) == pytest.approx([0.2, 0.05], abs=1e-8)
    assert list(told.actual.velocities) == pytest.approx([0.1, 0.2], abs=1e-8)
    assert list(told.error.positions) == pytest.approx([0.02, 0.01], abs=1e-8)
    server.controller.feedback(Data(feedback=FollowJointTrajectory.Feedback()))
    assert len(running.goal.feedback) == 1


def test_cancel_goes_to_the_controller(server):
    """The goal is cancelled when the controller has stopped."""
    running = Running(server, Goal(plan()))
    running.goal.is_cancel_requested = True
    assert server.action._on_cancel(running.goal) == CancelResponse.ACCEPT
    assert server.controller.cancels == 1
    assert running.result is None
    server.controller.ends(GoalStatus.STATUS_CANCELED)
    running.step()
    assert running.goal.state == 'canceled'


@pytest.mark.parametrize(
    ('end', 'ready', 'accepted', 'words'),
    [
        (0.9, True, True, 'ankle_pitch cannot be at'),
        (0.3, False, True, f'the controller does not offer {CONTROLLER}'),
        (0.3, True, False, 'refused the trajectory of the motors'),
    ],
)
def test_refused_goal_is_aborted_with_the_reason(server, end, ready, accepted, words):
    """The code is INVALID_GOAL; later commands of the node are not stopped."""
    server.controller.ready, server.controller.accepted = ready, accepted
    running = Running(server, Goal(plan(end)))
    assert running.goal.state == 'aborted'
    assert running.result.error_code == -1
    assert words in running.result.error_string
    assert any(words in text for text in server.logged)
    server.robot.tick()
    assert server.robot.motion.hardware.note == 'no goal yet'


def test_without_control_msgs_the_log_says_what_is_missing():
    """The node works without the action; without a controller nothing is said."""
    logged = []
    node = Data(get_logger=lambda: Data(warning=logged.append))
    assert add_plan_action(node, '', None, None, None) is None
    assert logged == []
    assert add_plan_action(node, CONTROLLER, None, None, None) is None
    assert 'control_msgs is not installed' in logged[0]
