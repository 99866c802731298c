"""Reader of ik_node's closure annotations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from ik_node.description.description import CouplingRule, Loop, LoopFrame, LoopSet
from ik_node.description.digits import exact_angle, rounding_of
from ik_node.description.doubts import note_degrees
from ik_node.description.yaml_document import Checked
from ik_node.errors import shown
from ik_node.model.constraint import CLOSURE_TYPES
from ik_node.model.rotation import quat_from_euler
import numpy as np

TOP_KEYS = ('closures', 'couplings', 'actuated')
LOOP_KEYS = (
    *('name', 'frame_a', 'frame_b', 'dof', 'type', 'distance', 'tolerance', 'rounding', 'weight'),
    'enabled',
)
FRAME_KEYS = ('link', 'xyz', 'rpy')
COUPLING_KEYS = ('joint', 'of', 'coefficients', 'offset')


def read_closures(content: object, source: str) -> LoopSet:
    """Read closure annotations of ik_node; DescriptionError is raised for unknown keys."""
    return _Reader(source).read(content)


class _Reader(Checked):
    def read(self, content: object) -> LoopSet:
        top = self.mapping({} if content is None else content, 'the annotations', TOP_KEYS)
        closures = self.items(top, 'closures')
        couplings = self.items(top, 'couplings')
        result = LoopSet(self.source, 'closures YAML')
        self._angles: list[float] = []
        self._given = defaultdict[str, list[list[str]]](list)
        result.loops = [self._loop(entry, i) for i, entry in enumerate(closures)]
        for loop in result.loops:
            loop.rounding = tuple(map(max, loop.rounding, rounding_of(self._given)))
        result.notes = [f'{self.source}: {note}' for note in note_degrees(self._angles)]
        result.couplings = [self._coupling(entry, i) for i, entry in enumerate(couplings)]
        if top.get('actuated') is not None:
            names = self.items(top, 'actuated')
            result.actuated = [self.text(name, f'actuated[{i}]') for i, name in enumerate(names)]
        return result

    def _loop(self, entry: object, index: int) -> Loop:
        what = f'closures[{index}]'
        fields = self.mapping(entry, what, LOOP_KEYS)
        line = self.line
        name = self.text(fields['name'], f'{what}: name') if 'name' in fields else f'loop{index}'
        what = f'closure {name!r}'
        frame_a, frame_b = (
            self._frame(self.need(fields, end, what, '{link: NAME}'), f'{what}: {end}')
            for end in ('frame_a', 'frame_b')
        )
        loop = Loop(name, frame_a, frame_b, line=line)
        self.line = line
        if 'dof' in fields and 'type' in fields:
            raise self.fail(
                f'{what}: has both dof and type; leave one out (a type is a name for a set of '
                'axes: hinge = dof X Y Z EX EY)'
            )
        if 'type' in fields:
            loop.type_name = self.one_of(fields['type'], CLOSURE_TYPES, f'{what}: type')
        loop.dofs = fields.get('dof')
        loop.distance, loop.weight = fields.get('distance'), fields.get('weight', 1.0)
        if fields.get('tolerance') is not None:
            loop.tolerance = _list(fields['tolerance'])
        if fields.get('rounding') is not None:
            loop.rounding = self.numbers(fields['rounding'], 2, f'{what}: rounding ([m], [rad])')
        loop.enabled = fields.get('enabled', True)
        if not isinstance(loop.enabled, bool):
            raise self.fail(f'{what}: enabled: {shown(loop.enabled)}; expected true or false')
        return loop

    def _frame(self, entry: object, what: str) -> LoopFrame:
        if isinstance(entry, str):
            return LoopFrame(self.text(entry, what))
        fields = self.mapping(entry, what, FRAME_KEYS)
        link = self.text(self.need(fields, 'link', what), f'{what}: link')
        xyz = self.vector(fields, 'xyz', what)
        rpy = self.vector(fields, 'rpy', what, '[rad]')
        self._angles += rpy
        self._given['m'].append([*map(repr, xyz)])
        self._given['rad'].append([*map(repr, rpy)])
        return LoopFrame(link, np.array(xyz), quat_from_euler(*map(exact_angle, rpy)))

    def _coupling(self, entry: object, index: int) -> CouplingRule:
        what = f'couplings[{index}]'
        fields = self.mapping(entry, what, COUPLING_KEYS)
        joint = self.text(self.need(fields, 'joint', what), f'{what}: joint')
        masters = self.need(fields, 'of', what)
        if not isinstance(masters, Mapping):
            coefficients = self.need(fields, 'coefficients', what, '[c0, c1]')
            masters = {self.text(masters, f'{what}: of'): coefficients}
        elif 'coefficients' in fields:
            raise self.fail(f'{what}: coefficients: the joints of a sum stand with their factors')
        terms = []
        for name, factor in masters.items():
            given = factor if isinstance(factor, list | tuple) else [0.0, factor]
            where = f'{what}: of: {self.text(name, f"{what}: of")!r}: coefficients'
            terms.append((name, self.numbers(given, max(1, len(given)), where)))
        if not terms:
            raise self.fail(f'{what}: of: no joint; write of: {{JOINT: FACTOR, JOINT: FACTOR}}')
        (offset,) = self.numbers([fields.get('offset', 0.0)], 1, f'{what}: offset')
        (master, polynomial), *others = terms
        polynomial[0] += offset
        return CouplingRule(joint, master, polynomial, self.line, others)


def _list(given: Any) -> list[Any]:
    """Return one value or several as a list."""
    return [*given] if isinstance(given, list | tuple) else [given]
