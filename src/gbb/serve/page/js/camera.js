// Pan and zoom of a canvas: by pointer, wheel, two fingers and keys.

const CLOSEST = 60;

export class Camera {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    [this.x, this.y, this.zoom] = [0, 0, 1];
    this.fingers = new Map();
    this.moved = 0;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
  }

  // The whole of some places in view.
  fit(place, wide, high) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < place.length; at += 2) {
      left = Math.min(left, place[at]);
      right = Math.max(right, place[at]);
      top = Math.min(top, place[at + 1]);
      bottom = Math.max(bottom, place[at + 1]);
    }
    if (!(left <= right)) return;
    const [room, label] = [28, 16]; // names stand below their agents
    const across = (wide - 2 * room) / (right - left || 1);
    const along = (high - 2 * room - label) / (bottom - top || 1);
    this.zoom = Math.min(across, along, 140);
    this.base = this.zoom;
    this.x = wide / 2 - (this.zoom * (left + right)) / 2;
    this.y = (high - label) / 2 - (this.zoom * (top + bottom)) / 2;
    this.changed();
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.changed();
  }

  by(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const to = Math.min(this.base * CLOSEST, Math.max(this.base / 4, this.zoom * factor));
    const real = to / this.zoom;
    this.x = x - (x - this.x) * real;
    this.y = y - (y - this.y) * real;
    this.zoom = to;
    this.changed();
  }

  // To the middle of the canvas, near enough to read.
  centre(x, y, near = 0) {
    this.zoom = Math.max(this.zoom, near);
    this.x = this.canvas.clientWidth / 2 - this.zoom * x;
    this.y = this.canvas.clientHeight / 2 - this.zoom * y;
    this.changed();
  }

  // Without Ctrl the wheel scrolls the page, unless the picture was chosen first.
  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.by(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    if (!this.fingers.size) this.moved = 0;
    this.fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  }

  move(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    this.moved += Math.abs(dx) + Math.abs(dy);
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.fingers.set(event.pointerId, now);
    if (!other) return this.pan(dx, dy);
    const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
    this.by(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  key(event) {
    const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (steps[event.key]) this.pan(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.by(1.25);
    else if (event.key === "-") this.by(0.8);
    else return false;
    event.preventDefault();
    return true;
  }
}
