"""Checked parameters of one goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ik_node.errors import OptionError
from ik_node.model.dof import DOF, parse_dofs
from ik_node.ros.parameters.parameter_spec import Value
from ik_node.ros.parameters.parameter_table import goal_parameters


@dataclass(frozen=True)
class GoalSettings:
    """
    The checked parameters of one goal.

    Attributes
    ----------
    name : str
        Name of the goal in topics, parameters and results.
    link : str
        Link that the goal moves; '' = inactive.
    dof : str
        Constrained axes.
    axes : str
        Frame of these axes: world, goal or link.
    offset : tuple of float
        Pose of the goal's frame in the link: x y z [m], roll pitch yaw [rad].
    weight : float
        Weight among goals of one priority.
    priority : int
        Level; lower numbers come first.
    enabled : bool
        True if the goal is enabled.
    tolerance : tuple of float
        Tolerances [m, rad] as for `Goal.tolerance`; all 0 = the solver's thresholds.

    """

    name: str
    link: str
    dof: str
    axes: str
    offset: tuple[float, ...]
    weight: float
    priority: int
    enabled: bool
    tolerance: tuple[float, ...] = (0.0,)

    @classmethod
    def from_values(cls, name: str, values: Mapping[str, Value]) -> GoalSettings:
        """
        Read the goal's parameters from all values; a missing one has its default.

        Raises
        ------
        OptionError
            If a value is not allowed.

        """
        fields: dict[str, Any] = {}
        for spec in goal_parameters(name):
            fields[spec.name.rsplit('.', 1)[1]] = spec.check(values.get(spec.name, spec.default))
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
        fields = asdict(self)
        name = fields.pop('name')
        fields['offset'], fields['tolerance'] = list(self.offset), list(self.tolerance)
        return {f'goals.{name}.{field}': value for field, value in fields.items()}

    @property
    def takes_part(self) -> bool:
        """Return True if the goal is solved for once it has a pose."""
        return self.enabled and self.weight > 0.0

    @property
    def goal_tolerance(self) -> tuple[float, ...] | None:
        """Return the tolerance of the `Goal`; None = the solver's thresholds."""
        return self.tolerance if any(self.tolerance) else None

    @property
    def structure(self) -> tuple[str, str, str, str, tuple[float, ...]]:
        """Return the settings whose change needs a new solver."""
        return (self.name, self.link, self.dof, self.axes, self.offset)
