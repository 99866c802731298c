"""Which joints and links can move at a configuration, the loops closed."""

from __future__ import annotations

from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.request import request_of
from ik_node.model.tree import Tree
from ik_node.robot import Robot
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.problem.chain_problem import RANK_TOLERANCE
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import without_rounding
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Smaller motions of a joint, of motions of length one, count as none.
NONE = 1e-6


def held_values(robot: Robot) -> dict[str, str]:
    """
    Return the joint values that cannot change at the present configuration, and why.

    Parameters
    ----------
    robot : Robot
        With its loops closed.

    Returns
    -------
    dict of str to str
        Name of the value -> 'limits' (lower = upper), 'locked', 'coupling' (it follows what
        cannot move, or nothing) or 'loops'. Small motions alone are looked at: in a singular pose
        more can move than the loops let pass.

    """
    tree = Solver(robot, SolverOptions()).tree
    table = JointTable(tree)
    held: dict[str, str] = {}
    for at, (joint, dof) in enumerate(tree.owner):
        if joint.min_dof_limit[dof] == joint.max_dof_limit[dof]:
            held[tree.names[at]] = 'limits'
        elif joint.locked[dof]:
            held[tree.names[at]] = 'locked'
    fixed = [tree.names.index(name) for name in held]
    fixed += [table.masters[at] for at in fixed if at in table.masters]
    for at in _held_by_loops(robot, table, fixed):
        held.setdefault(tree.names[at], 'loops')
    for follower, master, polynomial in table.followers:
        slope = np.polynomial.Polynomial(polynomial).deriv()(robot.q[master])
        if tree.names[master] in held or abs(slope) < NONE:
            held.setdefault(tree.names[follower], 'coupling')
    return held


def _held_by_loops(robot: Robot, table: JointTable, fixed: list[int]) -> list[int]:
    """Return the places in q whose motion is zero in every motion that the loops leave."""
    solver = Solver(robot, SolverOptions())
    tree, options = solver.tree, solver.options
    requests = [request_of(joint) for joint in tree.closers if not isinstance(joint, Goal)]
    problem = Problem(tree, [request for request in requests if request.takes_part])
    problem.refresh(options)
    rows = table.rows.copy()
    rows[JOINT_LOWER], rows[JOINT_UPPER] = -np.inf, np.inf
    redundancies = {frozenset(each.closures): each for each in robot.redundancies}
    held: list[int] = []
    for chain in problem.chains:
        _, jacobian, _ = chain.linearise_by_size(robot.q, rows, options.packed())
        places = chain.flat.var_q.tolist()
        free = [at for at, place in enumerate(places) if place not in fixed]
        if not free:
            continue
        known = redundancies.get(frozenset(chain.names.constraints))
        chosen = np.isin(np.arange(len(places)), free)
        _, values, directions = np.linalg.svd(without_rounding(jacobian, chosen, known))
        rank = int(np.sum(values > RANK_TOLERANCE * float(values.max(initial=1e-3))))
        motions = np.max(np.abs(directions[rank:]), axis=0, initial=0.0)
        held += [places[at] for at, most in zip(free, motions, strict=True) if most < NONE]
    # The columns of a ball joint are turns about its axes, which say little of single angles.
    balls = [joint for joint, dof in tree.owner if dof.is_rotation and joint.dof_flags[3:].all()]
    loose = {id(ball) for ball in balls if not _all_turns(ball, tree, held)}
    return [
        at for at in held if not (tree.owner[at][1].is_rotation and id(tree.owner[at][0]) in loose)
    ]


def _all_turns(ball: Joint, tree: Tree, held: list[int]) -> bool:
    """Say whether all three angles of a ball joint are among some places in q."""
    turns = [at for at, (j, dof) in enumerate(tree.owner) if j is ball and dof.is_rotation]
    return set(turns) <= set(held)


def still_links(robot: Robot, held: dict[str, str]) -> list[str]:
    """Return the links that do not move: no joint above them can, or there is none."""
    found = []
    for name, link in robot.links.items():
        if not any(set(joint.value_names) - set(held) for joint in joints_above(link)):
            found.append(name)
    return found


def joints_above(link: Link) -> list[Joint]:
    """Return the movable joints between a link and its root."""
    found, frame = [], link.parent
    while frame is not None:
        if isinstance(frame, Joint) and frame.dof:
            found.append(frame)
        frame = frame.parent
    return found
