"""Where commands to hardware go, by the checked parameters `output.*`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outlet:
    """
    A controller that takes commands.

    Attributes
    ----------
    kind : str
        What its topic takes: joint_trajectory or commands; none = it has no topic.
    topic : str
        Topic of the commands of each tick, and of plans.
    joints : tuple of str
        Its joints, in its order; empty = all commanded joints.
    action : str
        Action for plans; empty = none.
    group : str
        Name in `output.groups`; empty = without groups.

    """

    kind: str
    topic: str
    joints: tuple[str, ...] = ()
    action: str = ''
    group: str = ''


def outlets_of_all(output_type: str, action: str) -> tuple[Outlet, ...]:
    """Return the outlets without groups: topics by `output.type` and an action, for all joints."""
    kinds = [each for each in ('joint_trajectory', 'commands') if output_type in (each, 'both')]
    return (*(Outlet(each, f'~/{each}') for each in kinds), Outlet('none', '', (), action))
