"""Every fault in faults.txt is refused with its line, and the error names what was found."""

from pathlib import Path

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError, IkError, TopologyError, UnsupportedElementError
import pytest

TYPES = {'': DescriptionError, '!': UnsupportedElementError, 'T': TopologyError}
_, *SECTIONS = (Path(__file__).parent / 'faults.txt').read_text().split('\n== ')


@pytest.mark.parametrize('section', SECTIONS, ids=[each.partition('\n')[0] for each in SECTIONS])
def test_faults_are_refused_with_their_lines_and_names(section):
    """The type of each error is exact, and its message names what was found."""
    title, base, *rows = section.rstrip().replace('\\n', '\r').split('\n')
    for row in rows:
        where, names, text = row.replace('\r', '\n').split(' | ', 2)
        base, line = base.replace('\r', '\n'), where.rstrip('!T')
        old, change, new = text.partition(' => ')
        source = base.replace(old, new, 1) if change else base.replace('@', text)
        closures = text if title.endswith(' closures') else None
        with pytest.raises(IkError) as caught:
            read_description(base if closures else source, closures=closures)
        assert type(caught.value) is TYPES[where[len(line) :]], row
        assert str(getattr(caught.value, 'line', None) or '-') == line, row
        assert [name for name in names.split() if name not in str(caught.value)] == [], row
