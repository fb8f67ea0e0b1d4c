"""In every kind of store an object is there whole or not at all. No address or message holds a secret."""

import asyncio
from pathlib import Path

import pytest

from sumi.errors import StorageFailed, UsageError
from sumi.files.objects import Objects, checked_address
from tests.commands import RunSumi
from tests.object_stores import BUCKET, CREDENTIALS, SERVERS, moto

pytest.importorskip("obstore")


@pytest.fixture(params=["folder", *SERVERS])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    if request.param == "folder":
        return Objects(f"file://{tmp_path}/store")
    return Objects(f"s3://{BUCKET}/{tmp_path.name}", SERVERS[request.param]().environ)


def put(objects: Objects, name: str, data: bytes) -> None:
    asyncio.run(objects.put(name, data))


def test_what_is_put_is_read_whole_and_in_parts(objects: Objects) -> None:
    objects.check()
    data = bytes(range(256)) * 50_000
    put(objects, "text/a-1.zst", data)
    assert objects.read("text/a-1.zst") == data
    assert objects.read("text/a-1.zst", 1000, 300) == data[1000:1300]
    assert objects.size("text/a-1.zst") == len(data)


def test_what_is_missing_or_too_short_is_none(objects: Objects) -> None:
    put(objects, "text/a-1.zst", b"0123456789")
    assert objects.read("text/b-1.zst") is None
    assert objects.read("text/b-1.zst", 0, 5) is None
    assert objects.size("text/b-1.zst") is None
    assert objects.read("text/a-1.zst", 5, 50) is None
    assert objects.read("text/a-1.zst", 50, 5) is None


def test_writing_the_same_again_does_no_harm(objects: Objects) -> None:
    for _ in range(3):
        put(objects, "raw/a-1.zst", b"the same")
    assert objects.read("raw/a-1.zst") == b"the same"


def test_all_objects_below_the_address_are_listed_and_no_others(objects: Objects, tmp_path: Path) -> None:
    names = [f"{kind}/w-{number:06}.zst" for kind in ("raw", "text") for number in range(30)]
    for name in names:
        put(objects, name, name.encode())
    found = {each.name: each.size for each in objects.list()}
    assert found == {name: len(name) for name in names}
    assert all(each.modified > 1_000_000_000 for each in objects.list())


def test_deleting_twice_does_no_harm(objects: Objects) -> None:
    put(objects, "raw/a-1.zst", b"one")
    put(objects, "raw/a-2.zst", b"two")
    objects.delete(["raw/a-1.zst", "raw/a-1.zst", "raw/never.zst"])
    assert [each.name for each in objects.list()] == ["raw/a-2.zst"]


@pytest.mark.parametrize(
    "address",
    [
        "s3://key:secret@bucket/docs",
        "s3://bucket/docs?X-Amz-Signature=secret",
        "s3://",
        "https://bucket.example.org/",
        "file://host/folder",
        "file:folder",
        "s3://bucket/../other",
        "file:///srv/%2e%2e/other",
        "s3://[",
        "docs",
    ],
)
def test_no_other_address_is_taken_and_no_secret_repeated(address: str) -> None:
    with pytest.raises(UsageError) as refused:
        checked_address(address)
    assert "secret" not in str(refused.value)


def test_plain_text_to_another_machine_has_to_be_asked_for() -> None:
    environ = {**CREDENTIALS, "AWS_ENDPOINT_URL": "http://store.example.org"}
    with pytest.raises(UsageError, match="AWS_ALLOW_HTTP"):
        Objects("s3://bucket/docs", environ)
    Objects("s3://bucket/docs", {**environ, "AWS_ALLOW_HTTP": "true"})


def test_a_profile_gives_the_credentials(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    file.write_text("[crawler]\naws_access_key_id = S3RVER\naws_secret_access_key = S3RVER\n")
    environ = {"AWS_ENDPOINT_URL": moto().endpoint, "AWS_SHARED_CREDENTIALS_FILE": str(file)}
    objects = Objects(f"s3://{BUCKET}/{tmp_path.name}", {**environ, "AWS_PROFILE": "crawler"})
    put(objects, "raw/a-1.zst", b"one")
    assert objects.read("raw/a-1.zst") == b"one"
    with pytest.raises(UsageError, match="no profile other"):
        Objects("s3://bucket", {**environ, "AWS_PROFILE": "other"})


def test_without_credentials_nobody_is_asked_for_some(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="AWS_ACCESS_KEY_ID"):
        Objects("s3://bucket/docs", {"HOME": str(tmp_path)})


def test_a_store_without_the_bucket_or_without_an_answer_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="s3://no-such-bucket/docs cannot be listed"):
        Objects("s3://no-such-bucket/docs", moto().environ).check()
    nobody = {**moto().environ, "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"}
    with pytest.raises(StorageFailed) as failed:
        Objects(f"s3://{BUCKET}/docs", nobody).check()
    assert "S3RVER" not in str(failed.value)


def test_a_bucket_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    elsewhere = Objects("s3://not-there/x", moto().environ)
    for ask in (elsewhere.check, lambda: put(elsewhere, "text/a-1.zst", b"one")):
        with pytest.raises(StorageFailed, match=r"there is no such bucket") as refused:
            ask()
        assert "\n" not in str(refused.value)


def test_a_process_that_was_refused_by_a_store_ends_with_its_own_exit_code(run_sumi: RunSumi) -> None:
    env = {**CREDENTIALS, "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1"}
    for _ in range(4):  # threads that end after the interpreter would abort some of them
        refused = run_sumi("doctor", "s3://pages/x", env=env)
        assert refused.returncode == 8, refused.stderr
        assert refused.stderr.endswith("whether the store is up\n")
