"""The choice of the joint that follows in an equation between joint values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest

from ik_node.description.description import CouplingRule

# Names of joints that follow others -> the joints that they follow.
Masters = Mapping[str, Collection[str]]
# A joint with a smaller factor does not follow.
LEAST_SLOPE = 1e-9


def rule_of_sum(
    terms: Mapping[str, Sequence[float]],
    rules: Sequence[CouplingRule],
    actuated: Collection[str] = (),
    line: int | None = None,
) -> CouplingRule | None:
    """
    Return a coupling that keeps sum_k p_k(q_k) = 0, with one of the joints as the follower.

    Parameters
    ----------
    terms : mapping of str to sequence of float
        Joint -> coefficients c_0, c_1, ... of its polynomial p_k.
    rules : sequence of CouplingRule
        The couplings so far, whose followers cannot follow again.
    actuated : collection of str
        Joints that follow only if no other one can.
    line : int, optional
        Line of the declaration.

    Returns
    -------
    CouplingRule or None
        None if no joint with a linear term can follow the others.

    """
    masters = masters_of(rules)
    given = {name: [float(c) for c in p] for name, p in terms.items()}
    for avoided in (actuated, ()):
        for equation in (given, _without_followers(given, rules)):
            rule = _solved(equation, masters, avoided, line)
            if rule is not None:
                return rule
    return None


def masters_of(rules: Sequence[CouplingRule]) -> dict[str, list[str]]:
    """Return the joints that follow others, and which these are."""
    return {rule.joint: [name for name, _ in rule.terms] for rule in rules}


def _solved(
    terms: Mapping[str, Sequence[float]],
    masters: Masters,
    avoided: Collection[str],
    line: int | None,
) -> CouplingRule | None:
    """Return the coupling of the first joint that can follow the others."""
    constant = sum(p[0] for p in terms.values())
    used = {name: p for name, p in terms.items() if any(p[1:])}
    for name, (_, slope, *curved) in used.items():
        others = [other for other in used if other != name]
        if name in masters or name in avoided or not others:
            continue
        if any(curved) or abs(slope) < LEAST_SLOPE:
            continue
        if any(leads(name, other, masters) for other in others):
            continue
        first, *more = ((other, [0.0, *(-c / slope for c in used[other][1:])]) for other in others)
        first[1][0] = -constant / slope
        return CouplingRule(name, *first, line, more)
    return None


def _without_followers(
    terms: dict[str, list[float]], rules: Sequence[CouplingRule]
) -> dict[str, list[float]]:
    """Return an equation in which linear couplings are put in for the joints that follow."""
    linear = {rule.joint: rule for rule in rules if not any(any(c[2:]) for _, c in rule.terms)}
    found = dict(terms)
    while chosen := [n for n, p in found.items() if n in linear and not any(p[2:])]:
        offset, factor = [*found.pop(chosen[0]), 0.0][:2]
        for at, (name, polynomial) in enumerate(linear[chosen[0]].terms):
            added = [factor * c for c in polynomial]
            added[0] += offset if at == 0 else 0.0
            both = zip_longest(found.get(name, ()), added, fillvalue=0.0)
            found[name] = [sum(pair) for pair in both]
    return found


def leads(leader: str, follower: str, masters: Masters) -> bool:
    """Return True if `follower` follows `leader`, directly or through others, or is `leader`."""
    seen: set[str] = set()
    queue = [follower]
    while queue:
        name = queue.pop()
        if name == leader:
            return True
        if name not in seen:
            seen.add(name)
            queue += masters.get(name, ())
    return False
