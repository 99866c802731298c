"""Mechanisms in general planes and positions whose loops are cut in every way."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement, tostring

from ik_node.model.rotation import matrix_to_euler, pose_matrix
import numpy as np

Z = (0.0, 0.0, 1.0)
CUTS = ('hinge', 'point', 'weld', 'distance')


@dataclass
class Linkage:
    """
    Hinges and slides between bodies, by points [m] and axes in one frame; the ground is `base`.

    Attributes
    ----------
    joints : list of (str, str, str, point, axis)
        Parent, child, 'continuous' or 'prismatic'. The child is named after its place in the list.
    loops : list of (str, str, point, axis)
        Hinges that close the loops: both bodies. The first body is the last of its branch.

    """

    joints: list[tuple] = field(default_factory=list)
    loops: list[tuple] = field(default_factory=list)

    def add(self, parent, point, axis=Z, kind='continuous'):
        """Add a joint and return the name of its child."""
        self.joints.append((parent, f'link{len(self.joints)}', kind, _three(point), axis))
        return self.joints[-1][1]

    def close(self, one, other, point, axis=Z):
        """Close a loop by a hinge."""
        self.loops.append((one, other, _three(point), axis))


def _three(point):
    return np.array((*point, 0.0)[:3], dtype=float)


def _bars(linkage, *points, ground='base', onto='base'):
    """Add a chain of bars from pin to pin and close it; return the bars."""
    bars = []
    for point in points[:-1]:
        bars.append(linkage.add(bars[-1] if bars else ground, point))
    linkage.close(bars[-1], onto, points[-1])
    return bars


def four_bar():
    """Return a crank-rocker."""
    made = Linkage()
    rocker = made.add('base', (0.61, 0.03))
    _bars(made, (0, 0), (0.12, 0.17), (0.55, 0.39), onto=rocker)
    return made


def slider_crank():
    """Return a crank that moves a slide."""
    made = Linkage()
    slide = made.add('base', (0.5, 0.07), (1, 0.2, 0), 'prismatic')
    _bars(made, (0, 0), (0.1, 0.16), (0.5, 0.07), onto=slide)
    return made


def five_bar():
    """Return two cranks that hold a pin together."""
    made = Linkage()
    right = made.add('base', (0.3, 0))
    right = made.add(right, (0.41, 0.22))
    _bars(made, (0, 0), (-0.07, 0.2), (0.16, 0.43), onto=right)
    return made


def watt():
    """Return a four-bar whose rocker drives another one."""
    made = four_bar()
    last = made.add('base', (1.1, -0.04))
    _bars(made, (0.7, 0.33), (1.05, 0.45), ground='link0', onto=last)
    return made


def stephenson():
    """Return a four-bar whose coupler drives another rocker."""
    made = four_bar()
    last = made.add('base', (0.9, 0.1))
    _bars(made, (0.4, 0.52), (0.97, 0.66), ground='link2', onto=last)
    return made


def parallelograms():
    """Return three equal parallel cranks, of which one is too many."""
    made = Linkage()
    second, third = made.add('base', (0.4, 0)), made.add('base', (0.7, 0))
    bars = _bars(made, (0, 0), (0.08, 0.21), (0.48, 0.21), onto=second)
    made.close(bars[-1], third, (0.78, 0.21))
    return made


def peaucellier():
    """Return the cell that draws a straight line with eight bars."""
    made = Linkage()
    crank = made.add('base', (0.2, 0))
    up, down = made.add('base', (0, 0)), made.add('base', (0, 0))
    a, c, r = np.array((0.2 + 0.2 * np.cos(0.4), 0.2 * np.sin(0.4))), 0.5, 0.2
    away = np.linalg.norm(a)
    along, across = a / away, np.array((-a[1], a[0])) / away
    middle = (away + (c * c - r * r) / away) / 2
    high = np.sqrt(c * c - middle * middle)
    far = along * (2 * middle - away)
    pins = [middle * along + sign * high * across for sign in (1, -1)]
    _bars(made, pins[0], a, ground=up, onto=crank)
    _bars(made, pins[1], a, ground=down, onto=crank)
    tip = made.add(up, pins[0])
    _bars(made, pins[1], far, ground=down, onto=tip)
    return made


def finger():
    """Return a finger of two four-bars in a row."""
    made = Linkage()
    knuckle = made.add('base', (0, 0))
    middle = made.add(knuckle, (0.19, 0.11))
    _bars(made, (-0.024, 0.054), (0.145, 0.174), onto=middle)
    tip = made.add(middle, (0.312, 0.12))
    _bars(made, (0.162, 0.078), (0.294, 0.162), ground=knuckle, onto=tip)
    return made


def triangle_platform():
    """Return a plate on three planar legs of two bars."""
    made = Linkage()
    feet = np.array([(0, 0), (1.0, 0.05), (0.45, 0.9)])
    plate = np.array([(0.38, 0.24), (0.64, 0.27), (0.47, 0.5)])
    knees = 0.5 * (feet + plate) + ((-0.1, 0.12), (0.13, 0.1), (0.15, 0.0))
    shin = made.add(made.add('base', feet[0]), knees[0])
    body = made.add(shin, plate[0])
    for k in (1, 2):
        _bars(made, feet[k], knees[k], plate[k], onto=body)
    return made


def spherical():
    """Return a four-bar whose axes meet in one point."""
    made, axes = Linkage(), [(1, 0, 0.2), (0.7, 0.6, 0.5), (0.1, 0.9, 0.6), (-0.3, 0.6, -0.5)]
    points = [0.2 * np.array(axis) for axis in axes]
    rocker = made.add('base', points[3], axes[3])
    coupler = made.add(made.add('base', points[0], axes[0]), points[1], axes[1])
    made.close(coupler, rocker, points[2], axes[2])
    return made


def bennett():
    """Return Bennett's linkage, which moves in space by its equal twists and lengths alone."""
    made, (a, b), alpha, turn = Linkage(), (0.3, 0.5), 0.6, 0.9
    beta = np.arcsin(np.sin(alpha) * b / a)
    far = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(turn / 2))
    frame, places = np.eye(4), []
    for theta, length, twist in ((turn, a, alpha), (far, b, beta), (-turn, a, alpha)):
        places.append((frame[:3, 3].copy(), frame[:3, 2].copy()))
        frame = frame @ _about(2, theta) @ _along(length) @ _about(0, twist)
    places.append((frame[:3, 3].copy(), frame[:3, 2].copy()))
    body = made.add('base', *places[0])
    body = made.add(made.add(body, *places[1]), *places[2])
    made.close(body, 'base', *places[3])
    return made


def sarrus():
    """Return Sarrus's linkage: two pairs of bars in two planes guide a plate along a line."""
    made, plate = Linkage(), 'base'
    for point in ((0.3, 0, 0), (0.42, 0, 0.2), (0.3, 0, 0.4)):
        plate = made.add(plate, point, (0, 1, 0))
    low = made.add('base', (0, 0.3, 0), (1, 0, 0))
    high = made.add(low, (0, 0.45, 0.2), (1, 0, 0))
    made.close(high, plate, (0, 0.3, 0.4), (1, 0, 0))
    return made


def _about(axis, angle):
    turned, (c, s) = np.eye(4), (np.cos(angle), np.sin(angle))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turned[i, i] = turned[j, j] = c
    turned[i, j], turned[j, i] = -s, s
    return turned


def _along(length):
    moved = np.eye(4)
    moved[0, 3] = length
    return moved


LINKAGES = {
    each.__name__: each
    for each in (
        *(four_bar, slider_crank, five_bar, watt, stephenson, parallelograms, peaucellier),
        *(finger, triangle_platform, spherical, bennett, sarrus),
    )
}


def urdf_of(linkage: Linkage, cut: str, seed: int = 0) -> str:
    """
    Return a linkage as URDF, turned at random, with a random frame in every link.

    Parameters
    ----------
    linkage : Linkage
        The linkage.
    cut : {'hinge', 'point', 'weld', 'distance'}
        hinge: as it is; point: a ball in its place; weld: the hinge joins a part of the second
        body, which is welded to it; distance: the first body is left out, and its pins keep their
        distance.
    seed : int
        Seed of the frames.

    """
    random = np.random.default_rng(seed)
    robot, whole = Element('robot', name='linkage'), _turned(random, random.normal(0, 0.3, 3))
    frames = {'base': np.eye(4)}
    SubElement(robot, 'link', name='base')
    gone = [one for one, *_ in linkage.loops] if cut == 'distance' else []
    pins = {}

    def joint(parent, child, kind, point, axis):
        place = whole @ np.append(point, 1.0)
        frames[child] = _turned(random, place[:3])
        SubElement(robot, 'link', name=child)
        made = SubElement(robot, 'joint', name=f'to_{child}', type=kind)
        SubElement(made, 'parent', link=parent)
        SubElement(made, 'child', link=child)
        _pose(SubElement(made, 'origin'), np.linalg.inv(frames[parent]) @ frames[child])
        along = frames[child][:3, :3].T @ whole[:3, :3] @ np.array(axis, dtype=float)
        SubElement(made, 'axis', xyz=_text(along / np.linalg.norm(along)))
        if kind == 'prismatic':
            SubElement(made, 'limit', lower='-9', upper='9', effort='1', velocity='1')

    for parent, child, kind, point, axis in linkage.joints:
        pins[child] = parent, point
        if child not in gone:
            joint(parent, child, kind, point, axis)
    for k, (one, other, point, axis) in enumerate(linkage.loops):
        made = Element('loop_joint', name=f'loop{k}', type=cut)
        ends = [(one, point), (other, point)]
        if cut == 'weld':
            joint(one, f'part{k}', 'continuous', point, axis)
            ends[0] = f'part{k}', point
        elif cut == 'distance':
            ends[0] = pins[one]
            made.set('distance', repr(float(np.linalg.norm(point - pins[one][1]))))
        along = whole[:3, :3] @ (np.array(axis, dtype=float) / np.linalg.norm(axis))
        turn = np.linalg.svd(along[None])[2].T[:, [1, 2, 0]]
        turn[:, 2] = along
        turn[:, 0] *= np.linalg.det(turn)
        for tag, (link, at) in zip(('link1', 'link2'), ends, strict=True):
            place = pose_matrix((whole @ np.append(at, 1.0))[:3], (0, 0, 0, 1))
            place[:3, :3] = turn
            end = SubElement(made, tag, link=link)
            _pose(end, np.linalg.inv(frames[link]) @ place)
        robot.append(made)
    return tostring(robot, encoding='unicode')


def can_be_cut(linkage: Linkage, cut: str) -> bool:
    """Return True if every loop ends with a body of two hinges where a distance replaces it."""
    ends = [one for one, *_ in linkage.loops]
    parents = [parent for parent, *_ in linkage.joints] + [other for _, other, *_ in linkage.loops]
    return cut != 'distance' or ({*ends}.isdisjoint(parents) and len({*ends}) == len(ends))


def _turned(random, place):
    quat = random.normal(size=4)
    return pose_matrix(place, quat / np.linalg.norm(quat))


def _text(numbers):
    return ' '.join(repr(float(x)) for x in numbers)


def _pose(element, matrix):
    element.set('xyz', _text(matrix[:3, 3]))
    element.set('rpy', _text(matrix_to_euler(matrix)))
