"""Checked parameters that name joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from typing import Any

from ik_node.description.yaml_document import parse_yaml
from ik_node.errors import DescriptionError, OptionError

# The parameters that are mappings of joints to values.
JOINT_VALUES = ('rest_pose', 'joint_targets')
_ALLOWED = "a YAML mapping of joints to finite numbers, '{elbow: 0.5, wrist: -1.0}'"


def parse_joint_values(parameter: str, text: str) -> dict[str, float]:
    """
    Read a mapping of joints to values [rad or m] from a parameter's text; '' = no joints.

    Raises
    ------
    OptionError
        If the text is not a YAML mapping, or a value is not a finite number.

    """
    if not text.strip():
        return {}
    try:
        found = parse_yaml(text, parameter)
    except DescriptionError as error:
        raise OptionError(parameter, text[:80], f'{_ALLOWED} ({error})') from None
    if not isinstance(found, dict):
        raise OptionError(parameter, text[:80], _ALLOWED)
    values = {}
    for joint, value in found.items():
        if not isinstance(joint, str):
            raise OptionError(parameter, joint, f'{_ALLOWED}; joint names must be text')
        number = _number(value)
        if not math.isfinite(number):
            raise OptionError(parameter, {joint: value}, _ALLOWED)
        values[joint] = number
    return values


def _number(value: object) -> float:
    """Return a value as a number; NaN if it is not a number."""
    if isinstance(value, bool):
        return math.nan
    try:
        # YAML 1.1 reads 1e-3 as text.
        return float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return math.nan


@dataclass(frozen=True)
class JointSettings:
    """
    The checked parameters that name joints; `JointRoles` checks them against a robot.

    Attributes
    ----------
    locked : tuple of str
        Joints that the solver does not change.
    actuated : tuple of str
        Joints with a motor; empty = as the description says.
    outputs : tuple of str
        Order of the hardware outputs; empty = the actuated joints.
    rest_pose, targets : mapping of str to float
        Values by joint [rad or m].
    transmission_actuators : tuple of str
        Motors of the transmission; empty = the actuated joints.
    transmission_joints : tuple of str
        Joint space of the transmission; empty = none.
    groups : mapping of str to tuple of str
        Joints of each output group, by the name of their parameter; empty = without groups.

    """

    locked: tuple[str, ...] = ()
    actuated: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    rest_pose: Mapping[str, float] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)
    transmission_actuators: tuple[str, ...] = ()
    transmission_joints: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_values(
        cls, values: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]] | None = None
    ) -> JointSettings:
        """
        Read the parameters that name joints from checked values, beside the joints of groups.

        Raises
        ------
        OptionError
            If a mapping of joints to values cannot be read.

        """
        return cls(
            locked=_names(values['locked_joints']),
            actuated=_names(values['actuated_joints']),
            outputs=_names(values['output.joints']),
            groups=groups or {},
            rest_pose=parse_joint_values('rest_pose', values['rest_pose']),
            targets=parse_joint_values('joint_targets', values['joint_targets']),
            transmission_actuators=_names(values['transmission.actuators']),
            transmission_joints=_names(values['transmission.joints']),
        )


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name)
