# flake8: noqa: E402, I100
"""What is rarely called waits for a moment, never for long, and never runs beside a tick."""

import time

import pytest

pytest.importorskip('rclpy')

from ik_node.ros.process.rare_callbacks import MOST, PAUSE, RareCallbacks
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger
from support.waiting import wait_until

pytestmark = pytest.mark.ros

# Services that somebody may be in a hurry for.
PROMPT = {'/ik_node/enable', '/ik_node/solve_ik'}


class Entity:
    """Something that an executor waits for."""

    callback_group = None


def test_it_opens_for_two_ticks_at_a_time():
    """Open before the first tick, then closed until it is time again."""
    rare = RareCallbacks(MutuallyExclusiveCallbackGroup())
    assert rare.is_open
    seen = []
    for now in (1.0, 1.002, 1.004, 1.006, 1.0 + PAUSE, 1.002 + PAUSE, 1.004 + PAUSE):
        rare.tick(now)
        seen.append(rare.is_open)
    assert seen == [True, True, False, False, True, True, False]


def test_slow_ticks_leave_it_open():
    """Below twenty ticks a second it is looked at with each."""
    rare = RareCallbacks(MutuallyExclusiveCallbackGroup())
    for k in range(5):
        rare.tick(1.01 * k * PAUSE)
        assert rare.is_open


def test_who_calls_once_may_call_again_at_once():
    """A script that sets parameters one by one does not wait for every one of them."""
    rare = RareCallbacks(MutuallyExclusiveCallbackGroup())
    service = Entity()
    rare.take(service)
    for now in (1.0, 1.002):
        rare.tick(now)
    assert rare.beginning_execution(service)
    rare.ending_execution(service)
    seen = []
    for share in (0.1, 0.9, 1.05, 1.2, 1.3):
        rare.tick(1.0 + share * PAUSE)
        seen.append(rare.is_open)
    # At a tenth it hears of the call; at 1.05 it is time again.
    assert seen == [True, True, True, True, False]


@pytest.mark.parametrize('pause', [0.0, PAUSE])
@pytest.mark.parametrize('count', [MOST, MOST + 1, 2 * MOST, 1000])
def test_many_are_looked_at_in_turn(pause, count):
    """All within a bounded number of looks, also where a tick comes first in each round."""
    ticks = MutuallyExclusiveCallbackGroup()
    rare = RareCallbacks(ticks, pause)
    entities, other = [Entity() for _ in range(count)], Entity()
    rare.take(*entities)
    everything = [other, *entities]
    waiting, now = set(entities), 1.0
    for _ in range(3 * (2 + 2 * count // MOST)):
        for _ in range(2):
            # An executor asks, waits, is called by the timer, and asks again.
            gathered = rare.present(everything)
            assert other in gathered
            now += 0.6 * max(pause, 0.01)
            rare.tick(now)
            if rare.is_open:
                waiting -= set(gathered) & set(rare.present(everything))
    assert not waiting


def test_what_was_called_is_looked_at_every_time_for_a_while():
    """A goal that is sent a hundred times a second does not wait for its turn among many."""
    rare = RareCallbacks(MutuallyExclusiveCallbackGroup(), pause=0.0)
    entities = [Entity() for _ in range(1000)]
    rare.take(*entities)
    rare.tick(1.0)
    called = entities[700]
    rare.beginning_execution(called)
    rare.ending_execution(called)
    seen = []
    for k in range(300):
        rare.tick(1.0 + 0.01 * k)
        seen.append(called in rare.present(entities))
    assert all(seen[:100])
    assert not all(seen[101:])


def test_everything_is_looked_at_where_no_tick_comes():
    """Before the first, and while simulated time stands still."""
    rare = RareCallbacks(MutuallyExclusiveCallbackGroup())
    entities = [Entity() for _ in range(1000)]
    rare.take(*entities)
    assert len(rare.present(entities)) == 1000
    rare.tick(1.0)
    assert len(rare.present(entities)) == MOST
    rare.look()
    assert len(rare.present(entities)) == MOST
    rare.look()
    assert len(rare.present(entities)) == 1000


def test_it_can_be_opened_where_no_tick_comes():
    """Until the next tick."""
    rare = RareCallbacks(MutuallyExclusiveCallbackGroup())
    for now in (1.0, 1.002, 1.004):
        rare.tick(now)
    assert not rare.is_open
    rare.look()
    assert rare.is_open
    rare.tick(1.006)
    assert not rare.is_open


def test_what_it_has_excludes_what_the_ticks_exclude():
    """Nothing of it begins while a callback of the ticks' group runs, nor the other way round."""
    ticks = MutuallyExclusiveCallbackGroup()
    rare = RareCallbacks(ticks)
    service, timer = Entity(), Entity()
    rare.take(service)
    ticks.add_entity(timer)
    assert service.callback_group is rare
    assert rare.can_execute(service)
    assert ticks.beginning_execution(timer)
    assert not rare.can_execute(service)
    assert not rare.beginning_execution(service)
    ticks.ending_execution(timer)
    assert rare.beginning_execution(service)
    assert not ticks.can_execute(timer)
    rare.ending_execution(service)
    assert ticks.can_execute(timer)
    rare.is_open = False
    assert not rare.can_execute(service)


@pytest.mark.parametrize(
    ('executor_type', 'period', 'work'),
    [
        (SingleThreadedExecutor, 1e-5, 0.003),
        (SingleThreadedExecutor, 0.002, 0.0),
        (MultiThreadedExecutor, 0.002, 0.0),
    ],
    ids=['late', 'in time', 'threads'],
)
def test_requests_are_served(context, executor_type, period, work):
    """Also where a timer is ready at every look, and comes first each time."""
    node = rclpy.create_node('busy', context=context)
    client = rclpy.create_node('client', context=context)
    rare = RareCallbacks(node.default_callback_group)

    def tick():
        rare.tick(time.perf_counter())
        time.sleep(work)

    def answer(request, response):
        response.success = True
        return response

    node.create_timer(period, tick)
    node.create_service(Trigger, 'ask', answer, callback_group=rare)
    asking = client.create_client(Trigger, 'ask')
    executor = executor_type(context=context)
    for each in (node, client):
        executor.add_node(each)

    def turn():
        executor.spin_once(timeout_sec=0.01)

    wait_until(asking.service_is_ready, 'the service', meanwhile=turn)
    for _ in range(3):
        future = asking.call_async(Trigger.Request())
        wait_until(future.done, 'the answer', meanwhile=turn)
        assert future.result().success
    executor.shutdown()
    for each in (node, client):
        each.destroy_node()


def test_the_node_has_services_and_events_in_it(context, urdf):
    """All but what stops the robot, and what MoveIt asks for again and again."""
    from ik_node.ros.node import IkNode

    overrides = {'robot_description': urdf('hexapod'), 'goal_names': ['hand'], 'rate': 250.0}
    node = IkNode(
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()],
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def turn():
        executor.spin_once(timeout_sec=0.01)

    def groups():
        return {each.service_name: each.callback_group for each in node.services}

    closure = '/ik_node/closures/leg0_ball/enable'
    services = wait_until(groups, closure, ready=lambda known: closure in known, meanwhile=turn)
    rare = {name for name, group in services.items() if isinstance(group, RareCallbacks)}
    assert '/ik_node/enable' in services
    assert services.keys() - rare <= PROMPT
    expected = ('set_parameters', 'reset', 'goals/hand/enable', 'closures/leg0_ball/enable')
    assert rare >= {f'/ik_node/{name}' for name in expected}
    events = [each.callback_group for each in node.waitables]
    assert len(events) > 8
    assert all(isinstance(group, RareCallbacks) for group in events)
    # Between looks executors see nothing of it.
    wait_until(lambda: not list(node.waitables), 'no waitables', meanwhile=turn)
    assert {each.service_name for each in node.services} == services.keys() - rare
    executor.shutdown()
    node.destroy_node()
