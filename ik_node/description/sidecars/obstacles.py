"""Obstacles in a YAML file, see docs/collisions.md."""

from __future__ import annotations

from collections.abc import Collection
import json
from pathlib import Path
from typing import Any

from ik_node.description.yaml_document import Checked, line_of, parse_yaml, read_bytes
from ik_node.errors import DescriptionError, OptionError
from ik_node.model.bodies import core_of, HalfSpace, Hull, make_shape, Mesh, Shape, SHAPES
from ik_node.model.rotation import Array, pose_from_matrix, pose_matrix, quat_from_euler
import numpy as np

KINDS = (*SHAPES, 'hull', 'mesh')
KEYS = (*KINDS, 'scale', 'xyz', 'rpy', 'quat_xyzw')


# Shapes and their poses (4, 4) in the root frame, by name.
Placed = dict[str, tuple[Shape, Array]]
Pairs = frozenset[frozenset[str]]


def read_obstacles(path: str | Path, links: Collection[str] = ()) -> Placed:
    """Read a file of obstacles around a robot's links; DescriptionError names its line and key."""
    return _Reader(str(path)).read(parse_yaml(read_bytes(path), str(path)), links)


def obstacles_to_json(scene: Placed, allowed: Pairs) -> str:
    """
    Return shapes and their poses (4, 4) as JSON, with the keys of a file of obstacles.

    `allowed`: the pairs of links and obstacles that may touch.
    """
    entries = {}
    for name, (shape, pose) in scene.items():
        kind, size = type(shape).__name__.lower(), None
        if isinstance(shape, (Hull, Mesh)):
            core = core_of(shape)
            kind, size = 'hull', (core.points + core.centre).tolist()
        elif isinstance(shape, HalfSpace):
            kind = 'half_space'
        else:
            size = shape.sizes if SHAPES[kind][1] > 1 else shape.sizes[0]
        position, quat_xyzw = pose_from_matrix(pose)
        entries[name] = {kind: size, 'xyz': position, 'quat_xyzw': quat_xyzw}
    return json.dumps({'obstacles': entries, 'allowed': sorted(map(sorted, allowed))})


def obstacles_from_json(text: str) -> tuple[Placed, Pairs]:
    """Read what `obstacles_to_json` wrote; DescriptionError names what cannot be used."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f'obstacles: {error}') from None
    stated = content.pop('allowed', ()) if isinstance(content, dict) else ()
    try:
        allowed = frozenset(frozenset((str(one), str(other))) for one, other in stated)
    except (TypeError, ValueError):
        raise DescriptionError('obstacles: allowed: expected pairs of names') from None
    return _Reader('obstacles').read(content), allowed


class _Reader(Checked):
    """A reader of a file of obstacles."""

    def read(self, content: object, links: Collection[str] = ()) -> Placed:
        top = self.mapping(content, 'the file', ('obstacles',))
        entries = self.mapping(
            top.get('obstacles') or {},
            'obstacles',
            ('NAME: {SHAPE: SIZE, xyz: [m]}',),
            others=True,
        )
        result = {}
        for name in entries:
            self.line = line_of(entries, name) or self.line
            if name in links:
                raise self.fail(f'obstacles: {name} is the name of a link')
            result[self.text(name, 'obstacles')] = self._obstacle(name, entries[name], self.line)
        return result

    def _obstacle(self, name: str, entry: object, line: int | None) -> tuple[Shape, Array]:
        what = f'obstacles: {name}'
        fields = self.mapping(entry, what, KEYS)
        self.line = line
        kinds = [key for key in KINDS if key in fields]
        if len(kinds) != 1:
            names = ' and '.join(kinds) or 'none'
            raise self.fail(f'{what}: expected one of {" ".join(KINDS)}, got {names}')
        (kind,) = kinds
        self.line = line_of(fields, kind) or line
        try:
            shape = self._shape(kind, fields, f'{what}: {kind}')
            core_of(shape)  # reads the mesh, and refuses points in a plane
        except OptionError as error:
            raise self.fail(f'{what}: {kind}: {error}') from None
        position = self.vector(fields, 'xyz', what)
        if 'quat_xyzw' in fields:
            if 'rpy' in fields:
                raise self.fail(f'{what}: expected rpy or quat_xyzw, got both')
            quat = np.array(self.numbers(fields['quat_xyzw'], 4, f'{what}: quat_xyzw'))
            if not 0.99 < np.linalg.norm(quat) < 1.01:
                raise self.fail(f'{what}: quat_xyzw: expected length 1, got {quat.tolist()}')
            quat /= np.linalg.norm(quat)
        else:
            quat = quat_from_euler(*self.vector(fields, 'rpy', what, '[rad]'))
        return shape, pose_matrix(np.array(position), quat)

    def _shape(self, kind: str, fields: Any, what: str) -> Shape:
        value = fields[kind]
        if kind == 'mesh':
            path = Path(self.source).parent / self.text(value, what)
            scale = fields.get('scale', 1.0)
            factors = scale if isinstance(scale, list) else [scale] * 3
            return Mesh(path, self.numbers(factors, 3, f'{what}: scale'))
        if kind == 'hull':
            rows = self.items(fields, kind)
            return Hull([self.numbers(row, 3, f'{what}[{k}]') for k, row in enumerate(rows)])
        _, count, sizes = SHAPES[kind]
        if count == 1:
            value = [value]
        return make_shape(kind, *(self.numbers(value, count, f'{what} {sizes}') if count else ()))
