from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_ambient_folders(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests see neither the user's data folder (unless marked `data`) nor the user's cache."""
    if request.node.get_closest_marker("data") is None:
        monkeypatch.delenv("REDISC_DATA", raising=False)
    monkeypatch.setenv("REDISC_CACHE", str(tmp_path / "cache"))
