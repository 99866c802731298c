"""Loops and couplings, by names, into the model graph."""

from __future__ import annotations

from collections.abc import Callable

from ik_node.description.description import Description, WORLD
from ik_node.description.loop import CouplingRule, Loop, LoopSet
from ik_node.description.unknown_name import unknown
from ik_node.errors import DescriptionError, IkError, shown
from ik_node.model.closure import Closure
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.joint import Joint
from ik_node.model.link import Link

Fail = Callable[[str, int | None], DescriptionError]


def apply_loops(loop_set: LoopSet, description: Description) -> None:
    """
    Add closures, couplings and the list of motors to a model.

    A closure hangs on frame_b's link, posed as frame_b, and closes on frame_a's link, with
    frame_a as its offset.

    Raises
    ------
    DescriptionError
        If a name is unknown or used twice, or a loop or coupling makes no sense.

    """

    def fail(message: str, line: int | None = None) -> DescriptionError:
        return DescriptionError(message, source=loop_set.source, line=line)

    for loop in loop_set.loops:
        _add_closure(loop, description, fail)
    for rule in loop_set.couplings:
        _add_coupling(rule, description, fail)
    if loop_set.actuated is not None:
        for name in loop_set.actuated:
            _movable(name, description, fail, None, 'actuated')
        description.actuated = list(loop_set.actuated)
    if loop_set.dialect and (loop_set.loops or loop_set.couplings or loop_set.actuated):
        description.dialect += f' + {loop_set.dialect}'


def _add_closure(loop: Loop, description: Description, fail: Fail) -> None:
    what = f'closure {shown(loop.name)}'
    if loop.name in description.closures:
        raise fail(f'{what}: that name is taken by another closure', loop.line)
    if WORLD in loop.ends and WORLD not in description.links:
        description.links[WORLD] = Link(WORLD)
        description.roots.append(description.links[WORLD])
        description.notes.append(
            f'{what}: the link "{WORLD}" is not declared; it is taken for the world, which '
            'stands still'
        )
    for end, frame in (('frame_a', loop.frame_a), ('frame_b', loop.frame_b)):
        if frame.link not in description.links:
            message = unknown('link', frame.link, list(description.links))
            raise fail(f'{what}: {end}: {message}', loop.line)
    if loop.frame_a.link == loop.frame_b.link:
        raise fail(
            f'{what}: frame_a and frame_b are both on the link {shown(loop.frame_a.link)}; '
            'a closure ties two links',
            loop.line,
        )
    closure = Closure(loop.name, loop.type_name)
    if loop.dofs is not None:
        closure.set_dof(*loop.dofs)
    closure.distance = loop.distance
    closure.tolerance = loop.tolerance
    closure.weight = loop.weight
    closure.enabled = loop.enabled
    closure.set_position(*loop.frame_b.position)
    closure.set_quaternion(*loop.frame_b.quat_xyzw)
    closure.set_offset(loop.frame_a.position, loop.frame_a.quat_xyzw)
    description.links[loop.frame_b.link].add_child(closure)
    closure.make_closure(description.links[loop.frame_a.link])
    description.closures[loop.name] = closure


def _add_coupling(rule: CouplingRule, description: Description, fail: Fail) -> None:
    joint, dof = _movable(rule.joint, description, fail, rule.line, 'couplings: joint')
    master, master_dof = _movable(rule.master, description, fail, rule.line, 'couplings: of')
    if dof in joint.couplings:
        description.notes.append(f'the coupling of {shown(rule.joint)} replaces its mimic')
        joint.uncouple(dof)
    try:
        joint.couple(dof, master, master_dof, rule.coefficients)
    except IkError as error:
        raise fail(f'couplings: joint {shown(rule.joint)}: {error}', rule.line) from None


def _movable(
    name: str, description: Description, fail: Fail, line: int | None, where: str
) -> tuple[Joint, DOF]:
    joint, axis = description.joints.get(name), ''
    if joint is None and '.' in name:
        base, _, axis = name.rpartition('.')
        joint = description.joints.get(base)
    if joint is None:
        message = unknown('joint', name, [joint.name for joint in description.joint_order])
        raise fail(f'{where}: {message}', line)
    if not joint.dof:
        raise fail(f'{where}: the joint {shown(name)} is fixed; a movable one is needed', line)
    if axis:
        try:
            return joint, parse_dofs([axis])[0]
        except IkError as error:
            raise fail(f'{where}: {shown(name)}: {error}', line) from None
    if len(joint.dof) > 1 and where != 'actuated':
        raise fail(f'{where}: {shown(name)} has several DoF; name one: {joint.value_names}', line)
    return joint, joint.dof[0]
