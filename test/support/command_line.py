"""Inspection of the output of commands."""


def refusal(capsys):
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.count('\n') == 1
    return captured.err
