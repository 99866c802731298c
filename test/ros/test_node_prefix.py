"""A robot whose frames have a prefix, over the middleware."""

from geometry_msgs.msg import PoseStamped
import pytest


@pytest.mark.parametrize('parameter', ['frame_prefix:=left/', 'base_frame:=left/base_link'])
def test_frame_prefix_applies_to_input_and_output(graph, urdf, parameter):
    fivebar = graph.knows(urdf('fivebar'))
    reached = []
    graph.client.create_subscription(PoseStamped, 'ik_node/reached/tool', reached.append, 10)
    graph.start_node(
        *('-p', 'goal_names:=[tool]', '-p', 'goals.tool.link:=tool_link'),
        *('-p', 'goals.tool.dof:=X Y', '-p', parameter),
    )
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    wanted = fivebar.robot.forward(fivebar.robot.q, 'tool_link')[:3, 3] + [0.01, 0.005, 0.0]
    graph.send_goal('tool', wanted, frame='left/base_link')

    def arrived():
        last = reached[-1] if reached else None
        at = None if last is None else (last.pose.position.x, last.pose.position.y)
        return at == pytest.approx(wanted[:2], abs=1e-5) and last

    message = graph.wait(arrived, 'the tool')
    assert message.header.frame_id == 'left/base_link'
