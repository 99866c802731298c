"""One checked, unchangeable snapshot of all parameters."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

from ik_node.ros.messages.topic_names import check_goal_name, topic_parts
from ik_node.ros.parameters.goal_settings import GoalSettings
from ik_node.ros.parameters.joint_settings import JointSettings
from ik_node.ros.parameters.marker_settings import MarkerSettings
from ik_node.ros.parameters.parameter_spec import Value
from ik_node.ros.parameters.parameter_table import NODE_PARAMETERS, solver_parameters
from ik_node.solver import SolverOptions

# Parameters that `JointSettings` reads.
_BY_JOINT = ('locked_joints', 'actuated_joints', 'output.joints', 'rest_pose', 'joint_targets')
# And those that `MarkerSettings` does.
_OF_MARKERS = tuple(spec.name for spec in NODE_PARAMETERS if spec.name.startswith('markers.'))


@dataclass(frozen=True)
class Settings:
    """
    Every parameter, checked by itself and with the others.

    A tick reads one snapshot from its beginning to its end, so parameters set together act
    together. The fields have the parameters' names, _ for a dot; `goals` holds those of
    `goal_names`, `joints` what is said about joints by name, `markers` those of markers.*.
    """

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
    output_type: str
    output_horizon: float
    output_max_following_error: float
    joints: JointSettings
    markers: MarkerSettings
    goals: tuple[GoalSettings, ...]
    options: SolverOptions

    @classmethod
    def from_values(cls, values: Mapping[str, Value]) -> Settings:
        """
        Check parameter values; a missing one has its default.

        Raises
        ------
        OptionError
            Names the parameter, its value and what is allowed.

        """
        fields: dict[str, Any] = {
            spec.name: spec.check(values.get(spec.name, spec.default)) for spec in NODE_PARAMETERS
        }
        joints = JointSettings.from_values(fields)
        markers = MarkerSettings.from_values(fields)
        for name in (*_BY_JOINT, *_OF_MARKERS):
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
            markers=markers,
            goals=tuple(GoalSettings.from_values(name, values) for name in names),
            options=dataclasses.replace(SolverOptions(), **options),
        )

    @property
    def period(self) -> float:
        """Time between ticks [s]."""
        return 1.0 / self.rate

    @property
    def active_goals(self) -> tuple[GoalSettings, ...]:
        """Return the goals that have a link."""
        return tuple(goal for goal in self.goals if goal.link)
