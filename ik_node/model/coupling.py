"""One joint value as a polynomial of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ik_node.model.dof import DOF

if TYPE_CHECKING:
    from ik_node.model.joint import Joint


@dataclass(frozen=True)
class Coupling:
    """
    The rule q = sum over i of c_i q_master**i; a mimic joint is c = (offset, multiplier).

    Attributes
    ----------
    master : Joint
        The joint whose value is followed.
    master_dof : DOF
        Which of its axes.
    coefficients : tuple of float
        c_0, c_1, ...; c_i in [unit of q / unit of q_master**i].

    """

    master: Joint
    master_dof: DOF
    coefficients: tuple[float, ...]

    def value(self, master_value: float) -> float:
        """Return q for a value of the master, by Horner's rule."""
        result = 0.0
        for coefficient in reversed(self.coefficients):
            result = result * master_value + coefficient
        return result
