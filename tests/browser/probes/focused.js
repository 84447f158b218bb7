() => {
  const node = document.activeElement;
  const shown = node.matches("input[type=radio]") ? node.parentElement : node;
  return [
    node.getAttribute("aria-label") || node.textContent || node.value || node.tagName,
    getComputedStyle(shown).outlineStyle,
  ];
};
