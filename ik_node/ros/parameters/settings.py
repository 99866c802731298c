"""An immutable, checked snapshot of all parameters."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ik_node.errors import OptionError
from ik_node.ros.messages.topic_names import check_goal_name, topic_parts
from ik_node.ros.parameters.goal_settings import GoalSettings
from ik_node.ros.parameters.joint_settings import JointSettings
from ik_node.ros.parameters.marker_settings import MarkerSettings
from ik_node.ros.parameters.output_settings import Outlet, read_outlets
from ik_node.ros.parameters.parameter_spec import Value
from ik_node.ros.parameters.parameter_table import NODE_PARAMETERS, solver_parameters
from ik_node.solver import SolverOptions

# Share of the period after which a solve of a tick ends with the best result so far. The deadline
# is not shorter than LEAST_DEADLINE [s], as the processor may be taken away for milliseconds.
TICK_SHARE, LEAST_DEADLINE = 0.8, 0.01

# Parameters that `JointSettings` reads.
_BY_JOINT = (
    'locked_joints',
    'actuated_joints',
    'output.joints',
    'transmission.actuators',
    'transmission.joints',
    'rest_pose',
    'joint_targets',
)
# Parameters that `MarkerSettings` reads.
_OF_MARKERS = tuple(spec.name for spec in NODE_PARAMETERS if spec.name.startswith('markers.'))


@dataclass(frozen=True)
class Settings:
    """
    The values of all parameters, checked separately and together.

    A tick reads one snapshot from its start to its end, so parameters that are set together take
    effect together. The fields have the parameters' names with _ in place of dots. `goals` holds
    the parameters of `goal_names`, `joints` those that name joints, `markers` those of markers.*,
    `outlets` the controllers. With output groups that take commands, `output_type` is groups.
    """

    robot_file: str
    robot_description: str
    closures: str
    root: str
    base_frame: str
    frame_prefix: str
    rate: float
    state_source: str
    goal_timeout: float
    joint_state_timeout: float
    on_stale: str
    publish_on: str
    max_joint_velocity: float
    limit_tolerance: float
    output_type: str
    output_interface: str
    output_horizon: float
    output_max_following_error: float
    transmission_path_tolerance: float
    transmission_singularity_warning: float
    transmission_max_effort_scale: float
    joints: JointSettings
    outlets: tuple[Outlet, ...]
    markers: MarkerSettings
    goals: tuple[GoalSettings, ...]
    options: SolverOptions

    @classmethod
    def from_values(cls, values: Mapping[str, Value]) -> Settings:
        """
        Return the settings for parameter values; a missing parameter has its default.

        Raises
        ------
        OptionError
            If a value is not allowed; the message names the parameter, its value and what is
            allowed.

        """
        fields: dict[str, Any] = {
            spec.name: spec.check(values.get(spec.name, spec.default)) for spec in NODE_PARAMETERS
        }
        if fields['frame_prefix'].startswith('/'):
            prefix = fields['frame_prefix']
            allowed = f'a prefix without a leading slash, which tf2 refuses: {prefix.lstrip("/")}'
            raise OptionError('frame_prefix', prefix, allowed)
        if fields['robot_file'] and fields['robot_description']:
            text = fields['robot_description']
            raise OptionError('robot_description', text, "'' while robot_file is set")
        outlets = read_outlets({**values, **fields})
        groups = {f'output.{each.group}.joints': each.joints for each in outlets if each.group}
        if groups:
            # It is the type of the groups from here on.
            commands = any(each.kind != 'none' for each in outlets)
            fields['output.type'] = 'groups' if commands else 'none'
        joints = JointSettings.from_values(fields, groups)
        markers = MarkerSettings.from_values(fields)
        for name in (*_BY_JOINT, *_OF_MARKERS, 'output.action', 'output.groups'):
            del fields[name]
        names = [check_goal_name(name) for name in fields.pop('goal_names') if name]
        topic_parts(names, 'goal')
        options: dict[str, Any] = {
            spec.name.split('.', 1)[1]: spec.check(values.get(spec.name, spec.default))
            for spec in solver_parameters()
        }
        return cls(
            **{name.replace('.', '_'): value for name, value in fields.items()},
            joints=joints,
            outlets=outlets,
            markers=markers,
            goals=tuple(GoalSettings.from_values(name, values) for name in names),
            options=dataclasses.replace(SolverOptions(), **options),
        )

    @property
    def period(self) -> float:
        """Return the time between ticks [s]."""
        return 1.0 / self.rate

    @cached_property
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
        return self.limit_tolerance if self.options.start_outside == 'stay' else 0.0

    @property
    def active_goals(self) -> tuple[GoalSettings, ...]:
        """Return the goals that have a link."""
        return tuple(goal for goal in self.goals if goal.link)
