"""Names of gbb in the text, `gbb.Graph.complete` say, lead to their page of the reference."""

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

NAME = re.compile(r"gbb(?:\.\w+)+")


class LinkNames(SphinxTransform):
    """Turn each literal that is a dotted name into a reference, which may be left unresolved."""

    default_priority = 500

    def apply(self, **_: object) -> None:
        """Look at every literal that is not part of a link already."""
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().removesuffix("()")
            if NAME.fullmatch(name) and not _inside_a_link(literal):
                reference = pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=name, refwarn=False
                )
                literal.replace_self(reference)
                reference += literal


def _inside_a_link(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.reference | pending_xref):
            return True
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
