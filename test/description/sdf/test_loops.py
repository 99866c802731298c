"""SDFormat is a graph: joints that are too many for a tree, and Drake's elements, close loops."""

import ik_node as ik
import numpy as np
import pytest
from support.robot_texts import sdf, sdf_joint


def link(name, x=0.0, y=0.0, z=0.0):
    """Return a link at a place."""
    return f'<link name="{name}"><pose>{x} {y} {z} 0 0 0</pose></link>'


FOUR_BAR = sdf(
    link('crank')
    + link('coupler', 0.0, 1.0)
    + link('rocker', 3.0)
    + sdf_joint('j_crank', 'world', 'crank')
    + sdf_joint('j_rocker', 'world', 'rocker')
    + sdf_joint('j_a', 'crank', 'coupler')
    + sdf_joint('j_b', 'rocker', 'coupler').replace(
        '<axis>', '<pose relative_to="rocker">0 1.5 0 0 0 0</pose><axis>'
    )
)


def test_four_bar_of_joints_has_a_closure():
    """It is closed as written, and moves as two circles say."""
    robot = ik.load_robot(FOUR_BAR)
    assert robot.dialect == 'SDFormat 1.9 + cycle of joints'
    assert robot.mobility == 1
    assert robot.joint_names == ['j_crank', 'j_rocker', 'j_a']
    assert list(robot.closures) == ['j_b']
    np.testing.assert_allclose(robot.closures['j_b'].get_residual(), 0.0, atol=1e-12)
    goal = robot.add_goal('crank', dof='EX EY EZ')
    goal.set_euler(0.0, 0.0, 0.5)
    assert ik.Solver(robot).solve()[0].status.name == 'CONVERGED'
    pin = np.array((-np.sin(0.5), np.cos(0.5)))
    np.testing.assert_allclose(robot.links['coupler'].matrix_world[:2, 3], pin, atol=1e-6)
    end = robot.links['rocker'].matrix_world @ (0.0, 1.5, 0.0, 1.0)
    length = np.hypot(3.0, 0.5)
    assert np.linalg.norm(end[:2] - pin) == pytest.approx(length, abs=1e-5)


def test_loop_is_cut_at_the_marked_joint():
    """<must_be_loop_joint> moves the closure there; the order of the joints stays the file's."""
    asked = (
        '</axis><physics><simbody><must_be_loop_joint>1</must_be_loop_joint></simbody></physics>'
    )
    text = FOUR_BAR.replace('</axis>', asked, 1)  # of j_crank
    robot = ik.load_robot(text)
    assert robot.joint_names == ['j_rocker', 'j_a', 'j_b']
    assert list(robot.closures) == ['j_crank']
    assert robot.mobility == 1


def test_limits_of_a_joint_that_closes_a_loop():
    """Its value stays, so that its limits hold."""
    limit = '<limit><lower>-1</lower><upper>1</upper></limit>'
    robot = ik.load_robot(
        FOUR_BAR.replace('</axis></joint></model>', f'{limit}</axis></joint></model>')
    )
    assert robot.joint_names == ['j_crank', 'j_rocker', 'j_a', 'j_b']
    assert robot.mobility == 1


def test_platform_on_legs_has_closures():
    """Universal joint, piston, ball joint six times: six pistons, and six legs do not spin."""
    content = link('base') + link('top', 0.0, 0.0, 1.0)
    for i in range(6):
        foot = np.pi / 3 * (i + 0.3 * (-1) ** i)
        head = np.pi / 3 * (i - 0.2 * (-1) ** i)
        x, y = np.cos(foot), np.sin(foot)
        u, v = 0.5 * np.cos(head), 0.5 * np.sin(head)
        content += link(f'low{i}', x, y) + link(f'high{i}', u, v, 1.0)
        content += sdf_joint(f'u{i}', 'base', f'low{i}', kind='universal', xyz='1 0 0').replace(
            '</joint>', '<axis2><xyz>0 1 0</xyz></axis2></joint>'
        )
        content += sdf_joint(
            f'p{i}', f'low{i}', f'high{i}', kind='prismatic', xyz=f'{u - x} {v - y} 1'
        )
        content += (
            f'<joint name="b{i}" type="ball"><parent>high{i}</parent><child>top</child></joint>'
        )
    robot = ik.load_robot(sdf(content))
    assert len(robot.closures) == 5
    assert robot.mobility == 6
    goal = robot.add_goal('top')
    goal.set_position(0.05, -0.03, 1.1)
    goal.set_euler(0.05, 0.02, -0.1)
    result = ik.Solver(robot).solve()[0]
    assert result.status.name == 'CONVERGED'


@pytest.mark.parametrize('kind', ['universal', 'revolute2', 'screw'])
def test_joint_of_two_motions_closes_a_loop(kind):
    """Whatever closes it, a loop through such a joint is closed as written and moves."""
    between = sdf_joint('j', 'a', 'b', kind=kind).replace(
        '</joint>', '<axis2><xyz>1 0 0</xyz></axis2></joint>'
    )
    text = sdf(
        link('a')
        + link('b', 0, 0, 1)
        + between
        + f'<joint name="k" type="{"fixed" if kind == "screw" else "ball"}"><parent>world</parent>'
        '<child>a</child></joint>'
        + (
            sdf_joint('l', 'world', 'b', kind='prismatic')
            if kind == 'screw'
            else '<joint name="l" type="ball"><parent>world</parent><child>b</child></joint>'
        )
    )
    robot = ik.load_robot(text)
    assert robot.assembly.status.name == 'CONVERGED'
    # a spins on the line between the balls and the joint bends twice; a screw that may not turn
    assert robot.mobility == (0 if kind == 'screw' else 3)
