"""Mechanisms without loops: arms, mixed and multi-DoF joints, couplings, relative goals."""

from math import pi

from ik_node.model.rotation import quat_from_euler
from support.building import Mechanism


def arm6():
    m = Mechanism('arm6')
    m.root('base')
    m.joint('j1', 'base', 'EZ', (0, 0, 0.4), limits=(-3.1, 3.1))
    m.joint('j2', 'j1_link', 'EY', (0.05, 0, 0), limits=(-2.2, 2.5))
    m.joint('j3', 'j2_link', 'EY', (0, 0.05, 0.42), limits=(-2.5, 2.5))
    m.joint('j4', 'j3_link', 'EZ', (0.02, 0, 0.1), limits=(-3.1, 3.1))
    m.joint('j5', 'j4_link', 'EY', (0, 0, 0.3), limits=(-2.1, 2.1))
    m.joint('j6', 'j5_link', 'EZ', limits=(-6.2, 6.2))
    m.tip('hand', 'j6_link', (0, 0, 0.1))
    m.goal('hand_goal', 'hand')
    m.home = {'j2': 0.5, 'j3': 0.9, 'j5': 0.6}
    return m.go_home()


def arm7(name='arm7', prefix=''):
    m = Mechanism(name)
    add_arm7(m, prefix, (0, 0, 0))
    m.goal('hand_goal', 'hand')
    return m.go_home()


def add_arm7(m, prefix, place):
    base = f'{prefix}base'
    m.root(base)
    m.links[base].set_position(*place)
    turn, lengths = (0, 1, -1, -1, 1, 1, -1), (0.36, 0, 0, 0.42, 0, 0.4, 0)
    limits = (2.96, 2.09, 2.96, 2.09, 2.96, 2.09, 3.05)
    parent, ahead = base, 0
    for i in range(7):
        up = lengths[i]
        xyz = (0, 0, up) if ahead == 0 else (0, up * ahead, 0)
        j = m.joint(
            f'{prefix}j{i + 1}',
            parent,
            'EZ',
            xyz,
            (turn[i] * pi / 2, 0, 0),
            (-limits[i], limits[i]),
        )
        ahead += turn[i]
        parent = j.child.name
    m.tip(f'{prefix}hand', parent, (0, 0, 0.126))
    for i, value in ((2, 0.5), (4, -1.2), (6, 0.8)):
        m.home[f'{prefix}j{i}'] = value


def planar():
    m = Mechanism('planar')
    m.root('base')
    m.joint('p1', 'base', 'EZ')
    m.joint('p2', 'p1_link', 'EZ', (1, 0, 0))
    m.joint('p3', 'p2_link', 'EZ', (1, 0, 0))
    m.tip('end', 'p3_link', (1, 0, 0))
    m.goal('end_goal', 'end', 'X Y')
    m.home = {'p1': 0.3, 'p2': 0.5, 'p3': -0.4}
    return m.go_home()


def mixed():
    """Build sliders and hinges in one chain, among them joints X+EZ and Y+Z+EX."""
    m = Mechanism('mixed')
    m.root('base')
    m.joint('slide', 'base', 'X', (0, 0, 0.2), (0.3, -0.2, 0.5), (-0.5, 0.5))
    m.joint('screw', 'slide_link', 'X EZ', (0.1, 0, 0.2), (0, 0.4, 0), (-1.0, 1.0))
    m.joint('lift', 'screw_link', 'Y Z EX', (0, 0.2, 0.1), (0.2, 0, 0.1), (-0.8, 0.8))
    m.joint('turn', 'lift_link', 'EY', (0, 0, 0.3), limits=(-2, 2))
    m.tip('tool', 'turn_link', (0.1, 0.05, 0.2), (0.1, 0.2, 0.3))
    m.goal('tool_goal', 'tool')
    return m


def universals():
    m = Mechanism('universals')
    m.root('base')
    m.joint('u1', 'base', 'EX EY', (0, 0, 0.1), limits=(-1.2, 1.2))
    m.joint('u2', 'u1_link', 'EY EZ', (0.3, 0, 0), (0, 0.2, 0), (-1.2, 1.2))
    m.joint('u3', 'u2_link', 'EX EZ', (0.3, 0.1, 0), limits=(-1.2, 1.2))
    m.tip('tool', 'u3_link', (0.2, 0, 0.1))
    m.goal('tool_goal', 'tool')
    return m


def ball(limited=False):
    """Build a ball joint at the shoulder and at the wrist, hinge between; free, or with limits."""
    m = Mechanism('ball_limited' if limited else 'ball')
    m.root('base')
    bounds = (-1.4, 1.4) if limited else None
    m.joint('shoulder', 'base', 'EX EY EZ', (0, 0, 0.3), (0.1, 0.2, 0.3), bounds)
    m.joint('elbow', 'shoulder_link', 'EY', (0.4, 0, 0), limits=(0.0, 2.5))
    m.joint('wrist', 'elbow_link', 'EX EY EZ', (0.4, 0, 0), limits=bounds)
    m.tip('hand', 'wrist_link', (0.1, 0, 0))
    m.goal('hand_goal', 'hand')
    m.home = {'elbow': 0.9, 'shoulder': (0.1, 0.2, -0.3)}
    return m.go_home()


def ball_limited():
    return ball(limited=True)


def free_body():
    m = Mechanism('free_body')
    m.root('world')
    m.joint('float', 'world', 'X Y Z EX EY EZ', (0.1, 0.2, 0.3), (0.2, 0.1, 0), link='body')
    m.joint('a1', 'body', 'EZ', (0.2, 0, 0), limits=(-2, 2))
    m.joint('a2', 'a1_link', 'EX', (0, 0.3, 0), limits=(-2, 2))
    m.tip('hand', 'a2_link', (0, 0, 0.3))
    m.goal('hand_goal', 'hand')
    m.goal('body_goal', 'body', 'X Y Z')
    m.home = {'float': (0.1, -0.1, 0.2, 0.3, -0.2, 0.4), 'a1': 0.4, 'a2': 0.7}
    return m.go_home()


def coupled():
    """Build a finger whose hinges follow the hinge before, and a cam with q^2."""
    m = Mechanism('coupled')
    m.root('base')
    m.joint('yaw', 'base', 'EZ', limits=(-2, 2))
    first = m.joint('k1', 'yaw_link', 'EY', (0.1, 0, 0.2), limits=(-1.5, 1.5))
    second = m.joint('k2', 'k1_link', 'EY', (0.3, 0, 0), limits=(-1.5, 1.5))
    third = m.joint('k3', 'k2_link', 'EY', (0.2, 0, 0))
    slider = m.joint('cam', 'k3_link', 'X', (0.1, 0, 0))
    second.couple('EY', first, 'EY', (0.1, 0.8))
    third.couple('EY', second, 'EY', (-0.05, 0.7))
    slider.couple('X', first, 'EY', (0.02, 0.1, 0.3))
    m.tip('tool', 'cam_link', (0.1, 0, 0))
    m.goal('tool_goal', 'tool', 'X Y')
    for joint in (second, third, slider):
        joint.set_dof_values(
            joint.couplings[joint.dof[0]].value(
                joint.couplings[joint.dof[0]].master.dof_values[
                    joint.couplings[joint.dof[0]].master_dof
                ]
            )
        )
    return m


def two_arms():
    m = Mechanism('two_arms')
    add_arm7(m, 'left_', (0, 0.5, 0))
    add_arm7(m, 'right_', (0, -0.5, 0))
    m.go_home()
    m.goal('left_goal', 'left_hand')
    m.goal('right_goal', 'right_hand')
    return m


def snake(count=30):
    m = Mechanism('snake')
    m.root('base')
    parent = 'base'
    for i in range(count):
        name = f's{i}'
        m.joint(name, parent, 'EZ' if i % 2 else 'EY', (0.05, 0, 0), limits=(-1.0, 1.0))
        m.home[name] = 0.05 * (-1) ** (i // 3)
        parent = f'{name}_link'
    m.tip('head', parent, (0.05, 0, 0))
    m.goal('head_goal', 'head')
    return m.go_home()


def relative():
    """Build two arms on a torso; the goal of one hand is relative to the other hand."""
    m = Mechanism('relative')
    m.root('base')
    m.joint('torso', 'base', 'EZ', (0, 0, 0.5), limits=(-1, 1))
    for side, y in (('l', 0.2), ('r', -0.2)):
        m.joint(f'{side}1', 'torso_link', 'EX EY', (0, y, 0.3), limits=(-2, 2))
        m.joint(f'{side}2', f'{side}1_link', 'EZ', (0.3, 0, 0), limits=(-2, 2))
        m.joint(f'{side}3', f'{side}2_link', 'EX EY', (0.25, 0, 0), limits=(-2, 2))
        m.tip(f'{side}_hand', f'{side}3_link', (0.1, 0, 0))
    offset = ((0.02, 0.05, 0), quat_from_euler(0.2, -0.1, 0.3))
    goal = m.goal('hold', 'r_hand', axes='goal', parent='l_hand', offset=offset)
    goal.set_position(0, -0.3, 0)
    return m


OPEN = {
    f.__name__: f
    for f in (
        arm6,
        arm7,
        planar,
        mixed,
        universals,
        ball,
        ball_limited,
        free_body,
        coupled,
        two_arms,
        snake,
        relative,
    )
}
