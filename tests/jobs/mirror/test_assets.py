"""The limit on assets counts each content once."""

from pathlib import Path

import msgspec

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


def test_the_declared_type_is_recorded_if_there_is_one(tmp_path: Path) -> None:
    files = SafeFolder(tmp_path)
    assets = AssetFolder(files, "a.test", 1000)
    bare = image("a", b"1")
    typed = msgspec.structs.replace(image("b", b"2"), headers=(("content-type", "image/png"),))
    kept = [assets.keep(each.url, Kind.IMAGE, each) for each in (bare, typed)]
    files.close()
    assert [each.content_type for each in kept if isinstance(each, PageFacts)] == [None, "image/png"]
