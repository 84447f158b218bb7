// The links that the diagnosis names as worst predicted, found on the picture.

// "a -> b", "a - b", or an agent by itself; a name may hold an arrow too, so every cut is tried.
export function ends(where) {
  const found = [];
  for (const cut of [" -> ", " - "]) {
    for (let at = where.indexOf(cut); at >= 0; at = where.indexOf(cut, at + 1))
      found.push([where.slice(0, at), where.slice(at + cut.length)]);
  }
  return found;
}

// At most one link in eight, so that the mark still says something.
const most = (links) => Math.max(1, Math.min(6, Math.round(links / 8)));

export function marked({ network, diagnosis }) {
  if (!network?.agents || !diagnosis?.worst?.length) return [];
  const number = new Map(network.agents.map((agent, i) => [String(agent), i]));
  const wanted = new Set();
  for (const { where } of diagnosis.worst) {
    for (const [one, other] of ends(where)) {
      const [i, j] = [number.get(one), number.get(other)];
      if (i !== undefined && j !== undefined && wanted.size < most(network.edges.length))
        wanted.add(`${Math.min(i, j)} ${Math.max(i, j)}`);
    }
  }
  return network.edges.flatMap(([i, j], at) => (wanted.has(`${i} ${j}`) ? [at] : []));
}
