"""All operations of the service."""

from __future__ import annotations

from gbb.serve.api import create
from gbb.serve.api.operations import Operation
from gbb.serve.api.verbs import verb_operations
from gbb.serve.live import listening
from gbb.serve.views import allocation, network, overview, past, problem

ROOMS = (overview, create, problem, network, allocation, past, listening)

OPERATIONS: list[Operation] = [
    *(operation for room in ROOMS for operation in room.OPERATIONS),
    *verb_operations(),
]
