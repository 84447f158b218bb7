"""Formulas as MathML, which browsers draw by themselves: no script, no font, no image."""

import html
import re
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

SPACE = "http://www.w3.org/1998/Math/MathML"
FENCES = "‖|⟨⟩"
ACCENTS = "ˆ~˜¯"  # noqa: RUF001

NAMED = re.compile(r"&(?!amp;|lt;|gt;)\w+;")
"""Characters that HTML names and XML does not."""

ElementTree.register_namespace("", SPACE)


def draw(text: str, *, block: bool) -> str:
    """MathML of a formula in LaTeX.

    As docutils makes it, but for two things. Norms keep their size: a closing bar with an index does not
    stretch, so neither may the opening one. And an index stands beside a letter with an accent, not
    below it.
    """
    made = NAMED.sub(lambda found: html.unescape(found[0]), tex2mathml(text, as_block=block))
    root = ElementTree.fromstring(made)
    for each in root.iter(f"{{{SPACE}}}mo"):
        if each.text and each.text in FENCES and "minsize" not in each.attrib:
            each.set("stretchy", "false")
    for each in root.iter(f"{{{SPACE}}}munderover"):
        letter, index, accent = each
        if (accent.text or "none") in ACCENTS:
            marked = ElementTree.Element(f"{{{SPACE}}}mover", {"accent": "true"})
            marked.extend([letter, accent])
            each.tag = f"{{{SPACE}}}msub"
            each[:] = [marked, index]
    return ElementTree.tostring(root, encoding="unicode")


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula within a line."""
    self.body.append(draw(node.astext(), block=False))
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own, with an anchor where it has a label."""
    anchor = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="formula"{anchor}>{draw(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
