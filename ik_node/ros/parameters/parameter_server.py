"""Declaration and checks of the parameters of a running node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, cast

from ik_node.errors import OptionError
from ik_node.ros.parameters import parameter_table as table
from ik_node.ros.parameters.settings import GoalSettings, group_names, JOINT_VALUES, Settings
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter


class ParameterServer:
    """
    The parameters of a node, declared from the table, and a checked snapshot of their values.

    The node must be created with `automatically_declare_parameters_from_overrides=True`. This is
    the public way to read an override before its parameter is declared, and so to accept an int
    for a double and to report a misspelt parameter. `objection` returns why new settings cannot be
    accepted at present, or ''. Raise OptionError if an override is not allowed.
    """

    def __init__(self, node: Node, objection: Callable[[Settings], str]) -> None:
        self._node = node
        self._objection = objection
        self._specs: dict[str, table.ParameterSpec] = {}
        self._values: dict[str, table.Value] = {}
        self._declaring = False
        self._overrides = self._take_overrides()
        self._declare((*table.NODE_PARAMETERS, *table.solver_parameters()))
        for name in self._undeclared_goals():
            self._declare(table.goal_parameters(name))
        for name in group_names(self._values):
            self._declare(table.group_parameters(name))
        # The checked values; replaced as a whole when parameters change.
        self.settings = Settings.from_values(self._values)
        self._name_unknown_overrides()
        node.add_pre_set_parameters_callback(self._ints_to_doubles)
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._apply)

    def _take_overrides(self) -> dict[str, Any]:
        """Undeclare the overrides, so that they can be declared with their descriptors."""
        overrides = {}
        for name, parameter in self._node.get_parameters_by_prefix('').items():
            if name.startswith('qos_overrides.') or name in _RCLPY_PARAMETERS:
                continue
            overrides[name] = parameter.value
            self._node.undeclare_parameter(name)
        for group in JOINT_VALUES:
            # In a parameter file such a mapping may also be a mapping of YAML: ROS reads each of
            # its joints as a parameter.
            names = [name for name in overrides if name.startswith(f'{group}.')]
            by_joint = {name.removeprefix(f'{group}.'): overrides.pop(name) for name in names}
            if by_joint and group not in overrides:
                overrides[group] = str(by_joint)
        return overrides

    def _declare(self, specs: Iterable[table.ParameterSpec]) -> None:
        for spec in specs:
            if spec.name in self._specs:
                continue
            value = spec.check(self._overrides.pop(spec.name, spec.default))
            self._specs[spec.name] = spec
            self._values[spec.name] = value
            self._node.declare_parameter(
                spec.name, _ros_value(value), _descriptor(spec), ignore_override=True
            )

    def _undeclared_goals(self) -> list[str]:
        names = [str(name) for name in cast('tuple[str, ...]', self._values['goal_names'])]
        return [name for name in names if name and f'goals.{name}.link' not in self._specs]

    def _declare_new_goals(self) -> None:
        """Declare the parameters of goals named at run time; ignore a bad override."""
        self._declaring = True
        try:
            for name in self._undeclared_goals():
                try:
                    GoalSettings.from_values(name, self._overrides)
                except OptionError as error:
                    self._node.get_logger().warning(f'{error}; defaults are used')
                    for spec in table.goal_parameters(name):
                        self._overrides.pop(spec.name, None)
                self._declare(table.goal_parameters(name))
        finally:
            self._declaring = False

    def _name_unknown_overrides(self) -> None:
        for name in self._overrides:
            if name.startswith('goals.'):
                hint = 'its goal is not in goal_names'
            elif name.startswith('output.') and name.count('.') > 1:
                hint = 'its group is not in output.groups'
            else:
                hint = 'see --help for all parameters'
            self._node.get_logger().warning(f'parameter {name} does not exist: {hint}')

    # -- at run time: convert, check all together, apply

    def _ints_to_doubles(self, parameters: list[Parameter[Any]]) -> list[Parameter[Any]]:
        converted: list[Parameter[Any]] = []
        for parameter in parameters:
            spec = self._specs.get(parameter.name)
            if spec is not None:
                # `_check` refuses bad values, because only there a reason can be returned.
                with suppress(OptionError):
                    value = _ros_value(spec.check(parameter.value))
                    converted.append(Parameter(parameter.name, value=value))
                    continue
            converted.append(parameter)
        return converted

    def _check(self, parameters: list[Parameter[Any]]) -> SetParametersResult:
        if self._declaring or not self._concern(parameters):
            return SetParametersResult(successful=True)
        try:
            reason = self._objection(Settings.from_values(self._with(parameters)))
        except OptionError as error:
            reason = str(error)
        return SetParametersResult(successful=not reason, reason=reason)

    def _apply(self, parameters: list[Parameter[Any]]) -> None:
        if self._declaring or not self._concern(parameters):
            return
        self._values = self._with(parameters)
        self._declare_new_goals()
        self.settings = Settings.from_values(self._values)

    def _concern(self, parameters: list[Parameter[Any]]) -> bool:
        """Return True if one of them is in the table; rclpy has others, such as those of QoS."""
        return any(parameter.name in self._specs for parameter in parameters)

    def _with(self, parameters: list[Parameter[Any]]) -> dict[str, table.Value]:
        values = dict(self._values)
        for parameter in parameters:
            spec = self._specs.get(parameter.name)
            if spec is not None:
                values[parameter.name] = spec.check(parameter.value)
        return values


_RCLPY_PARAMETERS = ('use_sim_time', 'start_type_description_service')


def _ros_value(value: table.Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _descriptor(spec: table.ParameterSpec) -> ParameterDescriptor:
    unit = f' [{spec.unit}]' if spec.unit else ''
    descriptor = ParameterDescriptor(
        description=f'{spec.doc}{unit}',
        read_only=not spec.live,
        # Constraints other than the type and the range.
        additional_constraints=spec.allowed if spec.choices or '[' in spec.type_name else '',
    )
    if spec.low is None or spec.high is None:
        return descriptor
    if isinstance(spec.default, float):
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=float(spec.low), to_value=float(spec.high))
        ]
    else:
        descriptor.integer_range = [
            IntegerRange(from_value=int(spec.low), to_value=int(spec.high), step=1)
        ]
    return descriptor
