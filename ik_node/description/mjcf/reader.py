"""Reader of MJCF."""

from __future__ import annotations

from ik_node.description.description import Description
from ik_node.description.mjcf.actuators import read_actuators
from ik_node.description.mjcf.attach import expand_attaches
from ik_node.description.mjcf.bodies import BodyReader
from ik_node.description.mjcf.build import build
from ik_node.description.mjcf.defaults import Defaults, read_settings
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.description.mjcf.equality import EqualityReader
from ik_node.description.mjcf.masses import read_masses
from ik_node.description.mjcf.model import Mjcf
from ik_node.description.mjcf.replicate import expand_replicates
from ik_node.description.unknown_name import quoted
from ik_node.description.xml_document import XmlDocument

# Sections that need no note: they are read elsewhere, or do not affect the kinematics.
SILENT = (
    *('compiler', 'option', 'size', 'visual', 'statistic', 'default', 'asset', 'worldbody'),
    *('contact', 'equality', 'tendon', 'actuator', 'sensor', 'custom', 'extension', 'keyframe'),
)


def note_the_rest(document: MjcfDocument, notes: list[str]) -> None:
    """Note the elements of other sections that are not read."""
    used = {
        each.get(end)
        for section in document.sections('equality')
        for each in section.findall('tendon')
        for end in ('tendon1', 'tendon2')
    }
    tendons = [each for section in document.sections('tendon') for each in section]
    unread = [each for each in tendons if each.get('name', '') not in used]
    if unread:
        notes.append(f'{len(unread)} tendons are not read, as no equality couples joints by them')
    keys = [key.get('name', '') for each in document.sections('keyframe') for key in each]
    if keys:
        notes.append(
            f'{len(keys)} keyframes are not read: {quoted(keys)}; the start is the pose in '
            'the file'
        )
    if document.sections('deformable'):
        notes.append('<deformable> is not read: soft objects have no joints')
    tags = {str(each.tag) for each in document.root} - {*SILENT, 'deformable'}
    for tag in sorted(tags):
        notes.append(f'<{tag}> is not read')


def read_mjcf(document: XmlDocument) -> Description:
    """
    Read the links, joints, loops and couplings of an MJCF.

    Parameters
    ----------
    document : XmlDocument
        The document; includes and replicas are expanded in place.

    Raises
    ------
    DescriptionError
        With file, line and element.

    """
    whole = MjcfDocument(document)
    name = whole.root.get('model')
    description = Description(name or 'robot', document.source, dialect='MJCF')
    if not name:
        description.notes.append('the model has no name')
    model = read_model(whole, description.notes)
    build(model, description)
    return description


def read_model(document: MjcfDocument, notes: list[str]) -> Mjcf:
    """Return the kinematics of an MJCF, with attached models and replicas expanded."""
    if document.repeated:
        files = quoted(sorted(document.repeated))
        notes.append(f'files included more than once, which MuJoCo does not allow: {files}')
    settings = read_settings(document)
    expand_attaches(document, settings, read_model, notes)
    expand_replicates(document, settings)
    defaults = Defaults(document, notes)
    reader = BodyReader(document, settings, defaults, notes)
    read_masses(document, reader, settings, notes)
    model = Mjcf(reader.bodies)
    model.equalities = EqualityReader(document, reader, defaults, notes).found
    read_actuators(document, model, settings, defaults, notes)
    note_the_rest(document, notes)
    return model
