"""Settings of Sphinx for the documentation site: `make docs`."""

from pathlib import Path
import re
import shutil
import sys

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from ik_node import __version__  # noqa: E402

from tools.documentation.pages import navigation, SITE_PAGES, write_pages  # noqa: E402
from tools.documentation.steps import NOTEBOOKS  # noqa: E402

project = 'ik_node'
author = 'The ik_node maintainers'
copyright = author  # noqa: A001
version = release = __version__

extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon', 'sphinx_copybutton']
source_suffix = {'.md': 'markdown', '.rst': 'restructuredtext'}
# `status` in a docstring may be that of several classes: it is then no link.
suppress_warnings = ['ref.python']

# Pages are also read on a forge, which links to headings by the same names.
myst_enable_extensions = ['dollarmath']
myst_heading_anchors = 4

# Docstrings are in the style of NumPy; :ivar: lists attributes without a second entry each.
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
autodoc_typehints = 'none'
autodoc_member_order = 'bysource'
autodoc_default_options = {'members': True}

html_theme = 'furo'
html_math_renderer = 'mathml'
html_title = 'ik_node'
html_show_sourcelink = False
html_show_copyright = False
html_static_path = ['site']
html_css_files = ['site.css']
html_search_scorer = str(DOCS / 'site' / 'scorer.js')
# Prompts and output are not copied with a command.
copybutton_prompt_text = '$ '
copybutton_only_copy_prompt_lines = True

# What people search for, and the page that answers it, which is then the first result.
SEARCHES = {
    'bring_your_robot': ('hinge', 'loop joint', 'mimic'),
    'cookbook': ('jacobian', 'rest pose', 'initial guess', 'lock a joint'),
    'gallery': ('two arms', 'hexapod', 'humanoid'),
    'glossary': ('quaternion order', 'quaternion', 'euler angles', 'units'),
    'transmission': ('transmission',),
    'tuning': ('troubleshooting', 'nothing moves', 'stalled'),
}

write_pages(DOCS / 'generated')


def mathml(text, block):
    """Return a formula as MathML, which browsers show without a script; its tag follows."""
    tag = re.search(r'\\tag\{(.*?)\}', text)
    # docutils knows these macros under another name.
    text = re.sub(r'\\tag\{.*?\}', '', text)
    number = f'<span class="formula-number">({tag.group(1)})</span>' if tag else ''
    # The brace of cases is as high as its rows.
    formula = tex2mathml(text, as_block=block)
    formula = re.sub(r'<mo[^>]*>\{</mo>(?=\s*<mtable)', '<mo stretchy="true">{</mo>', formula)
    return formula + number


def visit_math(self, node):
    """Write a formula within a line."""
    self.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_math_block(self, node):
    """Write a formula of its own."""
    self.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def link_to_site(app, name, source):
    """Replace links to files beside docs/, which have pages of their own on the site."""
    above = '../' * name.count('/')
    for link, page in SITE_PAGES.items():
        source[0] = source[0].replace(f'](../{above}{link})', f']({above}generated/{page})')
    for words in SEARCHES.get(name, ()):
        source[0] += f'\n```{{index}} ! single: {words}\n```\n'
    if name == 'index':
        source[0] = navigation(source[0])
    if name.removeprefix('tutorials/') in NOTEBOOKS:
        title, _, rest = source[0].partition('\n')
        file = f'../notebooks/{name.removeprefix("tutorials/")}.ipynb'
        note = f'<p class="notebook"><a href="{file}" download>This tutorial as a notebook</a></p>'
        source[0] = f'{title}\n\n{note}\n{rest}'
    if name == 'decisions/README':
        source[0] += '\n```{toctree}\n:hidden:\n:glob:\n0*\n```\n'


def copy_pictures(app, error):
    """Copy the pictures that HTML within a page names, which Sphinx does not see."""
    if error is None and app.builder.format == 'html':
        shutil.copytree(DOCS / 'gallery', Path(app.outdir) / 'gallery', dirs_exist_ok=True)


def setup(app):
    """Register the functions above."""
    app.add_html_math_renderer('mathml', (visit_math, None), (visit_math_block, None))
    app.connect('source-read', link_to_site)
    app.connect('build-finished', copy_pictures)
