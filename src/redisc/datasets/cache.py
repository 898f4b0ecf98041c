"""The folder of downloaded files, and the checksums that tell whether they are still what was downloaded."""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from redisc.errors import DatasetError

CHECKSUMS = "SHA256SUMS"
_TIMEOUT = 60.0


def cache_dir() -> Path:
    """Return the folder for downloads: `REDISC_CACHE`, or `~/.cache/redisc`."""
    return Path(os.environ.get("REDISC_CACHE") or Path.home() / ".cache" / "redisc").expanduser()


def ensure_files(name: str, folder: Path, urls: Mapping[str, str], *, download: bool = True) -> None:
    """Bring the files `{file name: address}` into `folder` and check them against their first download.

    Checksums are recorded beside the files, in the format of `sha256sum`, when a file is first seen.
    """
    missing = {file: url for file, url in urls.items() if not (folder / file).is_file()}
    if missing and not download:
        raise DatasetError(f"'{name}' is not in the cache ({folder}) and download=False. {_advice(name)}")
    for file, url in missing.items():
        try:
            _fetch(url, folder / file)
        except (OSError, http.client.HTTPException) as error:
            raise DatasetError(f"'{name}' could not be downloaded from {url} ({error}). {_advice(name)}") from error
    verify(folder, list(urls))


def verify(folder: Path, files: list[str]) -> None:
    """Compare files with their recorded checksums, and record those that have none yet."""
    recorded = _read_checksums(folder)
    for file in files:
        digest = _sha256(folder / file)
        if recorded.setdefault(file, digest) != digest:
            raise DatasetError(
                f"{folder / file} has changed since it was downloaded: its checksum is {digest[:12]}..., "
                f"expected {recorded[file][:12]}.... Delete the folder {folder} to download it again."
            )
    _write_whole(folder / CHECKSUMS, "".join(f"{digest}  {file}\n" for file, digest in sorted(recorded.items())))


def _advice(name: str) -> str:
    return f"Put {name}.npz into a folder and name that folder by data_dir= or REDISC_DATA."


def _fetch(url: str, path: Path) -> None:
    """Download to a temporary name first, so that a broken transfer leaves nothing behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response, partial.open("wb") as file:
            shutil.copyfileobj(response, file, 1 << 20)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _read_checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    if not path.is_file():
        return {}
    pairs = (line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return {pair[-1]: pair[0] for pair in pairs}


def _write_whole(path: Path, text: str) -> None:
    """Write unless it stands there already, so that a read-only cache can be read."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
