"""
The methods whose step is linear in the residual: dls, sdls, pseudo-inverse and transpose.

In all formulas e = -r and J have the weights W^(1/2).

References
----------
Buss (2009), Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped
least squares methods. Buss, Kim (2005), Selectively damped least squares for inverse kinematics,
Journal of Graphics Tools 10(3). Sugihara (2011), see theory.md.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf, pi
from typing import NamedTuple

from ik_node.kernels.layout import PREFERS_NOTHING
from ik_node.kernels.lm_step import DAMPING_DECREASE, next_damping, REACH_DAMPING
from ik_node.kernels.solve import MOST_DAMPING
from ik_node.solver.methods.loop import Block, Iterate, Run
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Singular values below this share of the largest count as zero in a step of the pseudo-inverse:
# their inverses would make the step too long.
_CUT = 1e-4
# Largest change of a joint in one step of sdls [rad or L], gamma_max of the paper, and the share
# of the largest singular value below which others count as zero.
_GAMMA, _ZERO = pi / 4.0, 1e-10


class Rows(NamedTuple):
    """Weighted e, shape (nr,), scaled down to the error clamps, and J, shape (nr, nv)."""

    shortfall: Array
    jacobian: Array
    blocks: tuple[Block, ...]


# Function of the rows with some columns of J, and of the mask (nv,) of these variables, that
# returns their step.
Choose = Callable[[Rows, Mask], Array]


def linear_rows(here: Iterate) -> Rows:
    """Return weighted rows and Jacobian at an iterate."""
    shortfall, options = -here.residual, here.options
    for _, first, last, is_rotation in here.blocks:
        limit = options.rotation_error_clamp
        if not is_rotation:
            limit = options.translation_error_clamp / here.chain.flat.length
        length = float(np.linalg.norm(shortfall[first:last]))
        if length > limit:
            shortfall[first:last] *= limit / length
    share = np.sqrt(here.weight)
    return Rows(share * shortfall, share[:, None] * here.jacobian(), here.blocks)


def step_within_bounds(
    here: Iterate, rows: Rows, choose: Choose, held: Mask | None = None
) -> Array:
    """
    Return a step that does not push variables at a bound beyond it, shape (nv,) [rad or L].

    A variable that is at a bound and would leave it is fixed, and the step is computed again for
    the others. Each step starts with all variables but those in `held`, so that a variable is
    released as soon as the step points inwards. `Iterate.move` clamps variables that the step
    takes past a bound.
    """
    free: Mask = ~here.locked if held is None else ~(here.locked | held)
    at_lower = (here.x <= here.lower) & (here.free_ball == 0)
    at_upper = (here.x >= here.upper) & (here.free_ball == 0)
    step = np.zeros(here.variable_count)
    while free.any():
        step[free] = choose(rows._replace(jacobian=rows.jacobian[:, free]), free)
        outward = free & ((at_lower & (step < 0.0)) | (at_upper & (step > 0.0)))
        if not outward.any():
            break
        free = free & ~outward
        step[:] = 0.0
    return step


def _steps(run: Run, choose: Choose, *, in_null_space: bool = False) -> Iterator[None]:
    here = run.here

    def reach() -> float:
        return here.move(step_within_bounds(here, linear_rows(here), choose))

    return _steps_with_null_space(run, reach, _stages(here) if in_null_space else [])


def jacobian_transpose(run: Run) -> Iterator[None]:
    """
    Step by Delta x = alpha J^T e.

    With the option `alpha` = 0 the step minimises the linear model of the cost,
    alpha = <e, J J^T e> / <J J^T e, J J^T e>. Longer steps overshoot, and steps of more than twice
    the length raise the cost, so that a fixed `alpha` is limited to this value.
    """
    fixed = run.options.alpha * run.here.chain.flat.length**2

    def choose(rows: Rows, _: Mask) -> Array:
        pulled = rows.jacobian.T @ rows.shortfall
        met = rows.jacobian @ pulled
        square = float(met @ met)
        best = float(rows.shortfall @ met) / square if square > 0.0 else 0.0
        return (min(fixed, best) if fixed > 0.0 else best) * pulled

    return _steps(run, choose)


def selectively_damped(run: Run) -> Iterator[None]:
    """
    Step by Delta x = clamp(sum_i clamp((u_i . e) / sigma_i v_i, gamma_i), gamma_max).

    sigma_i, u_i and v_i are the singular values and vectors of J. The bound of each part is
    gamma_i = min(1, N_i / M_i) gamma_max. N_i = sum_j |u_ji| is the motion of the end effectors
    that the part aims at, and M_i = 1 / sigma_i sum_j sum_l |v_li| |dp_j / dq_l| bounds the motion
    that it can cause. The rows of a constraint that have the same unit are one end effector j.
    """

    def choose(rows: Rows, _: Mask) -> Array:
        u, sigma, vt = np.linalg.svd(rows.jacobian, full_matrices=False)
        kept = sigma > _ZERO * max(float(sigma.max(initial=0.0)), 1e-300)
        u, sigma, vt = u[:, kept], sigma[kept], vt[kept]
        aimed, reach = np.zeros(sigma.size), np.zeros(vt.shape[1])
        for _constraint, first, last, _rotation in rows.blocks:
            aimed += np.linalg.norm(u[first:last], axis=0)
            reach += np.linalg.norm(rows.jacobian[first:last], axis=0)
        possible = (np.abs(vt) @ reach) / sigma
        bounds = _GAMMA * np.minimum(1.0, aimed / np.maximum(possible, 1e-300))
        parts = ((u.T @ rows.shortfall) / sigma)[:, None] * vt
        longest = np.abs(parts).max(axis=1, initial=0.0)
        parts *= np.minimum(1.0, bounds / np.maximum(longest, 1e-300))[:, None]
        return _shortened(parts.sum(axis=0), _GAMMA)

    return _steps(run, choose)


def _shortened(step: Array, longest: float) -> Array:
    length = float(np.abs(step).max(initial=0.0))
    return step * (longest / length) if length > longest else step


def _pinv(jacobian: Array) -> Array:
    return np.asarray(np.linalg.pinv(jacobian, rcond=_CUT), dtype=np.float64)


def pseudo_inverse(run: Run) -> Iterator[None]:
    """Step by Delta x = J^+ e; when all goals are met, in the null space."""
    return _steps(run, lambda rows, _: _pinv(rows.jacobian) @ rows.shortfall, in_null_space=True)


def damped_least_squares(run: Run) -> Iterator[None]:
    """
    Step by Delta x = J^T (J J^T + lambda^2 I)^-1 e, as in the JavaScript library closed-chain-ik.

    With the option `use_svd` it is computed as V diag(sigma / (sigma^2 + lambda^2)) U^T e. With
    `adaptive_damping` lambda^2 = mu f(x) (Sugihara 2011), and mu follows the gain ratio rho,
    theory.md, eq. (8) (Levenberg-Marquardt). Without it lambda = `damping_factor`, and every step
    is accepted until the cost f grows by more than `diverge_threshold`. When all goals are met,
    the steps follow in the null space.
    """
    here, options = run.here, run.options
    scale = options.damping_factor

    def reach() -> float:
        nonlocal scale
        rows, x, before = linear_rows(here), here.x.copy(), here.cost
        damping = scale * before if options.adaptive_damping else options.damping_factor**2
        damping = max(damping, REACH_DAMPING)
        step = step_within_bounds(
            here, rows, lambda part, _: _damped(part, damping, by_svd=options.use_svd)
        )
        moved = here.move(step)
        gain = before - here.cost
        if not options.adaptive_damping:
            if not gain >= -options.diverge_threshold:
                here.go_to(x)
                run.end(Status.DIVERGED)
            return moved
        left = rows.shortfall - rows.jacobian @ step
        predicted = 0.5 * float(rows.shortfall @ rows.shortfall - left @ left)
        kept = gain > 0.0 or here.within_tolerance
        if not kept:
            here.go_to(x)
        scale = next_damping(scale, kept, gain, predicted, DAMPING_DECREASE)
        if scale > MOST_DAMPING:
            run.end(Status.STALLED)
        return moved

    return _steps_with_null_space(run, reach, _stages(here))


def _damped(rows: Rows, damping: float, *, by_svd: bool) -> Array:
    jacobian, shortfall = rows.jacobian, rows.shortfall
    # The SVD may not converge, and if rounding hides the damping the system is singular: the other
    # form then mostly works, and otherwise the transpose.
    for decomposed in (by_svd, not by_svd):
        with suppress(np.linalg.LinAlgError):
            if decomposed:
                u, sigma, vt = np.linalg.svd(jacobian, full_matrices=False)
                return np.asarray(vt.T @ (sigma / (sigma * sigma + damping) * (u.T @ shortfall)))
            system = jacobian @ jacobian.T
            system[np.diag_indices_from(system)] += damping
            return np.asarray(jacobian.T @ np.linalg.solve(system, shortfall))
    return np.asarray(jacobian.T @ shortfall / (np.sum(jacobian**2) + damping))


# -- joint targets and rest pose

# Longest step: the null space changes along the way [rad or L].
_LONGEST = 0.3
# Most steps that meet closures and goals again after a step along their tangent.
_CORRECTIONS = 4
# A stage ends when the share of the step has been halved below this, or after a step that reduces
# its cost by less than this share.
_LEAST_SHARE, _LEAST_GAIN = 1e-3, 1e-6
# Cost of a stage that has not ended. It exceeds the cost of any preference, so that an iterate of
# a later stage always counts as better.
_FAR = 1e6


def _stages(here: Iterate) -> list[int]:
    return sorted(set(here.preference.tolist()) - {PREFERS_NOTHING})


def _steps_with_null_space(
    run: Run, reach: Callable[[], float], stages: list[int]
) -> Iterator[None]:
    """
    Take steps of `reach` to the goals, and when they are met, steps in their null space.

    These are Delta x = J^+ e + (I - J^+ J) g (x* - x), theory.md, section 9. x* are the joint
    targets with g = 1 in the first stage, and the rest pose with g = `rest_pose_factor` in the
    second one, in which joints with a target stay fixed. A step after which closures and goals
    cannot be met again, or that does not approach x*, is undone, and the next step is half as
    long.
    """
    here = run.here

    def distance() -> float:
        # Half the weighted square of x* - x, plus a large cost for each stage to come.
        step = here.preferred_step
        return len(stages) * _FAR + 0.5 * float(here.pull @ (step * step)) if stages else 0.0

    def chosen(share: float) -> Array:
        now = stages[0]
        preferred = np.where(here.preference == now, share * here.gain * here.preferred_step, 0.0)
        fixed = (here.preference > PREFERS_NOTHING) & (here.preference < now)

        def choose(part: Rows, free: Mask) -> Array:
            back, wish = _pinv(part.jacobian), preferred[free]
            return np.asarray(back @ (part.shortfall - part.jacobian @ wish) + wish)

        return _shortened(step_within_bounds(here, linear_rows(here), choose, fixed), _LONGEST)

    def corrected() -> bool:
        for _ in range(_CORRECTIONS):
            if here.within_tolerance:
                break
            here.move(chosen(0.0))
        return here.within_tolerance

    if stages:
        here.settle_on(stages[0])
    share, moved = 1.0, inf
    while True:
        run.report(moved, pending=bool(stages), extra=distance())
        yield
        if not here.within_tolerance:
            moved = reach()
            continue
        x, before = here.x.copy(), distance()
        moved = here.move(chosen(share))
        met = corrected()
        gained = before - distance()
        if met and gained > 0.0:
            share = min(2.0 * share, 1.0)
            done = gained < _LEAST_GAIN * (before - len(stages) * _FAR)
        else:
            here.go_to(x)
            share *= 0.5
            done = share < _LEAST_SHARE or moved == 0.0
        if done:
            stages, share = stages[1:], 1.0
            if stages:
                here.settle_on(stages[0])
        # A solve that has a stage to come has not stalled.
        moved = inf if stages else moved
