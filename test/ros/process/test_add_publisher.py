"""Publishers wait for no events; who subscribes wrongly is told all the same."""

from ik_node.ros.process.named_entities import add_publisher
import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from support.waiting import wait_until


def test_the_node_waits_for_events_of_subscriptions_only(context):
    """The default callbacks of one publisher would cost a tick 2 %."""
    from ik_node.ros.node import IkNode

    outputs = [Parameter('output.type', value='both'), Parameter('goal_names', value=['hand'])]
    node = IkNode(context=context, parameter_overrides=outputs)
    topics = {each.topic_name: each.event_handlers for each in node.publishers}
    assert '/ik_node/reached/hand' in topics
    # That one is rclpy's own.
    assert [topic for topic, handlers in topics.items() if handlers] == ['/parameter_events']
    assert not [each.topic_name for each in node.subscriptions if not each.event_handlers]
    node.destroy_node()


def test_subscriber_with_incompatible_qos_is_warned(context):
    """The subscriber's side reports it, although the node does not wait for the event."""
    node = rclpy.create_node('quiet', context=context)
    client = rclpy.create_node('client', context=context)
    publisher = add_publisher(node, String, '~/words')
    events = []
    client.create_subscription(
        String,
        'quiet/words',
        lambda message: None,
        QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        event_callbacks=SubscriptionEventCallbacks(incompatible_qos=events.append),
    )
    executor = SingleThreadedExecutor(context=context)
    for each in (node, client):
        executor.add_node(each)
    wait_until(lambda: events, 'the event', meanwhile=lambda: executor.spin_once(timeout_sec=0.01))
    assert events[0].total_count == 1
    assert publisher.get_subscription_count() == 0
    executor.shutdown()
    for each in (node, client):
        each.destroy_node()
