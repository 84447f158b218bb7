"""The controller: ask and tell for real systems, with a memory that survives crashes."""

from gbb.controller._controller import Controller
from gbb.controller.log.events import StorageError
from gbb.controller.log.store import KeyReusedError
from gbb.controller.messages import (
    Alert,
    Check,
    Entry,
    Estimate,
    Prediction,
    Recommendation,
    RoundReward,
    Trial,
)
from gbb.controller.queries.policy_table import PolicyTable
from gbb.controller.verbs.bulk.attach import Imported
from gbb.controller.verbs.keeping import restore
from gbb.controller.verbs.rewards import RewardWarning

__all__ = [
    "Alert",
    "Check",
    "Controller",
    "Entry",
    "Estimate",
    "Imported",
    "KeyReusedError",
    "PolicyTable",
    "Prediction",
    "Recommendation",
    "RewardWarning",
    "RoundReward",
    "StorageError",
    "Trial",
    "restore",
]
