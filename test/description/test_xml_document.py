"""XML: what is refused, and that messages say where."""

from ik_node.description.xml_document import parse_xml
from ik_node.errors import DescriptionError
import pytest

BOMB = """<?xml version="1.0"?>
<!DOCTYPE robot [
<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<robot name="&b;"/>"""
EXTERNAL = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>'


def test_lines_are_known():
    """Each element knows the line it began on."""
    document = parse_xml('<a>\n  <b/>\n\n  <c\n    d="1"/>\n</a>', 'robot.xml')
    assert [document.line(element) for element in document.root.iter()] == [1, 2, 4]
    assert str(document.error(document.root[1], 'odd')) == 'robot.xml:4: <c>: odd'


def test_undeclared_xml_prefix_is_accepted():
    """A prefix that is not declared is read as written."""
    document = parse_xml('<robot><drake:mimic joint="a"/></robot>', 'x')
    assert document.root[0].tag == 'drake:mimic'


REFUSED = {
    'bomb': (BOMB, r'x:\d: declares or uses an XML entity'),
    'external': (EXTERNAL, r'x:\d: declares or uses an XML entity'),
    'empty': ('', 'x:1: not well-formed XML: no element found'),
    'tags': ('<a>\n<b></a>', r'x:2: not well-formed XML: mismatched tag \(column'),
    'twice': ('<a b="1" b="2"/>', 'x:1: not well-formed XML: duplicate attribute'),
    'bytes': (b'<a>\xff</a>', 'x:1: not well-formed XML'),
    'encoding': (b'<?xml version="1.0" encoding="klingon"?><a/>', 'x.*encoding'),
    'surrogate': ('<a b="\ud800"/>', 'x: cannot be decoded'),
    'deep': ('<a>' * 301 + '</a>' * 301, 'x:1: elements are nested more than 300 deep'),
    'many': ('<a>' + '<b/>' * 300_001 + '</a>', 'x:1: more than 300000 elements'),
    'after a repair': ('<!-- a -- b --><a><b></a>', 'x:1: not well-formed XML'),
    'comment': ('<a><!-- -- </a>', 'not well-formed XML'),
}


@pytest.mark.parametrize('case', REFUSED)
def test_faulty_xml_is_refused(case):
    """Each fault has a message with file and, where known, line; none is parsed beyond limits."""
    data, message = REFUSED[case]
    with pytest.raises(DescriptionError, match=message):
        parse_xml(data, 'x')


def test_size_is_limited():
    """Too large input is refused before it is parsed."""
    with pytest.raises(DescriptionError, match='11 bytes; the largest description read is 10'):
        parse_xml('<robot   />', 'x', max_bytes=10)


def numbers(text, count=3, **options):
    """Read the attribute xyz of one element."""
    document = parse_xml(f'<a>\n<origin xyz="{text}"/></a>', 'x')
    return document.numbers(document.root[0], 'xyz', (7.0,) * count, **options)


def test_numbers_are_read():
    """Numbers are split at any white space; a missing attribute or element gives the default."""
    assert numbers(' 1\n\t-2.5e-3  3 ') == [1.0, -2.5e-3, 3.0]
    document = parse_xml('<a/>', 'x')
    assert document.numbers(document.root, 'xyz', (1.0, 2.0)) == [1.0, 2.0]
    assert document.numbers(None, 'xyz', (1.0,)) == [1.0]
    assert numbers('inf', 1, infinite=True) == [float('inf')]


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('1 2', 'xyz="1 2": expected 3 numbers'),
        ('1 2 3 4', 'expected 3 numbers'),
        ('', 'expected 3 numbers'),
        ('1 b 3', "xyz: 'b' is not a number"),
        ('1 1_0 3', "xyz: '1_0' is not a number"),
        ('1 nan 3', "xyz: 'nan' is not a number"),
        ('1 inf 3', "xyz: 'inf' is out of range"),
        ('1 1e300 3', "xyz: '1e300' is out of range"),
    ],
)
def test_bad_numbers_are_refused(text, message):
    """Wrong count, text, NaN, infinity and absurd sizes are refused with line and element."""
    with pytest.raises(DescriptionError, match='x:2: <origin>: ') as caught:
        numbers(text)
    assert message in str(caught.value)
    assert caught.value.line == 2


def test_numbers_in_text_are_read():
    """Numbers that an element has between its tags; an empty one has the default."""
    document = parse_xml('<a><b> 1\n2 </b><c/><d>1 2 3</d></a>', 'x')
    b, c, d = document.root
    assert document.text_numbers(b, (0.0, 0.0)) == [1.0, 2.0]
    assert document.text_numbers(c, (5.0, 6.0)) == [5.0, 6.0]
    assert document.text_numbers(None, (7.0,)) == [7.0]
    with pytest.raises(DescriptionError, match="'1 2 3': expected 2 numbers"):
        document.text_numbers(d, (0.0, 0.0))


@pytest.mark.parametrize(
    'text',
    [
        '<!-- a -- b\n--><a>\n<b/></a>',
        '<a><!--- a\n---><!-- ok -->\n<b/></a>',
        '<!-- licence\n-->\n<?xml version="1.0"?><a><b/></a>',
        '\n\n<?xml version="1.0"?><a><b/></a>',
    ],
)
def test_faults_that_other_parsers_accept_are_repaired(text):
    """Hyphens in comments and a late declaration, which simulators read; lines stay right."""
    line = text[: text.index('<b/>')].count('\n') + 1
    for data in (text, text.encode()):
        document = parse_xml(data, 'x')
        assert document.line(document.root[0]) == line
