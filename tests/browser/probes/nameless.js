() =>
  [...document.querySelectorAll("button, input, select, textarea, a, canvas, [role=img], [role=region]")]
    .filter((node) => node.checkVisibility() && !node.parentElement.closest("[role=img]"))
    .filter(
      (node) =>
        !(
          node.textContent.trim() ||
          node.getAttribute("aria-label") ||
          node.labels?.length ||
          node.getAttribute("aria-labelledby")
        ),
    )
    .map((node) => node.outerHTML.slice(0, 120));
