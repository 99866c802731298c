"""What the links of a description look like."""

from __future__ import annotations

from collections.abc import Callable

from ik_node.description.mjcf.visuals import read_mjcf_visuals
from ik_node.description.sdf.visuals import read_sdf_visuals
from ik_node.description.urdf.visuals import read_urdf_visuals
from ik_node.description.visual import Visual
from ik_node.description.xml_document import parse_xml, XmlDocument
from ik_node.errors import DescriptionError

READERS: dict[str, Callable[[XmlDocument], list[Visual]]] = {
    'robot': read_urdf_visuals,
    'mujoco': read_mjcf_visuals,
    'sdf': read_sdf_visuals,
}


def read_visuals(text: bytes | str, source: str = '<text>') -> list[Visual]:
    """
    Return the visuals of a URDF, SDFormat or MJCF, in one form.

    Parameters
    ----------
    text : bytes or str
        The description, xacro expanded.
    source : str
        Its file: what it includes is looked for beside it.

    Returns
    -------
    list of Visual
        In the description's order. How a link looks is no reason to refuse a robot: what cannot
        be read is left out, or of the kind 'unread'.

    Raises
    ------
    DescriptionError
        If it is no XML.

    """
    document = parse_xml(text, source)
    reader = READERS.get(str(document.root.tag))
    if reader is None:
        return []
    try:
        return reader(document)
    except DescriptionError:
        # The robot was read from elsewhere, or not at all: whoever did so has said why.
        return []
