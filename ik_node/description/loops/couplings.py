"""Couplings of joint values: who follows in a sum, and mimic rules outside <mimic>."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule, Description, LoopSet
from ik_node.description.loops.loop_frames import LOOP_ELEMENTS
from ik_node.description.xml_document import XmlDocument

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

    `terms` has the coefficients c_0, c_1, ... of each p_k by joint, `rules` the couplings so far,
    whose followers cannot follow again, and `actuated` joints that follow only if no other one
    can. The result is None if no joint with a linear term can follow the others.
    """
    masters = {rule.joint: [name for name, _ in rule.terms] for rule in rules}
    given = {name: [float(c) for c in p] for name, p in terms.items()}
    for avoided in (actuated, ()):
        for equation in (given, _without_followers(given, rules)):
            rule = _solved(equation, masters, avoided, line)
            if rule is not None:
                return rule
    return None


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
        first[1][0] = 0.0 - constant / slope
        return CouplingRule(name, *first, line, more)
    return None


def _without_followers(
    terms: dict[str, list[float]], rules: Sequence[CouplingRule]
) -> dict[str, list[float]]:
    """Return an equation in which linear couplings are put in for the joints that follow."""
    linear = {rule.joint: rule for rule in rules if not any(any(c[2:]) for _, c in rule.terms)}
    result = dict(terms)
    while chosen := [n for n, p in result.items() if n in linear and not any(p[2:])]:
        offset, factor = [*result.pop(chosen[0]), 0.0][:2]
        for index, (name, polynomial) in enumerate(linear[chosen[0]].terms):
            added = [factor * c for c in polynomial]
            added[0] += offset if index == 0 else 0.0
            both = zip_longest(result.get(name, ()), added, fillvalue=0.0)
            result[name] = [sum(pair) for pair in both]
    return result


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


WORDS = ('loop', 'closure', 'constraint', 'coupling', 'equality')


def note_unread(document: XmlDocument, description: Description) -> LoopSet:
    """Note elements whose tags suggest loops, but which no reader of a URDF knows."""
    tags = Counter(str(element.tag) for element in document.root)
    for tag, count in tags.items():
        plain = tag.lower()
        if plain in LOOP_ELEMENTS or plain.startswith('drake:'):
            continue
        if any(word in plain for word in WORDS):
            description.notes.append(f'<{tag}> is not read ({count} of them)')
    return LoopSet(document.source)


def read_mimic_elsewhere(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read Gazebo plugins and ros2_control parameters that make one joint follow another.

    URDF's own <mimic> takes precedence. A plugin that closes loops is named in a note.
    """
    result = LoopSet(document.source, 'mimic rules for simulators')
    following: dict[str, set[str]] = {}
    for rule in description.couplings:
        following.setdefault(rule.joint, set()).update(name for name, _ in rule.terms)
    for rule in _rules(document, description):
        reason = _reason_for_refusal(rule, description, following)
        if reason is None:
            result.couplings.append(rule)
            following[rule.joint] = {rule.master}
        elif reason:
            description.notes.append(f'the mimic rule of {rule.joint!r} is not read: {reason}')
    return result


def mimic_rule(document: XmlDocument, follower: str, leader: str, mimic: Element) -> CouplingRule:
    """Return the rule with the multiplier, offset and reference in an element."""
    factor, offset, reference = (
        document.either(mimic, name, default)
        for name, default in (('multiplier', 1.0), ('offset', 0.0), ('reference', 0.0))
    )
    coefficients = [offset - factor * reference, factor]
    return CouplingRule(follower, leader, coefficients, document.line(mimic))


def _rules(document: XmlDocument, description: Description) -> Iterator[CouplingRule]:
    """Yield the rules of <drake:mimic>, of plugins and of parameters."""
    for joint in document.root.findall('joint'):
        mimic = joint.find('drake:mimic')
        if mimic is not None and joint.find('mimic') is None:
            yield mimic_rule(document, joint.get('name', ''), mimic.get('joint', ''), mimic)
    for plugin in document.root.iter('plugin'):
        if plugin.find('mimicJoint') is not None:
            follower, leader = (plugin.findtext(t, '').strip() for t in ('mimicJoint', 'joint'))
            yield mimic_rule(document, follower, leader, plugin)
        elif 'closed_loop' in plugin.get('filename', ''):
            description.notes.append(
                f'gazebo plugin {plugin.get("filename")!r} closes a loop and is not read; '
                'declare the loop with <loop_joint> or in a closures file'
            )
    for joint in document.root.findall('ros2_control/joint'):
        named = joint.findtext('param[@name="mimic"]')
        if named is not None:
            yield mimic_rule(document, joint.get('name', ''), named.strip(), joint)


def _reason_for_refusal(
    rule: CouplingRule, description: Description, following: dict[str, set[str]]
) -> str | None:
    """Return None if a rule can be used, '' if it is already known, else the reason why not."""
    if rule.master in following.get(rule.joint, ()) or rule.joint in following.get(
        rule.master, ()
    ):
        return ''
    if rule.joint in following:
        return 'that joint follows another already'
    for name in (rule.master, rule.joint):
        joint = description.joints.get(name)
        if joint is None or len(joint.dof) != 1:
            return f'there is no joint {name!r} of one DoF'
    if leads(rule.joint, rule.master, following):
        return f'{rule.master!r} follows that joint'
    return None
