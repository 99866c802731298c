// Note when a pointer moved, when the page sent that, when the robot's new place came back and
// when the picture with it was drawn. Runs before anything of the page's own; %LINK% and %DRAWS%
// are put in.
window.bench = {drags: [], pointer: 0, open: null, camera: null, scale: 0, place: null, gl: null};
addEventListener('pointermove', event => { bench.pointer = event.timeStamp; }, true);

const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...about) {
  const made = context.call(this, kind, ...about);
  if (kind === 'webgl2' && !bench.gl) bench.gl = made;
  return made;
};

if (!%DRAWS%) {
  // All is done as ever, but for filling triangles with colour: a graphics card's work.
  for (const name of ['Arrays', 'Elements', 'ArraysInstanced', 'ElementsInstanced'])
    WebGL2RenderingContext.prototype['draw' + name] = () => {};
}

const Plain = Worker;
window.Worker = class extends Plain {
  constructor(...about) {
    super(...about);
    this.addEventListener('message', event => {
      for (const said of event.data.messages || []) {
        if (said.type === 'TransformControlsMessage') bench.scale = said.props.scale;
        if (said.type !== 'SetPositionMessage' || said.name !== '/bodies/%LINK%') continue;
        const moved = bench.place && said.position.some((x, i) => Math.abs(x - bench.place[i]) > 1e-5);
        bench.place = [...said.position];
        if (bench.open && moved && !bench.open.came) bench.open.came = performance.now();
      }
    });
  }
  postMessage(data, ...about) {
    const said = data.type === 'send' ? data.message : {};
    if (said.type === 'ViewerCameraMessage') bench.camera = said;
    if (said.type === 'TransformControlsUpdateMessage' && !bench.open)
      bench.open = {pointer: bench.pointer, sent: performance.now(), came: 0};
    return super.postMessage(data, ...about);
  }
};

const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = work => frame(at => {
  const open = bench.open, came = open && open.came;
  work(at);
  if (!came || bench.open !== open || !bench.gl) return;
  // Waits until all of the picture is drawn.
  bench.gl.readPixels(0, 0, 1, 1, bench.gl.RGBA, bench.gl.UNSIGNED_BYTE, new Uint8Array(4));
  bench.drags.push([open.pointer, open.sent, open.came, performance.now()]);
  bench.open = null;
});
