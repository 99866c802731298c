"""A mechanism as plain numbers for any solver, written as URDF, MJCF or JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
import math
from typing import Any

Triple = tuple[float, float, float]
ZERO: Triple = (0.0, 0.0, 0.0)
ALL = 'X Y Z EX EY EZ'
POINT = 'X Y Z'
HINGE = 'X Y Z EX EY'


@dataclass(frozen=True)
class Joint:
    """A URDF joint: origin, then motion about or along `axis`; revolute, prismatic or fixed."""

    name: str
    parent: str
    child: str
    kind: str
    xyz: Triple = ZERO
    rpy: Triple = ZERO
    axis: Triple = (0.0, 0.0, 1.0)
    lower: float = -math.inf
    upper: float = math.inf


@dataclass(frozen=True)
class Loop:
    """A closure: components `dof` of frame a's pose in b vanish; HINGE is free about b's z."""

    name: str
    link_a: str
    link_b: str
    dof: str = ALL
    xyz_a: Triple = ZERO
    rpy_a: Triple = ZERO
    xyz_b: Triple = ZERO
    rpy_b: Triple = ZERO


@dataclass
class Mechanism:
    """A tree of joints below the link `base`, with loops; parents precede their children."""

    name: str
    joints: list[Joint] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    home: dict[str, float] = field(default_factory=dict)

    def add(
        self,
        name: str,
        parent: str,
        axis: str,
        xyz: Triple = ZERO,
        rpy: Triple = ZERO,
        limits: tuple[float, float] = (-math.inf, math.inf),
        child: str = '',
    ) -> str:
        """Add a joint; axes x y z turn, X Y Z slide, - is fixed. Return the link below."""
        child = child or f'{name}_link'
        kind = 'fixed' if axis == '-' else 'revolute' if axis.islower() else 'prismatic'
        along = tuple(float(axis.lower() == letter) for letter in 'xyz')
        self.joints.append(Joint(name, parent, child, kind, xyz, rpy, along, limits[0], limits[1]))
        return child

    @property
    def movable(self) -> list[Joint]:
        """Return the joints in the order of q."""
        return [joint for joint in self.joints if joint.kind != 'fixed']

    @property
    def names(self) -> list[str]:
        """Return the names in the order of q."""
        return [joint.name for joint in self.movable]

    @property
    def home_q(self) -> list[float]:
        """Return the home posture in the order of q."""
        return [self.home.get(name, 0.0) for name in self.names]

    def urdf(self, everywhere: float = math.inf) -> str:
        """Return the tree as URDF without loops; `everywhere` replaces missing limits."""
        links = ['base', *(joint.child for joint in self.joints)]
        text = ''.join(_URDF_LINK.format(link) for link in links)
        text += ''.join(_urdf_joint(joint, everywhere) for joint in self.joints)
        return f'<?xml version="1.0"?>\n<robot name="{self.name}">\n{text}</robot>\n'

    def closures(self) -> dict[str, Any]:
        """Return the loops as closure annotations."""
        entries = [
            {
                'name': loop.name,
                'frame_a': {'link': loop.link_a, 'xyz': [*loop.xyz_a], 'rpy': [*loop.rpy_a]},
                'frame_b': {'link': loop.link_b, 'xyz': [*loop.xyz_b], 'rpy': [*loop.rpy_b]},
                'dof': loop.dof,
            }
            for loop in self.loops
        ]
        return {'closures': entries}

    def with_ends(self) -> Mechanism:
        """Return the mechanism with a fixed link at each end of each loop: NAME_a, NAME_b."""
        copy = Mechanism(self.name, list(self.joints), list(self.loops), dict(self.home))
        for loop in self.loops:
            for side in 'ab':
                link = loop.link_a if side == 'a' else loop.link_b
                xyz, rpy = getattr(loop, f'xyz_{side}'), getattr(loop, f'rpy_{side}')
                end = f'{loop.name}_{side}'
                copy.add(f'{end}_fixed', link, '-', xyz, rpy, child=end)
        return copy

    def plain(self) -> dict[str, Any]:
        """Return everything as plain data, infinite limits as None."""
        joints = []
        for joint in self.joints:
            entry = asdict(joint)
            for side in ('lower', 'upper'):
                entry[side] = entry[side] if math.isfinite(entry[side]) else None
            joints.append(entry)
        return {
            'name': self.name,
            'joints': joints,
            'loops': [asdict(loop) for loop in self.loops],
            'names': self.names,
            'home': self.home_q,
            'urdf': self.urdf(),
            # Pinocchio stores a joint without limits as sine and cosine: give it far ones.
            'urdf_with_ends': self.with_ends().urdf(everywhere=1000.0),
            'closures': self.closures(),
        }


def from_plain(plain: dict[str, Any]) -> Mechanism:
    """Return the mechanism of the data that `Mechanism.plain` returned."""
    m = Mechanism(plain['name'], home=dict(zip(plain['names'], plain['home'], strict=True)))
    for entry in plain['joints']:
        ends = {'lower': entry['lower'], 'upper': entry['upper']}
        ends['lower'] = -math.inf if ends['lower'] is None else ends['lower']
        ends['upper'] = math.inf if ends['upper'] is None else ends['upper']
        m.joints.append(Joint(**{**entry, **ends}))
    m.loops += [Loop(**entry) for entry in plain['loops']]
    return m


# Some readers want every link to have a mass.
_URDF_LINK = (
    '  <link name="{}"><inertial><mass value="0.1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"'
    ' ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
)


def _urdf_joint(joint: Joint, everywhere: float) -> str:
    kind, limit = joint.kind, ''
    if kind != 'fixed':
        lower, upper = max(joint.lower, -everywhere), min(joint.upper, everywhere)
        bounded = math.isfinite(lower) and math.isfinite(upper)
        if kind == 'revolute' and not bounded:
            kind = 'continuous'
        ends = f'lower="{lower!r}" upper="{upper!r}" ' if bounded else ''
        limit = f'<limit {ends}effort="100" velocity="10"/>'
    return (
        f'  <joint name="{joint.name}" type="{kind}"><parent link="{joint.parent}"/>'
        f'<child link="{joint.child}"/><origin xyz="{_row(joint.xyz)}" rpy="{_row(joint.rpy)}"/>'
        f'<axis xyz="{_row(joint.axis)}"/>{limit}</joint>\n'
    )


def _row(values: Triple) -> str:
    return ' '.join(repr(float(value)) for value in values)
