"""A goal that is dragged into an obstacle, from tick to tick."""

import ik_node as ik
from ik_node.ros.outputs import solve_rows
import numpy as np
import pytest
from support.robot_texts import arm_text
from support.watched_robot import Moving

MARGIN, RATE, SPEED = 0.002, 250.0, 1.0  # [m], [Hz], [m/s]


@pytest.mark.parametrize('limit', [0.0, 1.0])
@pytest.mark.parametrize(
    ('robot', 'link', 'dof', 'shape', 'gap', 'along'),
    [
        ('arm', 'l6', 'X Y Z', None, 0.24, 0.06),
        ('fivebar', 'tool_link', 'X Y', ik.Sphere(0.01), 0.05, 0.04),
        ('palletizer', 'tool_link', 'X Y Z', ik.Box((0.05, 0.05, 0.02)), 0.1, 0.06),
    ],
)
def test_goal_dragged_through_a_thin_wall_stops_and_slides(
    urdf, robot, link, dof, shape, gap, along, limit
):
    """No body passes, steps keep their limit, loops stay closed, the status names the pair."""
    text = arm_text() if robot == 'arm' else urdf(robot)
    goal = {'goal_names': ('tip',), 'goals.tip.link': link, 'goals.tip.dof': dof}
    # A solve may take most of the period that the settings state; ticks are counted out by hand.
    options = {'max_joint_velocity': limit, 'rate': 1.0, 'collisions.margin': MARGIN}
    moving = Moving(text, {**goal, **options})
    collisions = moving.model.robot.collisions
    if robot == 'arm':
        moving.tracker.jump(np.array((0.6, 0.0, 0.6, 0.0, 0.6, 0.0)))
    else:
        collisions.add_body(link, shape)
    place = moving.model.robot.forward
    q = moving.tracker.q
    start = place(q, link)[:3, 3]
    centre = start + np.array((0.0, gap, 0.0))
    collisions.add_obstacle(ik.Box((4.0, 0.005, 4.0)), centre, 'wall')
    body = (0.0, 0.0, 0.15 if robot == 'arm' else 0.0, 1.0)
    step = SPEED / RATE
    into = [(0.0, step * k) for k in range(1, int((gap + 0.1) / step))]
    aside = [(min(step * k, along), gap + 0.02) for k in range(int(along / step) + 30)]
    window = moving.model.max_velocity / RATE
    report = None
    for count, (x, y) in enumerate(into + aside):
        moving.goals.put(
            'tip', ((*(start + np.array((x, y, 0.0))),), (0.0, 0.0, 0.0, 1.0)), moving.now
        )
        report, _ = moving.tick(1.0 / RATE)
        if limit:
            assert (np.abs(report.q - q) <= window * (1.0 + 1e-6)).all()
        q = report.q
        moving.watched.check_q(q)
        assert (place(q, link) @ body)[1] < centre[1]
        assert not [each for each in collisions.contacts(q, MARGIN) if 'wall' in each.pair]
        if count == len(into) - 1:
            (row,) = solve_rows(report)
            assert 'wall' in row.values['nearest.pair']
            assert 'CONVERGED' not in row.message
            assert 'wall' in row.message
    reached = place(q, link)[0, 3] - start[0]
    assert reached > 0.6 * along
