"""Expansion of <replicate>."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ik_node.description.mjcf.document import MjcfDocument, quat_of_euler, Settings
from ik_node.description.xml_document import MAX_NUMBER
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
