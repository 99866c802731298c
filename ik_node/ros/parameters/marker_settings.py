"""Checked parameters of ~/markers and ~/goal_markers."""

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
    The checked parameters `markers.*`; the fields have the same names.

    Attributes
    ----------
    rate : float
        Drawing rate [Hz].
    layers : str
        Names of the drawn layers.
    scale : float
        Length of a joint's axis [m]; 0 = from the robot's size.
    color : str
        '#rrggbb' or '#rrggbbaa'; '' = the own colour of each layer.
    draw_through : float
        Opacity of shapes hidden by links.
    interactive : bool
        True if goals can be dragged.

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
        Read the parameters `markers.*` from checked values.

        Raises
        ------
        OptionError
            If a layer does not exist, or the colour is not valid.

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
        """Return the time between two drawings [s]."""
        return 1.0 / self.rate

    def apply(self, helper: IKRootsHelper) -> None:
        """Apply the settings to the helper that computes the shapes."""
        helper.set_layers(self.layers)
        helper.set_joint_scale(self.scale or None)
        helper.set_color(self.color or None)
        helper.set_draw_through(self.draw_through)
