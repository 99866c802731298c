# flake8: noqa: E203
"""Reader of body masses and centres of mass in an MJCF, from <inertial> or from geoms."""

from __future__ import annotations

from math import isnan, nan, pi
from xml.etree.ElementTree import Element

from ik_node.description.mjcf.bodies import BodyReader, Pose
from ik_node.description.mjcf.defaults import Settings
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.description.mjcf.model import MjcfBody
from ik_node.description.mjcf.orientation import quat_of_z, read_quat
from ik_node.description.unknown_name import quoted
from ik_node.model.rotation import quat_to_matrix, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Number of sizes of each shape.
SIZES = {'sphere': 1, 'capsule': 2, 'cylinder': 2, 'ellipsoid': 3, 'box': 3}


def geom_pose(
    document: MjcfDocument, element: Element, settings: Settings
) -> tuple[Pose, float | None]:
    """
    Return the pose of a geom in its body or <frame>, and half its length [m] if it has `fromto`.

    Raises
    ------
    DescriptionError
        If its numbers cannot be read.

    """
    if element.get('fromto') is None:
        place = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
        return (place, read_quat(document, element, settings)), None
    ends = np.array(document.numbers(element, 'fromto', (0.0,) * 6)).reshape(2, 3)
    along = ends[0] - ends[1]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise document.error(element, 'fromto: its two points are one')
    return (ends.mean(axis=0), quat_of_z(unit(along))), 0.5 * length


def geom_size(document: MjcfDocument, element: Element, half: float | None) -> list[float]:
    """
    Return the sizes of a geom [m] in MJCF's order; an empty list if some are missing.

    Parameters
    ----------
    document : MjcfDocument
        The document, for error messages.
    element : Element
        The geom, with the attributes of its class.
    half : float or None
        Half its length if it has `fromto`.

    """
    count = SIZES[element.get('type', 'sphere')]
    sizes = document.some_numbers(element, 'size', 3)
    if half is not None and sizes:
        radius = sizes[:1]
        sizes = radius + radius + [half] if count == 3 else [*radius, half]
    if len(sizes) < count or min(sizes[:count]) <= 0.0:
        return []
    return sizes[:count]


MASSLESS = ('plane', 'hfield')


def read_masses(
    document: MjcfDocument, reader: BodyReader, settings: Settings, notes: list[str]
) -> None:
    """
    Set the mass [kg] and centre of mass [m] of every body.

    Without <inertial>, they come from the geoms, as in MuJoCo. The mass of a mesh is unknown.

    Raises
    ------
    DescriptionError
        If a mass is negative.

    """
    unknown = []
    for body, element, geoms in zip(reader.bodies, reader.elements, reader.geoms, strict=True):
        inertial = _inertial(element) if body is not reader.bodies[0] else None
        if inertial is not None and settings.from_geoms != 'true':
            body.mass = document.numbers(inertial, 'mass', (0.0,))[0]
            if body.mass < 0.0:
                raise document.error(inertial, f'mass="{body.mass:g}" is below 0 kg')
            centre = document.numbers(inertial, 'pos', (0.0, 0.0, 0.0))
            body.centre_of_mass = np.array(centre)
        elif body is not reader.bodies[0] and settings.from_geoms != 'false':
            _of_geoms(document, body, geoms, settings)
        if isnan(body.mass):
            unknown.append(body.name)
            body.mass = 0.0
    if unknown:
        notes.append(
            f'the masses of {len(unknown)} bodies come from meshes, which are not read; taken as '
            f'0 kg: {quoted(unknown)}'
        )
    total = sum(body.mass for body in reader.bodies)
    if settings.total_mass > 0.0 and total > 0.0:
        if unknown:
            notes.append('settotalmass is not used, as some masses are not known')
            return
        for body in reader.bodies:
            body.mass *= settings.total_mass / total


def _inertial(element: Element) -> Element | None:
    """Return the <inertial> of a body, also if it is inside a <frame>."""
    found = element.find('inertial')
    for frame in element.findall('frame') if found is None else []:
        found = found if found is not None else _inertial(frame)
    return found


def _of_geoms(
    document: MjcfDocument, body: MjcfBody, geoms: list[tuple[Element, Pose]], settings: Settings
) -> None:
    masses, places = [], []
    for geom, (position, quat_xyzw) in geoms:
        group = document.numbers(geom, 'group', (0.0,))[0]
        if settings.groups[0] <= group <= settings.groups[1]:
            mass, place = _geom(document, geom)
            masses.append(mass)
            places.append(position + quat_to_matrix(quat_xyzw) @ place)
    body.mass = float(sum(masses))
    if body.mass > 0.0:
        body.centre_of_mass = np.average(places, axis=0, weights=masses)


def _geom(document: MjcfDocument, element: Element) -> tuple[float, Array]:
    """Return the mass and centre of a geom in its frame; the mass of a mesh is nan."""
    place = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
    given = document.numbers(element, 'mass', (nan,))[0]
    density = document.numbers(element, 'density', (1000.0,))[0]
    shape = element.get('type', 'sphere')
    if given == 0.0 or (isnan(given) and density == 0.0) or shape in MASSLESS:
        return 0.0, place
    if element.get('mesh') is not None or shape not in SIZES:
        return nan, place
    sizes = document.some_numbers(element, 'size', 3)
    if element.get('fromto') is not None:
        ends = np.array(document.numbers(element, 'fromto', (0.0,) * 6)).reshape(2, 3)
        half = 0.5 * float(np.linalg.norm(ends[1] - ends[0]))
        place = ends.mean(axis=0)
        radius = sizes[:1]
        sizes = radius + radius + [half] if SIZES[shape] == 3 else [*radius, half]
    if given < 0.0 or density < 0.0:
        raise document.error(element, 'its mass or density is below 0')
    if not isnan(given):
        return given, place
    if len(sizes) < SIZES[shape] or element.get('shellinertia') == 'true':
        return nan, place
    if min(sizes[: SIZES[shape]]) <= 0.0:
        raise document.error(element, f'size="{element.get("size")}": sizes are above 0')
    return density * _volume(shape, sizes), place


def _volume(shape: str, sizes: list[float]) -> float:
    if shape == 'box':
        return 8.0 * sizes[0] * sizes[1] * sizes[2]
    if shape == 'ellipsoid':
        return 4.0 / 3.0 * pi * sizes[0] * sizes[1] * sizes[2]
    ball = 4.0 / 3.0 * pi * sizes[0] ** 3
    if shape == 'sphere':
        return ball
    cylinder = 2.0 * pi * sizes[0] ** 2 * sizes[1]
    return cylinder + (ball if shape == 'capsule' else 0.0)
