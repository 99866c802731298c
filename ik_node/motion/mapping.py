"""The mapping file of the command `motion`: which key point moves which link, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import json
from pathlib import Path
import re
from typing import Any

from ik_node.description.description import unknown
from ik_node.description.digits import exact_angle
from ik_node.description.yaml_document import Checked, line_of, parse_yaml
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
            f'links: {plain_key(entry.link)}: {message}', source=self.source, line=entry.line
        )


def read_map(path: Path) -> MotionMap:
    """Read a mapping file; raise DescriptionError with the line and what is allowed."""
    if not path.is_file():
        raise DescriptionError('no such file', source=str(path))
    return _Reader(str(path)).read(parse_yaml(path.read_bytes(), str(path)))


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
        what, line = f'links: {plain_key(link)}', self.line
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


def guessed_links(motion: MotionFile, robot: Mechanism) -> dict[str, str]:
    """Return the key point of each link whose name is the same but for case and separators."""
    by_word: dict[str, str] = {}
    for name in motion.points:
        by_word.setdefault(_word(name), name)
    result: dict[str, str] = {}
    for link in robot.links:
        point = by_word.get(_word(link))
        if point is not None and point not in result.values():
            result[link] = point
    return result


def same_names(motion: MotionFile, robot: Mechanism) -> MotionMap:
    """
    Return the mapping of key points to links with the same names, without scales or offsets.

    DescriptionError is raised if no name is the same.
    """
    guessed = guessed_links(motion, robot)
    if not guessed:
        names = f'key points: {listed(motion.points)}; links: {listed(robot.links)}'
        todo = '--map new MAP.yaml writes a mapping to complete'
        raise DescriptionError(
            f'no key point has the name of a link; {todo}; {names}', source=str(motion.path)
        )
    still, none = np.zeros(3), Rotation.identity()
    links = tuple(
        MappedLink(link, point, 1.0, still, none, 1.0, _dof(motion, point))
        for link, point in guessed.items()
    )
    return MotionMap(str(motion.path), none, 1.0, still, '', links)


def template(motion: MotionFile, robot: Mechanism) -> str:
    """Return a mapping file to complete: guessed links, all other links and all key points."""
    guessed = guessed_links(motion, robot)
    is_bvh = motion.path.suffix.lower() == '.bvh'
    lines = [
        '# Mapping of key points to links for `ik_node motion`; see docs/batch.md.',
        f'# Robot {robot.name}, motion {motion.path.name}.',
        f'up: {"Y" if is_bvh else "Z"}  # axis of the file that points up',
        f'forward: {"Z" if is_bvh else "X"}  # axis of the file that points forward',
        f'scale: {0.01 if is_bvh else 1.0}  # metres of the robot per unit of the file',
        'origin: [0, 0, 0]  # origin of the file in the root frame of the robot [m]',
        'links:',
        '  # Also: scale: 1.0 (distance from the root key point), and an offset in the axes of',
        '  # the key point: offset: {xyz: [0, 0, 0], rpy: [0, 0, 0]}',
    ]
    for link, point in guessed.items():
        lines.append(
            f'  {plain_key(link)}: {{point: {plain_key(point)}, '
            f'dof: {_dof(motion, point)}, weight: 1.0}}'
        )
    if not guessed:
        lines.append('  # No link has the name of a key point: remove # where you fill one in.')
    lines += [
        f'  # {plain_key(link)}: {{point: , dof: {POSITION}, weight: 1.0}}'
        for link in robot.links
        if link not in guessed
    ]
    rest = [name for name in motion.points if name not in guessed.values()]
    lines += ['# Key points that no link follows:', *(f'#   {plain_key(name)}' for name in rest)]
    return '\n'.join(lines) + '\n'


WORDS = ('yes', 'no', 'on', 'off', 'true', 'false')  # of YAML 1.1, in any case


def plain_key(name: str) -> str:
    """Return a name as YAML, in quotation marks if it needs them."""
    bare = re.fullmatch(r'[A-Za-z_][\w./-]*', name, re.ASCII) and name.lower() not in WORDS
    return name if bare else json.dumps(name)


def _dof(motion: MotionFile, point: str) -> str:
    return POSE if motion.points[point].turned else POSITION


def _word(name: str) -> str:
    """Return a name without namespace, the ending _link, case and separators."""
    bare = name.rpartition(':')[2].lower()
    return re.sub(r'[\W_]', '', bare.removesuffix('link'))
