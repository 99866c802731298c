"""Light, as much as whoever draws can bear."""

from __future__ import annotations

from typing import Any


class Lights:
    """
    Plain light, which costs little where the processor draws, or fine light with shadows.

    Parameters
    ----------
    scene : viser.SceneApi

    """

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._fine: bool | None = None
        self._plain = [
            scene.add_light_hemisphere('/lights/sky', ground_color=(170, 168, 175), intensity=2.4),
            scene.add_light_directional('/lights/left', intensity=2.2, position=(2.0, -5.0, 4.0)),
            scene.add_light_directional('/lights/back', intensity=0.8, position=(-4.0, 5.0, 1.0)),
        ]

    def set_fine(self, fine: bool) -> None:
        """Choose."""
        if fine == self._fine:
            return
        self._fine = fine
        for light in self._plain:
            light.visible = not fine
        self._scene.configure_default_lights(enabled=fine, cast_shadow=fine)
        self._scene.configure_environment_map('warehouse' if fine else None)
