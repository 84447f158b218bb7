"""Pure exploration: certify a best allocation."""

from gbb.identification.identify import Identification, identify

__all__ = ["Identification", "identify"]
