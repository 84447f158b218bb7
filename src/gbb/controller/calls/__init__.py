"""A controller's calls as data: what a pipe, or a service, says to one, and what it answers."""

from gbb.controller.calls.answer import MOST_BYTES, answer, too_long
from gbb.controller.calls.table import CALLS, Call, respond

__all__ = ["CALLS", "MOST_BYTES", "Call", "answer", "respond", "too_long"]
