"""How much of a drive a tick has room for."""

from __future__ import annotations

from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.parameters.settings import Settings

# About what one step takes for each joint value [s], twice that of a desktop computer.
STEP_TIME = 2e-6
# Ways that lead anywhere take fewer, mostly much fewer: each step goes up to 0.3 rad or m.
LEAST_STEPS = 20
# After so many, over however many ticks, a way leads nowhere.
MOST_STEPS = 1000


def drive_steps(model: LoadedModel, settings: Settings) -> int:
    """Return the most steps towards measured values that one tick tries."""
    step = STEP_TIME * len(model.joint_names)
    return min(max(LEAST_STEPS, int(settings.period / step)), MOST_STEPS)
