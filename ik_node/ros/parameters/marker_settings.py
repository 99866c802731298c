"""What the parameters say about ~/markers and ~/goal_markers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ik_node.errors import OptionError
from ik_node.scene import IKRootsHelper
from ik_node.scene.look import checked_layers, coloured, COLOURS


@dataclass(frozen=True)
class MarkerSettings:
    """
    Checked parameters of the markers; the fields have their names.

    Attributes
    ----------
    rate : float
        How often it is drawn [Hz].
    layers : str
        What is drawn.
    scale : float
        Length of a joint's axis [m]; 0 = by the robot's size.
    color : str
        '#rrggbb' or '#rrggbbaa'; '' = each layer its own.
    draw_through : float
        Opacity of what links hide.
    interactive : bool
        Whether goals are to be dragged.

    """

    rate: float
    layers: str
    scale: float
    color: str
    draw_through: float
    interactive: bool

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> MarkerSettings:
        """
        Read the parameters `markers.*` out of checked values.

        Raises
        ------
        OptionError
            If there is no such layer, or it is no colour.

        """
        fields = {name: values[f'markers.{name}'] for name in cls.__dataclass_fields__}
        try:
            checked_layers(fields['layers'])
        except OptionError as error:
            raise OptionError('markers.layers', error.value, error.allowed) from None
        color = fields['color']
        if color:
            try:
                coloured(COLOURS, color, COLOURS)
            except OptionError:
                raise OptionError(
                    'markers.color', color, "'#rrggbb', '#rrggbbaa', or '' for each layer's own"
                ) from None
        return cls(**fields)

    @property
    def period(self) -> float:
        """Time between two drawings [s]."""
        return 1.0 / self.rate

    def apply(self, helper: IKRootsHelper) -> None:
        """Have a helper draw like this."""
        helper.set_layers(self.layers)
        helper.set_joint_scale(self.scale or None)
        helper.set_color(self.color or None)
        helper.set_draw_through(self.draw_through)
