"""Ports in blocks of ten, each block locked for the life of its owner.

The range lies below the kernel's ephemeral ports, so that no outgoing connection takes one.
"""
import fcntl
import os
import socket

FIRST, LAST, SIZE = 20000, 32000, 10


def port_is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class PortBlock:
    """Ten ports on loopback: take() hands out the next one."""

    def __init__(self, lock_dir):
        os.makedirs(lock_dir, exist_ok=True)
        for first in range(FIRST, LAST, SIZE):
            self._lock = open(os.path.join(lock_dir, str(first)), "w")
            if self._try_lock() and all(map(port_is_free, range(first, first + SIZE))):
                self._next, self._end = first, first + SIZE
                return
            self._lock.close()
        raise RuntimeError(f"no free block of {SIZE} ports from {FIRST} to {LAST}")

    def _try_lock(self):
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def take(self):
        if self._next == self._end:
            raise RuntimeError("this block of ports is used up")
        self._next += 1
        return self._next - 1

    def close(self):
        self._lock.close()
