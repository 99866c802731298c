"""MJCF to a model graph."""

from __future__ import annotations

from ik_node.description.description import Description
from ik_node.description.listed import listed
from ik_node.description.mjcf.actuators import note_the_rest, read_actuators
from ik_node.description.mjcf.attach import expand_attaches
from ik_node.description.mjcf.bodies import BodyReader
from ik_node.description.mjcf.build import build
from ik_node.description.mjcf.defaults import Defaults
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.description.mjcf.equality import EqualityReader
from ik_node.description.mjcf.masses import read_masses
from ik_node.description.mjcf.parts import Mjcf
from ik_node.description.mjcf.replicate import expand_replicates
from ik_node.description.mjcf.settings import read_settings
from ik_node.description.xml_document import XmlDocument


def read_mjcf(document: XmlDocument) -> Description:
    """
    Build links, joints, loops and couplings of an MJCF.

    Parameters
    ----------
    document : XmlDocument
        Is used up: includes and replicas are written into it.

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
    """Return what an MJCF says about kinematics, replicas are written out."""
    if document.repeated:
        files = listed(sorted(document.repeated))
        notes.append(f'included more than once, which MuJoCo does not allow: {files}')
    settings = read_settings(document)
    expand_attaches(document, settings, read_model, notes)
    expand_replicates(document, settings)
    defaults = Defaults(document, notes)
    reader = BodyReader(document, settings, defaults, notes)
    read_masses(document, reader, settings, notes)
    model = Mjcf(reader.bodies)
    model.equalities = EqualityReader(document, reader, defaults, notes).found
    read_actuators(document, model, notes)
    note_the_rest(document, notes)
    return model
