"""The limit on assets counts each content once."""

from pathlib import Path

from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.assets import AssetFolder
from sumi.model import Kind, PageFacts, Response, Timing
from sumi.outcomes import Outcome, Verdict


def image(name: str, filling: bytes) -> Response:
    body = b"\x89PNG\r\n\x1a\n" + filling
    return Response(f"https://a.test/{name}.png", 200, (), body, Timing(1.0, 1.0, 1.0))


def test_another_name_for_a_stored_content_fits_into_full_assets(tmp_path: Path) -> None:
    files = SafeFolder(tmp_path)
    first, same, other = image("a", b"1" * 92), image("b", b"1" * 92), image("c", b"2" * 92)
    assets = AssetFolder(files, "a.test", len(first.body))
    kept = [assets.keep(each.url, Kind.IMAGE, each) for each in (first, same, other)]
    files.close()
    assert [isinstance(each, PageFacts) for each in kept] == [True, True, False]
    assert isinstance(kept[2], Verdict)
    assert kept[2].outcome is Outcome.ASSETS_FULL
