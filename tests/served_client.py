"""The client of :mod:`served`: hands itself over, passes signals on, ends as the command ended."""

import json
import os
import signal
import socket
import sys

place, *arguments = sys.argv[1:]
server = socket.socket(socket.AF_UNIX)
server.connect(place)
told = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109
text = json.dumps(told).encode() + b"\n"
sent = socket.send_fds(server, [text], [0, 1, 2])
if text[sent:]:  # to send nothing fails if the command has ended already
    server.sendall(text[sent:])
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(each) is not signal.SIG_IGN:
        signal.signal(each, lambda number, _: server.sendall(bytes([number])))
for file in (0, 1, 2):  # whoever reads or writes at their other ends meets the command alone
    os.close(file)
code = int(server.makefile().readline())
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
