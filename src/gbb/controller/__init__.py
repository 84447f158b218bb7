"""The controller: ask and tell for real systems, with a memory that survives crashes."""

from gbb.controller._controller import Controller
from gbb.controller.answers.alerts import Alert
from gbb.controller.answers.answers import Entry, Estimate, Prediction, Recommendation, Trial
from gbb.controller.answers.check import Check
from gbb.controller.answers.paid import Paid
from gbb.controller.answers.policy_table import PolicyTable
from gbb.controller.log.events import StorageError
from gbb.controller.log.store import KeyReusedError
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
    "Paid",
    "PolicyTable",
    "Prediction",
    "Recommendation",
    "RewardWarning",
    "StorageError",
    "Trial",
    "restore",
]
