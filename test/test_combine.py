"""Two descriptions in one graph: prefixes, and robots that are combined."""

import copy

import ik_node as ik
from ik_node.description.files import description_path
from ik_node.errors import TopologyError, UnknownFrameError
from ik_node.robot import combine, load_robot
from ik_node.solver import Solver
import numpy as np
from numpy.testing import assert_allclose
import pytest

AWAY = ((0.1, -0.8, 0.2), (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)))


def load(name, **options):
    """Return one of our own robots."""
    return load_robot(name, **options)


@pytest.mark.parametrize('name', ['hexapod', 'gripper'])
def test_prefix_is_before_every_name_and_changes_nothing_else(name):
    """Links, joints, closures, motors, and the values of a solve."""
    plain, named = load(name), load(name, prefix='left_')
    for kind in ('links', 'joints', 'closures', 'joint_names', 'actuated'):
        theirs = list(getattr(plain, kind))
        assert list(getattr(named, kind)) == [f'left_{each}' for each in theirs]
    assert all(frame.name == key for key, frame in named.links.items())
    assert_allclose(named.q, plain.q)
    link = list(plain.links)[-1]
    assert_allclose(named.forward(named.q, f'left_{link}'), plain.forward(plain.q, link))
    assert int(named.mobility) == int(plain.mobility)


def test_prefix_comes_after_annotations_which_name_links_without_it():
    """Also for a floating base."""
    text = description_path('gripper.urdf').read_text()
    first = next(iter(load('gripper').links))
    closures = {
        'closures': [
            {
                'name': 'tie',
                'frame_a': {'link': list(load('gripper').links)[1]},
                'frame_b': {'link': first},
                'type': 'floating',
            }
        ]
    }
    robot = load_robot(text, closures=closures, prefix='l/', root='floating')
    assert list(robot.closures) == ['l/tie']
    assert robot.joint_names[0] == 'l/__world_joint__.X'


def test_written_robot_with_prefix_reads_back_with_its_bodies():
    """Names, shapes and materials have the prefix in the text."""
    robot = load('hexapod', prefix='a_')
    back = load_robot(robot.to_urdf())
    assert list(back.links) == list(robot.links)
    assert back.joint_names == robot.joint_names
    assert back.to_urdf().count('<visual') == load('hexapod').to_urdf().count('<visual') > 0


def test_combined_robots_solve_as_alone():
    """Goals of both arms are reached at once, each where its arm stands."""
    left, right = load('arm6', prefix='left_'), load('arm6', prefix='right_')
    right.q = right.q + 0.2
    pair = combine(left, right, poses=[None, AWAY])
    assert pair.joint_names == left.joint_names + right.joint_names
    assert_allclose(pair.q, np.concatenate((left.q, right.q)))
    assert pair.root.name == 'world'
    tip = list(right.links)[-1]
    place = ik.Frame()
    place.set_pose(AWAY)
    assert_allclose(
        pair.forward(pair.q, tip), place.matrix @ right.forward(right.q, tip), atol=1e-12
    )
    goals = {each: pair.forward(pair.q + 0.1, each) for each in (tip, list(left.links)[-1])}
    solution = Solver(pair).solve_pose(goals)
    assert solution.converged
    assert set(solution.as_dict()) == set(pair.joint_names)
    assert right.links[tip].get_world_position() is not None
    assert right.root.parent is None


def test_robot_carries_another_and_goals_move_along():
    """A gripper on the flange of an arm; its loops stay closed."""
    arm, hand = load('arm6'), load('gripper', prefix='hand/')
    hand.add_goal(list(hand.links)[-1], name='pinch')
    flange = list(arm.links)[-1]
    robot = combine(arm, hand, base=flange, poses={hand.root.name: ((0, 0, 0.1), (0, 0, 0, 1))})
    assert len(robot.closures) == len(hand.closures) > 0
    assert robot.assembly.status == ik.Status.CONVERGED
    assert robot.goals['pinch'].get_residual() == pytest.approx(0.0, abs=1e-9)
    before = robot.links[hand.root.name].get_world_position()
    assert_allclose(before, arm.forward(arm.q, flange)[:3] @ (0, 0, 0.1, 1))
    back = load_robot(robot.to_urdf())
    assert back.joint_names == robot.joint_names
    assert int(back.mobility) == int(robot.mobility)
    copy.deepcopy(robot).assemble()


def test_equal_names_are_refused_and_both_robots_are_named():
    """In `combine`, and in a graph of objects."""
    with pytest.raises(TopologyError, match=r"'arm6' and 'arm6' both have a link .* prefix"):
        combine(load('arm6'), load('arm6'))
    with pytest.raises(TopologyError, match=r"poses: 'x' is not one robot or root"):
        combine(load('arm6'), load('arm6', prefix='b'), poses={'x': AWAY})
    with pytest.raises(TopologyError, match='poses: 2 are needed'):
        combine(load('arm6'), load('arm6', prefix='b'), poses=[AWAY])


def graph(link='tip', joint='j1'):
    """Return a root with one hinge."""
    base, hinge, tip = ik.Link(f'base_{link}'), ik.Joint(joint), ik.Link(link)
    hinge.set_dof('EZ')
    base.add_child(hinge)
    hinge.add_child(tip)
    return base


@pytest.mark.parametrize(
    ('second', 'message'),
    [
        (
            graph('other'),
            r"two joint values are named 'j1': Joint\('j1'.*'base_tip'.*'base_other'",
        ),
        (graph('tip', 'j2'), r"two links are named '(base_)?tip'"),
    ],
)
def test_two_values_or_links_of_one_name_in_a_graph_are_refused(second, message):
    """When the graph is read, and again when it has become so."""
    with pytest.raises(TopologyError, match=message):
        Solver([graph(), second])
    fine = Solver([graph(), graph('third', 'j3')])
    fine.tree.owner[1][0].name = 'j1'
    with pytest.raises(TopologyError, match="two joint values are named 'j1'"):
        fine.solve()


def test_unnamed_joints_and_goals_get_names():
    """As the sources write them, without names."""
    base, hinge, tip = ik.Link(), ik.Joint(), ik.Link()
    hinge.set_dof('EZ')
    base.add_child(hinge)
    hinge.add_child(tip)
    tip.set_position(1, 0, 0)
    goals = [ik.Goal(), ik.Goal()]
    for goal in goals:
        goal.set_goal_dof('X', 'Y')
        goal.set_position(0, 1, 0)
        goal.make_closure(tip)
    solver = Solver([base, *goals])
    (result,) = solver.solve()
    assert solver.joint_names == ['joint']
    assert set(result.goal_errors) == {'goal', 'goal_2'} == {goal.name for goal in goals}
    assert solver.solve_pose({'goal_2': (1, 0, 0)})['joint'] == pytest.approx(0, abs=1e-5)
    with pytest.raises(UnknownFrameError, match='known: goal, goal_2'):
        solver.solve_pose({'hand': (1, 0, 0)})
