"""Waiting by polling with a deadline; nothing in the tests sleeps and hopes."""
import time


class TimedOut(AssertionError):
    """What was waited for did not come; the text says what, and what was there instead."""


def until(check, timeout=10.0, every=0.05, what=None):
    """Polls check() until it is true and returns its value.

    An AssertionError in check counts as "not yet", and its text is part of the failure.
    """
    deadline = time.monotonic() + timeout
    last = None
    while True:
        try:
            value = check()
            if value:
                return value
            last = repr(value)
        except AssertionError as error:
            last = str(error)
        if time.monotonic() >= deadline:
            name = what or getattr(check, "__name__", "condition")
            raise TimedOut(f"waited {timeout} s for {name}; last seen: {last}")
        time.sleep(every)


def holds(check, duration, every=0.1, what=None):
    """Asserts that check() stays true for duration seconds."""
    deadline = time.monotonic() + duration
    while time.monotonic() < deadline:
        name = what or getattr(check, "__name__", "condition")
        assert check(), f"{name} did not hold for {duration} s"
        time.sleep(every)
