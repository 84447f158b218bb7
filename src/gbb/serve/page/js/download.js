// A file of the service, saved by the browser; a link alone would not carry the token.

import { headers, path, problem } from "./api.js";
import { el } from "./dom.js";

export async function download(name, file) {
  const answer = await fetch(path(name, file), { headers: headers() });
  if (!answer.ok) throw await problem(answer);
  const place = URL.createObjectURL(await answer.blob());
  el("a", {
    href: place,
    download: `${name.replaceAll("/", "-")} ${file.replace("export", "rewards")}`,
  }).click();
  setTimeout(() => URL.revokeObjectURL(place), 10000);
}
