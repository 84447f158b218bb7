"""Pure exploration: certify a best allocation."""

from gbb.identification.answer import Identification
from gbb.identification.identify import identify

__all__ = ["Identification", "identify"]
