"""Our own closure annotations."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from reprlib import Repr
from typing import Any

from ik_node.description.loop import CouplingRule, Loop, LoopFrame, LoopSet
from ik_node.description.yaml_document import line_of
from ik_node.errors import DescriptionError, IkError
from ik_node.model.closure import CLOSURE_TYPES
from ik_node.model.dof import parse_dofs
from ik_node.model.rotation import quat_from_euler
import numpy as np

TOP_KEYS = ('closures', 'couplings', 'actuated')
LOOP_KEYS = ('name', 'frame_a', 'frame_b', 'dof', 'type', 'distance', 'tolerance', 'enabled')
FRAME_KEYS = ('link', 'xyz', 'rpy')
COUPLING_KEYS = ('joint', 'of', 'coefficients')
SHORT = Repr()
SHORT.maxstring = SHORT.maxother = 60


def read_closures(content: object, source: str) -> LoopSet:
    """
    Read our own closure annotations.

    Parameters
    ----------
    content : object
        What the YAML parsed to.
    source : str
        For messages.

    Raises
    ------
    DescriptionError
        With file and line, what was found and what is allowed.

    """
    return _Reader(source).read(content)


class _Reader:
    """Checks the shape of parsed annotations, with lines where they are known."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._line: int | None = None

    def read(self, content: object) -> LoopSet:
        top = self._mapping({} if content is None else content, 'the annotations', TOP_KEYS)
        closures = self._list(top, 'closures', 'closures')
        couplings = self._list(top, 'couplings', 'couplings')
        result = LoopSet(self._source, 'closures YAML')
        result.loops = [self._loop(entry, i) for i, entry in enumerate(closures)]
        result.couplings = [self._coupling(entry, i) for i, entry in enumerate(couplings)]
        if top.get('actuated') is not None:
            names = self._list(top, 'actuated', 'actuated')
            result.actuated = [self._text(name, f'actuated[{i}]') for i, name in enumerate(names)]
        return result

    def _loop(self, entry: object, index: int) -> Loop:
        what = f'closures[{index}]'
        fields = self._mapping(entry, what, LOOP_KEYS)
        line = self._line
        name = self._text(fields['name'], f'{what}: name') if 'name' in fields else f'loop{index}'
        what = f'closure {name!r}'
        for end in ('frame_a', 'frame_b'):
            if end not in fields:
                raise self._fail(f'{what}: {end} is missing; write {end}: {{link: NAME}}')
        frame_a = self._frame(fields['frame_a'], f'{what}: frame_a')
        frame_b = self._frame(fields['frame_b'], f'{what}: frame_b')
        loop = Loop(name, frame_a, frame_b, line=line)
        self._line = line
        self._rows(loop, fields, what)
        tolerance = fields.get('tolerance')
        if tolerance is not None:
            both = list(tolerance) if isinstance(tolerance, list | tuple) else [tolerance] * 2
            loop.tolerance = self._numbers(both, 2, f'{what}: tolerance ([m], [rad])')
            if min(loop.tolerance) < 0.0:
                raise self._fail(f'{what}: tolerance: {_shown(tolerance)} is below zero')
        enabled = fields.get('enabled', True)
        if not isinstance(enabled, bool):
            raise self._fail(f'{what}: enabled: {_shown(enabled)}; expected true or false')
        loop.enabled = enabled
        return loop

    def _rows(self, loop: Loop, fields: Mapping[str, Any], what: str) -> None:
        if 'dof' in fields and 'type' in fields:
            raise self._fail(
                f'{what}: has both dof and type; leave one out (a type is a name for a set of '
                'axes: hinge = dof X Y Z EX EY)'
            )
        if 'type' in fields:
            loop.type_name = self._text(fields['type'], f'{what}: type')
            if loop.type_name not in CLOSURE_TYPES:
                raise self._fail(
                    f'{what}: type {loop.type_name!r} is not known; '
                    f'allowed: {" ".join(CLOSURE_TYPES)}'
                )
        if 'dof' in fields:
            dofs = fields['dof']
            if not isinstance(dofs, str | list | tuple):
                raise self._fail(f'{what}: dof: {_shown(dofs)}; expected axes, as in X Y Z EZ')
            try:
                loop.dofs = parse_dofs(dofs)
            except (IkError, TypeError) as error:
                raise self._fail(f'{what}: {error}') from None
        if (loop.type_name == 'distance') != ('distance' in fields):
            raise self._fail(f'{what}: type distance and the key distance [m] go together')
        if 'distance' in fields:
            loop.distance = self._numbers([fields['distance']], 1, f'{what}: distance [m]')[0]
            if loop.distance < 0.0:
                raise self._fail(f'{what}: distance: {loop.distance} is below zero')

    def _frame(self, entry: object, what: str) -> LoopFrame:
        if isinstance(entry, str):
            return LoopFrame(self._text(entry, what))
        fields = self._mapping(entry, what, FRAME_KEYS)
        if 'link' not in fields:
            raise self._fail(f'{what}: link is missing; write link: NAME')
        xyz = self._numbers(fields.get('xyz', (0, 0, 0)), 3, f'{what}: xyz [m]')
        rpy = self._numbers(fields.get('rpy', (0, 0, 0)), 3, f'{what}: rpy [rad]')
        link = self._text(fields['link'], f'{what}: link')
        return LoopFrame(link, np.array(xyz), quat_from_euler(*rpy))

    def _coupling(self, entry: object, index: int) -> CouplingRule:
        what = f'couplings[{index}]'
        fields = self._mapping(entry, what, COUPLING_KEYS)
        for key in COUPLING_KEYS:
            if key not in fields:
                raise self._fail(f'{what}: {key} is missing; needed: {" ".join(COUPLING_KEYS)}')
        numbers = fields['coefficients']
        count = len(numbers) if isinstance(numbers, list | tuple) else 0
        if not 1 <= count <= 10:
            raise self._fail(f'{what}: coefficients: {_shown(numbers)}; expected 1 to 10 of them')
        return CouplingRule(
            self._text(fields['joint'], f'{what}: joint'),
            self._text(fields['of'], f'{what}: of'),
            self._numbers(numbers, count, f'{what}: coefficients'),
            self._line,
        )

    def _mapping(self, value: object, what: str, allowed: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise self._fail(f'{what}: expected keys {" ".join(allowed)}, got {_shown(value)}')
        self._line = line_of(value) or self._line
        for key in value:
            if key not in allowed:
                raise self._fail(
                    f'{what}: the key {_shown(key)} is not known; allowed: {" ".join(allowed)}'
                )
        return value

    def _list(self, top: Mapping[str, Any], key: str, what: str) -> list[Any]:
        value = top.get(key)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self._fail(f'{what}: expected a list, got {_shown(value)}')
        return list(value)

    def _text(self, value: object, what: str) -> str:
        if not isinstance(value, str) or not value:
            raise self._fail(f'{what}: expected a name, got {_shown(value)} (quote it: "...")')
        return value

    def _numbers(self, value: object, count: int, what: str) -> list[float]:
        parts = value.split() if isinstance(value, str) else value
        wanted = f'{count} finite number' + ('s' if count > 1 else '')
        if isinstance(parts, np.ndarray):
            parts = parts.tolist()
        if not isinstance(parts, list | tuple) or len(parts) != count:
            raise self._fail(f'{what}: expected {wanted}, got {_shown(value)}')
        numbers = []
        for part in parts:
            try:
                # YAML 1.1 reads 1e-6 as text
                number = float('nan') if isinstance(part, bool) else float(part)
            except (TypeError, ValueError, OverflowError):
                number = float('nan')
            if not isfinite(number) or abs(number) > 1e12:
                raise self._fail(f'{what}: expected {wanted} up to 1e12, got {_shown(value)}')
            numbers.append(number)
        return numbers

    def _fail(self, message: str) -> DescriptionError:
        return DescriptionError(message, source=self._source, line=self._line)


def _shown(value: object) -> str:
    return SHORT.repr(value)  # bounded, as YAML can be made to nest without end
