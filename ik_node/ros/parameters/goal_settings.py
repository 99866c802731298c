"""Checked parameters of one goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ik_node.model.dof import parse_dofs
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

    """

    name: str
    link: str
    dof: str
    axes: str
    offset: tuple[float, ...]
    weight: float
    priority: int
    enabled: bool

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
        parse_dofs(fields['dof'], f'goals.{name}.dof')
        return cls(name=name, **fields)

    def to_values(self) -> dict[str, Any]:
        """Return the goal's parameters by their full names, with types that ROS accepts."""
        fields = asdict(self)
        name = fields.pop('name')
        fields['offset'] = list(self.offset)
        return {f'goals.{name}.{field}': value for field, value in fields.items()}

    @property
    def takes_part(self) -> bool:
        """Return True if the goal is solved for once it has a pose."""
        return self.enabled and self.weight > 0.0

    @property
    def structure(self) -> tuple[str, str, str, str, tuple[float, ...]]:
        """Return the settings whose change needs a new solver."""
        return (self.name, self.link, self.dof, self.axes, self.offset)
