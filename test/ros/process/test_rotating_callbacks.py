# flake8: noqa: E402, I100
"""With hundreds of goals an executor waits for a part of them at a time, and misses none."""

import time

import pytest

pytest.importorskip('rclpy')

from ik_node.ros.process.rotating_callbacks import MOST, RotatingCallbacks
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger
from support.waiting import wait_until

pytestmark = pytest.mark.ros


class Entity:
    """An entity that an executor waits for."""

    callback_group = None


def group_of(count):
    """Return a group, its entities, and the same with one of another group before them."""
    group = RotatingCallbacks(MutuallyExclusiveCallbackGroup())
    entities, other = [Entity() for _ in range(count)], Entity()
    group.take(*entities)
    return group, entities, [other, *entities]


@pytest.mark.parametrize('count', [MOST, MOST + 1, 2 * MOST, 1000])
def test_every_entity_is_selected_twice_in_a_row_within_bounded_ticks(count):
    """An executor asks before it waits and again after the tick that ended the wait."""
    group, entities, everything = group_of(count)
    waiting = set(entities)
    for k in range(2 + 2 * count // MOST):
        before = group.selected(everything)
        group.tick(1.0 + 0.01 * k)
        after = group.selected(everything)
        assert everything[0] in after
        assert len(after) <= MOST + 1 or count <= MOST
        waiting -= set(before) & set(after)
    assert not waiting


def test_called_entity_is_selected_in_every_tick_for_a_second():
    """A goal that arrives a hundred times a second does not wait for its turn."""
    group, entities, _ = group_of(1000)
    group.tick(1.0)
    called = entities[700]
    assert group.beginning_execution(called)
    group.ending_execution(called)
    selected = []
    for k in range(300):
        group.tick(1.0 + 0.01 * k)
        selected.append(called in group.selected(entities))
    assert all(selected[:100])
    assert not all(selected[101:])


def test_all_entities_are_selected_while_no_tick_comes():
    """Before the first tick, and while simulated time is paused."""
    group, entities, _ = group_of(1000)
    assert len(group.selected(entities)) == 1000
    group.tick(1.0)
    assert len(group.selected(entities)) == MOST
    group.check_ticks()
    assert len(group.selected(entities)) == MOST
    group.check_ticks()
    assert len(group.selected(entities)) == 1000


def test_callbacks_of_the_group_and_ticks_exclude_each_other():
    """Neither starts while the other runs."""
    ticks = MutuallyExclusiveCallbackGroup()
    group = RotatingCallbacks(ticks)
    service, timer = Entity(), Entity()
    group.take(service)
    ticks.add_entity(timer)
    assert service.callback_group is group
    assert group.can_execute(service)
    assert ticks.beginning_execution(timer)
    assert not group.can_execute(service)
    assert not group.beginning_execution(service)
    ticks.ending_execution(timer)
    assert group.beginning_execution(service)
    assert not ticks.can_execute(timer)
    group.ending_execution(service)
    assert ticks.can_execute(timer)


@pytest.mark.parametrize(
    ('executor_type', 'period', 'work'),
    [
        (SingleThreadedExecutor, 1e-5, 0.003),
        (SingleThreadedExecutor, 0.002, 0.0),
        (MultiThreadedExecutor, 0.002, 0.0),
    ],
    ids=['late', 'in time', 'threads'],
)
def test_requests_are_answered_beside_ticks(context, executor_type, period, work):
    """Also if the timer is ready at every wait, and comes first each time."""
    node = rclpy.create_node('busy', context=context)
    client = rclpy.create_node('client', context=context)
    group = RotatingCallbacks(node.default_callback_group)

    def tick():
        group.tick(time.perf_counter())
        time.sleep(work)

    def answer(request, response):
        response.success = True
        return response

    node.create_timer(period, tick)
    node.create_service(Trigger, 'ask', answer, callback_group=group)
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


def test_wait_set_of_a_node_with_many_goals_is_small_and_every_goal_is_received(context, urdf):
    """With 150 goals the executor waits for 64 goal subscriptions, events and services each."""
    from geometry_msgs.msg import PoseStamped
    from ik_node.ros.node import IkNode

    names = [f'goal{k}' for k in range(150)]
    overrides = {
        'robot_description': urdf('fivebar'),
        'goal_names': names,
        'rate': 100.0,
        **{f'goals.{name}.link': 'tool_link' for name in names},
        **{f'goals.{name}.dof': 'X Y' for name in names},
    }
    node = IkNode(
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()],
    )
    sender = rclpy.create_node('sender', context=context)
    executor = SingleThreadedExecutor(context=context)
    for each in (node, sender):
        executor.add_node(each)

    def turn():
        executor.spin_once(timeout_sec=0.01)

    def in_group(entities):
        return [e for e in entities if isinstance(e.callback_group, RotatingCallbacks)]

    wait_until(lambda: len(in_group(node.subscriptions)) == MOST, 'ticks', meanwhile=turn)
    assert len(in_group(node.services)) == MOST
    assert len(in_group(node.waitables)) <= 2 * MOST
    last = sender.create_publisher(PoseStamped, f'/ik_node/goals/{names[-1]}', 1)
    wait_until(lambda: last.get_subscription_count() > 0, 'the subscription', meanwhile=turn)
    before = node._counts.goals
    message = PoseStamped()
    message.pose.orientation.w = 1.0
    last.publish(message)
    wait_until(lambda: node._counts.goals > before, 'the goal', meanwhile=turn)
    executor.shutdown()
    for each in (node, sender):
        each.destroy_node()
