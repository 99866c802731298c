"""What has a pose and a name in SDFormat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from ik_node.description.description import WORLD

if TYPE_CHECKING:
    from ik_node.description.sdf.scope import SdfScope


@dataclass(eq=False)
class SdfFrame:
    """
    A link, joint, frame or model, or the world: other elements can name it.

    Attributes
    ----------
    name : str
        With the names of the models it is nested in: 'arm::tip'.
    element : Element
    scope : SdfScope
        The model in which it stands; of the world the world.
    inner : SdfScope or None
        What stands in it, of a model and of the world.

    """

    name: str
    element: Element
    scope: SdfScope
    inner: SdfScope | None = None

    @property
    def kind(self) -> str:
        """Return its tag."""
        return str(self.element.tag)

    @property
    def is_joint(self) -> bool:
        """Say whether it is a joint, Drake's own kind included."""
        return self.kind in ('joint', 'drake:joint')

    @property
    def link_name(self) -> str:
        """Return what a link, or the world, is called in the model."""
        return WORLD if self.is_world else self.name

    @property
    def is_world(self) -> bool:
        """Say whether it is the world around everything."""
        return self.scope.frame is self
