# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, by the status that the library gives."""


class Error(Exception):
    """Of Tandem."""


class Mismatch(Error):
    """Status 1: an answer is not as expected, or model and RTL part. `result` says where."""

    def __init__(self, message, result):
        super().__init__(message)
        self.result = result


class UserError(Error, ValueError):
    """Status 2: an argument, a file, the configuration, memory, a time-out."""


class Fault(Error, RuntimeError):
    """Status 3: a fault of Tandem, a crash among them; the caller's process goes on."""
