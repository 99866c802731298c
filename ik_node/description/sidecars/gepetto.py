"""
Reader of the `robot.yaml` files of Gepetto's example-parallel-robots.

===========  ==================================================================================
key          meaning
===========  ==================================================================================
closed_loop  pairs of names; each is a link, or a joint, which stands for its child link
type         one per pair: 3d = a point; 6d and any other type = all six axes
name_mot     the joints with a motor
joint_name   joints that get another type; their axis and limits in the URDF are ignored
joint_type   one per name: SPHERICAL, FIXED, UJOINT_XY (two joints NAME_X and NAME_Y), ...
===========  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
import re
from typing import Any

from ik_node.description.description import Description, Loop, LoopFrame, unknown, WORLD
from ik_node.description.sidecars.loop_file import LoopFile, Retype
from ik_node.description.yaml_document import line_of
from ik_node.errors import shown

TOP_KEYS = ('closed_loop', 'type', 'name_mot', 'joint_name', 'joint_type')
UNIVERSAL = re.compile('ujoint_?([xyz])([xyz])')
AXES = ('xy', 'yz', 'zx', 'zy', 'yx', 'xz')
JOINT_TYPES = (
    *('spherical', 'fixed'),
    *(f'ujoint_{axes}' for axes in AXES),
    *(f'ujoint{axes}' for axes in AXES),
)


def is_gepetto(content: object) -> bool:
    """Return True if parsed YAML has the keys of this format."""
    if not isinstance(content, Mapping):
        return False
    return isinstance(content.get('closed_loop'), list | tuple) or 'name_mot' in content


class GepettoFile(LoopFile):
    """A reader of a robot.yaml, which looks up names of links and joints in the robot later."""

    dialect = 'Gepetto YAML'
    top_keys = TOP_KEYS
    motor_keys = ('name_mot',)
    retype_key = 'joint_name'

    def _read_types(self, top: Mapping[str, Any]) -> None:
        self._types: dict[str, str] = {}
        joints = self.items(top, 'joint_name')
        types = self.items(top, 'joint_type')
        self._types_line = self.line
        if len(joints) != len(types):
            raise self.fail(
                f'joint_name has {len(joints)} names, joint_type {len(types)} types; '
                'write one type per name'
            )
        for index, (name, type_name) in enumerate(zip(joints, types, strict=True)):
            joint = self.text(name, f'joint_name[{index}]')
            if joint in self._types:
                raise self.fail(f'joint_name: {joint!r} occurs twice')
            self._types[joint] = self.one_of(type_name, JOINT_TYPES, f'joint_type[{index}]:')

    def _read_loops(self, top: Mapping[str, Any]) -> None:
        types = self.items(top, 'type')
        pairs = self.items(top, 'closed_loop')
        if 'type' not in top and pairs:
            self.note('no type of the loops is given; all are taken as 6d')
            types = ['6d'] * len(pairs)
        if len(types) < len(pairs):
            raise self.fail(
                f'closed_loop has {len(pairs)} pairs, type {len(types)} types; write one type per '
                "pair (Gepetto's own loader skips the loops without one)"
            )
        if len(types) > len(pairs):
            self.note(
                f'closed_loop has {len(pairs)} pairs, type {len(types)} types; the last types '
                'are not used'
            )
        for index, (pair, type_name) in enumerate(zip(pairs, types, strict=False)):
            what = f'closed_loop[{index}]'
            self.line = line_of(pair) or self.line
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise self.fail(f'{what}: expected a pair of names, got {shown(pair)}')
            name_a, name_b = (self.text(name, what) for name in pair)
            kind = str(type_name).strip().lower()[:20]
            if kind not in ('3d', '6d'):
                self.note(f'type[{index}]: {type_name!r} is neither 3d nor 6d; taken as 6d')
            loop = Loop(f'{name_a}__{name_b}', LoopFrame(name_a), LoopFrame(name_b))
            loop.type_name = 'point' if kind == '3d' else 'weld'
            loop.line = self.line
            self.loops.append(loop)

    def _retype(self, joints: Retype) -> None:
        self.line = self._types_line
        for name, type_name in self._types.items():
            axes = UNIVERSAL.fullmatch(type_name)
            if name not in joints.joints and joints.is_urdf:
                # One of Gepetto's files has this, and its loader continues.
                missing = unknown('joint', name, list(joints.joints))
                self.note(f'{self.retype_key}: {missing}; it is not retyped')
            elif axes is not None:
                joints.universal(name, axes[1].upper(), axes[2].upper())
            else:
                joints.find(name).set('type', type_name)

    def _fit_to(self, description: Description) -> None:
        for loop in self.loops:
            self.line = loop.line
            for frame in (loop.frame_a, loop.frame_b):
                frame.link = self._link(frame.link, description)

    def _link(self, name: str, description: Description) -> str:
        """Return the link of a name, which may be the name of a link or of the joint above it."""
        axes = UNIVERSAL.fullmatch(self._types.get(name, ''))
        joint = description.joints.get(name if axes is None else f'{name}_{axes[2].upper()}')
        child = None if joint is None or joint.child is None else joint.child.name
        if name in description.links:
            if child not in (None, name):
                self.note(
                    f'closed_loop: {name!r} is both a link and a joint above {child!r}; taken as '
                    'the link'
                )
            return name
        if child is None and name != WORLD:
            known = list(dict.fromkeys([*description.links, *description.joints]))
            raise self.fail(f'closed_loop: {unknown("link or joint", name, known)}')
        return child or name
