"""Camera and moment of each robot's picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class View:
    """
    The camera and moment of a robot's picture.

    Attributes
    ----------
    time : float
        Of the pose that is shown [s].
    begin, until : float
        Where the red line begins and ends [s].
    azimuth, elevation : float
        Of the camera [deg].
    traced : mapping of str to tuple
        Link to the point in it whose way is drawn; none = those of the goals.
    still : str
        Link that stands still in the picture; none = the root.
    period : float
        Duration of one cycle, which the moving picture shows [s]; 0 = there is no moving picture.

    """

    time: float = 2.4
    begin: float = 1.0
    until: float = 9.0
    azimuth: float = -58.0
    elevation: float = 24.0
    traced: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    still: str = ''
    period: float = 0.0


ORIGIN = (0.0, 0.0, 0.0)
TOP = {'platform_link': (0.0, 0.0, 0.009)}
VIEWS = {
    'hexapod': View(traced=TOP, period=8.0),
    'delta': View(period=3.0),
    'hexapod_gyrate': View(traced=TOP),
    'hexapod_rotate': View(time=3.0, traced={'platform_link': (0.03, -0.026, 0.009)}),
    'hexapod_tilt': View(
        time=3.3, traced={'base_link': (0.035, -0.063, 0.0)}, still='platform_link'
    ),
    'arm6': View(azimuth=-45.0),
    'arm_at_shelf': View(time=7.0, azimuth=-125.0, elevation=20.0),
    'ccd_arm': View(elevation=50.0),
    'climber': View(azimuth=-25.0),
    'chain100': View(begin=2.0, until=8.0),
    'gripper': View(time=3.6, period=3.0),
    'fivebar': View(azimuth=-75.0, elevation=50.0),
    'palletizer': View(azimuth=-28.0, elevation=22.0),
    'peaucellier': View(
        time=1.6, azimuth=-75.0, elevation=52.0, traced={'pen_link': (0.0, 0.0, -0.07)}
    ),
    'strandbeest': View(
        time=2.0,
        until=8.0,
        period=6.0,
        traced=dict.fromkeys(('left_front_foot_link', 'right_front_foot_link'), ORIGIN),
    ),
    'two_arms_one_box': View(azimuth=-22.0, elevation=28.0),
    'knee_leg': View(time=1.9, azimuth=52.0),
    'ankle': View(
        time=2.5, until=4.0, period=3.0, azimuth=130.0, traced={'foot_link': (0.145, 0.0, -0.048)}
    ),
    'excavator': View(time=3.2, azimuth=-52.0, elevation=16.0),
    'rocker_bogie': View(
        time=5.4,
        until=5.4,
        azimuth=-35.0,
        elevation=28.0,
        traced=dict.fromkeys(('left_front_wheel_link', 'right_front_wheel_link'), ORIGIN),
    ),
    'six_legged_rover': View(elevation=40.0, traced={'body_link': (0.0, 0.0, 0.6)}),
    'biped': View(azimuth=-40.0, elevation=16.0),
    'humanoid': View(
        period=5.0,
        azimuth=-40.0,
        elevation=12.0,
        traced=dict.fromkeys(('left_hand_link', 'right_hand_link', 'head_link'), ORIGIN),
    ),
}
