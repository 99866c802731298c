"""Mechanisms that were built from objects, and closures that are added to robots."""

import ik_node as ik
from ik_node.errors import IkError, OptionError, TopologyError, UnknownFrameError
import numpy as np
from numpy.testing import assert_allclose
import pytest


def four_bar(closing):
    """Return base, goal and pen of a planar four-bar whose loop is closed in one of three ways."""
    base, pen = ik.Link('base'), ik.Link('coupler')
    links = {'crank': ik.Link('crank'), 'coupler': pen, 'rocker': ik.Link('rocker')}
    places = {'a': ('base', 'crank', 0.0, 0.4), 'b': ('crank', 'coupler', 1.0, -0.4)}
    places['d'] = ('base', 'rocker', 2.0, 0.0)
    for name, (parent, child, x, angle) in places.items():
        joint = ik.Joint(name)
        joint.set_dof('EZ')
        joint.set_position(x, 0, 0)
        joint.set_dof_values(angle)
        links.get(parent, base).add_child(joint)
        joint.add_child(links[child])
    if closing == 'closure':
        tie = ik.Closure('c', 'hinge')
        pen.add_child(tie)
    else:
        tie = ik.Joint('c')
        if closing == 'joint':
            tie.set_dof('EZ')
        pen.add_child(tie)
    tie.set_position(2, 0, 0)
    end = ik.Link('end')
    holder = ik.Joint('holder')
    if closing == 'rigid joint':
        holder.set_dof('EZ')
    holder.set_position(1, 0, 0)
    links['rocker'].add_child(holder)
    holder.add_child(end)
    tie.make_closure(end)
    goal = ik.Goal('pen')
    goal.set_goal_dof('X', 'Y')
    goal.make_closure(pen)
    return base, goal, pen


@pytest.mark.parametrize('closing', ['closure', 'joint', 'rigid joint'])
def test_mechanism_of_objects_has_what_a_loaded_robot_has(closing):
    """Mobility, text, plot, check; the goal and the links stay the user's own."""
    base, goal, pen = four_bar(closing)
    robot = ik.Robot([base, goal], name='four_bar')
    assert robot.assemble().converged
    assert list(robot.closures) == ['c']
    assert int(robot.mobility) == 1
    assert robot.goals['pen'] is goal
    assert robot.links['coupler'] is pen
    report = ik.check(robot)
    assert report.ok
    assert report['mobility'] == 1
    assert 'four_bar' in repr(report)
    back = ik.load_robot(robot.to_urdf())
    assert int(back.mobility) == 1
    back.q = robot.q
    assert_allclose(back.forward(back.q, 'coupler'), robot.forward(robot.q, 'coupler'), atol=1e-12)
    solution = ik.Solver(robot).drive({'a': 0.7})
    assert solution.converged
    robot.q = solution.q
    goal.set_position(*pen.get_world_position())
    assert all(result.converged for result in ik.Solver([base]).solve())


def test_solver_of_objects_can_be_checked_and_drawn():
    """Without a Robot at hand, and with frames that have no names."""
    matplotlib = pytest.importorskip('matplotlib')
    matplotlib.use('Agg')
    base, joint, link = ik.Link(), ik.Joint(), ik.Link()
    joint.set_dof('EZ')
    base.add_child(joint)
    joint.add_child(link)
    link.set_position(1, 0, 0)
    assert ik.check(ik.Solver(base))['links'] == ['link', 'link_2']
    robot = ik.Robot(base)
    assert robot.plot() is not None
    assert robot.joint_names == ['joint']
    assert ik.load_robot(robot.to_urdf()).joint_names == ['joint']
    for wrong in ('hexapod.urdf', 3, None):
        with pytest.raises(OptionError, match='load_robot'):
            ik.check(wrong)


@pytest.mark.parametrize('kind', [ik.Goal, ik.Closure])
def test_goal_that_closes_on_no_link_is_an_error(kind):
    """Instead of an empty list of results; a disabled one does not count."""
    goal = kind('hand')
    roots = [ik.Link('base'), goal] if kind is ik.Goal else [ik.Link('base')]
    roots[0].add_child(goal) if kind is ik.Closure else None
    with pytest.raises(TopologyError, match=r"'hand' closes on no link: call its make_closure"):
        ik.Solver(roots)
    goal.enabled = False
    assert ik.Solver(roots).solve() == []


@pytest.mark.parametrize(('kind', 'taken'), [('weld', 6), ('hinge', 5), ('distance', 1)])
def test_added_closure_is_closed_at_present_and_takes_freedom(kind, taken):
    """Between two arms, wherever they are."""
    robot = ik.combine(ik.load_robot('arm6', prefix='l_'), ik.load_robot('arm6', prefix='r_'))
    robot.q = np.linspace(-0.4, 0.5, 12)
    free, q = int(robot.mobility), robot.q
    closure = robot.add_closure('l_j6_link', 'r_j6_link', type=kind)
    assert closure.get_residual() == pytest.approx(0.0, abs=1e-12)
    assert free - int(robot.mobility) == taken
    assert list(robot.closures) == ['l_j6_link_r_j6_link']
    assert robot.assemble().converged
    assert_allclose(robot.q, q, atol=1e-9)
    back = ik.load_robot(robot.to_urdf())
    assert int(back.mobility) == free - taken
    robot.remove_closure('l_j6_link_r_j6_link')
    assert int(robot.mobility) == free


def test_added_closure_with_frames_closes_when_it_is_assembled():
    """Frames in the links' own coordinates; the world needs no link."""
    robot = ik.load_robot('arm6')
    at = ((0.1, 0.2, 0.0), (0, 0, 0, 1))
    wall = robot.forward(robot.q + 0.1, 'j6_link') @ [0.1, 0.2, 0.0, 1]
    closure = robot.add_closure(
        'j6_link', 'world', frame_a=at, frame_b=(wall[:3], (0, 0, 0, 1)), name='wall'
    )
    assert closure.get_residual() != pytest.approx(0.0, abs=1e-3)
    assert robot.assemble().converged
    assert_allclose(robot.forward(robot.q, 'j6_link') @ [0.1, 0.2, 0.0, 1], wall, atol=1e-6)
    only_b = robot.add_closure('j5_link', 'base_link', frame_b=at, name='b', enabled=False)
    assert_allclose(only_b.get_residual(), 0.0, atol=1e-12)
    assert_allclose(only_b.position, at[0])


@pytest.mark.parametrize(
    ('arguments', 'error', 'message'),
    [
        (('j6_link', 'j7_link'), UnknownFrameError, "did you mean 'j6_link'"),
        (('j6_link', 'j6_link'), OptionError, "another link than 'j6_link'"),
        (('j6_link', 'j1_link', 'rope'), OptionError, "closure type: 'rope'"),
        (('j6_link', 'j1_link', 'point', (1, 2)), IkError, 'frame of a closure'),
    ],
)
def test_closure_that_cannot_be_made_is_refused(arguments, error, message):
    """The robot stays as it is."""
    robot = ik.load_robot('arm6')
    names = dict(zip(('link_a', 'link_b', 'type', 'frame_a'), arguments, strict=False))
    with pytest.raises(error, match=message):
        robot.add_closure(**names)
    assert not robot.closures
    assert ik.Solver(robot).solve() == []
