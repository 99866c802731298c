"""
Feed every reader with mutations of its seeds by atheris; `tools/fuzz.sh` runs it.

    python test/fuzz/drill_fuzz.py DIALECT RUNS

Inputs that break a reader are stored in test/fuzz/failures/, where a test reads them from then on.
"""

from collections import Counter
from pathlib import Path
import random
import re
import sys
import tempfile

REPOSITORY = Path(__file__).resolve().parents[2]
SEEDS = REPOSITORY / 'test' / 'fuzz' / 'seeds'
REPORT = 1000  # inputs from one line of progress to the next
TOKEN = re.compile(r'[\w.-]+|\s+|[^\w\s]')
ODD = [
    *('nan', 'inf', '-inf', '1e400', '1e-400', '0', '-1', '9' * 400, '0x1', '1_0', 'é', '\x00'),
    *('<', '>', '/>', '<!--', '-->', '<![CDATA[', '&amp;', '&x;', '"', "'", '\t', '\n', '~'),
    *('&a ', '*a', '!!binary ', '? ', ': ', '{', '[', '|', '%', '2001-01-01', '.nan', '<<'),
    *('floating', 'planar', 'fixed', 'ball', 'world', 'true', 'null', '1e12', '1e13', '1e-12'),
]


class Mutator:
    """A mutator of tokens, which sometimes mutates bytes like libFuzzer."""

    def __init__(self, dialect, atheris):
        self._atheris = atheris  # its Mutate is another one once fuzzing begins
        texts = [path.read_text() for path in sorted(SEEDS.iterdir())]
        own = (SEEDS / dialect).read_text()
        self._tokens = sorted({token for text in [*texts, own] for token in TOKEN.findall(text)})
        self._own = own
        self._kinds = {
            kind: [token for token in self._tokens if kind_of(token) == kind]
            for kind in ('number', 'word', 'space', 'sign')
        }

    def __call__(self, data, max_size, seed):
        dice = random.Random(seed)
        if dice.random() < 0.1:
            return self._atheris.Mutate(data, max_size)
        text = data.decode('utf-8', 'replace') if dice.random() < 0.4 else self._own
        tokens = TOKEN.findall(text) or [self._own]
        for _ in range(dice.choice((1, 1, 2, 3))):
            at = dice.randrange(len(tokens))
            end = min(len(tokens), at + dice.randint(1, 60))
            kind = dice.randrange(8)
            if kind < 4:
                tokens[at] = self._other(tokens[at], dice)
            elif kind == 4:
                tokens[at] = ''
            elif kind == 5:
                tokens.insert(at, self._other(tokens[at], dice))
            elif kind == 6:
                tokens[at:at] = tokens[at:end]
            else:
                del tokens[at:end]
            tokens = tokens or [self._own]
        return ''.join(tokens).encode('utf-8', 'replace')[:max_size]

    def _other(self, token, dice):
        if dice.random() < 0.15:
            return dice.choice(ODD)
        return dice.choice(self._kinds[kind_of(token)] if dice.random() < 0.8 else self._tokens)


def kind_of(token):
    if re.fullmatch(r'[-+.\d]+', token):
        return 'number'
    return 'word' if token[:1].isalnum() else 'space' if token.isspace() else 'sign'


def main():
    sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / '.venvs' / 'atheris')]
    import atheris

    with atheris.instrument_imports(include=['ik_node.description']):
        from judging import FAILURES, judge

    dialect, runs = sys.argv[1], int(sys.argv[2])
    seed = SEEDS / dialect
    judge(dialect, seed.read_bytes())  # imports take longer than any input may
    seen = Counter()

    def one(data):
        seen[judge(dialect, data)] += 1
        if sum(seen.values()) % REPORT == 0:
            print(f'{sum(seen.values())} inputs, {seen[True]} of them robots', flush=True)

    with tempfile.TemporaryDirectory() as corpus:
        (Path(corpus) / dialect).write_bytes(seed.read_bytes())
        words = ['fuzz', f'-runs={runs}', '-max_len=20000', '-timeout=20', '-rss_limit_mb=0']
        words += [f'-artifact_prefix={FAILURES}/{dialect}-', '-verbosity=0', corpus]
        atheris.Setup(words, one, custom_mutator=Mutator(dialect, atheris))
        atheris.Fuzz()


if __name__ == '__main__':
    main()
