"""The mapping file of the command `motion`: which key point moves which link, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
import re
from typing import Any

from ik_node.description.description import unknown
from ik_node.description.digits import exact_angle
from ik_node.description.yaml_document import Checked, line_of, parse_yaml, read_bytes
from ik_node.errors import DescriptionError, listed, OptionError
from ik_node.mechanism import Mechanism
from ik_node.model.dof import parse_dofs
from ik_node.model.given import at_least_zero
from ik_node.model.rotation import quat_from_euler
from ik_node.motion.read import MotionFile
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

TOP_KEYS = ('up', 'forward', 'scale', 'origin', 'root', 'links')
LINK_KEYS = ('point', 'scale', 'offset', 'weight', 'dof')
OFFSET_KEYS = ('xyz', 'rpy')
SIGNED_AXES = tuple(sign + axis for sign in ('', '-') for axis in 'XYZ')
# The axis that points forward in a file whose vertical axis is the key.
FORWARD = {'Y': 'Z', 'Z': 'X', 'X': 'Y'}
POSITION, POSE = 'X Y Z', 'X Y Z EX EY EZ'


@dataclass(frozen=True)
class MappedLink:
    """A link and the key point that it follows."""

    link: str  # Name of the link and of its goal
    point: str  # Name of the key point
    scale: float  # Factor of the distance from the root key point
    position: Array  # Offset (3,) in the key point's axes [m]
    turn: Rotation  # Orientation of the link's goal in the key point
    weight: float
    dof: str  # Constrained axes, as in `Robot.add_goal`
    line: int | None = None  # In the mapping file


@dataclass(frozen=True)
class MotionMap:
    """A mapping of key points to links."""

    source: str  # Name of the mapping file, for messages
    axes: Rotation  # From the axes of a motion file to those of the robot's root frame
    scale: float  # Metres of the robot per unit of the motion file
    origin: Array  # Origin (3,) of the motion file in the robot's root frame [m]
    root: str  # The key point that the scale of a link refers to; '' = that of the first link
    links: tuple[MappedLink, ...]

    def add_goals(self, robot: Mechanism) -> None:
        """
        Add a goal with weight and axes for each link; its name is the link's.

        DescriptionError is raised, with the line, if the robot has no such link.
        """
        for entry in self.links:
            if entry.link not in robot.links:
                raise self._fault(entry, unknown('link', entry.link, list(robot.links)))
            robot.add_goal(entry.link, name=entry.link, dof=entry.dof, weight=entry.weight)

    def poses(self, motion: MotionFile) -> dict[str, tuple[Array, Array]]:
        """
        Return the goal poses of a motion: positions (N, 3) [m] and quaternions xyzw (N, 4).

        A key point at p with orientation R becomes p' + R' xyz and R' R(rpy), where p' and R' are
        in the root frame and p' is scaled by the file's and the link's factor. DescriptionError is
        raised, with the line of the mapping, if the motion has no such key point, or no
        orientation of it.
        """
        root = self._place(motion, self.links[0], self.root or self.links[0].point)
        poses = {}
        for entry in self.links:
            place = self._place(motion, entry, entry.point)
            point = motion.points[entry.point]
            if not point.turned and any('E' in axis for axis in entry.dof.split()):
                needs = f'dof {entry.dof} needs an orientation, which {entry.point!r} has not'
                raise self._fault(entry, f'{needs} in {motion.path}; allowed: {POSITION}')
            turns = self.axes * Rotation.from_quat(point.quats_xyzw) * self.axes.inv()
            place = root + entry.scale * (place - root) + turns.apply(entry.position)
            poses[entry.link] = place, (turns * entry.turn).as_quat()
        return poses

    def _place(self, motion: MotionFile, entry: MappedLink, name: str) -> Array:
        """Return the places of a key point in the root frame [m], shape (N, 3)."""
        if name not in motion.points:
            known = unknown('key point', name, list(motion.points))
            raise self._fault(entry, f'in {motion.path} {known}')
        place: Array = self.axes.apply(self.scale * motion.points[name].positions) + self.origin
        return place

    def _fault(self, entry: MappedLink, message: str) -> DescriptionError:
        return DescriptionError(
            f'links: {entry.link}: {message}', source=self.source, line=entry.line
        )


def read_map(path: Path) -> MotionMap:
    """Read a mapping file; raise DescriptionError with the line and what is allowed."""
    return _Reader(str(path)).read(parse_yaml(read_bytes(path), str(path)))


class _Reader(Checked):
    """A reader of a mapping file."""

    def read(self, content: object) -> MotionMap:
        top = self.mapping(content, 'the mapping', TOP_KEYS)
        axes = self._axes(top)
        scale = self._positive(top, 'scale', 'scale [m per unit of the file]')
        origin = np.array(self.numbers(top.get('origin', (0, 0, 0)), 3, 'origin [m]'))
        root = self.text(top['root'], 'root') if 'root' in top else ''
        entries = top.get('links')
        if not entries:
            raise self.fail('links is missing; write links: {LINK: {point: KEY_POINT}}')
        entries = self.mapping(entries, 'links', ('LINK',), others=True)
        links = tuple(self._link(entries, name) for name in entries)
        return MotionMap(self.source, axes, scale, origin, root, links)

    def _axes(self, top: Mapping[str, Any]) -> Rotation:
        up = str(top.get('up', 'Z'))
        forward = str(top.get('forward', FORWARD.get(up[-1:], '')))
        for key, axis in (('up', up), ('forward', forward)):
            if axis not in SIGNED_AXES:
                self.line = line_of(top, key) or self.line
                raise self.fail(f'{key}: {axis!r}; allowed: {" ".join(SIGNED_AXES)}')
        if up[-1] == forward[-1]:
            raise self.fail(f'up: {up} and forward: {forward} are the same axis')
        ahead, upright = _axis(forward), _axis(up)
        return Rotation.from_matrix([ahead, np.cross(upright, ahead), upright])

    def _link(self, entries: Mapping[str, Any], name: object) -> MappedLink:
        self.line = line_of(entries, name) or self.line
        link = self.text(name, 'links')
        what, line = f'links: {link}', self.line
        fields = self.mapping(entries[link], what, LINK_KEYS)
        point = self.text(self.need(fields, 'point', what, 'KEY_POINT'), f'{what}: point')
        scale = self._positive(fields, 'scale', f'{what}: scale')
        try:
            axes = parse_dofs(fields.get('dof', POSITION))
            weight = at_least_zero('weight', fields.get('weight', 1.0))
        except OptionError as error:
            raise self.fail(f'{what}: {error}') from None
        offset = self.mapping(fields.get('offset', {}), f'{what}: offset', OFFSET_KEYS)
        rpy = self.vector(offset, 'rpy', f'{what}: offset', '[rad]')
        return MappedLink(
            link=link,
            point=point,
            scale=scale,
            position=np.array(self.vector(offset, 'xyz', f'{what}: offset')),
            turn=Rotation.from_quat(quat_from_euler(*map(exact_angle, rpy))),
            weight=weight,
            dof=' '.join(axis.name for axis in axes),
            line=line,
        )

    def _positive(self, fields: Mapping[str, Any], key: str, what: str) -> float:
        value = self.numbers([fields.get(key, 1.0)], 1, what)[0]
        if value <= 0.0:
            raise self.fail(f'{what}: {value:g}; expected a number above 0')
        return value


def _axis(name: str) -> Array:
    """Return the unit vector of an axis such as -Y."""
    axis: Array = np.eye(3)['XYZ'.index(name[-1])]
    return -axis if name[0] == '-' else axis


def same_names(motion: MotionFile, robot: Mechanism) -> MotionMap:
    """
    Return the mapping of key points to links with the same names, without scales or offsets.

    Case, separators, namespaces and the ending _link do not count. DescriptionError is raised if
    no name is the same.
    """
    points: dict[str, str] = {}
    for name in reversed(motion.points):
        points[_word(name)] = name
    still, none, links = np.zeros(3), Rotation.identity(), []
    for link in robot.links:
        point = points.pop(_word(link), None)
        if point is not None:
            dof = POSE if motion.points[point].turned else POSITION
            links.append(MappedLink(link, point, 1.0, still, none, 1.0, dof))
    if not links:
        names = f'key points: {listed(motion.points)}; links: {listed(robot.links)}'
        todo = '--map MAP.yaml says which one follows which'
        raise DescriptionError(
            f'no key point has the name of a link; {todo}; {names}', source=str(motion.path)
        )
    return MotionMap(str(motion.path), none, 1.0, still, '', tuple(links))


def _word(name: str) -> str:
    """Return a name without namespace, the ending _link, case and separators."""
    bare = name.rpartition(':')[2].lower()
    return re.sub(r'[\W_]', '', bare.removesuffix('link'))
