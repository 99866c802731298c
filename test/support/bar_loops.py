"""Planar loops of three bars, and their mobility."""

from ik_node.analysis.mobility import mobility_of
import numpy as np
from support.building import Mechanism


def loop(name, dof=None, kind='hinge', lengths=(0.4, 1.1, 0.9), angles=(0.0, 0.0, 0.0)):
    """Build three planar bars on a base of 1 m, closed from the third bar to the base."""
    m = Mechanism(name)
    m.root('ground')
    parent, reach = 'ground', 0.0
    for at, (length, angle) in enumerate(zip(lengths, angles, strict=True)):
        m.joint(f'j{at}', parent, 'EZ', (reach, 0, 0)).set_dof_values(angle)
        parent, reach = f'j{at}_link', length
    m.tip('end', parent, (reach, 0, 0))
    m.closure('tie', 'ground', 'end', kind, dof, xyz=(1.0, 0, 0))
    return m


def closing_angles(crank, lengths=(0.4, 1.1, 0.9)):
    a, b, c = lengths
    gap = np.array((1.0 - a * np.cos(crank), -a * np.sin(crank)))
    d = np.hypot(*gap)
    second = np.arctan2(gap[1], gap[0]) + np.arccos((b * b + d * d - c * c) / (2 * b * d))
    end = gap - b * np.array((np.cos(second), np.sin(second)))
    third = np.arctan2(end[1], end[0])
    return crank, second - crank, third - second


def mobility(m, order=()):
    return mobility_of(m.solver(), order)
