"""A button that puts a text on the clipboard."""

from __future__ import annotations

from html import escape

_PRESS = (
    "const t=this.parentElement.querySelector('textarea');t.select();"
    'if(navigator.clipboard&&window.isSecureContext)navigator.clipboard.writeText(t.value);'
    "else document.execCommand('copy');const b=this;b.textContent='Copied';"
    "setTimeout(()=>{b.textContent='Copy'},1200);"
)


def copy_html(text: str, name: str) -> str:
    """
    Return the text in a box with a button.

    Parameters
    ----------
    text : str
        To be copied.
    name : str
        What it is.

    """
    lines = min(12, text.count('\n') + 1)
    return (
        '<div style="padding:2px 10px">'
        f'<div style="font-size:0.85em">{escape(name)}</div>'
        f'<textarea readonly rows="{lines}" aria-label="{escape(name)}" '
        f'style="width:100%;font-family:monospace;font-size:0.8em">{escape(text)}</textarea>'
        f'<button type="button" onclick="{escape(_PRESS)}" style="padding:2px 12px">Copy</button>'
        '</div>'
    )
