"""A controller elsewhere: the verbs of :class:`gbb.Controller` over HTTP."""

from gbb.client._client import Client
from gbb.client.wire import ServiceError

__all__ = ["Client", "ServiceError"]
