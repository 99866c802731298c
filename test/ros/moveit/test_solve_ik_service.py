"""The service itself: offered where MoveIt's messages are, and never in the way of ticks."""

import sys
from types import ModuleType, SimpleNamespace

from ik_node.ros import moveit as ik_service
from ik_node.ros.moveit import add_ik_service, BackgroundWork
import numpy as np
import pytest
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger
from support import moveit_messages
from support.ik_asking import access_of, arm_text, Asking, moved, parts
from support.moveit_messages import GetPositionIK, request_for, stamped, state_of
from support.waiting import wait_until

BENT = np.array((0.3, 0.5, 0.9, 0.2, 0.6, -0.4))


class RecordingNode(Node):
    """A node that notes services of types which are none, and what is logged."""

    def __init__(self, context):
        super().__init__('ik_node', context=context)
        self.offered = []
        self.logged = []

    def create_service(self, kind, name, callback, **how):
        if kind is not GetPositionIK:
            return super().create_service(kind, name, callback, **how)
        self.offered.append(SimpleNamespace(kind=kind, name=name, callback=callback, **how))
        return self.offered[-1]

    def get_logger(self):
        return SimpleNamespace(
            info=lambda text, once: self.logged.append(('info', text)),
            warning=lambda text: self.logged.append(('warning', text)),
        )


@pytest.fixture
def node(context):
    node = RecordingNode(context)
    yield node
    node.destroy_node()


@pytest.fixture
def executor(context, node):
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield executor
    executor.shutdown()


@pytest.fixture
def moveit(monkeypatch):
    package, services = ModuleType('moveit_msgs'), ModuleType('moveit_msgs.srv')
    services.GetPositionIK = moveit_messages.GetPositionIK
    monkeypatch.setitem(sys.modules, 'moveit_msgs', package)
    monkeypatch.setitem(sys.modules, 'moveit_msgs.srv', services)


@pytest.fixture
def arm():
    asking = Asking(arm_text(6))
    asking.q = BENT.copy()
    return asking


def spin_until(executor, condition):
    wait_until(condition, 'it', meanwhile=lambda: executor.spin_once(timeout_sec=0.1))


def call(executor, node, request):
    (service,) = node.offered
    task = executor.create_task(service.callback, request, GetPositionIK.Response())
    spin_until(executor, task.done)
    return task.result()


def near(arm):
    wanted = moved(arm.place(BENT, 'link6'), 0.03)
    return request_for('link6', stamped(*parts(wanted)), state_of(arm.names, BENT)), wanted


def test_missing_moveit_msgs_is_logged_once(node, arm, monkeypatch):
    monkeypatch.setitem(sys.modules, 'moveit_msgs', None)
    add_ik_service(node, *access_of(arm), BackgroundWork(node))
    ((level, text),) = node.logged
    assert level == 'info'
    for word in ('~/solve_ik', 'moveit_msgs', 'srv_kinematics_plugin'):
        assert word in text
    assert node.offered == []


def test_service_answers_with_moveit_msgs(node, executor, arm, moveit):
    add_ik_service(node, *access_of(arm), BackgroundWork(node))
    (offered,) = node.offered
    assert (offered.kind, offered.name) == (GetPositionIK, '~/solve_ik')
    assert isinstance(offered.callback_group, MutuallyExclusiveCallbackGroup)
    assert offered.callback_group is not node.default_callback_group
    request, wanted = near(arm)
    response = call(executor, node, request)
    arm.check(response, {'link6': wanted})
    assert response.error_code.source == 'ik_node'
    assert node.logged == []


def test_request_before_the_first_robot_is_refused(node, executor, arm, moveit):
    add_ik_service(node, lambda: None, arm.lookup, BackgroundWork(node))
    response = call(executor, node, near(arm)[0])
    assert response.error_code.val == 99999
    assert 'no robot yet' in response.error_code.message


@pytest.mark.parametrize('place', ['read_request', 'IkCopy'])
def test_internal_error_is_answered(node, executor, arm, moveit, monkeypatch, place):
    def broken(*arguments):
        raise ZeroDivisionError('of all things')

    monkeypatch.setattr(ik_service, place, broken)
    add_ik_service(node, *access_of(arm), BackgroundWork(node))
    response = call(executor, node, near(arm)[0])
    assert response.error_code.val == 99999
    assert 'ZeroDivisionError: of all things' in response.error_code.message
    monkeypatch.undo()


# -- work beside the executor


@pytest.mark.parametrize('kind', [SingleThreadedExecutor, MultiThreadedExecutor])
def test_ticks_continue_during_a_long_request(context, node, kind):
    executor = kind(context=context)
    executor.add_node(node)
    work, ticks = BackgroundWork(node), []

    def long():
        begin = len(ticks)
        wait_until(lambda: len(ticks) >= begin + 5, 'ticks during the work')
        return 'done'

    async def answer(request, response):
        response.message = await work.run(long)
        return response

    node.create_service(Trigger, '~/long', answer, callback_group=MutuallyExclusiveCallbackGroup())
    node.create_timer(0.02, lambda: ticks.append(None))
    client = node.create_client(Trigger, '~/long', callback_group=MutuallyExclusiveCallbackGroup())
    spin_until(executor, client.service_is_ready)
    futures = [client.call_async(Trigger.Request()) for _ in range(2)]
    spin_until(executor, lambda: all(future.done() for future in futures))
    assert [future.result().message for future in futures] == ['done', 'done']
    executor.shutdown()
