"""Couplings of a model, sorted by whether a <mimic> can express them."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.description.description import CouplingRule, Description
from ik_node.description.writers.plain_tree import PlainTree


def couplings_of(
    description: Description, tree: PlainTree
) -> tuple[dict[str, CouplingRule], list[CouplingRule]]:
    """
    Sort the couplings of a robot by whether URDF can express them.

    Parameters
    ----------
    description : Description
        The robot.
    tree : PlainTree
        The same robot in URDF's terms.

    Returns
    -------
    mimics : dict of str to CouplingRule
        Linear couplings between joints with one value each, by the name of the follower.
    others : list of CouplingRule
        Nonlinear couplings, couplings of joints with several values, and those with several
        masters.

    """
    single = {
        (plain.made_from.name, plain.dof): plain.name
        for plain in tree.joints
        if plain.made_from is not None and plain.dof is not None
    }
    mimics: dict[str, CouplingRule] = {}
    others: list[CouplingRule] = []
    for joint in description.joints.values():
        for dof, coupling in joint.couplings.items():
            name = single.get((joint.name, dof))
            (master, coefficients), *more = (
                (
                    single.get((term.master.name, term.master_dof))
                    or term.master.value_name(term.master_dof),
                    _without_zeros(term.coefficients),
                )
                for term in coupling.terms
            )
            rule = CouplingRule(name or joint.value_name(dof), master, coefficients, others=more)
            follows_one = (coupling.master.name, coupling.master_dof) in single and not more
            if name and follows_one and len(coefficients) <= 2:
                mimics[name] = rule
            else:
                others.append(rule)
    return mimics, others


def motors_of(description: Description, tree: PlainTree) -> list[str]:
    """Return the names of the actuated joints in the tree."""
    names: list[str] = []
    for motor in description.actuated:
        single = [
            plain.name
            for plain in tree.joints
            if plain.made_from is not None and plain.made_from.name == motor
        ]
        names += single or [motor]
    return names


def _without_zeros(coefficients: Sequence[float]) -> list[float]:
    """Return a polynomial without its highest coefficients that are zero."""
    kept = list(coefficients)
    while len(kept) > 1 and kept[-1] == 0.0:
        kept.pop()
    return kept
