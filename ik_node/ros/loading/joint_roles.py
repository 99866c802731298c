"""Roles of a robot's joint values: actuated, commanded, locked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ik_node.errors import OptionError, UnknownFrameError
from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.parameters.settings import JointSettings


@dataclass(frozen=True)
class JointRoles:
    """The names of joint values by role; a joint with several has NAME.X, NAME.EZ and so on."""

    actuated: tuple[str, ...] = ()  # Values with a motor.
    outputs: tuple[str, ...] = ()  # Values that hardware outputs command, in this order.
    locked: frozenset[str] = frozenset()  # Values that the solver does not change.
    own_motors: tuple[str, ...] = ()  # Motors of the transmission; empty = `actuated`.
    joint_space: tuple[str, ...] = ()  # Joint space of the transmission; empty = none.

    @property
    def motors(self) -> tuple[str, ...]:
        """Return the motors of the transmission."""
        return self.own_motors or self.actuated

    @classmethod
    def of(cls, robot: Robot, settings: JointSettings) -> JointRoles:
        """Find the joints of the settings in a robot; OptionError if one cannot have its role."""
        names = _Names(robot)
        locked = frozenset(names.find('locked_joints', settings.locked))
        actuated = names.find('actuated_joints', settings.actuated, leading=True)
        actuated = actuated or names.described_motors()
        outputs = names.find('output.joints', settings.outputs, leading=True) or actuated
        if settings.groups:
            outputs = tuple(
                value
                for parameter, group in settings.groups.items()
                for value in names.find(parameter, group, leading=True)
            )
            single = [name for group in settings.groups.values() for name in group]
            for value in outputs:
                if value not in single:
                    reason = 'single values of joints, by their own names'
                    raise OptionError('output.groups', value, reason)
        motors = names.find('transmission.actuators', settings.transmission_actuators, True)
        joint_space = names.find('transmission.joints', settings.transmission_joints)
        return cls(actuated, outputs, locked, motors, joint_space)


def check_joint_targets(robot: Robot, settings: JointSettings) -> None:
    """Raise OptionError unless a robot has all joints of the rest pose and of the targets."""
    names = _Names(robot)
    names.find('rest_pose', settings.rest_pose)
    names.find('joint_targets', settings.targets)


def unknown_joint_targets(robot: Robot, settings: JointSettings) -> dict[str, list[str]]:
    """Return the joints of the rest pose and the targets that a robot lacks, by parameter."""
    known = _Names(robot)
    values = {'rest_pose': settings.rest_pose, 'joint_targets': settings.targets}
    missing = {
        parameter: [name for name in names if name not in known]
        for parameter, names in values.items()
    }
    return {parameter: names for parameter, names in missing.items() if names}


class _Names:
    """The names of a robot's joints and of their values."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._values: dict[str, tuple[str, ...]] = {}
        self._followers: dict[str, str] = {}
        for joint in robot.joint_order:
            self._values[joint.name] = joint.value_names
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                self._values[name] = (name,)
                coupling = joint.couplings.get(dof)
                if coupling is not None and not coupling.others:
                    self._followers[name] = coupling.master.name

    def __contains__(self, name: str) -> bool:
        """Return True if a joint or a joint value has this name."""
        return name in self._values

    def find(self, parameter: str, names: Iterable[str], leading: bool = False) -> tuple[str, ...]:
        """Return the joint values with these names, each once."""
        result: list[str] = []
        for name in names:
            values = self._values.get(name)
            if values is None:
                known = str(UnknownFrameError(name, self._values, kind='movable joint'))
                raise OptionError(parameter, name, f'joints of {self._robot.name!r}: {known}')
            for value in values:
                if leading and value in self._followers:
                    raise OptionError(
                        parameter,
                        name,
                        f'joints that follow no other; it follows {self._followers[value]!r}',
                    )
                if leading and value in result:
                    raise OptionError(parameter, name, 'every joint once')
                result.append(value)
        return tuple(result)

    def described_motors(self) -> tuple[str, ...]:
        """Return the values with a motor by the description, or all independent values."""
        bases = {root.name for root in self._robot.description.roots if isinstance(root, Joint)}
        joints = [joint.name for joint in self._robot.joint_order if joint.name not in bases]
        values = [
            value
            for name in [name for name in self._robot.actuated if name in self._values] or joints
            for value in self._values[name]
        ]
        return tuple(dict.fromkeys(value for value in values if value not in self._followers))
