// Links and arms from text, a line each, with commas, semicolons or tabs.

const rows = (text) =>
  text
    .split(/\r?\n/)
    .map((line) => line.split(/[,;\t]/).map((cell) => cell.trim()))
    .filter((row) => row.some(Boolean));
const HEADS = new Set(["source", "from", "arm", "name"]);
const body = (text) => rows(text).filter((row, at) => at > 0 || !HEADS.has(row[0].toLowerCase()));

export function readLinks(text) {
  return body(text).map((row) => {
    if (row.length !== 2 || !row[0] || !row[1])
      throw new Error(`The line "${row.join(",")}" of the links must name two agents, as in: west, north.`);
    return row;
  });
}

export function readArms(text) {
  const found = body(text);
  // Arms that have names only are one-hot: nothing is known of how they are alike.
  if (found.length && found.every((row) => row.length === 1))
    return {
      names: found.map(([name]) => name),
      features: found.map((_, at) => found.map((__, i) => Number(i === at))),
    };
  const features = found.map(([name, ...cells]) => {
    const numbers = cells.map(Number);
    if (
      !name ||
      !cells.length ||
      cells.some((cell) => cell === "") ||
      numbers.some((x) => !Number.isFinite(x))
    )
      throw new Error(
        `The arm ${name || "without a name"} must have numbers after its name, as in: left, 0.8, 0.6.`,
      );
    if (cells.length !== found[0].length - 1)
      throw new Error(`The arm ${name} must have ${found[0].length - 1} numbers, as the first one has.`);
    return numbers;
  });
  return { names: found.map(([name]) => name), features };
}
