"""Efforts of motors and the distance to singularities as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, isfinite, log10, sqrt

from ik_node.display import escaped
from ik_node.errors import MOST_TEXT
from ik_node.transmission.motor_load import MotorEffort, NEAR
from ik_node.transmission.state import UNITS

# A palette for the colour-blind (Okabe & Ito 2008); the state is also shown as a word.
HELD, MUCH, OVER = '#009E73', '#E69F00', '#D55E00'
# Share of the limit above which an effort is marked as high.
HIGH = 0.8
_BOX = 'style="padding:2px 10px 6px;font-size:0.85em;line-height:1.5"'
_NAME = (
    'style="flex:1 1 4em;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;'
    'padding-right:6px"'
)
_TRACK = (
    'style="flex:0 0 4.8em;position:relative;height:0.75em;border-radius:3px;'
    'background:rgba(128,136,150,0.22);overflow:hidden"'
)
_ZERO = (
    'style="position:absolute;left:50%;top:0;bottom:0;width:1px;background:currentColor;'
    'opacity:0.45"'
)
_VALUE = 'flex:0 0 5.7em;text-align:right;white-space:nowrap'
_SHARE = 'flex:0 0 3.6em;text-align:right;white-space:nowrap'


def quantity(value: float, unit: str) -> str:
    """Return a number with three digits and its unit, in thousands if it is large."""
    scale, prefix = (1e-3, 'k') if abs(value) >= 999.5 else (1.0, '')
    # Rounding to three digits can add a digit before the point.
    shown = float(f'{value * scale:.3g}')
    digits = max(0, 2 - floor(log10(abs(shown)))) if abs(shown) >= 0.1 else 3
    text = f'{shown:.{digits}f}'
    return f'{text if text.strip("-0.") else 0} {prefix}{unit}'


def efforts_html(efforts: Sequence[MotorEffort]) -> str:
    """
    Return a bar for each motor, red beyond its limit.

    The ends of a bar are the motor's limits; for motors without a limit, the largest effort of
    such motors with the same unit.

    Parameters
    ----------
    efforts : sequence of MotorEffort
        The efforts.

    """
    over = sum(effort.is_over for effort in efforts)
    bars = ''.join(_bar(effort, _full(effort, efforts)) for effort in efforts)
    head = '<b>efforts of the motors</b>'
    if over:
        head += f' <span style="color:{OVER}">&#9679; {over} over the limit</span>'
    return (
        f'<div {_BOX}><div>{head}</div>'
        '<div style="max-height:22em;overflow-y:auto;font-variant-numeric:tabular-nums">'
        f'{bars}</div></div>'
    )


def _full(effort: MotorEffort, efforts: Sequence[MotorEffort]) -> float:
    if isfinite(effort.limit):
        return effort.limit
    alike = [each for each in efforts if each.unit == effort.unit and not isfinite(each.limit)]
    return max(abs(each.effort) for each in alike)


def _bar(effort: MotorEffort, full: float) -> str:
    limited, name = isfinite(effort.limit), escaped(effort.name)
    colour = OVER if effort.is_over else MUCH if effort.share > HIGH else HELD
    width = 50.0 * min(1.0, abs(effort.effort) / full) if full > 0.0 else 50.0 * effort.is_over
    left = 50.0 if effort.effort >= 0.0 else 50.0 - width
    value = quantity(effort.effort, effort.unit)
    of = f' of {quantity(effort.limit, effort.unit)}' if limited else ', no limit known'
    share = f'{100.0 * min(effort.share, 9.99):.0f} %' if limited else ''
    red = f';color:{OVER}' if effort.is_over else ''
    return (
        f'<div style="display:flex;align-items:center" title="{name}: {value}{of}">'
        f'<span {_NAME}>{name}</span><span {_TRACK}>'
        f'<span style="position:absolute;top:0;bottom:0;left:{left:.1f}%;width:{width:.1f}%;'
        f'background:{colour}"></span><span {_ZERO}></span></span>'
        f'<span style="{_VALUE}{red}">{value}</span><span style="{_SHARE}{red}">{share}</span>'
        '</div>'
    )


def note_html(text: str) -> str:
    """Return HTML for a line of text; '' if there is none."""
    return f'<div {_BOX}>{escaped(text, MOST_TEXT)}</div>' if text else ''


def singularity_html(found: tuple[float, str] | None, problem: str = '') -> str:
    """
    Return a line with the distance to the nearest singularity.

    Parameters
    ----------
    found : (float, str) or None
        Nearness from 0 to 1 and the warning, as in `MotorStatics.singularity`; None = the robot
        has none.
    problem : str
        Why there is no distance; '' = nothing is shown without one.

    """
    if found is None:
        return note_html(f'distance to singularity: {problem}') if problem else ''
    nearness, warning = found
    near = nearness < NEAR
    value = f'{100.0 * nearness:.{1 if near else 0}f} %'
    if near:
        value = f'<span style="color:{OVER}"><b>{value}, near</b></span>'
    more = escaped(warning, MOST_TEXT)
    said = f'<div style="color:{OVER}">{more}</div>' if warning else ''
    ratio = sqrt(1.0 / nearness**2 - 1.0) if nearness > 0.0 else inf
    fastest = f' (ratio {ratio:.3g} {UNITS})'
    return f'<div {_BOX}>distance to singularity <b>{value}</b>{fastest}{said}</div>'
