"""What the files of other programs have in common that say loops."""

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
    """Change nothing."""


@dataclass
class Sidecar:
    """
    One such file, read.

    Attributes
    ----------
    loop_set : callable
        Says what it declares about loops, for a description whose links and joints are read.
    rewrite : callable
        Changes the parsed description before it is read, where the dialect retypes joints.
    ends : tuple of (str, str)
        The two names that each loop ties: of links, in some dialects of joints.

    """

    loop_set: Callable[[Description], LoopSet]
    rewrite: Callable[[XmlDocument], None] = _as_it_is
    ends: tuple[tuple[str, str], ...] = ()


class LoopFile(Checked, ABC):
    """
    Reads loops, motors and joints to retype; the robot they are of is known only later.

    Attributes
    ----------
    dialect : str
        For the log.
    top_keys : tuple of str
        The keys that are read; others are noted.
    motor_keys : tuple of str
        Those of them whose joints have motors.
    retype_key : str
        The one whose joints get another type.
    loops : list of Loop
    notes : list of str
        What is said once the file is used.

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
        Read what the YAML parsed to.

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
        """Fill `loops`."""

    @abstractmethod
    def read_types(self, top: Mapping[str, Any]) -> None:
        """Read which joints get another type."""

    @abstractmethod
    def retype(self, joints: Retype) -> None:
        """Give joints their other types."""

    @abstractmethod
    def fit_to(self, description: Description) -> None:
        """Settle what hangs on the robot: the links of `loops`, and what gives way to them."""

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
        result = LoopSet(self.source, self.dialect, self.loops)
        description.notes += self.notes
        for key, names in self._motors.items():
            motors = [name for name in names if self._is_motor(name, key, description)]
            result.actuated = list(dict.fromkeys([*(result.actuated or []), *motors]))
        return result

    def _name_apart(self, description: Description) -> None:
        """Give loops whose name is taken a number; in those files names need not be unique."""
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
        Say whether a name is that of a movable joint; note it if it is not.

        Those programs pass over such names too, as joints get fixed or merged after the file is
        made.
        """
        joint = description.joints.get(name)
        if joint is not None and joint.dof:
            return True
        why = 'there is no such joint' if joint is None else 'it is fixed'
        description.notes.append(f'{self.source}: {key}: {shown(name)} has no motor, as {why}')
        return False
