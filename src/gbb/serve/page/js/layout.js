// Where agents stand: distances to a few pivots give the shape of the whole (pivot scaling), then
// springs and repulsion spread it. Nothing is random, so the same graph always looks the same.

const PIVOTS = 24;

export function layout(n, edges, start = null) {
  const near = neighbours(n, edges);
  const place = start ?? scale(n, near);
  const steps = start ? 30 : n <= 200 ? 250 : n <= 1500 ? 60 : 40;
  return relax(n, edges, place, steps, start ? 0.15 : 1);
}

function neighbours(n, edges) {
  const near = Array.from({ length: n }, () => []);
  for (const [i, j] of edges) {
    near[i].push(j);
    near[j].push(i);
  }
  return near;
}

function distances(from, near) {
  const far = new Float64Array(near.length).fill(-1);
  far[from] = 0;
  const queue = [from];
  for (let head = 0; head < queue.length; head += 1) {
    for (const j of near[queue[head]]) {
      if (far[j] >= 0) continue;
      far[j] = far[queue[head]] + 1;
      queue.push(j);
    }
  }
  const apart = far[queue.at(-1)] + 2;
  return far.map((d) => (d < 0 ? apart : d));
}

function scale(n, near) {
  const columns = [];
  const least = new Float64Array(n).fill(Infinity);
  for (let pivot = 0, p = 0; p < Math.min(PIVOTS, n); p += 1) {
    const far = distances(pivot, near);
    columns.push(far);
    for (let i = 0; i < n; i += 1) least[i] = Math.min(least[i], far[i]);
    pivot = least.indexOf(Math.max(...least));
  }
  const k = columns.length;
  const square = columns.map((far) => far.map((d) => -0.5 * d * d));
  const row = new Float64Array(n);
  for (const column of square) for (let i = 0; i < n; i += 1) row[i] += column[i] / k;
  const all = row.reduce((sum, x) => sum + x, 0) / n;
  for (const column of square) {
    const mean = column.reduce((sum, x) => sum + x, 0) / n;
    for (let i = 0; i < n; i += 1) column[i] += all - mean - row[i];
  }
  const gram = square.map((a) => square.map((b) => a.reduce((sum, x, i) => sum + x * b[i], 0)));
  const first = power(gram, null);
  const second = power(gram, first);
  return Float64Array.from({ length: 2 * n }, (_, at) => {
    const axis = at % 2 ? second : first;
    const turn = 2.399963 * (at >> 1); // a small spiral parts agents that look alike from every pivot
    return square.reduce(
      (sum, column, c) => sum + column[at >> 1] * axis[c],
      0.01 * (at % 2 ? Math.sin(turn) : Math.cos(turn)),
    );
  });
}

function power(matrix, without) {
  const k = matrix.length;
  let v = Float64Array.from({ length: k }, (_, i) => 1 + ((i * 7) % 5) / 5);
  for (let step = 0; step < 60; step += 1) {
    if (without) {
      const along = v.reduce((sum, x, i) => sum + x * without[i], 0);
      v = v.map((x, i) => x - along * without[i]);
    }
    const next = matrix.map((line) => line.reduce((sum, x, i) => sum + x * v[i], 0));
    const norm = Math.hypot(...next) || 1;
    v = Float64Array.from(next, (x) => x / norm);
  }
  return v;
}

// Springs of length one along the links, and repulsion from whoever stands within REACH.
const REACH = 3;
const CROWD = 24;

function relax(n, edges, place, steps, heat) {
  stretch(n, edges, place);
  const ends = Int32Array.from(edges.flatMap(([i, j]) => [i, j]));
  const force = new Float64Array(2 * n);
  for (let step = 0; step < steps; step += 1) {
    force.fill(0);
    repel(n, place, force);
    for (let e = 0; e < ends.length; e += 2) pull(force, place, ends[e], ends[e + 1]);
    const most = heat * (0.02 + 0.6 * (1 - step / steps));
    for (let i = 0; i < n; i += 1) {
      const size = Math.sqrt(force[2 * i] ** 2 + force[2 * i + 1] ** 2) || 1;
      const move = Math.min(size, most) / size;
      place[2 * i] += force[2 * i] * move;
      place[2 * i + 1] += force[2 * i + 1] * move;
    }
  }
  return place;
}

function pull(force, place, i, j) {
  const dx = place[2 * j] - place[2 * i];
  const dy = place[2 * j + 1] - place[2 * i + 1];
  const d = Math.sqrt(dx * dx + dy * dy) || 1e-6;
  const by = (0.35 * (d - 1)) / d;
  force[2 * i] += by * dx;
  force[2 * i + 1] += by * dy;
  force[2 * j] -= by * dx;
  force[2 * j + 1] -= by * dy;
}

function stretch(n, edges, place) {
  if (!edges.length) return;
  let total = 0;
  for (const [i, j] of edges)
    total += Math.hypot(place[2 * i] - place[2 * j], place[2 * i + 1] - place[2 * j + 1]);
  const by = edges.length / (total || 1);
  for (let at = 0; at < 2 * n; at += 1) place[at] *= by;
}

// Agents sorted by the cell of a grid that they stand in, so that only nine cells are looked at.
function repel(n, place, force) {
  const { column, wide, first, sorted } = sort(n, place);
  for (let i = 0; i < n; i += 1) {
    const x = place[2 * i];
    const y = place[2 * i + 1];
    for (let row = -wide; row <= wide; row += wide) {
      for (let cell = column[i] + row - 1; cell <= column[i] + row + 1; cell += 1) {
        const [from, to] = [first[cell], first[cell + 1]];
        const each = Math.max(1, Math.floor((to - from) / CROWD));
        for (let at = from + (i % each); at < to; at += each) {
          const j = sorted[at];
          const dx = x - place[2 * j];
          const dy = y - place[2 * j + 1];
          const d = dx * dx + dy * dy;
          if (d > REACH * REACH || j === i) continue;
          const by = (0.5 * each) / (d + 0.05);
          force[2 * i] += by * dx;
          force[2 * i + 1] += by * dy;
        }
      }
    }
  }
}

function sort(n, place) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < n; i += 1) {
    left = Math.min(left, place[2 * i]);
    right = Math.max(right, place[2 * i]);
    top = Math.min(top, place[2 * i + 1]);
    bottom = Math.max(bottom, place[2 * i + 1]);
  }
  const side = Math.max(REACH, (right - left) / 1000, (bottom - top) / 1000);
  const wide = Math.floor((right - left) / side) + 3; // an empty cell on every side
  const high = Math.floor((bottom - top) / side) + 3;
  const first = new Int32Array(wide * high + 2);
  const column = new Int32Array(n);
  for (let i = 0; i < n; i += 1) {
    column[i] =
      (Math.floor((place[2 * i + 1] - top) / side) + 1) * wide + Math.floor((place[2 * i] - left) / side) + 1;
    first[column[i] + 1] += 1;
  }
  for (let cell = 0; cell <= wide * high; cell += 1) first[cell + 1] += first[cell];
  const next = first.slice();
  const sorted = new Int32Array(n);
  for (let i = 0; i < n; i += 1) sorted[next[column[i]]++] = i;
  return { column, wide, first, sorted };
}
