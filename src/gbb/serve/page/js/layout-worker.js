// The layout, beside the page.

import { layout } from "./layout.js";

self.addEventListener("message", ({ data: { n, edges, start } }) => {
  const place = layout(n, edges, start);
  self.postMessage(place, [place.buffer]);
});
