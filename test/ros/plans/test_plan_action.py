"""Plans through the action: converted, followed by a controller, cancelled, refused."""

import sys
from types import ModuleType
from types import SimpleNamespace as Data

from action_msgs.msg import GoalStatus
from ik_node.ros import plans as plan_action
from ik_node.ros.control.motion import FollowedPlan
from ik_node.ros.outputs import CommandPublishers
from ik_node.ros.parameters.settings import outlets_of_all
from ik_node.ros.plans import add_plan_action, PlanConversion
import pytest
from rclpy.action import CancelResponse
from rclpy.task import Future
from support.control_messages import FollowJointTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

MOTORS = ['motor_left', 'motor_right']
JOINTS = ['ankle_pitch', 'ankle_roll']
CONTROLLER = '/controller/follow_joint_trajectory'


def done(value):
    future = Future()
    future.set_result(value)
    return future


class Controller:
    """A controller as its action client sees it, and the goal that it follows."""

    def __init__(self, node, kind, name, callback_group):
        assert kind is FollowJointTrajectory
        self.name = name
        self.ready = self.accepted = self.answers = True
        self.request = self.feedback = None
        self.cancels = 0
        self.outcome = Future()

    def server_is_ready(self):
        return self.ready

    def send_goal_async(self, request, feedback_callback):
        self.request, self.feedback = request, feedback_callback
        return done(self) if self.answers else Future()

    def cancel_goal_async(self):
        self.cancels += 1

    def get_result_async(self):
        return self.outcome

    def ends(self, status, code=0):
        result = FollowJointTrajectory.Result(error_code=code)
        self.outcome.set_result(Data(status=status, result=result))


class Goal:
    """A goal as the server sees it."""

    def __init__(self, trajectory):
        self.request = FollowJointTrajectory.Goal(trajectory=trajectory)
        self.goal_id = Data(uuid=list(range(16)))
        self.is_cancel_requested = False
        self.state, self.feedback = '', []

    def succeed(self):
        self.state = 'succeeded'

    def abort(self):
        self.state = 'aborted'

    def canceled(self):
        self.state = 'canceled'

    def publish_feedback(self, feedback):
        self.feedback.append(feedback)


class AtOnce:
    """Background work that is done at once."""

    async def run(self, work):
        return work()


@pytest.fixture
def server(moving, monkeypatch):
    served = serve(moving, monkeypatch, output__type='commands')
    (served.controller,) = served.controllers
    return served


@pytest.fixture
def pair(moving, monkeypatch):
    """Provide the action of an ankle, each motor of which has its own controller."""
    groups = {'output__groups': ('left', 'right')}
    for side in ('left', 'right'):
        groups[f'output__{side}__joints'] = (f'motor_{side}',)
        groups[f'output__{side}__action'] = f'/{side}/follow_joint_trajectory'
    return serve(moving, monkeypatch, **groups)


def serve(moving, monkeypatch, **outputs):
    monkeypatch.setitem(sys.modules, 'control_msgs', ModuleType('control_msgs'))
    actions = ModuleType('control_msgs.action')
    actions.FollowJointTrajectory = FollowJointTrajectory
    monkeypatch.setitem(sys.modules, 'control_msgs.action', actions)
    monkeypatch.setattr(plan_action, 'ActionClient', Controller)
    monkeypatch.setattr(plan_action, 'ActionServer', lambda *given, **named: Data(**named))
    robot = moving('ankle', actuated_joints=MOTORS, transmission__joints=JOINTS, **outputs)
    robot.measure(motor_left=0.0, motor_right=0.0)
    logged = []
    log = Data(info=logged.append, warning=lambda text, once=False: logged.append(text))
    timers = []
    node = Data(get_logger=lambda: log, create_timer=lambda *given, **named: timers.append(given))
    conversion = PlanConversion(
        robot.motion, lambda: robot.settings, Data(now=lambda: robot.now, of=robot.of), AtOnce()
    )
    outlets = robot.settings.outlets
    if not robot.settings.groups:
        outlets = outlets_of_all('none', CONTROLLER)
    publishers = CommandPublishers(node)
    made = add_plan_action(node, outlets, conversion, publishers)
    controllers = [client for _, client in made._clients]
    _, check = timers[-1]
    return Data(robot=robot, action=made, controllers=controllers, logged=logged, check=check)


def plan(end=0.3):
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
    server.robot.tick()
    assert server.robot.motion.hardware.note == 'no goal yet'


def test_feedback_is_in_the_joint_space(server):
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
    running = Running(server, Goal(plan()))
    running.goal.is_cancel_requested = True
    assert server.action._on_cancel(running.goal) == CancelResponse.ACCEPT
    assert server.controller.cancels == 1
    assert running.result is None
    server.controller.ends(GoalStatus.STATUS_CANCELED)
    running.step()
    assert running.goal.state == 'canceled'


def test_plan_ends_when_its_controller_is_gone(server):
    """The client gets a result with the reason, and a controller that comes back a cancel."""
    running = Running(server, Goal(plan()))
    server.check()
    running.step()
    assert running.result is None
    server.controller.ready = False
    server.check()
    running.step()
    assert (running.goal.state, running.result.error_code) == ('aborted', -1)
    assert running.result.error_string == f'{CONTROLLER} is gone: its controller has ended'
    assert server.controller.cancels == 1
    server.robot.tick()
    assert server.robot.motion.hardware.note == 'no goal yet'


@pytest.mark.parametrize(
    ('answers', 'early', 'late', 'words'),
    [(True, 7.9, 8.1, 'gives no result, 6.1 s after'), (False, 4.9, 5.1, 'does not answer')],
)
def test_plan_ends_when_it_should_have_ended_long_ago(server, answers, early, late, words):
    """Its controller is there, but gives no result, or no answer to the plan at all."""
    server.controller.answers = answers
    begin = server.robot.now
    running = Running(server, Goal(plan()))
    for passed, result in ((early, False), (late, True)):
        server.robot.now = begin + passed
        server.check()
        running.step()
        assert (running.result is not None) == result
    assert running.goal.state == 'aborted'
    assert words in running.result.error_string


def test_plan_is_split_among_groups_and_their_results_are_joined(pair):
    """It succeeds when all have followed it; feedback comes once the motors of all are known."""
    left, right = pair.controllers
    running = Running(pair, Goal(plan()))
    times = []
    for controller, name in ((left, 'motor_left'), (right, 'motor_right')):
        assert controller.request.trajectory.joint_names == [name]
        times.append([each.time_from_start for each in controller.request.trajectory.points])
    assert times[0] == times[1]
    for controller, name in ((left, 'motor_left'), (right, 'motor_right')):
        assert running.goal.feedback == []
        feedback = FollowJointTrajectory.Feedback(joint_names=[name])
        for part in (feedback.desired, feedback.actual):
            part.positions = [0.0]
        controller.feedback(Data(feedback=feedback))
    assert list(running.goal.feedback[0].actual.positions) == pytest.approx([0.0, 0.0], abs=1e-6)
    left.ends(GoalStatus.STATUS_SUCCEEDED)
    running.step()
    assert running.result is None
    right.ends(GoalStatus.STATUS_SUCCEEDED)
    running.step()
    assert running.goal.state == 'succeeded'


@pytest.mark.parametrize('how', ['aborts', 'refuses', 'goes'])
def test_one_controller_that_fails_ends_the_plan_of_all(pair, how):
    left, right = pair.controllers
    right.accepted = how != 'refuses'
    running = Running(pair, Goal(plan()))
    if how == 'aborts':
        right.ends(GoalStatus.STATUS_ABORTED, -4)
    elif how == 'goes':
        right.ready = False
        pair.check()
    if how != 'refuses':
        running.step()
    assert running.goal.state == 'aborted'
    assert running.result.error_code == (-4 if how == 'aborts' else -1)
    assert '/right/follow_joint_trajectory' in running.result.error_string
    assert left.cancels == 1


def test_plan_under_way_stays_known_when_a_newer_one_is_refused(server):
    first = Running(server, Goal(plan()))
    server.controller.accepted = False
    second = Goal(plan())
    second.goal_id = Data(uuid=list(range(1, 17)))
    assert Running(server, second).result.error_code == -1
    server.robot.tick()
    assert server.robot.motion.hardware.note == 'a joint-space plan is under way'
    server.robot.motion.end_plan('the node ends')
    assert server.controller.cancels == 1
    server.controller.ends(GoalStatus.STATUS_CANCELED)
    first.step()
    assert first.goal.state == 'aborted'


def test_plan_on_the_topic_is_not_stopped_once_another_one_replaced_it(server):
    """Its end would move the motors away from the new one."""
    motion, stopped = server.robot.motion, []
    motion.follow_plan(FollowedPlan(lambda reason: stopped.append('first'), True, 1e9))
    motion.follow_plan(FollowedPlan(lambda reason: stopped.append('second'), True, 1e9))
    running = Running(server, Goal(plan()))
    assert running.result is None
    motion.end_plan('reset')
    assert (stopped, server.controller.cancels) == ([], 1)


@pytest.mark.parametrize('how', ['pause', 'reset', 'command', 'end'])
def test_plan_is_cancelled_when_the_node_stops_or_something_else_leads(server, how):
    robot, words = server.robot, {'pause': 'paused', 'command': 'a newer goal or command'}
    running = Running(server, Goal(plan()))
    robot.tick()
    assert server.controller.cancels == 0
    if how == 'pause':
        robot.motion.paused = True
    elif how == 'reset':
        robot.motion.reset(robot.tracker)
    elif how == 'end':
        robot.motion.end_plan('the node ends')
    else:
        robot.command(positions={'ankle_pitch': 0.1})
    robot.tick()
    assert server.controller.cancels == 1
    server.controller.ends(GoalStatus.STATUS_CANCELED)
    running.step()
    assert running.goal.state == 'aborted'
    assert words.get(how, how) in running.result.error_string
    assert robot.motion.hardware.note != 'a joint-space plan is under way'


def test_no_command_goes_out_while_controllers_decide_about_a_plan(server):
    """It would replace the plan; if they refuse the plan, commands go on."""
    server.robot.command(positions={'ankle_pitch': 0.1})
    assert server.robot.tick()[1] is not None
    server.controller.answers = False
    running = Running(server, Goal(plan()))
    assert server.robot.tick()[1] is None
    server.controller.ready = False
    server.check()
    running.step()
    assert running.goal.state == 'aborted'
    assert server.robot.tick()[1] is not None


@pytest.mark.parametrize(
    ('change', 'code', 'words'),
    [
        (lambda message: setattr(message, 'joint_names', JOINTS[:1]), -2, 'joints'),
        (lambda message: setattr(message.header.stamp, 'sec', 97), -3, 'ended 1 s ago'),
        (lambda message: setattr(message.points[1], 'positions', [9.0, 0.1]), -1, 'ankle_pitch'),
    ],
)
def test_refused_plan_has_the_code_of_its_reason(server, change, code, words):
    message = plan()
    change(message)
    running = Running(server, Goal(message))
    assert running.result.error_code == code
    assert words in running.result.error_string


@pytest.mark.parametrize(
    ('end', 'ready', 'accepted', 'words'),
    [
        (0.9, True, True, 'ankle_pitch cannot be at'),
        (0.3, False, True, f'the controller does not offer {CONTROLLER}'),
        (0.3, True, False, 'refused the trajectory of the motors'),
    ],
)
def test_refused_goal_is_aborted_with_the_reason(server, end, ready, accepted, words):
    server.controller.ready, server.controller.accepted = ready, accepted
    running = Running(server, Goal(plan(end)))
    assert running.goal.state == 'aborted'
    assert running.result.error_code == -1
    assert words in running.result.error_string
    assert any(words in text for text in server.logged)
    server.robot.tick()
    assert server.robot.motion.hardware.note == 'no goal yet'


def test_without_control_msgs_the_log_says_what_is_missing(monkeypatch):
    """The node works without the action; without a controller nothing is said."""
    monkeypatch.setitem(sys.modules, 'control_msgs', None)
    logged = []
    node = Data(get_logger=lambda: Data(warning=lambda text, once: logged.append(text)))
    assert add_plan_action(node, outlets_of_all('both', ''), None, None) is None
    assert logged == []
    outlets = outlets_of_all('both', CONTROLLER)
    assert add_plan_action(node, outlets, None, None) is None
    assert 'control_msgs is not installed' in logged[0]
