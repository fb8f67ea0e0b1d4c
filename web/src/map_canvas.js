// Points and lines on a canvas, by WebGL 2. Pan by dragging, zoom by wheel or pinch; hits by a grid.
const POINT = `#version 300 es
in vec2 place; in vec4 colour; in float size;
uniform vec2 centre; uniform vec2 scale; uniform float zoom;
out vec4 tint;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  gl_PointSize = clamp(size * zoom, 1.5, 40.0);
  tint = colour;
}`;
const DOT = `#version 300 es
precision mediump float; in vec4 tint; out vec4 paint;
void main() {
  float far = length(gl_PointCoord - 0.5);
  if (far > 0.5) discard;
  paint = vec4(tint.rgb, tint.a * smoothstep(0.5, 0.42, far));
}`;
const END = `#version 300 es
in vec2 place; uniform vec2 centre; uniform vec2 scale;
void main() { gl_Position = vec4((place - centre) * scale, 0.0, 1.0); }`;
const LINE = `#version 300 es
precision mediump float; uniform vec4 tint; out vec4 paint;
void main() { paint = tint; }`;
const SLOW = 100; // milliseconds of a first frame, from which on lines at rest are left out

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return made;
}

export class MapCanvas {
  constructor(canvas, { positions, marks, edges, extent, colourOf, ink, onHover, onPick, onSlow }) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("This browser has no WebGL 2; sumi map export --format html draws the map without it.");
    Object.assign(this, { canvas, gl, positions, marks, extent, colourOf, ink, onHover, onPick });
    this.nodes = positions.length / 2;
    this.centre = [0, 0];
    this.chosen = [];
    this.way = [];
    this.dots = program(gl, POINT, DOT);
    this.lines = program(gl, END, LINE);
    this.buffers = { place: this.buffer(positions), colour: gl.createBuffer(), size: gl.createBuffer() };
    this.rest = { buffer: this.buffer(this.ends(edges)), count: edges.length };
    this.near = { buffer: gl.createBuffer(), count: 0 };
    this.path = { buffer: gl.createBuffer(), count: 0 };
    this.recolour();
    this.grid();
    this.fit();
    this.listen();
    const began = performance.now();
    this.paint();
    gl.finish();
    if (performance.now() - began > SLOW && this.rest.count) {
      this.rest.count = 0;
      onSlow();
    }
    this.draw();
  }

  buffer(data, at = this.gl.createBuffer()) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, at);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STATIC_DRAW);
    return at;
  }

  ends(pairs) {
    const places = new Float32Array(pairs.length * 2);
    for (let i = 0; i < pairs.length; i += 1) {
      places[2 * i] = this.positions[2 * pairs[i]];
      places[2 * i + 1] = this.positions[2 * pairs[i] + 1];
    }
    return places;
  }

  recolour() {
    const colours = new Uint8Array(this.nodes * 4);
    const sizes = new Float32Array(this.nodes);
    for (let i = 0; i < this.nodes; i += 1) {
      colours.set(this.colourOf(this.marks[i] & 0xffff, (this.marks[i] >>> 16) & 0xff), 4 * i);
      sizes[i] = 0.85 + (this.marks[i] >>> 24) / 110;
    }
    this.buffer(colours, this.buffers.colour);
    this.buffer(sizes, this.buffers.size);
  }

  grid() {
    this.cell = Math.max(2, (2 * this.extent) / 512);
    this.cells = new Map();
    for (let i = 0; i < this.nodes; i += 1) {
      const key = this.key(this.positions[2 * i], this.positions[2 * i + 1]);
      const list = this.cells.get(key);
      if (list) list.push(i);
      else this.cells.set(key, [i]);
    }
  }

  key(x, y) {
    return Math.floor(x / this.cell) * 4096 + Math.floor(y / this.cell);
  }

  fit() {
    const box = this.canvas.getBoundingClientRect();
    this.scale = Math.min(box.width, box.height) / (2.1 * this.extent || 1); // pixels of the page for 1
    this.centre = [0, 0];
    this.draw();
  }

  show(node, scale = Math.max(this.scale, 14)) {
    this.centre = [this.positions[2 * node], this.positions[2 * node + 1]];
    this.scale = scale;
    this.draw();
  }

  mark(node, neighbours) {
    this.chosen = node === null ? [] : [node];
    const pairs = new Uint32Array(neighbours.flatMap((other) => [node, other]));
    this.buffer(this.ends(pairs), this.near.buffer);
    this.near.count = pairs.length;
    this.draw();
  }

  follow(nodes) {
    const pairs = new Uint32Array(nodes.slice(1).flatMap((node, i) => [nodes[i], node]));
    this.buffer(this.ends(pairs), this.path.buffer);
    this.path.count = pairs.length;
    if (nodes.length) this.frame(nodes);
    this.draw();
  }

  // All of these in sight, with some room around them.
  frame(nodes) {
    const across = (offset) => nodes.map((node) => this.positions[2 * node + offset]);
    const [xs, ys] = [across(0), across(1)];
    const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const box = this.canvas.getBoundingClientRect();
    this.centre = [(left + right) / 2, (bottom + top) / 2];
    this.scale = Math.min(40, box.width / (1.2 * (right - left) + 10), box.height / (1.2 * (top - bottom) + 10));
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [this.centre[0] + (event.clientX - box.left - box.width / 2) / this.scale, this.centre[1] - (event.clientY - box.top - box.height / 2) / this.scale];
  }

  hit([x, y]) {
    const reach = Math.max(0.9, 9 / this.scale);
    let best = null;
    let least = reach;
    for (let dx = -1; dx <= 1; dx += 1) {
      for (let dy = -1; dy <= 1; dy += 1) {
        for (const i of this.cells.get(this.key(x + dx * this.cell, y + dy * this.cell)) ?? []) {
          const far = Math.hypot(this.positions[2 * i] - x, this.positions[2 * i + 1] - y);
          if (far < least) [best, least] = [i, far];
        }
      }
    }
    return best;
  }

  listen() {
    let dragged = null;
    let moved = 0;
    this.canvas.addEventListener("pointerdown", (event) => {
      dragged = [event.clientX, event.clientY];
      moved = 0;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!dragged) return this.onHover(this.hit(this.place(event)), event);
      const [dx, dy] = [event.clientX - dragged[0], event.clientY - dragged[1]];
      moved += Math.abs(dx) + Math.abs(dy);
      dragged = [event.clientX, event.clientY];
      this.centre = [this.centre[0] - dx / this.scale, this.centre[1] + dy / this.scale];
      return this.draw();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      dragged = null;
      if (moved < 5) this.onPick(this.hit(this.place(event)));
    });
    this.canvas.addEventListener("pointerleave", (event) => this.onHover(null, event));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0016), this.place(event));
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => {
      const step = 60 / this.scale;
      const move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
      if (move) this.centre = [this.centre[0] + move[0], this.centre[1] + move[1]];
      else if (event.key === "+" || event.key === "=") return this.zoom(1.4, this.centre);
      else if (event.key === "-") return this.zoom(1 / 1.4, this.centre);
      else if (event.key === "0") return this.fit();
      else return undefined;
      event.preventDefault();
      return this.draw();
    });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
  }

  zoom(by, [x, y]) {
    const scale = Math.min(200, Math.max(0.05, this.scale * by));
    const share = this.scale / scale;
    this.centre = [x + (this.centre[0] - x) * share, y + (this.centre[1] - y) * share];
    this.scale = scale;
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const { gl, canvas } = this;
    const box = canvas.getBoundingClientRect();
    const dense = Math.min(2, devicePixelRatio || 1);
    const [width, height] = [Math.round(box.width * dense), Math.round(box.height * dense)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const scale = [(2 * this.scale) / (box.width || 1), (2 * this.scale) / (box.height || 1)];
    const faint = Math.min(0.25, Math.max(0.02, 60 / Math.sqrt(this.rest.count + 1) / 10));
    this.segments(this.rest, [...this.ink, faint], scale);
    this.segments(this.near, [0.25, 0.45, 1, 0.75], scale);
    this.points(scale, this.scale * dense);
    this.segments(this.path, [0.95, 0.35, 0.1, 1], scale);
  }

  segments({ buffer, count }, tint, scale) {
    if (!count) return;
    const { gl } = this;
    gl.useProgram(this.lines);
    gl.uniform2fv(gl.getUniformLocation(this.lines, "centre"), this.centre);
    gl.uniform2fv(gl.getUniformLocation(this.lines, "scale"), scale);
    gl.uniform4fv(gl.getUniformLocation(this.lines, "tint"), tint);
    this.attribute(this.lines, "place", buffer, 2, gl.FLOAT, false);
    gl.drawArrays(gl.LINES, 0, count);
  }

  points(scale, zoom) {
    const { gl } = this;
    gl.useProgram(this.dots);
    gl.uniform2fv(gl.getUniformLocation(this.dots, "centre"), this.centre);
    gl.uniform2fv(gl.getUniformLocation(this.dots, "scale"), scale);
    gl.uniform1f(gl.getUniformLocation(this.dots, "zoom"), zoom);
    this.attribute(this.dots, "place", this.buffers.place, 2, gl.FLOAT, false);
    this.attribute(this.dots, "colour", this.buffers.colour, 4, gl.UNSIGNED_BYTE, true);
    this.attribute(this.dots, "size", this.buffers.size, 1, gl.FLOAT, false);
    gl.drawArrays(gl.POINTS, 0, this.nodes);
  }

  attribute(of, name, buffer, parts, type, normal) {
    const { gl } = this;
    const at = gl.getAttribLocation(of, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, parts, type, normal, 0, 0);
  }

  picture() {
    this.paint();
    return this.canvas.toDataURL("image/png");
  }

  close() {
    this.observer.disconnect();
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
