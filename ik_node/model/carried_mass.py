"""What the columns of a tree carry: the masses that a centre of mass is made of."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.errors import shown, TopologyError
from ik_node.model.link import Link
from ik_node.model.tree import Tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CarriedMass:
    """
    The masses below a link, by the column that carries them.

    Attributes
    ----------
    total : float
        [kg]
    by_column : dict of int to (float, ndarray)
        Mass [kg] and mass times place (3,) [kg m] in the column's frame; -1 = root frame.

    """

    total: float
    by_column: dict[int, tuple[float, Array]]


def carried_mass(tree: Tree, link: Link) -> CarriedMass:
    """
    Gather the masses of a link and of all links below it in the tree.

    Raises
    ------
    TopologyError
        If there is none.

    """
    by_column: dict[int, tuple[float, Array]] = {}
    total = 0.0
    for body in link.links_below():
        if body.mass > 0.0:
            column, pose = tree.seat[body]
            mass, moment = by_column.get(column, (0.0, np.zeros(3)))
            place = pose[:3, :3] @ body.centre_of_mass + pose[:3, 3]
            by_column[column] = (mass + body.mass, moment + body.mass * place)
            total += body.mass
    if total == 0.0:
        raise TopologyError(
            f'{shown(link.name)} and the links below it have no mass, so no centre of mass: set '
            f'Link.mass, or give the links of the description an <inertial>'
        )
    return CarriedMass(total, by_column)
