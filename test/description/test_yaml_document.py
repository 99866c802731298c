"""YAML: what plain values become, lines, and what is refused, quickly and by name."""

from math import inf, isnan

from ik_node.description.yaml_document import line_of, MAX_BYTES, parse_yaml
from ik_node.errors import DescriptionError
import pytest

PLAIN = {
    '3': 3,
    '-3': -3,
    '3.5': 3.5,
    '-2.5e+3': -2500.0,
    '1_000.5': 1000.5,
    '1e-6': '1e-6',  # as YAML 1.1 has it
    '.inf': inf,
    '-.INF': -inf,
    '9' * 400: inf,
    'true': True,
    'No': False,
    'null': None,
    '~': None,
    'name': 'name',
    'left/rev0': 'left/rev0',
    '2001-01-01': '2001-01-01',
    '2001-99-99': '2001-99-99',
    '2001-12-14t21:59:43.10-05:00': '2001-12-14t21:59:43.10-05:00',
    '1:59:59': '1:59:59',
    '0x1f': '0x1f',
    '0b11': '0b11',
    '"3"': '3',
    "'true'": 'true',
    '!!str 3': '3',
    '!!float 3': 3,
    '[]': [],
    '{}': {},
    '!!python/tuple [1, 2]': [1, 2],
    '': None,
    '---\n...\n': None,
}


def test_plain_values_are_read():
    """Numbers, truth values and text; dates, sixties and other bases stay text."""
    for text in PLAIN:
        found = parse_yaml(text, 'f')
        assert found == PLAIN[text]
        assert type(found) is type(PLAIN[text]) or isinstance(found, list | dict)


def test_nan_is_read():
    """It is a number; who takes numbers refuses it."""
    assert isnan(parse_yaml('.nan', 'f'))


def test_lines_are_known():
    """Mappings, lists and keys know where they began; other values do not."""
    found = parse_yaml('# c\na: 1\nb:\n  - {x: 1}\n  - [2,\n     3]\nc:\n  d: 4\n', 'f')
    assert line_of(found) == 2
    assert [line_of(found, key) for key in 'abc'] == [2, 3, 7]
    assert line_of(found['b']) == 4
    assert [line_of(each) for each in found['b']] == [4, 5]
    assert line_of(found['c']) == 8
    assert line_of(found, 'no such key') is None
    assert line_of({'a': 1}) is None
    assert line_of(found['a']) is None


def test_references_are_resolved():
    """A value that is written once and used twice is the same; PyYAML writes such files."""
    found = parse_yaml('a: &x [1, &y 2]\nb: *x\nc: {d: *y}\n', 'f')
    assert found == {'a': [1, 2], 'b': [1, 2], 'c': {'d': 2}}


def test_bytes_are_decoded():
    """UTF-8 and UTF-16, with and without a byte order mark."""
    for encoding in ('utf-8', 'utf-8-sig', 'utf-16'):
        assert parse_yaml('a: é\n'.encode(encoding), 'f') == {'a': 'é'}


BOMB = '\n'.join(
    ['a0: &a0 [x, x]'] + [f'a{i}: &a{i} [{f"*a{i - 1}, " * 9}]' for i in range(1, 30)]
)
REFUSED = {
    'deep flow': ('a:\n ' + '[' * 20_000, None, 'too deep'),
    'cycle': ('a: &a\n  b: *a\n', 1, 'recursive'),
    'unknown reference': ('a: 1\nb: *c\n', 2, "'c'"),
    'key twice': ('a: 1\nb: 2\na: 3\n', 3, "'a'"),
    'number twice': ('1: 1\n1.0: 2\n', 2, '1.0'),
    'list as key': ('? [a]\n: 1\n', 1, 'key'),
    'reference as key': ('- &a [1]\n- {*a : 1}\n', 1, 'key'),
    'merge': ('a: &a {b: 1}\nc:\n  <<: *a\n', 3, 'merge'),
    'python': ('a: 1\nb: !!python/object/apply:os.system [x]\n', 2, 'apply:os.system'),
    'tag': ('a: !mine x\n', 1, "'!mine'"),
    'two documents': ('a: 1\n---\nb: 2\n', 2, 'another document'),
    'syntax': ('a: 1\nb: {c: [}\n', 2, 'not valid YAML: '),
    'tab': ('a:\n\t- b\n', 2, 'not valid YAML: '),
    'control': ('a: 1\nb: "\x00"\n', 2, '#x0000'),
    'surrogate': ('a: \ud800\n', 1, '#xd800'),
    'not UTF-8': (b'a: 1\nb: \xff\n', 2, 'invalid start byte'),
    'not UTF-16': (b'\xff\xfea\x00\xd8', 1, 'unacceptable character'),
    'large': ('#\n' * 600_000, None, '1200000 bytes'),
}


def test_faulty_yaml_is_refused_with_its_line():
    """The message has the line, where one is at fault, and what is wrong; it is short."""
    for fault in REFUSED:
        data, line, message = REFUSED[fault]
        with pytest.raises(DescriptionError) as caught:
            parse_yaml(data, 'f')
        assert message in str(caught.value)
        assert line in (caught.value.line, None)
        assert len(str(caught.value)) < 300


def test_long_numbers_cost_nothing():
    """What takes YAML's own reader minutes, or Python an exception."""
    for text in ['1' + ':59' * 100_000, '0x' + 'f' * 90_000, '9' * 90_000, BOMB, ' ' * MAX_BYTES]:
        parse_yaml(text, 'f')
