"""Mechanisms with loops."""

from math import cos, pi, sin

from ik_node.model.constraint import Closure
from ik_node.model.joint import Joint
from ik_node.model.link import Link
import numpy as np
from support.building import Mechanism


def fourbar_arms(name):
    """Build the crank and coupler, and the rocker, of a four-bar with an open loop."""
    m = Mechanism(name)
    m.root('ground')
    m.joint('crank', 'ground', 'EZ', limits=(0.2, 2.8))
    m.joint('coupler', 'crank_link', 'EZ', (0.4, 0, 0))
    m.joint('rocker', 'ground', 'EZ', (1.0, 0, 0))
    return m


def fourbar():
    """Build a planar four-bar closed by a weld: crank, coupler, rocker, hinge at its end."""
    m = fourbar_arms('fourbar')
    m.joint('pin', 'rocker_link', 'EZ', (0.9, 0, 0))
    m.tip('coupler_end', 'coupler_link', (1.1, 0, 0))
    m.closure('weld', 'pin_link', 'coupler_end')
    m.tip('pen', 'coupler_link', (0.55, 0.3, 0))
    m.goal('pen_goal', 'pen', 'X Y')
    m.home = fourbar_values(1.5)
    return m.go_home()


def fourbar_values(crank):
    """Return the joint values of the upper assembly by the intersection of two circles."""
    ax, ay = 0.4 * cos(crank), 0.4 * sin(crank)
    dx, dy = 1.0 - ax, -ay
    d = np.hypot(dx, dy)
    along = (1.1**2 - 0.9**2 + d * d) / (2 * d)
    up = np.sqrt(1.1**2 - along**2)
    bx, by = ax + (along * dx - up * dy) / d, ay + (along * dy + up * dx) / d
    coupler, rocker = np.arctan2(by - ay, bx - ax), np.arctan2(by, bx - 1.0)
    return {'crank': crank, 'coupler': coupler - crank, 'rocker': rocker, 'pin': coupler - rocker}


def fourbar_pinned():
    m = fourbar_arms('fourbar_pinned')
    m.tip('coupler_end', 'coupler_link', (1.1, 0, 0))
    pin = Joint('pin')
    pin.set_dof('EZ')
    pin.set_position(0.9, 0, 0)
    m.links['rocker_link'].add_child(pin)
    pin.make_closure(m.links['coupler_end'])
    m.joints['pin'] = m.closures['pin'] = pin
    m.tip('pen', 'coupler_link', (0.55, 0.3, 0))
    m.goal('pen_goal', 'pen', 'X Y')
    m.home = fourbar_values(1.5)
    return m.go_home()


def fivebar():
    m = Mechanism('fivebar')
    m.root('ground')
    for side, x in (('l', 0.0), ('r', 0.4)):
        m.joint(f'{side}1', 'ground', 'EZ', (x, 0, 0), limits=(-0.5, 3.6))
        m.joint(f'{side}2', f'{side}1_link', 'EZ', (0.4, 0, 0), limits=(-2.8, 2.8))
        m.tip(f'{side}_end', f'{side}2_link', (0.5, 0, 0))
    m.closure('close', 'l_end', 'r_end', dof='X Y')
    m.goal('tool', 'l_end', 'X Y')
    reach, foot = np.hypot(0.2, 0.6), np.arctan2(0.6, 0.2)
    elbow = pi - np.arccos((0.4**2 + 0.5**2 - reach**2) / (2 * 0.4 * 0.5))
    bend = np.arccos((0.4**2 + reach**2 - 0.5**2) / (2 * 0.4 * reach))
    m.home = {'l1': foot + bend, 'l2': -elbow, 'r1': pi - foot - bend, 'r2': elbow}
    return m.go_home()


def hexapod(multi=True):
    """Build a 6-UPS platform with multi-DoF joints or with single-DoF joints."""
    m = Mechanism('hexapod' if multi else 'hexapod_single')
    m.root('base')
    names = ('float',) if multi else ('px', 'py', 'pz', 'pa', 'pb', 'pc')
    dofs = ('X Y Z EX EY EZ',) if multi else ('X', 'Y', 'Z', 'EZ', 'EY', 'EX')
    parent = 'base'
    for name, dof in zip(names, dofs, strict=True):
        last = name == names[-1]
        link = 'platform' if last else None
        m.joint(name, parent, dof, (0, 0, 0.6) if name == names[0] else (0, 0, 0), link=link)
        parent = 'platform' if last else f'{name}_link'
    for k in range(6):
        foot, top = anchors(k)
        delta = np.subtract(top, foot)
        length = float(np.linalg.norm(delta))
        # the leg's z axis points from foot to top: Rz(yaw) Ry(pitch)
        rpy = (0, np.arccos(delta[2] / length), np.arctan2(delta[1], delta[0]))
        add_leg(m, k, multi, foot, rpy, length)
        m.closure(
            f'leg{k}',
            'platform',
            f'top{k}',
            dof='X Y Z' if multi else None,
            xyz=np.subtract(top, (0, 0, 0.6)),
            rpy=rpy,
        )
    m.goal('pose', 'platform')
    return m


def add_leg(m, k, multi, foot, rpy, length):
    if multi:
        m.joint(f'u{k}', 'base', 'EX EY', foot, rpy, (-0.7, 0.7))
        m.joint(f'p{k}', f'u{k}_link', 'Z', (0, 0, length), limits=(-0.2, 0.2), link=f'top{k}')
        return
    m.joint(f'uy{k}', 'base', 'EY', foot, rpy, (-0.7, 0.7))
    m.joint(f'ux{k}', f'uy{k}_link', 'EX', limits=(-0.7, 0.7))
    m.joint(f'p{k}', f'ux{k}_link', 'Z', (0, 0, length), limits=(-0.2, 0.2))
    m.joint(f'bz{k}', f'p{k}_link', 'EZ', limits=(-1, 1))
    m.joint(f'by{k}', f'bz{k}_link', 'EY', limits=(-1, 1))
    m.joint(f'bx{k}', f'by{k}_link', 'EX', limits=(-1, 1), link=f'top{k}')


def anchors(k):
    side = 1 if k % 2 else -1
    low = 2 * pi / 3 * (k // 2) + side * 0.17
    high = 2 * pi / 3 * (k // 2) + side * (pi / 3 - 0.17)
    return (0.5 * cos(low), 0.5 * sin(low), 0), (0.3 * cos(high), 0.3 * sin(high), 0.6)


def hexapod_single():
    return hexapod(multi=False)


def walker():
    """Build a floating body with coupled legs; the base is above the fork of the loop."""
    m = Mechanism('walker')
    m.root('world')
    m.joint('float', 'world', 'X Y Z EX EY EZ', (0, 0, 0.8), link='body')
    m.joint('waist', 'body', 'EZ', (0, 0, -0.1), limits=(-1, 1))
    for side, y in (('l', 0.2), ('r', -0.2)):
        m.joint(f'{side}1', 'waist_link', 'EX EY', (0, y, 0), limits=(-1.5, 1.5))
        m.joint(f'{side}2', f'{side}1_link', 'EY', (0, 0, -0.4), limits=(-1.5, 1.5))
        m.joint(f'{side}3', f'{side}2_link', 'EX EY EZ', (0, 0, -0.4), limits=(-1.5, 1.5))
        m.tip(f'{side}_foot', f'{side}3_link', (0, 0, -0.1))
    m.closure('hold', 'l_foot', 'r_foot', xyz=(0, -0.4, 0))
    m.goal('body_goal', 'body')
    m.home = {'float': (0.1, 0.1, 0.1, 0.2, -0.3, 0.4), 'waist': 0.3}
    return m.go_home()


def two_arm_box():
    """Build two arms with one box, on the first by the tree, on the second by a weld."""
    m = Mechanism('two_arm_box')
    m.root('base')
    for side, y in (('l', 0.35), ('r', -0.35)):
        m.joint(f'{side}1', 'base', 'EZ', (0, y, 0.3), limits=(-2.9, 2.9))
        m.joint(f'{side}2', f'{side}1_link', 'EY', limits=(-2, 2))
        m.joint(f'{side}3', f'{side}2_link', 'EY', (0.4, 0, 0), limits=(-2.6, 2.6))
        m.joint(f'{side}4', f'{side}3_link', 'EX', (0.2, 0, 0), limits=(-2.9, 2.9))
        m.joint(f'{side}5', f'{side}4_link', 'EY', (0.2, 0, 0), limits=(-2, 2))
        m.joint(f'{side}6', f'{side}5_link', 'EX', limits=(-2.9, 2.9))
        m.tip(f'{side}_hand', f'{side}6_link', (0.1, 0, 0))
        for joint, value in ((2, -0.6), (3, 1.4), (5, -0.8)):
            m.home[f'{side}{joint}'] = value
    m.tip('box', 'l_hand', (0.1, -0.35, 0))
    m.tip('grip', 'box', (-0.1, -0.35, 0))
    m.closure('grasp', 'grip', 'r_hand')
    m.goal('box_goal', 'box')
    return m.go_home()


def universal_and_distance():
    """Build a platform on three rods of fixed length, and a shaft with a universal closure."""
    m = Mechanism('universal_and_distance')
    m.root('base')
    m.joint('float', 'base', 'X Y Z EX EY EZ', (0, 0, 0.7), link='plate')
    for k in range(3):
        turn = 2 * pi / 3 * k
        m.tip(f'foot{k}', 'base', (0.4 * cos(turn), 0.4 * sin(turn), 0))
        rod = Closure(f'rod{k}', 'distance')
        rod.distance = 0.75
        rod.set_position(0.3 * cos(turn + 0.3), 0.3 * sin(turn + 0.3), 0)
        m.links['plate'].add_child(rod)
        rod.make_closure(m.links[f'foot{k}'])
        m.closures[rod.name] = rod
    m.joint('shaft', 'base', 'Z EZ', limits=(-1.0, 1.0))
    m.tip('head', 'shaft_link', (0, 0, 0.65))
    m.closure('cross', 'plate', 'head', 'universal')
    m.goal('plate_goal', 'plate', 'X Y')
    return m


def two_legs(name, height):
    """Build a floating body with two legs of six values, feet not on the ground."""
    m = Mechanism(name)
    m.root('ground')
    m.joint('float', 'ground', 'X Y Z EX EY EZ', (0, 0, height), link='body')
    for side, y in (('l', 0.1), ('r', -0.1)):
        m.joint(f'{side}_hip', 'body', 'EX EY EZ', (0, y, 0), limits=(-1.5, 1.5))
        m.joint(f'{side}_knee', f'{side}_hip_link', 'EY', (0, 0, -0.4), limits=(0.0, 2.5))
        m.joint(f'{side}_ankle', f'{side}_knee_link', 'EX EY', (0, 0, -0.4), limits=(-1.2, 1.2))
        m.tip(f'{side}_foot', f'{side}_ankle_link', (0, 0, -0.1))
    return m


def standing():
    m = two_legs('standing', 0.9)
    for side, y in (('l', 0.1), ('r', -0.1)):
        m.closure(f'{side}_ground', 'ground', f'{side}_foot', xyz=(0, y, 0))
    m.goal('body_goal', 'body')
    return m


def parallelogram():
    """Build a four-bar with equal opposite bars; its two branches meet when it is flat."""
    m = Mechanism('parallelogram')
    m.root('ground')
    m.joint('a', 'ground', 'EZ')
    m.joint('b', 'a_link', 'EZ', (0.5, 0, 0))
    m.joint('c', 'ground', 'EZ', (1, 0, 0))
    m.tip('b_end', 'b_link', (1, 0, 0))
    m.tip('c_end', 'c_link', (0.5, 0, 0))
    m.closure('pin', 'b_end', 'c_end', dof='X Y')
    m.tip('pen', 'b_link', (0.5, 0.2, 0))
    m.goal('pen_goal', 'pen', 'X Y')
    return m


def string_of_bodies(order=(0, 1, 2, 3)):
    """Build bodies A M B C connected by A-M, M-B, B-C; `order` is the order of roots."""
    m = Mechanism('string_of_bodies')
    roots = []
    for at, name in enumerate('AMBC'):
        root = Link(f'{name}_root')
        root.set_position(0.3 * at, 0, 0)
        m.links[root.name] = root
        roots.append(root)
        m.joint(f'{name}_slide', root.name, 'X', limits=(-1, 1))
        m.joint(f'{name}_turn', f'{name}_slide_link', 'EZ', limits=(-2, 2))
        m.tip(name, f'{name}_turn_link', (0.1, 0, 0))
    m.roots = [roots[at] for at in order]
    for first, second in ('AM', 'MB', 'BC'):
        m.closure(f'{first}{second}', first, second, dof='X', xyz=(0.2, 0, 0))
    return m


CLOSED = {
    f.__name__: f
    for f in (
        fourbar,
        fourbar_pinned,
        fivebar,
        hexapod,
        hexapod_single,
        walker,
        two_arm_box,
        universal_and_distance,
        standing,
        parallelogram,
        string_of_bodies,
    )
}
