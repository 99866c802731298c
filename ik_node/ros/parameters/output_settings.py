"""Where commands to hardware go, by the checked parameters `output.*`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ik_node.errors import listed, OptionError
from ik_node.ros.messages.topic_names import check_parameter_part, topic_parts
from ik_node.ros.parameters.parameter_spec import Value
from ik_node.ros.parameters.parameter_table import group_parameters, NODE_PARAMETERS


@dataclass(frozen=True)
class Outlet:
    """
    A controller that takes commands or plans.

    Attributes
    ----------
    kind : str
        What its topic takes: joint_trajectory or commands; none = it has no topic.
    topic : str
        Topic of the commands of each tick, and of plans.
    joints : tuple of str
        Its joints, in its order; empty = all commanded joints.
    action : str
        Action for plans; empty = none.
    group : str
        Name in `output.groups`; empty = without groups.

    """

    kind: str
    topic: str
    joints: tuple[str, ...] = ()
    action: str = ''
    group: str = ''


def outlets_of_all(output_type: str, action: str) -> tuple[Outlet, ...]:
    """Return the outlets without groups: topics by `output.type` and an action, for all joints."""
    kinds = [each for each in ('joint_trajectory', 'commands') if output_type in (each, 'both')]
    return (*(Outlet(each, f'~/{each}') for each in kinds), Outlet('none', '', (), action))


def group_names(values: Mapping[str, Any]) -> list[str]:
    """
    Return the names in `output.groups`.

    Raises
    ------
    OptionError
        If a name cannot be part of a parameter's name, or is that of another parameter.

    """
    names = [name for name in cast('Iterable[str]', values.get('output.groups', ())) if name]
    for name in names:
        check_parameter_part('output.groups', name)
        if f'output.{name}' in {spec.name for spec in NODE_PARAMETERS}:
            raise OptionError('output.groups', name, f'other names; output.{name} is a parameter')
    return names


def read_outlets(values: Mapping[str, Value]) -> tuple[Outlet, ...]:
    """
    Return the outlets of all checked parameters.

    Raises
    ------
    OptionError
        If groups share a joint, a topic or an action, or have no joints, or if parameters for all
        joints are set beside them.

    """
    names = group_names(values)
    if not names:
        return outlets_of_all(str(values['output.type']), str(values['output.action']))
    for name, free in (('type', 'none'), ('action', ''), ('joints', ('',))):
        value = values[f'output.{name}']
        if value != free:
            reason = f'{free!r} while output.groups is set; each group has its own'
            raise OptionError(f'output.{name}', value, reason)
    parts, outlets, taken = topic_parts(names, 'group'), [], set[str]()
    for group in names:
        kind, joints, topic, action = _of_group(group, values)
        outlet = Outlet(kind, topic or f'~/{parts[group]}/{kind}', joints, action, group)
        if not joints:
            raise OptionError(f'output.{group}.joints', list(joints), 'the joints of the group')
        own = [*joints, action] if kind == 'none' else [*joints, outlet.topic, action]
        for each in filter(None, own):
            if each in taken:
                reason = 'every joint, topic and action in one group, once'
                raise OptionError(f'output.{group}', each, reason)
            taken.add(each)
        outlets.append(outlet)
    return tuple(outlets)


def _of_group(group: str, values: Mapping[str, Value]) -> tuple[str, tuple[str, ...], str, str]:
    """Return type, joints, topic and action of a group."""
    fields: dict[str, Any] = {
        spec.name.rpartition('.')[2]: spec.check(values.get(spec.name, spec.default))
        for spec in group_parameters(group)
    }
    joints = tuple(name for name in fields['joints'] if name)
    return fields['type'], joints, fields['topic'], fields['action']


def split(outlets: Sequence[Outlet], motors: Collection[str]) -> tuple[list[Outlet], str]:
    """
    Return the outlets that take their parts of a plan for some motors.

    The second value is the reason why the plan cannot be split; '' if it can be.
    """
    takers = [each for each in outlets if not each.joints or {*each.joints} & {*motors}]
    for each in takers:
        others = [name for name in each.joints if name not in motors]
        if others:
            return [], f'the controller of group {each.group} also moves {listed(others)}'
    if all(each.joints for each in takers):
        covered = {name for each in takers for name in each.joints}
        missing = [name for name in motors if name not in covered]
        if missing:
            return [], f'no controller takes plans for {listed(missing)}'
    return takers, ''
