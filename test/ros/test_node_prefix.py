"""A robot whose frames have a prefix, over the middleware."""

from geometry_msgs.msg import PoseStamped
import pytest


@pytest.mark.parametrize('parameter', ['frame_prefix:=left/', 'base_frame:=left/base_link'])
def test_frame_prefix_applies_to_input_and_output(graph, urdf, parameter):
    reached = []
    graph.client.create_subscription(PoseStamped, 'ik_node/reached/tool', reached.append, 10)
    goals = {'tool': ('tool_link', 'X Y')}
    fivebar = graph.start_robot(urdf('fivebar'), '-p', parameter, goals=goals)
    wanted = fivebar.place('tool_link', (0.01, 0.005, 0.0))
    graph.send_goal('tool', wanted, frame='left/base_link')

    def arrived():
        last = reached[-1] if reached else None
        at = None if last is None else (last.pose.position.x, last.pose.position.y)
        return at == pytest.approx(wanted[:2], abs=1e-5) and last

    message = graph.wait(arrived, 'the tool')
    assert message.header.frame_id == 'left/base_link'
