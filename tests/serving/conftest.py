from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.serving.service import Service, serving


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all tests of a file; none of them changes it."""
    with serving(tmp_path_factory.mktemp("service"), "--engines", 1) as found:
        yield found
