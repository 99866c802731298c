"""Measured numbers of the pages are those of the kept runs, and the check finds others."""

import pytest

from tools import measured

RUN = 'command: make bench\ndate: 2026-11-23\ncommit: 1a2b3c4\nmachine: 2 cores\n\n'
PAGE = '# Times\n\n<!-- numbers: run -->\n\n`make bench` prints:\n\n'


def check(page, printed='a: 7.62 us, 100.0 %\nb: 31.4 us, 98.1 %\n', head=RUN):
    """Return the problems of one page and one run."""
    return measured.problems({'page.md': page}, {'run': head + printed})


def test_numbers_of_all_pages_are_those_of_the_kept_runs():
    """As by `make numbers`."""
    assert measured.problems(*measured.read()) == []


@pytest.mark.parametrize(
    ('page', 'old', 'new'),
    [
        ('README.md', '| 7.6 | 16.2 |', '| 7.5 | 16.2 |'),
        ('docs/benchmark.md', '| 100.0 % | 7.6 | 52.9 |', '| 100.0 % | 52.9 | 7.6 |'),
        ('docs/benchmark.md', 'This run: 2026-11-22, 2 x', 'This run: 2026-12-22, 2 x'),
        ('docs/methods.md', '62.72 ms', '62.73 ms'),
        ('docs/reach.md', 'takes two seconds', 'takes three seconds'),
        ('docs/viewer.md', '| 34.9 | 55.5 |', '| 34.8 | 55.5 |'),
    ],
)
def test_changed_number_of_a_page_is_found(page, old, new):
    """The check names the line."""
    pages, runs = measured.read()
    assert pages[page].count(old) == 1
    line = pages[page][: pages[page].index(old)].count('\n') + 1
    (found,) = measured.problems({**pages, page: pages[page].replace(old, new)}, runs)
    name, at, _ = found.split(':', 2)
    assert name == page
    assert line - 6 <= int(at) <= line, 'a paragraph is named by its first line'


@pytest.mark.parametrize(
    'claim',
    [
        *('It takes 5 ms.', 'two to three seconds', 'A file of 1.5 MB.', '3 % fewer', 'In us:'),
        *('1.1 and 1.2 times as fast', 'twice as fast', '```\nall: 7 minutes\n```'),
        '| | median, us |\n|---|---|\n| arm | 7.6 |',
    ],
)
def test_claim_without_a_run_is_found(claim):
    """Also below the next heading, where the comment ends."""
    page = f'{PAGE}It takes 31.4 us.\n\n## Next\n\n'
    (found,) = check(page + claim)
    assert 'no <!-- numbers: ... --> above' in found
    assert check(f'{page}<!-- numbers: not measured (limits) -->\n{claim}') == []


@pytest.mark.parametrize(
    ('text', 'right'),
    [
        *(('7.6 us', True), ('7.62 us', True), ('8 us', True), ('7.7 us', False)),
        *(('| b | 31 | 98.1 % |', True), ('| b | 31 | 100 % |', False)),
        *(('98 % in 8 us', True), ('0.0314 ms', False), ('It is 31.4', True), ('31.5', False)),
    ],
)
def test_number_is_compared_as_it_is_rounded(text, right):
    """A row of a table has the numbers of one line of the run; a sentence those of any line."""
    assert (check(PAGE + text) == []) == right


@pytest.mark.parametrize(
    ('found', 'problem'),
    [
        (check(PAGE.replace('make', 'do') + '8 us'), 'the command of run is missing: make bench'),
        (check(PAGE.replace('run', 'other') + '8 us'), 'no kept run other'),
        (check('no claim'), 'no page names this run'),
        (check(PAGE + '8 us', head=RUN.replace('machine', 'place')), 'no line machine:'),
        (check(PAGE.replace('run', 'test/none.py') + '8 us'), 'no test test/none.py'),
    ],
)
def test_missing_command_run_page_or_test_is_found(found, problem):
    """Each has a line of its own."""
    assert any(problem in line for line in found)


def test_run_is_kept_with_its_date_and_output(tmp_path, monkeypatch):
    """The command stays, all else is new; it does not know that a make runs above it."""
    monkeypatch.setattr(measured, 'KEPT', tmp_path)
    monkeypatch.setenv('MAKELEVEL', '1')
    (tmp_path / 'run.txt').write_text('command: echo ${MAKELEVEL}5 us\n')
    measured.keep(['run'])
    text = (tmp_path / 'run.txt').read_text()
    assert text.endswith('\n\n5 us\n')
    assert list(measured.head(text)) == ['command', 'date', 'commit', 'machine']
