// Rows of a table that stay while what they show changes, so that a button does not go away under
// the hand that presses it.

export function keyedRows(body, make) {
  let held = new Map();
  return (items, keyOf) => {
    const rows = new Map();
    for (const item of items) {
      const key = keyOf(item);
      const row = held.get(key) ?? make(item);
      row.update?.(item);
      rows.set(key, row);
    }
    for (const [key, row] of held) if (!rows.has(key)) row.node.remove();
    let at = body.firstElementChild;
    for (const { node } of rows.values()) {
      if (node === at) at = at.nextElementSibling;
      else body.insertBefore(node, at);
    }
    held = rows;
  };
}
