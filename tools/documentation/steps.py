"""The steps of a tutorial: files to save, commands to run, and code with its output."""

from __future__ import annotations

from dataclasses import dataclass
import re

# The tutorials of the library are notebooks, too; another one needs ROS 2 and RViz.
NOTEBOOKS = ('first_loop', 'cad_export', 'real_motors', 'ankle', 'around_an_obstacle')

SAVED = re.compile(r'[Ss]ave (?:this |the mended file )?as\s+`([\w.]+)`[^`]*$')
FENCE = re.compile(r'^```(\w+)\n(.*?)^```$', flags=re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """
    A part of a tutorial.

    Attributes
    ----------
    kind : str
        'words', 'file', 'command', 'code' or 'shell'. A command is run and its output compared; a
        shell block is for the reader only, because it installs, or runs until it is stopped.
    text : str
        The words, the content of the file, the command without its prompt, or the code.
    name : str
        Of the file.
    output : str
        What the command or the code prints.

    """

    kind: str
    text: str
    name: str = ''
    output: str = ''


def steps_of(page: str) -> list[Step]:
    """Return the steps of a page in Markdown."""
    steps: list[Step] = []
    end = 0
    for block in FENCE.finditer(page):
        words = page[end : block.start()].strip()
        end = block.end()
        language, text = block[1], block[2]
        if words:
            steps.append(Step('words', words))
        if language == 'text' and not words and steps and steps[-1].kind == 'code':
            steps[-1] = Step('code', steps[-1].text, output=text)
        elif language == 'python':
            steps.append(Step('code', text))
        elif language == 'console':
            command, _, output = text.removeprefix('$ ').partition('\n')
            steps.append(Step('command', command, output=output))
        elif language == 'bash':
            steps.append(Step('shell', text))
        elif saved := SAVED.search(words):
            steps.append(Step('file', text, name=saved[1]))
        else:
            raise ValueError(f'a block of {language} is neither output nor a file to save: {text}')
    if page[end:].strip():
        steps.append(Step('words', page[end:].strip()))
    return steps
