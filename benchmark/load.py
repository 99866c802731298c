"""
CPU time of `load_robot` without the XML parser: a 50-joint and a 150-link URDF.

The robots are generated: legs with limits, masses and shapes, half of them connected to the
platform by loops. The times should stay below 20 ms and 100 ms.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import time

from ik_node.description.xml_document import parse_xml
from ik_node.robot import load_robot

LINK = """  <link name="{name}"><inertial><mass value="0.5"/><origin xyz="0 0 0.1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.1 0.2"/></geometry></visual>
    <collision><geometry><mesh filename="package://legs/{name}.stl"/></geometry></collision>
  </link>"""
JOINT = """  <joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="{xyz}" rpy="0 {pitch:.4f} 0"/><axis xyz="{axis}"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/></joint>"""
LOOP = """  <loop_joint name="loop{leg}" type="spherical"><link1 link="{end}"/>
    <link2 link="{other}"/></loop_joint>"""
AXES = ('0 0 1', '0 1 0', '1 0 0', '0 0.6 0.8')
JOINTS_A_LEG = 5
# joints -> the most that loading may take beyond the parser [ms]
LIMITS = {50: 20.0, 149: 100.0}


def legs_urdf(joints: int, *, loops: bool) -> str:
    """Return a URDF of legs with five joints; `loops` connects pairs of legs."""
    parts = ['<robot name="legs">', LINK.format(name='base')]
    ends = []
    for at in range(joints):
        leg, place = divmod(at, JOINTS_A_LEG)
        name = f'leg{leg}_{place}'
        parent = f'leg{leg}_{place - 1}' if place else 'base'
        xyz = '0 0 0.2' if place else f'{0.1 * (leg // 2)} 0 0'
        parts.append(LINK.format(name=name))
        parts.append(
            JOINT.format(
                name=f'{name}_joint',
                parent=parent,
                child=name,
                xyz=xyz,
                pitch=0.1 * place,
                axis=AXES[at % len(AXES)],
            )
        )
        if place == JOINTS_A_LEG - 1:
            ends.append(name)
    if loops:
        for leg, (end, other) in enumerate(zip(ends[::2], ends[1::2], strict=False)):
            parts.append(LOOP.format(leg=leg, end=end, other=other))
    return '\n'.join([*parts, '</robot>'])


def measure(text: str, repeats: int) -> tuple[list[float], list[float], list[float]]:
    """Return times [ms] of the XML parser, of loading, and of loading with loops closed."""
    times: tuple[list[float], ...] = ([], [], [])
    for _ in range(repeats + 1):
        begin = time.process_time()
        parse_xml(text, 'legs')
        parsed = time.process_time()
        load_robot(text, assemble=False)
        loaded = time.process_time()
        load_robot(text)
        closed = time.process_time()
        for each, took in zip(
            times, (parsed - begin, loaded - parsed, closed - loaded), strict=True
        ):
            each.append(1e3 * took)
    return tuple(each[1:] for each in times)  # type: ignore[return-value]


def main() -> None:
    """Print medians, and with --profile the most expensive functions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--repeats', type=int, default=20)
    parser.add_argument('--profile', action='store_true', help='say where the time goes')
    args = parser.parse_args()
    for joints, most in LIMITS.items():
        for loops in (False, True):
            text = legs_urdf(joints, loops=loops)
            parse, load, close = measure(text, args.repeats)
            beyond = [b - a for a, b in zip(parse, load, strict=True)]
            whole = [b - a for a, b in zip(parse, close, strict=True)]
            what = f'{joints + 1} links, {"loops" if loops else "a tree"}'
            print(
                f'{what:18s} parser {statistics.median(parse):5.1f} ms, load beyond it '
                f'{statistics.median(beyond):5.1f} ms, with loops '
                f'closed {statistics.median(whole):5.1f} ms; limit {most:g} ms'
            )
            if args.profile:
                profile(text, args.repeats)


def profile(text: str, repeats: int) -> None:
    """Print the functions that take the most time."""
    watch = cProfile.Profile()
    watch.enable()
    for _ in range(repeats):
        load_robot(text, assemble=False)
    watch.disable()
    pstats.Stats(watch).sort_stats('cumulative').print_stats(25)


if __name__ == '__main__':
    main()
