# SPDX-License-Identifier: Apache-2.0
"""Files of the project and of others that the tests use."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
DIGITS = ROOT / "models" / "digits"


def others(folder):
    """Of TANDEM_MODELS; without it a test is skipped, in CI it fails."""
    models = os.environ.get("TANDEM_MODELS")
    if not models:
        if os.environ.get("CI") == "true":
            raise AssertionError("TANDEM_MODELS is not set")
        raise unittest.SkipTest("TANDEM_MODELS is not set")
    return pathlib.Path(models) / folder
