"""Which model of an SDFormat file is the robot."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ik_node.description.listed import listed
from ik_node.description.sdf.flag import is_true
from ik_node.description.sdf.scope import include_hint
from ik_node.description.xml_document import XmlDocument


def choose_model(document: XmlDocument, notes: list[str]) -> tuple[Element, Element | None]:
    """
    Return what stands around the robot, <sdf> or <world>, and its <model>.

    Of several models it is the only one that is not static, or of those the only one with joints.
    Joints of the world make one robot of all its models: then the model is None.

    Raises
    ------
    DescriptionError
        If there is none, or several could be meant.

    """
    root = document.root
    around = [root, *root.findall('world')]
    models = [(each, model) for each in around for model in each.findall('model')]
    if not models:
        raise document.error(root, 'no <model> in it' + include_hint(root))
    if len(models) == 1:
        return models[0]
    world = models[0][0]
    if world.find('joint') is not None and all(each is world for each, _ in models):
        return world, None
    loose = [each for each in models if not is_true(each[1].findtext('static'))]
    moving = [each for each in loose if _moves(each[1])] or loose
    if len(moving) != 1:
        message = (
            f'several models: {_names(moving or models)}; which one is the robot? Keep that one '
            'in a file of its own'
        )
        raise document.error(root, message)
    others = [each for each in models if each is not moving[0]]
    notes.append(f'of several models {_names(moving)} is read, not {_names(others)}')
    return moving[0]


def _moves(model: Element) -> bool:
    return any(joint.get('type') != 'fixed' for joint in model.iter('joint'))


def _names(models: Sequence[tuple[Element, Element]]) -> str:
    return listed([model.get('name', '') for _, model in models])
