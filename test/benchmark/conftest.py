"""The benchmark's files are scripts that import each other by name."""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[2] / 'benchmark'))
