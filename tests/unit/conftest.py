"""A machine for all unit tests: none asks the real one for room, memory or power."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.host import ModelHost, use


@pytest.fixture(autouse=True)
def _roomy_machine() -> Iterator[None]:
    with use(ModelHost()):
        yield
