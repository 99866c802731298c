"""Distance between commanded and measured joints, and the limit that commands keep to."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.model.rotation import Array
from ik_node.ros.inputs.joint_inputs import MeasuredState
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.parameters.settings import Settings
import numpy as np

# A robot that does not come nearer to its command within this time does not follow [s].
PATIENCE = 0.5
# Share of the limit by which the robot must come nearer in that time.
_NEARER = 0.1
# Share of the limit by which commands may lead a joint that did not follow, until it moves
# again. A drive that is switched on again jumps by at most this much.
_CAUTIOUS_SHARE = 0.25
# Smallest step, as a share of the limit, on the way back towards the measurement.
_LEAST_STEP = 0.05
# A command that changes by less than this is at rest [rad or m].
_STILL = 1e-4
# A joint that goes away from a command at rest was moved by something else, if it goes farther
# than this share of the limit [rad or m] and than its noise: this many times the mean change from
# one joint state to the next.
_MOVED_SHARE, _NOISES = 5e-3, 4.0
# A robot that was moved so comes no nearer within this time [s], so that wrong joint states move
# nothing. Then commands lead it by this share of the limit until it moves with them: what moved it
# may still do so, and its controller may be switched on again at any time.
_MOVED_PATIENCE, _MOVED_CAUTION = 0.2, 0.05
# Weight of the newest joint state in the mean error and in the mean change.
_NEWEST = 0.1


class Rest:
    """
    The errors of joints whose commands are at rest, to find out that something else moves them.

    A drive may settle beside its command, under a load for example, and sensors have noise.
    So the mean error counts, compared with the smallest one since the command is at rest.
    """

    def __init__(self) -> None:
        self._q: Array | None = None
        self._from = 0.0
        self._arrivals = -1
        self._last = self._mean = self._noise = self._smallest = np.zeros(0)

    def excess(self, q: Array, error: Array, arrivals: int, now: float) -> Array:
        """
        Return by how much each joint has gone away from its command, beside its noise, (n,).

        `q` and `error` (n,): last command and signed errors [rad or m]. `arrivals`: number of
        joint states so far.
        """
        before = self._q
        if before is None or len(before) != len(q) or (np.abs(q - before) > _STILL).any():
            self._q, self._from, self._arrivals = q, now, -1
        if arrivals != self._arrivals:
            if self._arrivals < 0:
                self._last = self._mean = error
                self._noise, self._smallest = np.zeros_like(error), np.full_like(error, np.inf)
            self._arrivals = arrivals
            self._noise = self._noise + _NEWEST * (np.abs(error - self._last) - self._noise)
            self._mean = self._mean + _NEWEST * (error - self._mean)
            self._last = error
        if now - self._from < PATIENCE:
            return np.zeros_like(error)
        mean = np.abs(self._mean)
        self._smallest = np.minimum(self._smallest, mean)
        away: Array = mean - self._smallest - _NOISES * self._noise
        return away

    def forget(self) -> None:
        """Forget everything, because no command is sent."""
        self._q = None


class FollowingError:
    """
    The comparison of every commanded joint with its measurement.

    The following error is the distance between the last command and the last measurement of a
    joint, modulo full turns where a joint turns without limits. The limit of every joint is
    `output.max_following_error` [rad or m]; for a joint slower than 1 rad/s or 1 m/s it is the
    distance that the joint covers in that number of seconds, which is smaller. A joint without a
    measurement since commands began, or with a stale one, is not compared. Motors that are not
    commanded are compared once the commands contain a motion of theirs.
    """

    def __init__(self, measured: MeasuredState) -> None:
        self._measured = measured
        self.note = ''  # Which joint does not follow, and by how much; '' while the robot follows.
        # Motion to the last command that is still to come (nq,) [rad or m], because ticks were
        # late.
        self.lead: Array | float = 0.0
        self._outputs: tuple[str, ...] = ()
        # The outputs, and the motors that are not among them.
        self._names: tuple[str, ...] = ()
        self._begin_q = np.zeros(0)
        self._rest = Rest()
        self._at = np.zeros(0, dtype=np.int64)
        self._turning = np.zeros(0, dtype=np.bool_)
        self._limit = np.zeros(0)
        self._since: int | None = None
        self._values = np.zeros(0)
        # Whether the last step was refused; since when commands have waited for the robot, or have
        # not waited [s]; and the smallest error while they waited, as a share of the limit.
        self._waits = False
        self._waiting_from: float | None = None
        self._free_from: float | None = None
        self._smallest = np.inf
        # Index of the joint that did not follow, and its measured value when commands started
        # again.
        self._suspect = -1
        self._suspect_at = 0.0
        # Share of the limit by which commands may lead this joint.
        self._caution = _CAUTIOUS_SHARE

    def forget(self) -> None:
        """Forget everything, because no command is sent."""
        self.note, self.lead, self._since, self._suspect = '', 0.0, None, -1
        self._caution = _CAUTIOUS_SHARE
        self._rest.forget()
        self._waiting_from, self._free_from, self._waits = None, None, False

    def begin(
        self, model: LoadedModel, outputs: Sequence[str], q: Array, motors: Sequence[str] = ()
    ) -> None:
        """Start to compare: commands start at the measured configuration `q` (nq,) [rad or m]."""
        self._outputs = tuple(outputs)
        self._names = (*outputs, *(name for name in motors if name not in outputs))
        self._begin_q = q
        self._at = np.array(
            [model.joint_names.index(name) for name in self._names], dtype=np.int64
        )
        self._turning = model.turning[self._at]
        if self._since is None:
            self._since = self._measured.arrivals
        self._waiting_from, self._free_from, self._waits = None, None, False
        self.lead = 0.0
        if self._suspect >= 0:
            name = self._names[self._suspect]
            self._suspect_at = self._measured.values([name]).get(name, 0.0)

    def update(
        self, model: LoadedModel, outputs: Sequence[str], q: Array, settings: Settings, now: float
    ) -> bool:
        """Compare the last command (nq,) with measurements; True = start again where they are."""
        if tuple(outputs) != self._outputs:
            self.forget()
            self.begin(model, outputs, q)
        self._read(model, q, settings, now)
        signed = self._signed_error(q)
        error = np.abs(signed)
        share = error / self._limits_now()
        worst = int(share.argmax()) if len(share) else 0
        largest = float(share[worst]) if len(share) else 0.0
        away = self._rest.excess(q[self._at], signed, self._measured.arrivals, now)
        moved = bool((away > _MOVED_SHARE * self._limit).any())
        waits, self._waits = self._waits, False
        if not waits and not moved and largest <= 1.0:
            self._waiting_from = None
            self._lift_caution(q[self._at], now)
            return False
        self._free_from = None
        nearer = largest < self._smallest - _NEARER * min(self._smallest, 1.0)
        if self._waiting_from is None or nearer or now < self._waiting_from:
            self._waiting_from, self._smallest = now, largest
        at_rest = moved or self._caution == _MOVED_CAUTION
        soon = at_rest and bool((error <= self._limit).all())
        if now - self._waiting_from < (_MOVED_PATIENCE if soon else PATIENCE):
            return False
        if self._suspect >= 0 and largest <= 1.0 and not moved:
            return False
        self._suspect = int((away / self._limit).argmax()) if moved else worst
        self._caution = _MOVED_CAUTION if at_rest else _CAUTIOUS_SHARE
        if at_rest:
            self.note = (
                f'joint {self._names[self._suspect]} was moved by something else, by '
                f'{error[self._suspect]:.3g} {self._unit(model, self._suspect)}, while its '
                f'command was at rest. Commands start again at the measured configuration'
            )
            return True
        self.note = (
            f'joint {self._names[worst]} does not follow: it was measured '
            f'{error[worst]:.3g} {self._unit(model, worst)} from its command. Commands start '
            f'again at the measured configuration and continue when it moves'
        )
        if worst >= len(self._outputs):
            self.note += '. It is not in output.joints'
        return True

    def window(self, q: Array, window: Array) -> Array:
        """Return the largest step (nq,) that keeps velocity and following-error limits."""
        limit = self._limits_now()
        if not np.isfinite(limit).any():
            return window
        room = np.maximum(limit - self._error(q), _LEAST_STEP * limit)
        cut = window.copy()
        cut[self._at] = np.minimum(cut[self._at], room)
        return cut

    def objection(self, model: LoadedModel, q: Array, target: Array) -> str:
        """Return why the next command leads a joint too far, unless it leads back; or ''."""
        error, limit = self._error(target), self._limits_now()
        too_far = (error > limit * (1.0 + 1e-9)) & (error > self._error(q))
        self._waits = bool(too_far.any())
        if not self._waits:
            return ''
        worst = int(np.where(too_far, error / limit, 0.0).argmax())
        return (
            f'waiting for joint {self._names[worst]}, which is measured '
            f'{self._error(q)[worst]:.3g} {self._unit(model, worst)} from its command; the limit '
            f'is {limit[worst]:.3g} (output.max_following_error)'
        )

    def _read(self, model: LoadedModel, q: Array, settings: Settings, now: float) -> None:
        """Read the present measurements and limits."""
        names, measured = self._names, self._measured
        values = measured.values_since(names, self._since or 0)
        for index, name in enumerate(names[len(self._outputs) :], len(self._outputs)):
            if abs(q[self._at[index]] - self._begin_q[self._at[index]]) <= _STILL:
                values.pop(name, None)
        for name in measured.stale(names, now, settings.joint_state_timeout):
            values.pop(name, None)
        largest = settings.output_max_following_error
        if largest <= 0.0:
            values = {}
        self._values = np.array([values.get(name, np.nan) for name in names])
        own = largest * np.minimum(1.0, model.max_velocity[self._at])
        self._limit = np.where(np.isnan(self._values) | (own <= 0.0), np.inf, own)

    def _limits_now(self) -> Array:
        """Return the limits (n,), reduced while the robot still has to show that it follows."""
        return self._limit * self._caution if self._suspect >= 0 else self._limit

    def _error(self, q: Array) -> Array:
        """Return the following error (n,) [rad or m] of every output at a configuration."""
        return np.abs(self._signed_error(q))

    def _signed_error(self, q: Array) -> Array:
        error = (q - self.lead)[self._at] - self._values
        error -= np.where(self._turning, 2.0 * np.pi * np.round(error / (2.0 * np.pi)), 0.0)
        return np.where(np.isnan(error), 0.0, error)

    def _lift_caution(self, q: Array, now: float) -> None:
        """Restore the full limit once the robot has moved with its commands or caught up."""
        index = self._suspect
        if index < 0:
            return
        if self._free_from is None or now < self._free_from:
            self._free_from = now
        delta = (self._values[index] - self._suspect_at) * np.sign(q[index] - self._suspect_at)
        if delta >= self._limits_now()[index] or now - self._free_from >= 2.0 * PATIENCE:
            self._suspect, self._caution, self.note = -1, _CAUTIOUS_SHARE, ''

    def _unit(self, model: LoadedModel, index: int) -> str:
        return 'rad' if model.angular[self._at[index]] else 'm'
