"""One report in two forms: Markdown beside the pictures, HTML with the pictures inside."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from gbb.experiments._findings import Finding, Findings, Table

OURS = "ours (± standard error)"
BOTH = ("ours, as released", "ours, the paper's setting")
ASKED = ("question", "answer", "numbers")

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ccc; padding-top: 1.5rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: 0.85rem; }
th, td { border-bottom: 1px solid #ddd; padding: 0.35rem 0.6rem; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; } td:nth-child(-n+4) { white-space: nowrap; }
table.asked td { white-space: normal; }
table.asked td:nth-child(2) { white-space: nowrap; font-weight: 600; }
figure { margin: 1.5rem 0; } img { width: 100%; max-width: 33rem; display: block; }
figcaption, .notes { font-size: 0.9rem; color: #333; }
.label { display: inline-block; padding: 0.1rem 0.6rem; border-radius: 0.3rem; background: #eef3f8; }
.warn { background: #fde7e9; color: #8a0015; font-weight: 600; }
.scroll { overflow-x: auto; }
"""


class Section(NamedTuple):
    """One experiment's findings, whether its setting is a small or changed one, and its picture."""

    findings: Findings
    warn: bool
    picture: Path | None


TITLE = "The paper's table and figures"
INTRODUCTION = (
    "Rizk, Colin, Thomas, Laraki and Chevaleyre, An alpha-No-Regret Algorithm For Graphical Bilinear "
    "Bandits (NeurIPS 2022): what was published, what the released code gives, and what this run gave. "
    "Published numbers exist for Table 1 only; the figures were published as curves. Every verdict and "
    "answer below is computed from the data of this run; numbers of the released code are judged by "
    "what we get with its settings and slips, as released."
)


def markdown(sections: Sequence[Section], version: str) -> str:
    """The report as Markdown; pictures are linked by file name."""
    lines = [f"# {TITLE}", "", INTRODUCTION, "", f"Written by gbb {version}.", ""]
    for found, _, picture in sections:
        lines += [f"## {found.title}", "", f"**{found.label}**", ""]
        if picture is not None:
            lines += [f"![{found.title}]({picture.name})", ""]
        lines += [f"*{found.caption}*", ""]
        if found.table is not None:
            lines += [*_pipes(found.table.header, found.table.body), ""]
        lines += [*_pipes(*compared(found.rows)), ""]
        if found.answers:
            lines += [*_pipes(ASKED, _asked(found)), ""]
        if found.notes:
            lines += [*(f"- {note}" for note in found.notes), ""]
    return "\n".join(lines).rstrip() + "\n"


def compared(
    rows: Sequence[Finding], *, details: bool = True
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The header and the cells of the comparison; ours in both settings where both were run."""
    both = any(row.as_released for row in rows)
    header = ("quantity", "published", "released code", *(BOTH if both else (OURS,)), "verdict")
    body = []
    for row in rows:
        ours = (row.as_released, row.ours) if both else (row.ours,)
        verdict = ": ".join(filter(None, (row.verdict, row.detail * details)))
        body.append((row.quantity, row.published, row.released, *ours, verdict))
    return header, tuple(body)


def _pipes(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    rows = [header, ["---"] * len(header), *body]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def html(sections: Sequence[Section], version: str) -> str:
    """The report as one HTML page with everything inside."""
    parts = [f"<h1>{escape(TITLE)}</h1>", f"<p>{escape(INTRODUCTION)}</p>"]
    parts.append(f"<p>Written by gbb {escape(version)}.</p>")
    for found, warn, picture in sections:
        kind = "label warn" if warn else "label"
        parts.append(f"<h2>{escape(found.title)}</h2>")
        parts.append(f'<p><span class="{kind}">{escape(found.label)}</span></p>')
        parts.append(_figure(found, picture))
        if found.table is not None:
            parts.append(_table(found.table))
        parts.append(_table(Table(*compared(found.rows))))
        if found.answers:
            parts.append(_table(Table(ASKED, _asked(found)), "asked"))
        if found.notes:
            items = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
            parts.append(f'<ul class="notes">{items}</ul>')
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(TITLE)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


def _figure(found: Findings, picture: Path | None) -> str:
    image = ""
    if picture is not None:
        data = base64.b64encode(picture.read_bytes()).decode("ascii")
        image = f'<img alt="{escape(found.title)}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{escape(found.caption)}</figcaption></figure>"


def _table(table: Table, kind: str = "") -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table.body]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    mark = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll"><table{mark}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _asked(found: Findings) -> tuple[tuple[str, ...], ...]:
    """The answers as rows of the columns in ASKED."""
    return tuple((asked.question, asked.answer, asked.evidence) for asked in found.answers)
