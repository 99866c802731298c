"""Many problems on one mechanism, with a known solution for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tasks.judge import Array, forward, quaternions
from tasks.mechanism import Mechanism


@dataclass
class Form:
    """
    A form of the problems of a task; answers have the same meaning in every form.

    Attributes
    ----------
    goals : list of (str, str)
        Links, and the kind of goal of each: 'pose' or 'position'.
    driven : list of str
        Joints with a given value, which has to be met exactly.
    starts, witness : ndarray, shape (n, joints)
        The starts, and the solutions from which the problems were generated.
    targets : ndarray, shape (n, goals, 7)
        Position [m] and quaternion xyzw of every goal link.

    """

    mechanism: Mechanism
    goals: list[tuple[str, str]]
    starts: Array
    witness: Array
    driven: list[str] = field(default_factory=list)
    targets: Array = field(init=False)

    def __post_init__(self) -> None:
        poses = forward(self.mechanism, self.witness)
        self.targets = np.zeros((len(self.witness), len(self.goals), 7))
        for at, (link, _) in enumerate(self.goals):
            self.targets[:, at, :3] = poses[link][:, :3, 3]
            self.targets[:, at, 3:] = quaternions(poses[link][:, :3, :3])

    @property
    def driven_columns(self) -> list[int]:
        """Return the columns of the driven joints in q."""
        return [self.mechanism.names.index(name) for name in self.driven]

    @property
    def driven_values(self) -> Array:
        """Return the required values (n, driven) of driven joints."""
        return self.witness[:, self.driven_columns]

    def plain(self) -> dict[str, Any]:
        """Return all data for a solver as plain data, without the witness."""
        return {
            'mechanism': self.mechanism.plain(),
            'goals': [list(goal) for goal in self.goals],
            'driven': self.driven,
            'driven_columns': self.driven_columns,
            'starts': self.starts.tolist(),
            'targets': self.targets.tolist(),
            'driven_values': self.driven_values.tolist(),
        }


@dataclass
class Task:
    """
    The problems of one row of the report.

    Attributes
    ----------
    forms : dict of str to Form
        The first is the one that counts unless a solver asks for another.
    family, size
        Tasks of one family are plotted against their size and a power of it is fitted.

    """

    name: str
    about: str
    forms: dict[str, Form]
    family: str = ''
    size: int = 0

    @property
    def main(self) -> Form:
        """Return the first form."""
        return next(iter(self.forms.values()))

    def form(self, wanted: str) -> Form:
        """Return a form by name, or the first one."""
        return self.forms.get(wanted, self.main)
