"""Which of a robot's joints are actuated, commanded and locked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ik_node.errors import OptionError, shown, UnknownFrameError
from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.parameters.joint_settings import JointSettings


@dataclass(frozen=True)
class JointRoles:
    """
    Names of joint values; those of a joint with several are NAME.X, NAME.EZ and so on.

    Attributes
    ----------
    actuated : tuple of str
        Those with a motor.
    outputs : tuple of str
        Those that hardware outputs name, in their order.
    locked : frozenset of str
        Those that are held.

    """

    actuated: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    locked: frozenset[str] = frozenset()

    @classmethod
    def of(cls, robot: Robot, settings: JointSettings) -> JointRoles:
        """
        Find the joints of the settings in a robot.

        Raises
        ------
        OptionError
            Names the parameter and a joint that the robot does not have, or that follows another
            one where only a joint with a will of its own will do.

        """
        names = _Names(robot)
        locked = frozenset(names.find('locked_joints', settings.locked))
        actuated = names.find('actuated_joints', settings.actuated, leading=True)
        actuated = actuated or names.described_motors()
        outputs = names.find('output.joints', settings.outputs, leading=True) or actuated
        return cls(actuated, outputs, locked)


def check_joint_targets(robot: Robot, settings: JointSettings) -> None:
    """
    Check that a robot has the joints of the rest pose and of the targets.

    Raises
    ------
    OptionError
        Names the parameter and a joint that the robot does not have.

    """
    names = _Names(robot)
    names.find('rest_pose', settings.rest_pose)
    names.find('joint_targets', settings.targets)


def unknown_joint_targets(robot: Robot, settings: JointSettings) -> dict[str, list[str]]:
    """
    Return the joints of the rest pose and of the targets that a robot does not have.

    A robot that comes later than they were set is taken all the same: the others of them count.

    Returns
    -------
    dict of str to list of str
        By the parameter; without those whose joints are all there.

    """
    known = _Names(robot)
    wanted = {'rest_pose': settings.rest_pose, 'joint_targets': settings.targets}
    missing = {
        parameter: [name for name in names if name not in known]
        for parameter, names in wanted.items()
    }
    return {parameter: names for parameter, names in missing.items() if names}


class _Names:
    """Names of a robot's joints and of their values."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._values: dict[str, tuple[str, ...]] = {}
        self._followers: dict[str, str] = {}
        for joint in robot.joint_order:
            self._values[joint.name] = joint.value_names
            for name, dof in zip(joint.value_names, joint.dof, strict=True):
                self._values[name] = (name,)
                if dof in joint.couplings:
                    self._followers[name] = joint.couplings[dof].master.name

    def __contains__(self, name: str) -> bool:
        """Return whether there is a joint, or a value of one, of that name."""
        return name in self._values

    def find(
        self, parameter: str, wanted: Iterable[str], leading: bool = False
    ) -> tuple[str, ...]:
        """Return the values that the names stand for, each once."""
        found: list[str] = []
        for name in wanted:
            values = self._values.get(name)
            if values is None:
                known = str(UnknownFrameError(name, self._values, kind='movable joint'))
                raise OptionError(parameter, name, f'joints of {shown(self._robot.name)}: {known}')
            for value in values:
                if leading and value in self._followers:
                    raise OptionError(
                        parameter,
                        name,
                        f'joints that follow no other; it follows {shown(self._followers[value])}',
                    )
                if leading and value in found:
                    raise OptionError(parameter, name, 'every joint once')
                found.append(value)
        return tuple(found)

    def described_motors(self) -> tuple[str, ...]:
        """Return the values with a motor by the description, or all that could have one."""
        bases = {root.name for root in self._robot.description.roots if isinstance(root, Joint)}
        joints = [joint.name for joint in self._robot.joint_order if joint.name not in bases]
        values = [
            value
            for name in [name for name in self._robot.actuated if name in self._values] or joints
            for value in self._values[name]
        ]
        return tuple(dict.fromkeys(value for value in values if value not in self._followers))
