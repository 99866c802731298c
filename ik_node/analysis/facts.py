"""The facts about a robot that `check` reports, in types that JSON supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any

from ik_node.analysis.analysed_robot import AnalysedRobot
from ik_node.analysis.file_pose import FileGap, gap_notes, WARNING
from ik_node.analysis.mobility import Mobility
from ik_node.analysis.wrong_parts import (
    blocking_followers,
    fixed_values,
    freeing_tolerances,
    loose_joints,
    still_links,
    wrong_axes,
    wrong_parts,
)
from ik_node.description.writers.plain_tree import closure_type, joint_type, OWN_TYPES, value_type
from ik_node.model.constraint import Closure
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link


def facts_of(robot: AnalysedRobot) -> dict[str, Any]:
    """Close the loops of a robot and return the facts about it in types that JSON supports."""
    result = robot.assemble()
    mobility = robot.mobility
    held = fixed_values(robot)
    disagreements = {
        name: pair for each in robot.redundancies for name, pair in each.misfit.items()
    }
    parts = wrong_parts(robot, result, held)
    # A joint with a wrong axis makes the axes of its loops look wrong.
    axes = [] if parts else wrong_axes(robot, result)
    gaps = gap_notes(robot.file_gaps)
    return {
        'name': robot.name,
        'dialect': robot.dialect,
        'root': robot.root.name,
        'roots': [root.name for root in robot.description.roots],
        'links': list(robot.links),
        'joints': [
            value for joint in robot.joint_order for value in _values(joint, robot.actuated, held)
        ],
        'fixed_joints': [name for name, joint in robot.joints.items() if not joint.dof],
        'tree': _tree(robot.description.roots),
        'actuated': list(robot.actuated),
        'closures': [
            _loop(name, closure, result, mobility, disagreements)
            | _in_the_file(robot.file_gaps.get(name))
            for name, closure in robot.closures.items()
        ],
        'mobility': int(mobility),
        'mobility_details': mobility.facts(),
        'loops_closed': result.status.name == 'CONVERGED',
        'message': result.message,
        'wrong_axes': axes,
        'wrong_parts': parts,
        'loose_joints': loose_joints(robot),
        'can_move': not any(each['frozen'] for each in axes)
        and len(held) < len(robot.joint_names),
        'closes_without_limits': result.closes_without_limits,
        'limits_in_the_way': [
            {'name': name, 'value_without_limits': float(value)}
            for name, value in result.against_limits.items()
        ],
        'at_limits': list(result.active_limits),
        'held': held,
        'blocking_followers': blocking_followers(robot, held),
        'freeing_tolerances': freeing_tolerances(robot, held),
        'still_links': still_links(robot, held),
        # The gaps in the file's own pose are in the facts of the loops.
        'notes': [each for each in robot.notes if each not in gaps or each.startswith(WARNING)],
    }


def _values(joint: Joint, actuated: list[str], held: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            'name': name,
            'joint': joint.name,
            'type': value_type(joint, dof) if len(joint.dof) == 1 else joint_type(joint),
            'lower': _bound(joint.min_dof_limit[dof]),
            'upper': _bound(joint.max_dof_limit[dof]),
            'velocity': _bound(joint.max_velocity[dof]),
            'effort': _bound(joint.max_effort[dof]),
            'unit': 'rad' if dof.is_rotation else 'm',
            'value': float(joint.dof_values[dof]),
            'actuated': name in actuated or joint.name in actuated,
            'follows': _follows(joint, dof),
            'held_by': held.get(name),
        }
        for name, dof in zip(joint.value_names, joint.dof, strict=True)
    ]


def _follows(joint: Joint, dof: DOF) -> dict[str, Any] | None:
    """Return the master of a value and its polynomial; with several, also the others."""
    coupling = joint.couplings.get(dof)
    if coupling is None:
        return None
    first, *others = (
        {'name': term.master.value_name(term.master_dof), 'coefficients': list(term.coefficients)}
        for term in coupling.terms
    )
    return {**first, 'others': others} if others else first


def _tree(roots: Sequence[Joint | Link]) -> list[dict[str, Any]]:
    """Return every link after its parent link, with the joint between them."""
    result: list[dict[str, Any]] = []
    stack: list[tuple[Joint | Link, int, str | None]] = [(root, 0, None) for root in roots[::-1]]
    while stack:
        frame, depth, parent = stack.pop()
        joint = frame if isinstance(frame, Joint) else None
        link = frame.child if isinstance(frame, Joint) else frame
        result.append(
            {
                'link': None if link is None else link.name,
                'parent': parent,
                'joint': None if joint is None else joint.name,
                'type': None if joint is None else joint_type(joint),
                'depth': depth,
            }
        )
        children = [] if link is None else link.children
        stack += [
            (child, depth + 1, None if link is None else link.name)
            for child in children[::-1]
            if isinstance(child, Joint) and not child.is_closure
        ]
    return result


def _loop(
    name: str,
    closure: Closure,
    result: Any,
    mobility: Mobility,
    disagreements: Mapping[str, tuple[float, float]],
) -> dict[str, Any]:
    error = result.closure_errors.get(name)
    names = [dof.name for dof in closure.dof]
    names = {'universal': ['X', 'Y', 'Z', 'cross'], 'distance': ['distance']}.get(
        closure.kind, names
    )
    position, orientation = disagreements.get(name, (None, None))
    return {
        'name': name,
        'link_a': closure.child.name if closure.child else None,
        'link_b': closure.parent.name if closure.parent else None,
        'type': closure_type(closure, OWN_TYPES),
        'dof': ' '.join(dof.name for dof in closure.dof),
        'distance': closure.distance if closure.kind == 'distance' else None,
        'tolerance': closure.tolerance,
        'enabled': error is not None,
        'rows': len(names),
        'redundant_rows': mobility.redundant_closures.get(name, 0),
        'implied_rows': [names[row] for row in mobility.implied_rows.get(name, ())],
        'disagreement': {'position': position, 'orientation': orientation}
        if position is not None
        else None,
        'position': None if error is None else error.position,
        'orientation': None if error is None else error.orientation,
        'open': error is not None and name in result.open_loops,
    }


def _in_the_file(gap: FileGap | None) -> dict[str, Any]:
    """Return how open a loop is in the file's own pose; None if it is not known."""
    if gap is None:
        return {'in_the_file': None}
    return {'in_the_file': {**gap._asdict(), 'share': gap.share, 'is_large': gap.is_large}}


def _bound(value: float) -> float | None:
    """Return a limit; None if it is infinite, because JSON has no infinity."""
    return float(value) if math.isfinite(value) else None
