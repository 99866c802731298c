"""The catalogue of mechanisms for all tests of the numerical core."""

from itertools import combinations

from ik_node.model.constraint import Closure
from ik_node.model.rotation import quat_from_euler
from support.building import Mechanism
from support.closed_mechanisms import CLOSED
from support.open_mechanisms import OPEN

MECHANISMS = {**OPEN, **CLOSED}

AXES = ('world', 'goal', 'link')
TURNS = [turns for count in (1, 2, 3) for turns in combinations(('EX', 'EY', 'EZ'), count)]


def held(axes, dof, kind='frame', parent='left'):
    """Return two moving bodies with one constraint between them, offsets on both sides."""
    m = Mechanism('held')
    m.root('base')
    m.joint('trunk', 'base', 'Z EX', (0.1, 0, 0.2), (0.2, 0.1, 0), (-1, 1))
    m.joint('l', 'trunk_link', 'X EY EZ', (0, 0.2, 0), (0.1, 0.4, -0.2), (-1, 1), link='left')
    m.joint('r', 'trunk_link', 'EX EY EZ', (0, -0.3, 0), (0, 0.3, 0.5), (-1, 1), link='right')
    if kind == 'frame':
        offset = ((0.1, -0.2, 0.3), quat_from_euler(0.4, 0.3, -0.2))
        constraint = m.goal('goal', 'right', ' '.join(dof), axes, parent, offset)
    else:
        constraint = Closure('closure', kind)
        m.links[parent].add_child(constraint)
        constraint.make_closure(m.links['right'])
        constraint.set_offset((0.1, -0.2, 0.3), quat_from_euler(0.4, 0.3, -0.2))
        constraint.distance = 0.3 if kind == 'distance' else 0.0
    constraint.set_position(0.2, 0.1, -0.1)
    constraint.set_euler(0.5, -0.4, 0.3)
    return m


def heavy_arm(kind):
    m = MECHANISMS['arm7']()
    for link in m.links.values():
        link.mass, link.centre_of_mass[:] = 1.0, (0.02, 0.0, 0.05)
    m.goals['hand_goal'].kind = kind
    return m
