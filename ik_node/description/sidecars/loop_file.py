"""Base of the readers of loop files that other programs write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ik_node.description.description import Description, Loop, LoopSet
from ik_node.description.sidecars.retype import Retype
from ik_node.description.xml_document import XmlDocument
from ik_node.description.yaml_document import Checked
from ik_node.errors import shown


def _as_it_is(document: XmlDocument) -> None:
    """Leave the document unchanged."""


@dataclass
class Sidecar:
    """
    The content of a loop file.

    Attributes
    ----------
    loop_set : callable
        Returns the declared loops, given a description whose links and joints are read.
    rewrite : callable
        Changes the parsed description before it is read, if the file changes joint types.
    ends : tuple of (str, str)
        The two names that each loop connects; in some formats they are names of joints.

    """

    loop_set: Callable[[Description], LoopSet]
    rewrite: Callable[[XmlDocument], None] = _as_it_is
    ends: tuple[tuple[str, str], ...] = ()


class LoopFile(Checked, ABC):
    """
    A reader of loops, motors and joint types, which are matched with the robot later.

    Attributes
    ----------
    dialect : str
        Name of the format, for the log.
    top_keys : tuple of str
        The known keys; others are noted.
    motor_keys : tuple of str
        The keys that list joints with motors.
    retype_key : str
        The key that lists joints with a new type.
    loops : list of Loop
    notes : list of str
        Notes to add to the description once the file is used.

    """

    dialect: str
    top_keys: tuple[str, ...]
    motor_keys: tuple[str, ...]
    retype_key: str

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.loops: list[Loop] = []
        self.notes: list[str] = []
        self._motors: dict[str, list[str]] = {}

    def read(self, content: object) -> Sidecar:
        """
        Read the parsed YAML.

        Raises
        ------
        DescriptionError
            With file and line, what was found and what is allowed.

        """
        top = self.mapping(content, 'the file', self.top_keys, others=True)
        for key in top:
            if key not in self.top_keys:
                self.notes.append(f'{self.source}: the key {shown(key)} is not read')
        self.read_loops(top)
        for key in self.motor_keys:
            if top.get(key) is not None:
                self._motors[key] = self.names(top, key)
        self.read_types(top)
        return Sidecar(self._loop_set, self._rewrite, tuple(loop.ends for loop in self.loops))

    @abstractmethod
    def read_loops(self, top: Mapping[str, Any]) -> None:
        """Read the loops and append them to `loops`."""

    @abstractmethod
    def read_types(self, top: Mapping[str, Any]) -> None:
        """Read which joints get which type."""

    @abstractmethod
    def retype(self, joints: Retype) -> None:
        """Change the types of the joints in the document."""

    @abstractmethod
    def fit_to(self, description: Description) -> None:
        """Match `loops` with the robot's links, and remove couplings that they replace."""

    def refuse(self, problem: str | None) -> None:
        """Raise DescriptionError if there is a problem."""
        if problem is not None:
            raise self.fail(problem)

    def _rewrite(self, document: XmlDocument) -> None:
        joints = Retype(document, self.retype_key)
        self.retype(joints)
        joints.finish()
        self.notes += joints.notes

    def _loop_set(self, description: Description) -> LoopSet:
        self.fit_to(description)
        self._name_apart(description)
        result = LoopSet(self.source, self.dialect, self.loops, notes=self.notes)
        for key, names in self._motors.items():
            motors = [name for name in names if self._is_motor(name, key, description)]
            result.actuated = list(dict.fromkeys([*(result.actuated or []), *motors]))
        return result

    def _name_apart(self, description: Description) -> None:
        """Append a number to the name of a loop if it is taken; these files allow equal names."""
        declared = (loop.name for loop_set in description.loops for loop in loop_set.loops)
        taken = {*description.closures, *declared}
        counts: dict[str, int] = {}
        for loop in self.loops:
            name = loop.name
            while loop.name in taken:
                counts[name] = counts.get(name, 1) + 1
                loop.name = f'{name}_{counts[name]}'
            taken.add(loop.name)

    def _is_motor(self, name: str, key: str, description: Description) -> bool:
        """
        Return True if a name is that of a movable joint; otherwise add a note.

        The programs that write these files ignore such names, too, because joints may be fixed or
        merged after the file was written.
        """
        joint = description.joints.get(name)
        if joint is not None and joint.dof:
            return True
        why = 'there is no such joint' if joint is None else 'it is fixed'
        description.notes.append(f'{self.source}: {key}: {name!r} has no motor, as {why}')
        return False
