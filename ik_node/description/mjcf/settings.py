"""The settings of <compiler> that change how an MJCF is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians

from ik_node.description.mjcf.document import FALSE_TRUE, MjcfDocument
from ik_node.errors import UnsupportedElementError


@dataclass
class Settings:
    """
    What <compiler> says.

    Attributes
    ----------
    degree : bool
        Whether angles are in degrees.
    eulerseq : str
        Axes of Euler angles; lower case turns with the frame, upper case does not.
    autolimits : bool
        Whether a range alone limits a joint.
    from_geoms : str
        'false', 'true' or 'auto': whether masses come from geoms.
    groups : tuple of int
        First and last group of geoms with mass.
    total_mass : float
        [kg] to which masses are scaled; 0 or less = not.

    """

    degree: bool = True
    eulerseq: str = 'xyz'
    autolimits: bool = True
    from_geoms: str = 'auto'
    groups: tuple[int, int] = (0, 5)
    total_mass: float = -1.0

    def angle(self, value: float) -> float:
        """Return an angle as written in [rad]."""
        return radians(value) if self.degree else value


def read_settings(document: MjcfDocument) -> Settings:
    """
    Read every <compiler>; what is said last counts.

    Raises
    ------
    DescriptionError
        If a setting has a value that is not allowed.

    """
    found = Settings()
    for element in document.sections('compiler'):
        if document.word(element, 'coordinate', 'local', ('local', 'global')) == 'global':
            raise document.error(
                element,
                'coordinate="global" is no longer part of MJCF; load and save the file in MuJoCo '
                '2.3.3 or older',
                UnsupportedElementError,
            )
        angle = document.word(
            element, 'angle', 'degree' if found.degree else 'radian', ('degree', 'radian')
        )
        found.degree = angle == 'degree'
        found.eulerseq = element.get('eulerseq', found.eulerseq)
        if len(found.eulerseq) != 3 or set(found.eulerseq) - set('xyzXYZ'):
            raise document.error(
                element, f'eulerseq="{found.eulerseq[:60]}": expected three of x y z X Y Z'
            )
        found.autolimits = document.is_true(element, 'autolimits', str(found.autolimits).lower())
        found.from_geoms = document.word(
            element, 'inertiafromgeom', found.from_geoms, (*FALSE_TRUE, 'auto')
        )
        first, last = document.numbers(element, 'inertiagrouprange', found.groups)
        found.groups = (int(first), int(last))
        found.total_mass = document.numbers(element, 'settotalmass', (found.total_mass,))[0]
    return found
