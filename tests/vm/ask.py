#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ask.py SOCKET TEXT, in the virtual machine: what the other end of a socket answers whoever runs
this."""

import socket
import sys

SOCKET = "/run/pnhw/pnhwd.sock"


def exchange(path, question, timeout=120):
    """All that comes until the other end closes or a NUL arrives."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        connection.sendall(question)
        if path != SOCKET:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while not answer.endswith(b"\0") or path != SOCKET:
            try:
                data = connection.recv(1 << 20)
            except ConnectionResetError:  # it did not read all of the question
                break
            if not data:
                break
            answer += data
    return answer.rstrip(b"\0").decode()


def main():
    path, text = sys.argv[1:]
    try:
        print(exchange(path, text.encode() + (b"\0" if path == SOCKET else b"")), end="")
    except OSError as error:
        print(type(error).__name__)


if __name__ == "__main__":
    main()
