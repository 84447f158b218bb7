"""Check the built site: ``python docs/_ext/check_site.py build/site``.

Every link inside it leads to a page, and to an anchor of that page where it names one; nothing is loaded
from another machine; every picture has an alternative text; the search finds what is asked for first.
"""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "source": "src", "iframe": "src", "link": "href"}
PLAIN_LINKS = {"canonical", "next", "prev", "index", "search", "author", "license"}

SEARCHED = {"alpha-regret": "paper", "forbid": "controller", "edge types": "problems"}
"""What is searched for, and a page that must be among the answers."""


class Page(HTMLParser):
    """The anchors of a page, where it links to, what it loads, and its pictures without a text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.silent: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag says."""
        given = {key: value or "" for key, value in attrs}
        self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        is_plain = tag == "link" and given.get("rel") in PLAIN_LINKS
        if not is_plain and (target := given.get(LOADED.get(tag, ""))):
            self.loads.append(target)
        if tag == "img" and "alt" not in given:
            self.silent.append(given.get("src", ""))


def problems(site: Path) -> list[str]:
    """What is wrong with the pages under ``site``, a line each."""
    paths = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path.resolve(): Page(path) for path in paths}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        found += [f"{where}: the picture {each} has no alternative text" for each in page.silent]
        for target in page.loads:
            if urlsplit(target).scheme in ("http", "https") or target.startswith("//"):
                found.append(f"{where}: loads {target} from another machine")
        for target in page.links + page.loads:
            if reason := _broken(path, target, pages):
                found.append(f"{where}: {target} {reason}")
    return found


def _broken(path: Path, target: str, pages: dict[Path, Page]) -> str:
    scheme, host, name, _, anchor = urlsplit(target)
    if scheme or host:
        return ""
    file = (path.parent / unquote(name)).resolve() if name else path
    file = file / "index.html" if file.is_dir() else file
    if not file.is_file():
        return "does not exist"
    if anchor and file in pages and unquote(anchor) not in pages[file].anchors:
        return "names an anchor that is not there"
    return ""


def unfound(site: Path) -> list[str]:
    """What the search does not find, a line each: a page must hold all words, or their stems."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    lost = []
    for query, page in SEARCHED.items():
        known = [_pages_with(word, index) for word in re.findall(r"\w+", query)]
        if page not in set.intersection(*known):
            lost.append(f"the search for {query!r} does not find {page!r}")
    return lost


def _pages_with(word: str, index: dict[str, Any]) -> set[str]:
    """The index holds stems: a word, or all but its last letter or two."""
    stems = {word, word[:-1], word[:-2]}
    known = [index[kind].get(stem, []) for kind in ("terms", "titleterms") for stem in stems]
    numbers = [number for each in known for number in ([each] if isinstance(each, int) else each)]
    return {index["docnames"][number] for number in numbers}


def main(folder: str) -> int:
    """Print what is wrong; 1 if anything is."""
    site = Path(folder)
    found = problems(site) + unfound(site)
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)  # noqa: T201
    print(f"{sum(1 for _ in site.rglob('*.html'))} pages, {len(found)} problems")  # noqa: T201
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
