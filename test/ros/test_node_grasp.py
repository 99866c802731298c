"""Two arms take a box together and put it down again, while the node runs."""

from ik_node.model.rotation import matrix_to_quat
import numpy as np
import pytest
from std_srvs.srv import SetBool, Trigger

# Axis, and where the joint is in the link before it [m].
ARM = (('z', 0.0), ('y', 0.0), ('y', 0.4), ('x', 0.2), ('y', 0.2), ('x', 0.0))
# Joints that are bent before the first goal, and their angles [rad].
BENT = ((2, -0.5), (3, 1.0), (5, -0.5))
AXES = {'x': '1 0 0', 'y': '0 1 0', 'z': '0 0 1'}
# A box 0.7 m wide in the left hand; the right hand is to hold its other side.
GRASP = """
closures:
  - {name: grasp, frame_a: {link: right_hand}, frame_b: {link: box, xyz: [-0.1, -0.35, 0]},
     type: weld, enabled: false}
"""


def two_arms():
    """Return the description: six joints an arm, the box fixed to the left hand."""
    parts = ['<robot name="two_arms"><link name="base"/>']

    def fixed(name, parent, xyz):
        parts.append(
            f'<link name="{name}"/><joint name="{name}_mount" type="fixed"><parent '
            f'link="{parent}"/><child link="{name}"/><origin xyz="{xyz}"/></joint>'
        )

    for side, y in (('left', 0.35), ('right', -0.35)):
        parent = 'base'
        for number, (axis, reach) in enumerate(ARM, start=1):
            origin = f'{reach} 0 0' if number > 1 else f'0 {y} 0.3'
            parts.append(
                f'<link name="{side}{number}_link"/><joint name="{side}{number}" type="revolute">'
                f'<parent link="{parent}"/><child link="{side}{number}_link"/>'
                f'<origin xyz="{origin}"/><axis xyz="{AXES[axis]}"/>'
                '<limit lower="-2.8" upper="2.8" effort="10" velocity="2"/></joint>'
            )
            parent = f'{side}{number}_link'
        fixed(f'{side}_hand', parent, '0.1 0 0')
    fixed('box', 'left_hand', '0.1 -0.35 0')
    return ''.join([*parts, '</robot>'])


@pytest.fixture
def arms(graph):
    """Provide the graph with two arms that are bent a little, and goals for box and hand."""
    closures = graph.folder / 'grasp.yaml'
    closures.write_text(GRASP)
    values = {'max_joint_velocity': 1.0, 'closures': closures}
    goals = {'box': 'box', 'hand': 'right_hand'}
    graph.watched = graph.start_robot(two_arms(), rate=100.0, goals=goals, **values)
    # From stretched arms, which are singular, the timing of the ticks decides which way they bend.
    bent = {f'{side}{number}': angle for side in ('left', 'right') for number, angle in BENT}
    assert graph.set_parameters(joint_targets=str(bent)) == ''
    names = list(graph.joint_states[0].name)
    places = [names.index(name) for name in bent]

    def are_bent():
        present = np.array(graph.joint_states[-1].position)[places]
        return np.abs(present - list(bent.values())).max() < 1e-3

    graph.wait(are_bent, 'bent arms')
    assert graph.set_parameters(joint_targets='') == ''
    return graph


def grip(graph):
    offset = np.eye(4)
    offset[:3, 3] = (-0.1, -0.35, 0.0)
    return graph.pose('box') @ offset


def lead(graph, goal, link, position):
    graph.send_goal(goal, position)
    graph.wait(
        lambda: np.abs(graph.pose(link)[:3, 3] - position).max() < 2e-6, f'{link} at {position}'
    )


def enable(graph, what, value):
    answer = graph.call(SetBool, f'ik_node/{what}/enable', SetBool.Request(data=value))
    assert answer.success, answer.message
    return answer.message


def mobilities(graph):
    lines = [line for line in graph.log().splitlines() if 'ready: robot two_arms' in line]
    return [line.split('mobility ')[1].split(',')[0] for line in lines]


def test_two_arms_take_a_box_and_put_it_down(arms):
    """The closure across two arms is closed, enforced in motion, and released."""
    assert mobilities(arms) == ['12']
    lead(arms, 'box', 'box', np.array([0.7, 0.1, 0.4]))
    # A hand's breadth away, then to the box: hand and box are goals of two arms by themselves.
    lead(arms, 'hand', 'right_hand', grip(arms)[:3, 3] + np.array([0.0, -0.05, 0.02]))
    arms.says('CONVERGED')
    assert len(arms.statuses[-1].status) == 2
    assert enable(arms, 'goals/hand', False) == 'goal hand is disabled'
    assert enable(arms, 'closures/grasp', True) == 'closure grasp is being closed'

    def held():
        gap = np.abs(arms.pose('right_hand') - grip(arms)).max()
        return gap < 2e-6

    arms.wait(held, 'the grasp')
    arms.wait(lambda: 'closing' not in arms.last_status(), 'the end of closing')
    arms.catch_up()
    # From now on both arms carry the box: each joint state is looked at.
    first = len(arms.joint_states)
    for offset in ([0.05, 0.05, 0.05], [-0.03, 0.0, 0.1]):
        lead(arms, 'box', 'box', np.array([0.7, 0.1, 0.4]) + offset)
        arms.wait(lambda: len(arms.statuses[-1].status) == 1, 'one chain')
    right = [
        list(message.name).index(f'right{n}')
        for message in arms.joint_states[-1:]
        for n in range(1, 7)
    ]
    moved = np.ptp([np.array(m.position)[right] for m in arms.joint_states[first:]], axis=0)
    assert moved.max() > 0.01
    for message in arms.joint_states[first:]:
        robot, q = arms.watched.robot, np.array(message.position)
        hand, box = robot.forward(q, 'right_hand'), robot.forward(q, 'box')
        assert np.abs(np.linalg.solve(box, hand)[:3, 3] - (-0.1, -0.35, 0.0)).max() < 2e-6
        assert np.abs(matrix_to_quat(np.linalg.solve(box, hand)) - (0, 0, 0, 1)).max() < 2e-6
    # Another goal while it is held: the model is built anew, the grasp stays made.
    assert arms.set_parameters(goals__hand__dof='X Y Z') == ''
    arms.wait(lambda: mobilities(arms) == ['12', '6'], 'a ready line with the mobility left')
    assert held()
    assert enable(arms, 'closures/grasp', False) == 'closure grasp is released'
    assert enable(arms, 'goals/hand', True) == 'goal hand is enabled'
    box = arms.pose('box')
    lead(arms, 'hand', 'right_hand', grip(arms)[:3, 3] + np.array([0.0, -0.1, 0.0]))
    assert np.abs(arms.pose('box') - box).max() < 2e-6
    # What the description does not make is open again after a reset.
    arms.call(Trigger, 'ik_node/reset', Trigger.Request())
    arms.spin(20)
    start = arms.watched.robot.q
    arms.wait(
        lambda: np.abs(np.array(arms.joint_states[-1].position) - start).max() < 1e-9, 'start'
    )
