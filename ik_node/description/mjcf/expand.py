"""Expansion of <replicate>, and of <attach>, which inserts models from other files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from math import degrees
from xml.etree.ElementTree import Element

from ik_node.description.description import quoted, unknown
from ik_node.description.mjcf.bodies import (
    Mjcf,
    MjcfBody,
    MjcfConstraint,
    MjcfCoupling,
    MjcfJoint,
    MjcfSum,
)
from ik_node.description.mjcf.document import MjcfDocument, rotation, Settings
from ik_node.description.xml_document import MAX_NUMBER
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import quat_conjugate, quat_multiply, quat_to_matrix
import numpy as np
from numpy.typing import ArrayLike

# Sections whose elements are replicated with the elements that these attributes refer to.
REFERENCES = {
    'equality': ('body1', 'body2', 'site1', 'site2', 'joint1', 'joint2'),
    'tendon': (),
    'actuator': ('joint', 'jointinparent', 'tendon', 'site', 'refsite', 'cranksite', 'slidersite'),
}
KINDS = {'freejoint': 'joint', 'body1': 'body', 'body2': 'body', 'jointinparent': 'joint'}
KINDS |= {'joint1': 'joint', 'joint2': 'joint', 'site1': 'site', 'site2': 'site'}
KINDS |= dict.fromkeys(('refsite', 'cranksite', 'slidersite'), 'site')

Replicated = set[tuple[str, str]]  # kind and name of the elements inside a <replicate>


def expand_replicates(document: MjcfDocument, settings: Settings) -> None:
    """
    Replace every <replicate> by one <frame> per replica, innermost first.

    The names of replicas end in their number. Equalities, tendons and actuators that refer to them
    are replicated with them, and their names end in the same number.
    """
    _Expander(document, settings).expand()


class _Expander:
    """Replacement of the <replicate> elements of one document."""

    def __init__(self, document: MjcfDocument, settings: Settings) -> None:
        self._document = document
        self._settings = settings

    def expand(self) -> None:
        for section in self._document.sections('worldbody'):
            self._below(section)

    def _below(self, parent: Element) -> None:
        children: list[Element] = []
        for child in parent:
            self._below(child)
            children += self._frames(child) if child.tag == 'replicate' else [child]
        parent[:] = children

    def _frames(self, element: Element) -> list[Element]:
        """Return the frames that replace a <replicate>."""
        document = self._document
        count = document.numbers(element, 'count', (0.0,))[0]
        if not (count >= 1.0 and count == int(count)):
            raise document.error(element, f'count="{element.get("count")}": expected 1 or more')
        names: Replicated = {
            (KINDS.get(each.tag, each.tag), each.attrib['name'])
            for each in element.iter()
            if each is not element and each.get('name')
        }
        self._document.spend(element, count * sum(1 for _ in element.iter()))
        width = len(str(int(count)))
        suffixes = [element.get('sep', '') + str(i).zfill(width) for i in range(int(count))]
        offset = np.array(document.numbers(element, 'offset', (0.0, 0.0, 0.0)))
        euler = np.array(document.numbers(element, 'euler', (0.0, 0.0, 0.0)))
        frames = []
        position = np.zeros(3)
        for i, suffix in enumerate(suffixes):
            angles = (i * euler).tolist()  # more exact than a running sum
            quat = rotation(document, element, 'euler', angles, self._settings)
            frame = document.stand_in(
                element,
                'frame',
                {
                    'pos': ' '.join(map(repr, position.tolist())),
                    'quat': ' '.join(map(repr, quat[[3, 0, 1, 2]].tolist())),
                },
            )
            if element.get('childclass'):
                frame.set('childclass', element.attrib['childclass'])
            frame.extend(self._copy(child, suffix) for child in element)
            frames.append(frame)
            position = position + quat_to_matrix(quat) @ offset
            if np.max(np.abs(position)) > MAX_NUMBER:
                raise document.error(element, 'its replicas reach beyond 1e12 m')
        for tag, attributes in REFERENCES.items():
            for section in document.sections(tag):
                section[:] = [
                    each
                    for child in section
                    for each in self._replicas(child, attributes, names, suffixes)
                ]
        return frames

    def _copy(self, element: Element, suffix: str) -> Element:
        made = self._document.stand_in(element, element.tag, dict(element.attrib))
        if made.get('name'):
            made.set('name', made.attrib['name'] + suffix)
        made.extend(self._copy(child, suffix) for child in element)
        return made

    def _replicas(
        self, element: Element, attributes: tuple[str, ...], names: Replicated, suffixes: list[str]
    ) -> Iterator[Element]:
        """Yield the element itself, or one copy for each replica that it refers to."""
        refers = {
            (KINDS.get(key, key), each.get(key, ''))
            for each in element.iter()
            for key in (attributes if each is element else ('joint', 'site'))
        } & names
        if not refers:
            yield element
            return
        if element.get('name') and element.tag in ('fixed', 'spatial'):
            names.add(('tendon', element.attrib['name']))
        self._document.spend(element, len(suffixes) * (1 + len(element)))
        for suffix in suffixes:
            made = self._copy(element, suffix)
            for each in made.iter():
                for key in attributes if each is made else ('joint', 'site'):
                    if (KINDS.get(key, key), each.get(key, '')) in refers:
                        each.set(key, each.attrib[key] + suffix)
            yield made


# The reader of whole models is passed in, because it imports this module itself.
Reader = Callable[[MjcfDocument, list[str]], Mjcf]
REFERENCES_ATTACH = (
    *('body1', 'body2', 'site1', 'site2', 'joint1', 'joint2', 'joint', 'jointinparent'),
    *('tendon1', 'tendon2'),
)


def expand_attaches(
    document: MjcfDocument, settings: Settings, read: Reader, notes: list[str]
) -> None:
    """
    Replace every <attach> by the bodies of the named model.

    The other file is read with its own settings and classes. The inserted elements have all values
    written out, and their names begin with the prefix. Equalities and motors are inserted if they
    refer only to attached elements.
    """
    models = {
        each.get('name') or '': each
        for section in document.sections('asset')
        for each in section.findall('model')
    }
    for section in document.sections('worldbody'):
        for parent in list(section.iter()):
            for place, child in reversed(list(enumerate(parent))):
                if child.tag == 'attach':
                    made = _attach(document, settings, child, models, read, notes)
                    parent[place : place + 1] = made
    document.check_depth()


def _attach(
    document: MjcfDocument,
    settings: Settings,
    element: Element,
    models: dict[str, Element],
    read: Reader,
    notes: list[str],
) -> list[Element]:
    """Return the elements that replace an <attach>."""
    name, prefix = element.get('model'), element.get('prefix', '')
    if name is None:
        raise document.error(
            element,
            'a part of the model itself is attached once more, which is not supported; save the '
            'whole robot from MuJoCo with mj_saveLastXML and read that file',
            UnsupportedElementError,
        )
    inner, asset = None, models.get(name)
    if asset is None:  # a model without a name in <asset> has the name in its own file
        for nameless in (models[''],) if '' in models else ():
            inner = document.attached(nameless)
            asset = nameless if inner.root.get('model') == name else None
    if asset is None:
        known = [each for each in models if each]
        raise document.error(element, unknown('model', name, known))
    inner = inner or document.attached(asset)
    _select(document, element, inner)
    said: list[str] = []
    model = read(inner, said)
    notes += [f'attached {name!r}: {note}' for note in said]
    document.spend(element, len(model.bodies) + len(model.joints) + len(model.equalities))
    writer = _Writer(document, element, prefix, settings)
    constraints = [each for each in model.equalities if isinstance(each, MjcfConstraint)]
    for index in {index for constraint in constraints for index in constraint.bodies}:
        model.bodies[index].is_named = True  # as an equality names it
    to_world = [constraint for constraint in constraints if 0 in constraint.bodies]
    if to_world:
        notes.append(
            f'attached {name!r}: equalities with its world are not read: '
            f'{quoted([constraint.name for constraint in to_world])}'
        )
    kept = [
        each for each in model.equalities if not any(each is constraint for constraint in to_world)
    ]
    tendons: list[Element] = []
    equalities = [writer.equality(each, model, tendons) for each in kept]
    writer.add_section('equality', equalities)
    writer.add_section('tendon', tendons)
    writer.add_section('actuator', [writer.motor(each) for each in model.actuated])
    return writer.bodies(model)


def _select(document: MjcfDocument, element: Element, inner: MjcfDocument) -> None:
    """Reduce a model to the selected body or frame and the elements that refer only to it."""
    tag = 'body' if element.get('body') is not None else 'frame'
    name = element.get(tag)
    if name is None or (tag, name) == ('body', 'world'):
        return
    worlds = inner.sections('worldbody')
    found, childclass = None, None
    for world in worlds:
        found, childclass = _find(world, tag, name, None)
        if found is not None:
            break
    if found is None:
        raise document.error(element, f'there is no {tag} {name!r} in {inner.source!r}')
    if childclass is not None and not found.get('childclass'):
        found.set('childclass', childclass)
    worlds[0][:] = [found]
    for world in worlds[1:]:
        world[:] = []
    names = {each.get('name') for each in found.iter()}
    names |= {
        tendon.get('name')
        for section in inner.sections('tendon')
        for tendon in section
        if all(joint.get('joint') in names for joint in tendon.findall('joint'))
    }
    for section in (*inner.sections('equality'), *inner.sections('actuator')):
        section[:] = [
            each
            for each in section
            if all(each.get(key) in names for key in REFERENCES_ATTACH if each.get(key))
        ]


def _find(
    element: Element, tag: str, name: str, childclass: str | None
) -> tuple[Element | None, str | None]:
    """Return the element of a name and its childclass, inherited from its ancestors."""
    for child in element:
        if child.tag == tag and child.get('name') == name:
            return child, childclass
        found = _find(child, tag, name, child.get('childclass') or childclass)
        if found[0] is not None:
            return found
    return None, None


class _Writer:
    """A writer of a model's bodies and equalities as elements of another document."""

    def __init__(
        self, document: MjcfDocument, element: Element, prefix: str, settings: Settings
    ) -> None:
        self._document = document
        self._element = element
        self._prefix = prefix
        self._settings = settings

    def make(self, tag: str, attributes: dict[str, str]) -> Element:
        return self._document.stand_in(self._element, tag, attributes)

    def add_section(self, tag: str, elements: list[Element]) -> None:
        section = self.make(tag, {})
        section.extend(elements)
        self._document.root.append(section)

    def bodies(self, model: Mjcf) -> list[Element]:
        """Return the elements below the world, its sites first."""
        made = [self._body(body) for body in model.bodies]
        for body, element in zip(model.bodies[1:], made[1:], strict=True):
            made[body.parent].append(element)
        return list(made[0])

    def _body(self, body: MjcfBody) -> Element:
        pose = {'pos': _text(body.position), 'quat': _wxyz(body.quat_xyzw)}
        made = self.make('body', {**self._named(body), **pose})
        if body.mocap:
            made.set('mocap', 'true')
        if body.mass > 0.0:
            values = {'mass': repr(body.mass), 'pos': _text(body.centre_of_mass)}
            made.append(self.make('inertial', values))
        made.extend(self._joint(joint) for joint in body.joints)
        for site in body.sites:
            pose = {'pos': _text(site.position), 'quat': _wxyz(site.quat_xyzw)}
            made.append(self.make('site', {'name': self._prefix + site.name, **pose}))
        return made

    def _joint(self, joint: MjcfJoint) -> Element:
        if joint.kind == 'free':
            return self.make('freejoint', self._named(joint))
        in_degrees = self._settings.degree and joint.kind == 'hinge'
        numbers = [
            degrees(each) if in_degrees else each for each in (joint.ref, joint.lower, joint.upper)
        ]
        limited = bool(np.isfinite(numbers[1:]).any())
        least, largest = joint.efforts
        has_limit = -MAX_NUMBER <= least < largest <= MAX_NUMBER
        return self.make(
            'joint',
            {
                **self._named(joint),
                'type': joint.kind,
                'pos': _text(joint.position),
                'axis': _text(joint.axis),
                'ref': repr(float(numbers[0])),
                'limited': str(limited).lower(),
                'range': _text(numbers[1:]) if limited else '0 0',
                'actuatorfrclimited': str(has_limit).lower(),
                'actuatorfrcrange': _text(joint.efforts) if has_limit else '0 0',
            },
        )

    def motor(self, joint: str) -> Element:
        """Return a motor without limits of its own; the joint has them."""
        limits = {'ctrllimited': 'false', 'forcelimited': 'false'}
        return self.make('motor', {'joint': self._prefix + joint, **limits})

    def equality(
        self,
        equality: MjcfConstraint | MjcfCoupling | MjcfSum,
        model: Mjcf,
        tendons: list[Element],
    ) -> Element:
        """Return an equality; fixed tendons that it needs are appended to `tendons`."""
        active = {'active': str(equality.enabled).lower()}
        if isinstance(equality, MjcfSum):
            curved = {name: p for name, p in equality.terms.items() if any(p[2:])}
            lines = {name: p for name, p in equality.terms.items() if name not in curved}
            powers = [sum(p[0] for p in lines.values()), *[0.0] * 4]
            for polynomial in curved.values():
                powers = [a + b for a, b in zip_longest(powers, polynomial, fillvalue=0.0)]
            names = [self._tendon({name: p[1] for name, p in lines.items()}, tendons)]
            if curved:
                names.append(self._tendon(dict.fromkeys(curved, 1.0), tendons))
            ends = {f'tendon{at}': name for at, name in enumerate(names, start=1)}
            return self.make('tendon', {**ends, **active, 'polycoef': _text([-c for c in powers])})
        if isinstance(equality, MjcfCoupling):
            attributes = {'joint1': self._prefix + equality.joint, **active}
            if equality.master is not None:
                attributes['joint2'] = self._prefix + equality.master
            return self.make('joint', {**attributes, 'polycoef': _text(equality.coefficients)})
        names = [self._prefix + model.bodies[index].name for index in equality.bodies]
        first, second = equality.quats_xyzw
        turn = quat_multiply(first, quat_conjugate(second))
        return self.make(
            'weld',
            {
                'name': self._prefix + equality.name,
                'body1': names[0],
                'body2': names[1],
                'anchor': _text(equality.positions[1]),
                'relpose': f'{_text(equality.positions[0])} {_wxyz(turn)}',
                'torquescale': '1' if equality.kind == 'weld' else '0',
                **active,
            },
        )

    def _tendon(self, factors: dict[str, float], tendons: list[Element]) -> str:
        """Append a fixed tendon, and return its name."""
        sections = len(self._document.sections('tendon'))
        name = f'{self._prefix}sum_{sections}_{len(tendons)}'
        tendon = self.make('fixed', {'name': name})
        for joint, factor in factors.items():
            said = {'joint': self._prefix + joint, 'coef': repr(float(factor))}
            tendon.append(self.make('joint', said))
        tendons.append(tendon)
        return name

    def _named(self, part: MjcfBody | MjcfJoint) -> dict[str, str]:
        return {'name': self._prefix + part.name} if part.is_named else {}


def _text(numbers: ArrayLike) -> str:
    return ' '.join(repr(float(number)) for number in np.ravel(numbers))


def _wxyz(quat_xyzw: ArrayLike) -> str:
    return _text(np.roll(quat_xyzw, 1))
