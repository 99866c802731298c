"""Expansion of <replicate>, and of <attach>, which inserts models from other files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from ik_node.description.description import quoted, unknown
from ik_node.description.mjcf.bodies import Mjcf, MjcfLoop, MjcfSum
from ik_node.description.mjcf.document import MjcfDocument, quat_of_euler, Settings
from ik_node.description.xml_document import MAX_NUMBER
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import quat_to_matrix
import numpy as np

# Attributes by which equalities, tendons and actuators refer to other elements -> their kinds.
REFERENCES = {
    **{f'{kind}{end}': kind for kind in ('body', 'site', 'joint', 'tendon') for end in (1, 2)},
    **{kind: kind for kind in ('joint', 'site', 'tendon')},
    **dict.fromkeys(('refsite', 'cranksite', 'slidersite'), 'site'),
    'jointinparent': 'joint',
}
SECTIONS = ('equality', 'tendon', 'actuator')

Replicated = set[tuple[str, str]]  # kind and name of the elements inside a <replicate>


class Expander:
    """
    Replacement of every <replicate> of a document by one <frame> per replica, innermost first.

    The names of replicas end in their number. Equalities, tendons and actuators that refer to them
    are replicated with them, and their names end in the same number.
    """

    def __init__(self, document: MjcfDocument, settings: Settings) -> None:
        self._document = document
        self._settings = settings
        for section in document.root.findall('worldbody'):
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
            (each.tag.removeprefix('free'), each.attrib['name'])
            for each in element.iter()
            if each is not element and each.get('name')
        }
        self._document.spend(element, count * sum(1 for _ in element.iter()))
        width = len(str(int(count)))
        suffixes = [element.get('sep', '') + str(i).zfill(width) for i in range(int(count))]
        offset = np.array(document.numbers(element, 'offset', (0.0, 0.0, 0.0)))
        euler = np.array(document.numbers(element, 'euler', (0.0, 0.0, 0.0)))
        frames, position = [], np.zeros(3)
        for i, suffix in enumerate(suffixes):
            angles = (i * euler).tolist()  # more exact than a running sum
            quat = quat_of_euler(angles, self._settings)
            place = {'pos': position, 'quat': quat[[3, 0, 1, 2]]}
            said = {name: ' '.join(map(repr, given.tolist())) for name, given in place.items()}
            frame = document.stand_in(element, 'frame', said)
            if element.get('childclass'):
                frame.set('childclass', element.attrib['childclass'])
            frame.extend(self._copy(child, suffix) for child in element)
            frames.append(frame)
            position = position + quat_to_matrix(quat) @ offset
            if np.max(np.abs(position)) > MAX_NUMBER:
                raise document.error(element, 'its replicas reach beyond 1e12 m')
        for section in (each for tag in SECTIONS for each in document.root.findall(tag)):
            section[:] = [
                each for child in section for each in self._replicas(child, names, suffixes)
            ]
        return frames

    def _copy(self, element: Element, suffix: str) -> Element:
        made = self._document.stand_in(element, element.tag, dict(element.attrib))
        if made.get('name'):
            made.set('name', made.attrib['name'] + suffix)
        if made.tag == 'attach':
            made.set('suffix', made.get('suffix', '') + suffix)
        made.extend(self._copy(child, suffix) for child in element)
        return made

    def _replicas(
        self, element: Element, names: Replicated, suffixes: list[str]
    ) -> Iterator[Element]:
        """Yield the element itself, or one copy for each replica that it refers to."""
        refers = {
            (kind, each.get(key, ''))
            for each in element.iter()
            for key, kind in REFERENCES.items()
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
                for key, kind in REFERENCES.items():
                    if (kind, each.get(key, '')) in refers:
                        each.set(key, each.attrib[key] + suffix)
            yield made


def attached_model(
    document: MjcfDocument,
    notes: list[str],
    read: Callable[[MjcfDocument, list[str]], Mjcf],
    element: Element,
    depth: int,
) -> Mjcf:
    """
    Return the model that an <attach> at a depth inserts, with the final names.

    The other file is read with its own settings and classes, by `read`, which is passed in because
    it calls this function itself. Names begin with the prefix, and end in the number of a replica.
    Equalities with the world of the model are left out.
    """
    name = element.get('model')
    if name is None:
        raise document.error(
            element,
            'a part of the model itself is attached once more, which is not supported; save '
            'the whole robot from MuJoCo with mj_saveLastXML and read that file',
            UnsupportedElementError,
        )
    inner = _open(document, element, name, depth)
    _select(document, element, inner)
    said: list[str] = []
    model = read(inner, said)
    notes += [f'attached {name!r}: {note}' for note in said]
    document.spend(element, len(model.bodies) + len(model.joints) + len(model.equalities))
    world = model.bodies[0]
    to_world = [
        each for each in model.equalities if isinstance(each, MjcfLoop) and world in each.bodies
    ]
    if to_world:
        names = quoted([each.loop.name for each in to_world])
        notes.append(f'attached {name!r}: equalities with its world are not read: {names}')
    model.equalities = [each for each in model.equalities if each not in to_world]
    _rename(model, element.get('prefix', ''), element.get('suffix', ''))
    for each in model.equalities:
        (each.loop if isinstance(each, MjcfLoop) else each).line = document.line(element)
    return model


def _open(document: MjcfDocument, element: Element, name: str, depth: int) -> MjcfDocument:
    assets = {each.get('name') or '': each for each in document.root.findall('asset/model')}
    if name in assets:
        return document.attached(assets[name], depth)
    if '' in assets:  # a model without a name in <asset> has the name in its own file
        inner = document.attached(assets[''], depth)
        if inner.root.get('model') == name:
            return inner
    known = [each for each in assets if each]
    raise document.error(element, unknown('model', name, known))


def _rename(model: Mjcf, prefix: str, suffix: str) -> None:
    """Put a prefix and a suffix around all names; what has no name in its file gets none."""

    def renamed(name: str) -> str:
        return f'{prefix}{name}{suffix}'

    for body in model.bodies:
        body.name = renamed(body.name) if body.is_named else ''
        for joint in body.joints:
            joint.name = renamed(joint.name) if joint.is_named else ''
        body.sites = {renamed(name): pose for name, pose in body.sites.items()}
    for each in model.equalities:
        if isinstance(each, MjcfSum):
            each.terms = {renamed(name): terms for name, terms in each.terms.items()}
            each.follower = each.follower and renamed(each.follower)
        else:
            each.loop.name = renamed(each.loop.name)
    model.actuated = list(map(renamed, model.actuated))


def _select(document: MjcfDocument, element: Element, inner: MjcfDocument) -> None:
    """Reduce a model to the selected body or frame and the elements that refer only to it."""
    tag = 'body' if element.get('body') is not None else 'frame'
    name = element.get(tag)
    if name is None or (tag, name) == ('body', 'world'):
        return
    worlds = inner.root.findall('worldbody')
    results = (_find(world, tag, name, None) for world in worlds)
    result, childclass = next((each for each in results if each[0] is not None), (None, None))
    if result is None:
        raise document.error(element, f'there is no {tag} {name!r} in {inner.source!r}')
    if childclass is not None and not result.get('childclass'):
        result.set('childclass', childclass)
    worlds[0][:] = [result]
    for world in worlds[1:]:
        world[:] = []
    names = {each.get('name') for each in result.iter()}
    names |= {
        tendon.get('name')
        for tendon in inner.root.findall('tendon/*')
        if all(joint.get('joint') in names for joint in tendon.findall('joint'))
    }
    for section in (*inner.root.findall('equality'), *inner.root.findall('actuator')):
        section[:] = [
            each
            for each in section
            if all(each.get(key) in names for key in REFERENCES if each.get(key))
        ]


def _find(
    element: Element, tag: str, name: str, childclass: str | None
) -> tuple[Element | None, str | None]:
    """Return the element of a name and its childclass, inherited from its ancestors."""
    for child in element:
        if child.tag == tag and child.get('name') == name:
            return child, childclass
        result = _find(child, tag, name, child.get('childclass') or childclass)
        if result[0] is not None:
            return result
    return None, None
