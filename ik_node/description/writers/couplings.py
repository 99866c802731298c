"""Couplings of a model, sorted by whether a <mimic> can express them."""

from __future__ import annotations

from ik_node.description.description import CouplingRule, Description
from ik_node.description.writers.plain_tree import PlainTree
from ik_node.model.dof import DOF, DOF_NAMES
from ik_node.model.joint import Joint


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
        Nonlinear couplings, and couplings of joints with several values.

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
            master = single.get((coupling.master.name, coupling.master_dof))
            coefficients = list(coupling.coefficients)
            while len(coefficients) > 1 and coefficients[-1] == 0.0:
                coefficients.pop()
            rule = CouplingRule(
                name or _value_name(joint, dof),
                master or _value_name(coupling.master, coupling.master_dof),
                coefficients,
            )
            if name and master and len(coefficients) <= 2:
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


def _value_name(joint: Joint, dof: DOF) -> str:
    return joint.name if len(joint.dof) == 1 else f'{joint.name}.{DOF_NAMES[dof]}'
