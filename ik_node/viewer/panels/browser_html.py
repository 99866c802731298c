"""Style and script that the page adds to viser's client."""

from __future__ import annotations

from html import escape

# Keys with which viser's client moves the camera at 2 m/s, which is too fast for most robots. Some
# of them have another function here. The script stops them before viser's listeners see them.
FLIGHT = ('KeyW', 'KeyA', 'KeyS', 'KeyD', 'KeyQ', 'KeyE')
# The page's own commands, which the script triggers with these keys and all modifiers, because a
# command tells the server which browser it comes from.
DARK_KEY, LIGHT_KEY = 'D', 'L'
HELD = 'cmd/ctrl+alt+shift'

SLOW = 'no graphics card: switch off shadows (View)'

_STYLE = """
canvas[data-engine]{background:linear-gradient(#e4eaf2,#f6f8fa 55%,#eceff3)}
[data-mantine-color-scheme=dark] canvas[data-engine]{
  background:linear-gradient(#1d2128,#2b313a 55%,#23282f)}
#root [style*="letter-spacing"],#root input,#root button{letter-spacing:normal!important}
#root .mantine-NumberInput-root[style*="3rem"]{width:4.2rem!important}
#root [role=tab]{padding-inline:0.65em!important}
#root .mantine-Text-root:has(>label){color:inherit!important;opacity:.85}
body:has([data-expanded]) [role=tooltip]{display:none!important}
/* Over viser's second canvas, which is empty, the panel and its shadow would be layers of their
   own, a quarter of the time of a frame where no graphics card composes them. */
[data-dock-region=right]{z-index:0!important;border-left:1px solid #8884}
div:has(+[data-dock-region=right]){display:none!important}
"""

_SCRIPT = """
const root=document.documentElement;
const ask=key=>root.dispatchEvent(new KeyboardEvent('keydown',{key:key,code:'Key'+key,
  ctrlKey:true,altKey:true,shiftKey:true}));
const dark=matchMedia('(prefers-color-scheme: dark)');
if(!window.ikNode){
  window.ikNode=true;
  // Without it, a phone's layout grows when a list opens, and that closes the list.
  document.querySelector('meta[name=viewport]').content+=', minimum-scale=1';
  root.addEventListener('keydown',e=>{
    if(%FLIGHT%.includes(e.code)&&!e.altKey)e.stopPropagation();
  });
  dark.addEventListener('change',()=>ask(dark.matches?'%DARK%':'%LIGHT%'));
  // viser's client reconnects only while the page has the focus. This page is often seen beside a
  // terminal that has it, so a visible page counts as one with the focus.
  document.hasFocus=()=>!document.hidden;
  document.addEventListener('visibilitychange',
    ()=>window.dispatchEvent(new Event(document.hidden?'blur':'focus')));
}
let tries=0;
const is=()=>root.getAttribute('data-mantine-color-scheme')==='dark';
const timer=setInterval(()=>{
  if(is()||!dark.matches||++tries>40)clearInterval(timer);else ask('%DARK%');},250);
// viser's warning of slow drawing would lie on the robot, so the panel says it instead.
let looks=0;
const slow=setInterval(()=>{
  const warning=[...document.querySelectorAll('.mantine-Notification-root')].find(
    e=>e.textContent.includes('Software WebGL'));
  if(warning){this.nextElementSibling.style.display='block';
    warning.querySelector('button').click();}
  if(warning||++looks>100)clearInterval(slow);},100);
if(matchMedia('(max-width: 36em)').matches){
  const sheet=this.closest('.mantine-Paper-root');
  if(sheet&&!window.ikNodeSheet){
    window.ikNodeSheet=true;
    const handle=[...sheet.querySelectorAll('div')].find(
      e=>e.style.cursor==='pointer'&&e.style.height==='3.5em');
    sheet.style.width='100%';sheet.style.maxHeight='33%';
    if(handle){handle.parentElement.style.width='100vw';handle.click();}
    // The view ends where the sheet begins.
    new ResizeObserver(()=>{const canvas=document.querySelector('canvas[data-engine]');
      if(canvas)canvas.parentElement.parentElement.parentElement.style.height=
        'calc(100% - '+sheet.offsetHeight+'px)';}).observe(sheet);
  }
}
"""


def browser_html() -> str:
    """
    Return HTML with the style and the script of the page.

    The script stops viser's flight keys, follows the dark mode of the system, lets a visible page
    without the focus reconnect, keeps the layout of a phone at its width, closes the sheet
    of panels there and fits the view above it, and moves viser's warning of slow drawing.
    """
    script = _SCRIPT
    for word, value in (('FLIGHT', str(list(FLIGHT))), ('DARK', DARK_KEY), ('LIGHT', LIGHT_KEY)):
        script = script.replace(f'%{word}%', value)
    return (
        f'<style>{_STYLE}</style>'
        f'<img alt="" src="data:," style="display:none" onerror="{escape(script)}">'
        f'<div style="display:none;padding:4px 10px 0;font-size:0.8em;opacity:0.8">{SLOW}</div>'
    )


def label_style(colour: str) -> str:
    """Return HTML with a style that puts a dot of a colour before the title of the panel."""
    title = '#root [style*="letter-spacing"][style*="ellipsis"]'
    dot = f'{title}::before{{content:"\\25cf  ";color:{colour}}}' if colour else ''
    # A long state has two lines.
    lines = 'line-height:1.2!important;max-height:2.4em;white-space:normal!important'
    return f'<style>{title}{{font-size:0.9em;{lines}}}{dot}</style>'
