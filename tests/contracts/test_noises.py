"""Every noise law keeps the contract."""

from gbb.environment import NOISES
from gbb.testing import noise_contract

for name, law in NOISES.items():
    globals()[f"Test_{name}"] = noise_contract(law)


def test_the_usual_laws_are_there():
    assert {"gaussian", "uniform", "rademacher", "none"} <= set(NOISES)
