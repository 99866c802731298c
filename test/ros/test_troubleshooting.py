"""docs/troubleshooting.md quotes lines that the node can print, and no others."""

import ast
from pathlib import Path
import re

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / 'ik_node'
NODE = sorted((PACKAGE / 'ros').rglob('*.py'))
ROS = [*NODE, *sorted((PACKAGE / 'ros_client').rglob('*.py'))]
PAGE = PACKAGE.parent / 'docs' / 'troubleshooting.md'
LEVELS = {'debug', 'info', 'warning', 'error', 'fatal'}
# How an error makes its message of its arguments; '…' stands for what is only known then.
ERRORS = {
    'DescriptionError': '{0}',
    'IkError': '{0}',
    'LookupError': '{0}',
    'OptionError': '{0}: … is not allowed; allowed: {2}',
    'RefusedIkError': '{1}',
    'RefusedInputError': '{0}: {1} = … refused: {3}',
    'TopologyError': '{0}',
}
# Sections whose tables are about lines of the log; the others quote parts of messages.
LOGGED = ('The log', 'Refused messages', 'Refused parameters and descriptions', 'Services')
# Sections about what messages quote.
QUOTED = ('What ~/solve_status says', 'What /diagnostics says')


def template(node):
    """Return a text with … for what is not known before the program runs."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return ''.join(template(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    return '…'


def alternatives(node):
    """Return the values that an expression may have."""
    if isinstance(node, ast.IfExp):
        return [*alternatives(node.body), *alternatives(node.orelse)]
    if isinstance(node, ast.BoolOp):
        return [each for value in node.values for each in alternatives(value)]
    return [node]


def answered(target, value):
    """Return what an assignment makes a service answer."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=True)
        return [text for each, part in pairs for text in answered(each, part)]
    if ast.unparse(target) != 'response.message':
        return []
    return [template(each) for each in alternatives(value)]


def told_by_call(call):
    """Return what a call prints, logs or raises; '…' if that is all somebody else's."""
    name = ast.unparse(call.func)
    if name == 'print' or (name.split('.')[-1] in LEVELS and 'logger' in name):
        return [template(call.args[0])]
    if name in ERRORS:
        # An argument that is spread is not known, nor are those after it.
        known = [*map(template, call.args), *'…' * 4]
        return [ERRORS[name].format(*known)]
    return []


def templates(path):
    """Return what a module may tell a user."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            found += told_by_call(node)
        elif isinstance(node, ast.Assign):
            found += answered(node.targets[0], node.value)
        elif isinstance(node, ast.JoinedStr) and 'internal error' in template(node):
            found.append(template(node))
    return {clean(text) for text in found}


def clean(text):
    """Return a template with one blank for many, and nothing of … but itself."""
    return re.sub('…+', '…', ' '.join(text.split()))


def texts(path):
    """Return every text of a module."""
    return {clean(template(node)) for node in ast.walk(ast.parse(path.read_text()))}


def rows(*sections):
    """Return the first column of the tables of some sections of the page, without its ticks."""
    found = []
    for section in PAGE.read_text().split('\n## ')[1:]:
        if section.splitlines()[0] in sections:
            found += re.findall(r'^\| `(.*?)` \|', section, flags=re.MULTILINE)
    return found


def told():
    """Return what the node may tell a user: the demo and the page are other programs."""
    everything = set().union(*map(templates, NODE))
    # Passed on from elsewhere: the reasons have rows of their own.
    passed_on = {text for text in everything if not re.search('[a-z]', text)}
    return everything - passed_on


def test_every_row_quotes_an_existing_line():
    """Each row is a line of the node, or quoted by one."""
    quoted = set().union(*map(texts, [*ROS, PACKAGE / 'description' / 'read.py']))
    assert sorted({*rows(*LOGGED)} - told() - quoted) == []


def test_no_row_is_repeated():
    """Each line has one place."""
    found = rows(*LOGGED)
    assert sorted({row for row in found if found.count(row) > 1}) == []


@pytest.mark.parametrize('section', QUOTED)
def test_quoted_parts_of_statuses_exist(section):
    """Each part of a message that the other tables explain is in the source."""
    modules = [*ROS, *(PACKAGE / 'solver').rglob('*.py')]
    known = ' | '.join(set().union(*map(texts, modules)))
    quoted = rows(section)
    assert len(quoted) > 5
    missing = [row for row in quoted if row.strip('… ') not in known]
    assert missing == []


def test_templates_finds_every_form_of_message(tmp_path):
    """Logged, printed, raised or answered."""
    source = tmp_path / 'module.py'
    source.write_text(
        """
node.get_logger().warning(f'a {b} c')
self._node.get_logger().info('d ' + ', '.join(e) + '; f')
raise OptionError('g', h, f'i {j}')
raise RefusedInputError(topic, 'k', value, 'l')
response.message = reason or ('m' if n else f'o {p}')
reason, response.message = '', f'r {s}'
what = f'internal error: {q}'
get_logger('x').fatal(str(error))
"""
    )
    assert templates(source) == {
        'a … c',
        'd …; f',
        'g: … is not allowed; allowed: i …',
        '…: k = … refused: l',
        'm',
        'o …',
        'r …',
        'internal error: …',
        '…',
    }
