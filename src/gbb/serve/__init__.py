"""The HTTP service: controllers of one storage over the wire, and a page to watch them on."""
