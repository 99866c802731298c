"""Random robots as texts, in every format and notation that is read."""

from __future__ import annotations

from hypothesis import strategies as st
from ik_node.model.closure import CLOSURE_TYPES
import numpy as np

ANGLES = (0.0, 0.7, np.pi / 2, np.pi, -np.pi, 1.5708)
NAMES = ('arm', 'closing_x_1', 'closing_x_2', 'rod', 'closing_y_1', 'tip', 'closing_y_2', 'end')
HUGE = '1e16', '3.4028235e+38', '1.7976931348623157e308'


class Dice:
    """Random parts of a description."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.limited: set[str] = set()
        self.simple = self.chance(0.3)  # hinges only
        self.links = ['base', *self.random.permutation(NAMES)[: self.random.integers(2, 8)]]
        self.parents = [
            self.links[self.random.integers(0, at)] for at in range(1, len(self.links))
        ]

    def chance(self, share=0.5):
        return bool(self.random.random() < share)

    def one(self, choices):
        return choices[self.random.integers(0, len(choices))]

    def numbers(self, count=3, spread=0.5):
        kind = self.random.integers(0, 3)
        values = self.random.normal(0.0, spread, count)
        return ' '.join(map(repr, map(float, np.round(values, 2) if kind else values)))

    def angles(self):
        if self.chance():
            return ' '.join(repr(float(self.one(ANGLES))) for _ in range(3))
        return self.numbers(spread=1.5)

    def axis(self):
        if self.chance(0.6):
            return self.one(('1 0 0', '0 1 0', '0 0 1', '0 0 -1'))
        return self.numbers()

    def bounds(self):
        low, high = np.sort(self.random.uniform(-2.0, 2.0, 2))
        huge = self.one(HUGE)
        return self.one(((low, high), (min(low, 0.0), huge), (f'-{huge}', huge), (-1.0, 2.5)))

    def ends(self):
        first, second = self.random.choice(len(self.links), 2, replace=False)
        return self.links[first], self.links[second]

    # -- URDF

    def urdf(self):
        joints = [
            self._urdf_joint(f'j{at}', parent, child)
            for at, (parent, child) in enumerate(zip(self.parents, self.links[1:], strict=True))
        ]
        if self.chance(0.3):  # a link with two parents
            joints.append(self._urdf_joint('again', *self.ends(), kinds=('continuous', 'fixed')))
        links = ''.join(f'<link name="{name}"/>' for name in self.links)
        loops = ''.join(self._urdf_loop(f'c{at}') for at in range(self.random.integers(0, 3)))
        motors = '<ros2_control><joint name="j0"><command_interface/></joint></ros2_control>'
        more = motors if self.chance() else ''
        return f'<robot name="r">{links}{"".join(joints)}{loops}{more}</robot>'

    def _urdf_joint(self, name, parent, child, kinds=()):
        kind = self.one(
            kinds or ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating', 'ball')
        )
        low, high = self.bounds()
        limit = f'<limit lower="{low}" upper="{high}" velocity="3" effort="2"/>'
        mimic = ''
        if name not in ('j0', 'again') and kind in ('revolute', 'continuous') and self.chance(0.3):
            kind, limit = 'continuous', ''
            mimic = f'<mimic joint="j0" multiplier="{self.numbers(1)}" offset="0.1"/>'
        limit = limit if self.chance(0.7) else ''
        if limit:  # limits of a follower can leave its master no value
            self.limited.add(name)
        if name == 'j0' or (self.simple and name != 'again'):
            kind = self.one(('revolute', 'continuous'))
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{self.numbers()}" rpy="{self.angles()}"/><axis xyz="{self.axis()}"/>'
            f'{limit}{mimic}</joint>'
        )

    def _urdf_loop(self, name):
        first, second = self.ends()
        pose = f'xyz="{self.numbers()}" rpy="{self.angles()}"'
        other = f'xyz="{self.numbers()}" rpy="{self.angles()}"'
        axis = f'<axis xyz="{self.axis()}"/>' if self.chance() else ''
        hinge = self.one(('revolute', 'prismatic', 'fixed', 'spherical', 'planar'))
        off = self.one(('', ' enabled="false"', ' tolerance="1e-4"', ' weight="0.5"'))
        slides = self.one(('prismatic', 'fixed', 'ball'))
        kind = self.one([kind for kind in CLOSURE_TYPES if kind not in ('distance', 'floating')])
        ball = '<drake:ball_constraint_'
        return self.one(
            (
                f'<loop_joint name="{name}" type="{kind}"{off}><link1 link="{first}" {pose}/>'
                f'<link2 link="{second}" {other}/>{axis}</loop_joint>',
                f'<loop_joint name="{name}" type="distance" distance="0.4"{off}>'
                f'<link1 link="{first}" {pose}/><link2 link="{second}"/></loop_joint>',
                f'<loop_joint name="{name}" dof="X Z EY"{off}><link1 link="{first}" {pose}/>'
                f'<link2 link="{second}" {other}/></loop_joint>',
                f'<loop name="{name}" type="{hinge}"><predecessor link="{first}">'
                f'<origin {pose}/></predecessor><successor link="{second}"><origin {other}/>'
                f'</successor>{axis}</loop>',
                f'<constraint name="{name}" type="{hinge}"><parent link="{first}"/>'
                f'<parent_origin {pose}/><child link="{second}"/><child_origin {other}/>'
                '</constraint>',
                f'<gazebo><joint name="{name}" type="revolute"><parent>{first}</parent>'
                f'<child>{second}</child><pose>{self.numbers()} {self.angles()}</pose>'
                f'<axis><xyz>{self.axis()}</xyz></axis></joint></gazebo>',
                f'<gazebo><joint name="{name}" type="{slides}"><parent>{first}</parent>'
                f'<child>{second}</child><axis><xyz>{self.axis()}</xyz>'
                '<limit><lower>-1</lower><upper>2</upper></limit></axis></joint></gazebo>',
                f'<gazebo>{self.weld(first, second)}</gazebo>',
                f'<coupling name="{name}"><predecessor link="{first}"/>'
                f'<successor link="{second}"/><ratio value="2"/></coupling>'
                if self._hinges_only(first, second)
                else '',
                '<gazebo><plugin name="m" filename="libmimic.so"><joint>j0</joint>'
                '<mimicJoint>j1</mimicJoint><multiplier>0.5</multiplier></plugin></gazebo>'
                if 'j1' not in self.limited
                else '',
                f'<drake:ball_constraint>{ball}body_A name="{first}"/>{ball}body_B '
                f'name="{second}"/>{ball}p_AP value="{self.numbers()}"/>{ball}p_BQ '
                f'value="{self.numbers()}"/></drake:ball_constraint>',
            )
        )

    def weld(self, first, second):
        attached = self.one(('', '<initial_attach>false</initial_attach>'))
        return (
            '<plugin filename="f" name="gz::sim::systems::DetachableJoint">'
            f'<parent_link>{first}</parent_link><child_model>__model__</child_model>'
            f'<child_link>{second}</child_link>{attached}</plugin>'
        )

    def _hinges_only(self, first, second):
        hung = dict(zip(self.links[1:], self.parents, strict=True))
        return self.simple and hung.get(first) == hung.get(second) == 'base'

    # -- MJCF

    def mjcf(self):
        children: dict[str, list[str]] = {name: [] for name in self.links}
        for parent, child in zip(self.parents, self.links[1:], strict=True):
            children[parent].append(child)
        joints: list[str] = []

        def body(name):
            inner = ''
            for at in range(self.random.integers(0, 3)):
                joint = f'{name}_{at}'
                low, high = self.bounds()
                # The first joint follows another one; limits could leave that one no value.
                ranges = f'range="{low} {high}" ' if joints else ''
                ranges += f'ref="{self.numbers(1)}"'
                kind = self.one(('hinge', 'slide', 'ball'))
                if kind != 'ball':
                    joints.append(joint)
                inner += (
                    f'<joint name="{joint}" type="{kind}" pos="{self.numbers()}" '
                    f'axis="{self.axis()}" {ranges if kind != "ball" else ""}/>'
                )
            if name.startswith('closing') and self.chance():
                inner += f'<site name="{name}_s" pos="{self.numbers()}"/>'
            inner += ''.join(map(body, children[name]))
            return (
                f'<body name="{name}" pos="{self.numbers()}" euler="{self.angles()}">{inner}'
                '<geom size=".1"/></body>'
            )

        world = body('base')
        if self.chance(0.3):
            inside = f'<freejoint/>{world}<geom size=".1"/>'
            world = f'<body name="box" pos="{self.numbers()}">{inside}</body>'
        rules = ''
        for at in range(self.random.integers(0, 3)):
            first, second = self.ends()
            active = '' if self.chance(0.7) else 'active="false"'
            rules += self.one(
                (
                    f'<connect name="c{at}" body1="{first}" body2="{second}" '
                    f'anchor="{self.numbers()}" {active}/>',
                    f'<weld name="c{at}" body1="{first}" body2="{second}" {active}/>',
                    f'<weld name="c{at}" body1="{first}" relpose="0.1 0 0.2 0 1 0 0"/>',
                )
            )
        sites = [f'closing_x_{n}' for n in '12'] if self.chance() else []
        for site in sites:
            world += f'<site name="{site}_site" pos="{self.numbers()}"/>'
        if len(joints) > 1 and self.chance():
            rules += f'<joint joint1="{joints[0]}" joint2="{joints[1]}" polycoef="0 0.5"/>'
        motors = ''.join(f'<motor joint="{name}"/>' for name in joints if self.chance(0.3))
        return (
            '<mujoco model="r"><compiler angle="radian"/>'
            f'<worldbody>{world}</worldbody><equality>{rules}</equality>'
            f'<actuator>{motors}</actuator></mujoco>'
        )

    # -- SDFormat

    def sdf(self):
        links = ''.join(
            f'<link name="{name}"><pose>{self.numbers()} {self.angles()}</pose></link>'
            for name in self.links
        )
        pairs = list(zip(self.parents, self.links[1:], strict=True))
        pairs += [self.ends() for _ in range(self.random.integers(0, 3))]
        joints = ''.join(self._sdf_joint(f'j{at}', *pair) for at, pair in enumerate(pairs))
        frame = f'<frame name="f" attached_to="{self.links[-1]}"><pose>1 2 3 0 0 1</pose></frame>'
        return (
            f'<sdf version="1.9"><model name="r">{links}{joints}'
            f'{frame if self.chance() else ""}{self.weld(*self.ends())}</model></sdf>'
        )

    def _sdf_joint(self, name, parent, child):
        kind = self.one(
            ('revolute', 'continuous', 'prismatic', 'ball', 'fixed', 'universal', 'screw')
        )
        low, high = self.bounds()
        limit = f'<limit><lower>{low}</lower><upper>{high}</upper></limit>'
        if kind == 'screw' or not self.chance():
            limit = ''
        axes = f'<axis><xyz>{self.axis()}</xyz>{limit}</axis>'
        if kind == 'universal':
            axes += f'<axis2><xyz>{self.axis()}</xyz></axis2>'
        return (
            f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
            f'<pose>{self.numbers()} {self.angles()}</pose>{axes}</joint>'
        )


FORMATS = ('urdf', 'mjcf', 'sdf')


def texts(format_name):
    return st.integers(0, 2**32).map(lambda seed: getattr(Dice(seed), format_name)())
