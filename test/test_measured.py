"""Pages show the kept runs of benchmarks as they are."""

from tools import measured


def test_pages_have_the_text_of_the_kept_runs():
    """`tools/measured.py` changes no page."""
    for path in measured.pages():
        assert measured.written(path.read_text()) == path.read_text(), path.name


def test_every_kept_run_is_on_a_page_with_command_date_and_machine():
    """A run that no page shows is removed."""
    named = {
        name for path in measured.pages() for name in measured.BLOCK.findall(path.read_text())
    }
    assert named == {path.stem for path in measured.KEPT.glob('*.txt')}
    for path in measured.KEPT.glob('*.txt'):
        facts = measured.head(path.read_text())
        assert all(facts.get(key) for key in measured.HEAD), path.name


def test_rows_of_tasks_are_those_of_the_kept_run():
    """Other rows and other numbers are replaced."""
    page = '<!-- tasks: compare legs60 -->\n| 1 | 2 |\n<!-- end of tasks -->'
    assert '| 60 legs, pose from home | 137.6 | 1983.2 | placo loop |' in measured.written(page)
