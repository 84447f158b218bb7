"""The controller: ask and tell for real systems, with a memory that survives crashes."""

from gbb.controller.base import BaseController
from gbb.controller.commands.restore import restore
from gbb.controller.commands.rewards import RewardWarning
from gbb.controller.controller import Controller
from gbb.controller.log.events import StorageError
from gbb.controller.log.store import KeyReusedError
from gbb.controller.messages import (
    Alert,
    Check,
    Entry,
    Estimate,
    Imported,
    Prediction,
    Recommendation,
    RoundReward,
    Trial,
)

__all__ = [
    "Alert",
    "BaseController",
    "Check",
    "Controller",
    "Entry",
    "Estimate",
    "Imported",
    "KeyReusedError",
    "Prediction",
    "Recommendation",
    "RewardWarning",
    "RoundReward",
    "StorageError",
    "Trial",
    "restore",
]
