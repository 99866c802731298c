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
