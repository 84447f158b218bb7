"""Discovery: members are found by existing, and a broken one is named."""

from __future__ import annotations

import pytest

import gbb


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named"),
        ("def broken(:", "SyntaxError: "),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named(tmp_path, monkeypatch, source, cause):
    (tmp_path / "odd_policy.py").write_text(source)
    monkeypatch.setattr(gbb.policies, "__path__", [*gbb.policies.__path__, str(tmp_path)])
    with pytest.raises(gbb.InputError, match=r"Cannot import '.*odd_policy\.py': ") as caught:
        gbb.policies.classes()
    assert cause in str(caught.value)
    assert caught.value.__cause__ is not None
