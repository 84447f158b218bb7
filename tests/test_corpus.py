"""A database of every storage version, with a controller of every policy, opens and says what it did."""

import gzip
import json

import numpy as np
import pytest

import gbb
import golden
from gbb.controller import Controller
from gbb.controller.storage import schema

VERSIONS = range(1, schema.VERSION + 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_database_of_every_version_says_what_was_written(version, tmp_path):
    file = tmp_path / "corpus.db"
    file.write_bytes(gzip.decompress((golden.CORPUS / f"version-{version}.db.gz").read_bytes()))
    said = json.loads((golden.CORPUS / f"version-{version}.json").read_text())
    for name, kept in said.items():
        with Controller.open(f"sqlite:///{file}", name) as controller:
            found = json.loads(json.dumps(golden.kept(controller)))
            assert found == kept, name
            assert controller.check().events == kept["status"]["events"]
            trial = controller.open_trials()[0]
            controller.tell(trial, np.zeros(len(golden.rewards_of(controller.problem, trial.arms))))
            assert controller.ask().id == kept["status"]["trials"] + 1


def test_the_corpus_has_every_policy():
    there = {name for name, kind in gbb.policies.classes().items() if kind.controllable}
    there -= {
        "Conservative",
        "GuardedThompson",
        "InformationDirected",
        "YesNoThompson",
    }  # new since
    for version in VERSIONS:
        said = json.loads((golden.CORPUS / f"version-{version}.json").read_text())
        assert there <= {kept["policy"] for kept in said.values()}
