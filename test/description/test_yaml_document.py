"""YAML: what plain values become, lines, and what is refused, quickly and by name."""

from math import inf, isnan
import time

from ik_node.description.yaml_document import line_of, MAX_BYTES, parse_yaml
from ik_node.errors import DescriptionError
import pytest
import yaml


@pytest.fixture(params=['the C parser', 'the Python parser'])
def parser(request, monkeypatch):
    """Run a test with and without the C parser, which not every installation has."""
    if request.param == 'the C parser':
        assert yaml.__with_libyaml__
    else:
        monkeypatch.delattr(yaml, 'CSafeLoader', raising=False)


# Of the processor's time, whatever else the machine does [s]; what is refused would take minutes.
WORK = 20.0

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
    '=': '=',
    '<<': '<<',
    '[]': [],
    '{}': {},
    '!!python/tuple [1, 2]': [1, 2],
    '': None,
    '---\n...\n': None,
}


@pytest.mark.parametrize('text', PLAIN)
def test_plain_values_are_read(parser, text):
    """Numbers, truth values and text; dates, sixties and other bases stay text."""
    found = parse_yaml(text, 'f')
    assert found == PLAIN[text]
    assert type(found) is type(PLAIN[text]) or isinstance(found, list | dict)


def test_nan_is_read(parser):
    """It is a number; who takes numbers refuses it."""
    assert isnan(parse_yaml('.nan', 'f'))


def test_lines_are_known(parser):
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


def test_references_are_resolved(parser):
    """A value that is written once and used twice is the same; PyYAML writes such files."""
    found = parse_yaml('a: &x [1, &y 2]\nb: *x\nc: {d: *y}\n', 'f')
    assert found == {'a': [1, 2], 'b': [1, 2], 'c': {'d': 2}}


@pytest.mark.parametrize('text', ['a: é\n', '﻿a: é\n'])
@pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16'])
def test_bytes_are_decoded(parser, text, encoding):
    """UTF-8 and UTF-16, with and without a byte order mark."""
    if not (text[0] != 'a' and encoding == 'utf-8-sig'):
        assert parse_yaml(text.encode(encoding), 'f') == {'a': 'é'}


BOMB = '\n'.join(
    ['a0: &a0 [x, x]'] + [f'a{i}: &a{i} [{f"*a{i - 1}, " * 9}]' for i in range(1, 30)]
)
REFUSED = {
    'bomb': (BOMB, 6, 'more than 50000 values after expansion of references'),
    'many values': ('[' + 'x,' * 60_000 + ']', 1, 'more than 50000 values'),
    'deep flow': ('a:\n ' + '[' * 20_000, 2, 'nested more than 50 deep'),
    'deep mapping': ('{a: ' * 20_000, 1, 'nested more than 50 deep'),
    'deep block': ('\n'.join(' ' * i + 'a:' for i in range(200)), 51, 'nested more than 50 deep'),
    'deep dashes': ('- ' * 200_000, 1, 'nested more than 50 deep'),
    'cycle': ('a: &a\n  b: *a\n', 2, '*a refers to no anchor above it'),
    'unknown reference': ('a: 1\nb: *c\n', 2, '*c refers to no anchor above it'),
    'key twice': ('a: 1\nb: 2\na: 3\n', 3, "the key 'a' occurs twice"),
    'number twice': ('1: 1\n1.0: 2\n', 2, "the key '1.0' occurs twice"),
    'list as key': ('? [a]\n: 1\n', 1, 'a mapping or list cannot be a key'),
    'reference as key': ('- &a [1]\n- {*a : 1}\n', 2, 'a mapping or list cannot be a key'),
    'merge': ('a: &a {b: 1}\nc:\n  <<: *a\n', 3, 'the merge key << is not supported'),
    'python': (
        'a: 1\nb: !!python/object/apply:os.system [x]\n',
        2,
        "python/object/apply:os.system'",
    ),
    'tag': ('a: !mine x\n', 1, "the tag '!mine' is not read; leave it out"),
    'binary': ('a: !!binary aGVsbG8=\n', 1, "the tag 'tag:yaml.org,2002:binary' is not read"),
    'set': ('a: !!set {b}\n', 1, "the tag 'tag:yaml.org,2002:set' is not read"),
    'two documents': ('a: 1\n---\nb: 2\n', 2, 'a second document begins'),
    'syntax': ('a: 1\nb: {c: [}\n', 2, 'not valid YAML: '),
    'tab': ('a:\n\t- b\n', 2, 'not valid YAML: '),
    'control': ('a: 1\nb: "\x00"\n', 2, "the character '\\x00' is not allowed"),
    'surrogate': ('a: \ud800\n', 1, "the character '\\ud800' is not allowed"),
    'not UTF-8': (b'a: 1\nb: \xff\n', 2, 'not UTF-8 text (invalid start byte)'),
    'not UTF-16': (b'\xff\xfea\x00\xd8', 1, 'not UTF-16 text'),
    'large': ('#\n' * 600_000, None, '1200000 bytes; the largest YAML read is 1048576 bytes'),
}


@pytest.mark.parametrize('fault', REFUSED)
def test_faulty_yaml_is_refused_with_its_line(parser, fault):
    """The message has the line and what is wrong; it comes soon and is short."""
    data, line, message = REFUSED[fault]
    start = time.process_time()
    with pytest.raises(DescriptionError) as caught:
        parse_yaml(data, 'f')
    assert time.process_time() - start < WORK
    assert message in str(caught.value)
    assert caught.value.line == line
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    'text',
    ['1' + ':59' * 100_000, '0x' + 'f' * 500_000, '9' * 900_000, '9' * 900, ' ' * MAX_BYTES],
)
def test_long_numbers_cost_nothing(parser, text):
    """What takes YAML's own reader minutes, or Python an exception."""
    start = time.process_time()
    parse_yaml(text, 'f')
    assert time.process_time() - start < WORK
