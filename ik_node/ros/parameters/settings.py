"""A checked snapshot of all parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from ik_node.description.yaml_document import Checked, parse_yaml
from ik_node.errors import DescriptionError, listed, OptionError
from ik_node.model.dof import DOF, parse_dofs
from ik_node.ros.messages import check_parameter_part, topic_parts
from ik_node.ros.parameters import parameter_table as table
from ik_node.scene.look import checked_layers, coloured, COLOURS
from ik_node.solver import SolverOptions


def _read(
    specs: Iterable[table.ParameterSpec], values: Mapping[str, Any], prefix: str = ''
) -> dict[str, Any]:
    """Return checked values or defaults by name; lists of names without the empty one of ROS."""
    fields = {}
    for spec in specs:
        value: Any = spec.check(values.get(spec.name, spec.default))
        if isinstance(value, tuple) and isinstance(value[0], str):
            value = tuple(filter(None, value))
        fields[spec.name.removeprefix(prefix)] = value
    return fields


class GoalSettings(SimpleNamespace):
    """The checked parameters `goals.<name>.*` of one goal, whose own name is `name`."""

    @classmethod
    def from_values(cls, name: str, values: Mapping[str, table.Value]) -> GoalSettings:
        """Read the goal's parameters or their defaults; OptionError names a bad one."""
        fields = _read(table.goal_parameters(name), values, f'goals.{name}.')
        axes = parse_dofs(fields['dof'], f'goals.{name}.dof')
        if len(fields['tolerance']) not in (1, 2, len(axes), len(DOF)):
            raise OptionError(
                f'goals.{name}.tolerance',
                list(fields['tolerance']),
                f'1 number, 2 ([m] and [rad]), or {len(axes)}, one for each axis in its dof',
            )
        return cls(name=name, **fields)

    def to_values(self) -> dict[str, Any]:
        """Return the goal's parameters by their full names, with types that ROS accepts."""
        fields = dict(vars(self))
        name = fields.pop('name')
        fields['offset'], fields['tolerance'] = list(self.offset), list(self.tolerance)
        return {f'goals.{name}.{field}': value for field, value in fields.items()}

    @property
    def takes_part(self) -> bool:
        """Return True if the goal is solved for once it has a pose."""
        return bool(self.enabled and self.weight > 0.0)

    def switched(self, enabled: bool) -> GoalSettings:
        """Return the same goal, enabled or not."""
        return GoalSettings(**{**vars(self), 'enabled': enabled})

    @property
    def goal_tolerance(self) -> tuple[float, ...] | None:
        """Return the tolerance of the `Goal`; None = the solver's thresholds."""
        tolerance: tuple[float, ...] = self.tolerance
        return tolerance if any(tolerance) else None

    @property
    def structure(self) -> tuple[str, str, str, str, tuple[float, ...]]:
        """Return the settings whose change needs a new solver."""
        return (self.name, self.link, self.dof, self.axes, self.offset)


# The parameters that are mappings of joints to values.
JOINT_VALUES = ('rest_pose', 'joint_targets')
_ALLOWED = "a YAML mapping of joints to finite numbers, '{elbow: 0.5, wrist: -1.0}'"


def parse_joint_values(parameter: str, text: str) -> dict[str, float]:
    """Read a text that maps joints to values [rad or m], '' = none; OptionError if it does not."""
    if not text.strip():
        return {}
    reader = Checked(parameter)
    try:
        joints = reader.mapping(parse_yaml(text, parameter), parameter, ('JOINT',), others=True)
        return {
            reader.text(joint, 'joint'): reader.numbers([value], 1, joint)[0]
            for joint, value in joints.items()
        }
    except DescriptionError as error:
        raise OptionError(parameter, text[:80], f'{_ALLOWED} ({error})') from None


def check_look(layers: str, color: str) -> None:
    """Raise OptionError that names a bad layer or colour in the parameters `markers.*`."""
    try:
        checked_layers(layers)
    except OptionError as error:
        raise OptionError('markers.layers', error.value, error.allowed) from None
    try:
        if color:
            coloured(COLOURS, color, COLOURS)
    except OptionError:
        allowed = "'#rrggbb', '#rrggbbaa', or '' for each layer's own"
        raise OptionError('markers.color', color, allowed) from None


def _avoiding(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the solver options that the parameters collisions.* state."""
    without_obstacles = True if fields['collisions.always'] else None
    return {
        'avoid_collisions': without_obstacles if fields['collisions.enabled'] else False,
        'collision_margin': fields['collisions.margin'],
        'influence_distance': fields['collisions.influence_distance'],
    }


@dataclass(frozen=True)
class Outlet:
    """A controller that takes commands or plans."""

    kind: str  # What its topic takes: joint_trajectory or commands; none = it has no topic.
    topic: str  # Topic of the commands of each tick, and of plans.
    joints: tuple[str, ...] = ()  # Its joints, in its order; empty = all commanded joints.
    action: str = ''  # Action for plans; empty = none.
    group: str = ''  # Name in `output.groups`; empty = without groups.


def outlets_of_all(output_type: str, action: str) -> tuple[Outlet, ...]:
    """Return the outlets without groups: topics by `output.type` and an action, for all joints."""
    kinds = [each for each in ('joint_trajectory', 'commands') if output_type in (each, 'both')]
    return (*(Outlet(each, f'~/{each}') for each in kinds), Outlet('none', '', (), action))


def group_names(values: Mapping[str, Any]) -> list[str]:
    """Return the names in `output.groups`; raise OptionError if one cannot be used."""
    names = [name for name in cast('Iterable[str]', values.get('output.groups', ())) if name]
    for name in names:
        check_parameter_part('output.groups', name)
        if f'output.{name}' in {spec.name for spec in table.NODE_PARAMETERS}:
            raise OptionError('output.groups', name, f'other names; output.{name} is a parameter')
    return names


def read_outlets(values: Mapping[str, table.Value]) -> tuple[Outlet, ...]:
    """Return the outlets; raise OptionError if groups share a part, or are beside others."""
    names = group_names(values)
    if not names:
        return outlets_of_all(str(values['output.type']), str(values['output.action']))
    for name, free in (('type', 'none'), ('action', ''), ('joints', ())):
        value = values[f'output.{name}']
        if value != free:
            reason = f'{free!r} while output.groups is set; each group has its own'
            raise OptionError(f'output.{name}', value, reason)
    parts, outlets, taken = topic_parts(names, 'group'), [], set[str]()
    for group in names:
        fields = _read(table.group_parameters(group), values, f'output.{group}.')
        kind, joints, action = fields['type'], fields['joints'], fields['action']
        topic = fields['topic'] or f'~/{parts[group]}/{kind}'
        outlet = Outlet(kind, topic, joints, action, group)
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


def split(outlets: Sequence[Outlet], motors: Collection[str]) -> tuple[list[Outlet], str]:
    """Return the outlets that take parts of a plan for motors, and why it cannot be split."""
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


# After so long without a tick the robot may have been moved [s]; at least this time, and at least
# this many periods.
LONGEST_GAP = 0.5
_LONGEST_GAP_PERIODS = 5.0
# Share of the period after which a solve of a tick ends with the best result so far. The deadline
# is not shorter than LEAST_DEADLINE [s], as the processor may be taken away for milliseconds.
TICK_SHARE, LEAST_DEADLINE = 0.8, 0.01


class Settings(SimpleNamespace):
    """
    The values of all parameters, checked separately and together.

    A tick reads one snapshot from its start to its end, so parameters that are set together take
    effect together. The fields have the parameters' names with _ in place of dots; lists of names
    have no empty ones, and `rest_pose` and `joint_targets` are mappings of joints to [rad or m].
    `goals` holds the parameters of `goal_names`, `outlets` the controllers. With output groups
    that take commands, `output_type` is groups.
    """

    outlets: tuple[Outlet, ...]
    goals: tuple[GoalSettings, ...]
    options: SolverOptions
    period: float  # Time between ticks [s].
    longest_gap: float  # Longest time between two ticks that counts as motion [s].

    @classmethod
    def from_values(cls, values: Mapping[str, table.Value]) -> Settings:
        """Return the settings; a missing value has its default. OptionError names a bad one."""
        fields = _read(table.NODE_PARAMETERS, values)
        if fields['frame_prefix'].startswith('/'):
            prefix = fields['frame_prefix']
            allowed = f'a prefix without a leading slash, which tf2 refuses: {prefix.lstrip("/")}'
            raise OptionError('frame_prefix', prefix, allowed)
        if fields['robot_file'] and fields['robot_description']:
            text = fields['robot_description']
            raise OptionError('robot_description', text, "'' while robot_file is set")
        outlets = read_outlets({**values, **fields})
        if any(each.group for each in outlets):
            # It is the type of the groups from here on.
            commands = any(each.kind != 'none' for each in outlets)
            fields['output.type'] = 'groups' if commands else 'none'
        for name in JOINT_VALUES:
            fields[name] = parse_joint_values(name, fields[name])
        check_look(fields['markers.layers'], fields['markers.color'])
        names = [check_parameter_part('goal_names', name) for name in fields['goal_names']]
        topic_parts(names, 'goal')
        options = _read(table.solver_parameters(), values, 'solver.')
        period = 1.0 / float(fields['rate'])
        return cls(
            **{name.replace('.', '_'): value for name, value in fields.items()},
            outlets=outlets,
            goals=tuple(GoalSettings.from_values(name, values) for name in names),
            options=dataclasses.replace(SolverOptions(), **options, **_avoiding(fields)),
            period=period,
            longest_gap=max(LONGEST_GAP, _LONGEST_GAP_PERIODS * period),
        )

    @property
    def tick_options(self) -> SolverOptions:
        """
        Return the solver's options with a deadline, so that no solve can silence the node.

        A solve of a tick ends after `TICK_SHARE` of the period, or after `solver.time_budget` if
        that is shorter.
        """
        deadline = max(TICK_SHARE * self.period, LEAST_DEADLINE)
        budget = self.options.time_budget or deadline
        return dataclasses.replace(self.options, time_budget=min(budget, deadline))

    @property
    def outside_tolerance(self) -> float:
        """Return how far a measured value may be outside its limits [rad, a tenth in m]."""
        kept = self.options.start_outside == 'stay'
        return float(self.limit_tolerance) if kept else 0.0

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Return the joints of each output group, by the name of their parameter."""
        grouped = [each for each in self.outlets if each.group]
        return {f'output.{each.group}.joints': each.joints for each in grouped}

    @property
    def active_goals(self) -> tuple[GoalSettings, ...]:
        """Return the goals that have a link."""
        return tuple(goal for goal in self.goals if goal.link)
