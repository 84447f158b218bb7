() => {
  window.seen = {};
  const note = (key) =>
    requestAnimationFrame(() => requestAnimationFrame(() => (window.seen[key] ??= Date.now())));
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (target.matches("dd[data-value]")) note(`rounds ${target.dataset.value}`);
      if (target.matches(".plot")) note(`chart ${target.dataset.rounds}`);
      if (target.matches("canvas.network")) note(`picture ${target.dataset.trial}`);
    }
  }).observe(document.body, {
    subtree: true,
    attributes: true,
    attributeFilter: ["data-value", "data-rounds", "data-trial"],
  });
};
