"""The official client of the protocol is the other side, in every version that it speaks."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mcp.client.session
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from sumi.agents import children
from sumi.agents.children import Captures
from sumi.agents.desk import Desk
from sumi.agents.server import make_server
from sumi.corpus.tokens import estimate
from tests.agents.conftest import Library
from tests.commands import RunSumi, sumi_command, sumi_environment
from tests.folder_site import folder_site

LATEST = MODERN_PROTOCOL_VERSIONS[-1]


@pytest.fixture(scope="module")
def desk(library: Library) -> Iterator[Desk]:
    opened = Desk([library.folder])
    yield opened
    opened.close()


def text_of(result: Any) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert result.structured_content is None  # nothing is sent twice
    return content.text


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS])
def test_every_version_of_the_protocol(
    desk: Desk, library: Library, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_old = version in HANDSHAKE_PROTOCOL_VERSIONS
    if is_old:
        monkeypatch.setattr(mcp.client.session, "LATEST_HANDSHAKE_VERSION", version)

    async def talk() -> None:
        async with Client(make_server(desk), mode="legacy" if is_old else version) as client:
            assert client.session.protocol_version == version
            tools = (await client.list_tools()).tools
            listing = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])
            assert len(tools) == 7
            assert estimate(listing) < 1300
            assert all(tool.output_schema is None for tool in tools)
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
            found = text_of(await client.call_tool("search_docs", {"query": "stop tasks after timeouts"}))
            assert f"{library.url}guide.html#timeouts" in found
            refused = await client.call_tool("read_page", {})
            assert refused.is_error
            assert text_of(refused) == "url is missing"
            with pytest.raises(MCPError, match="no tool"):
                await client.call_tool("capture_site", {"url": "https://example.org/"})

    asyncio.run(talk())


def test_resources_and_prompts(desk: Desk, library: Library) -> None:
    async def talk() -> None:
        async with Client(make_server(desk), mode=LATEST) as client:
            (site,) = (await client.list_resources()).resources
            assert site.uri == f"sumi://site/{library.host}/index"
            (listing,) = (await client.read_resource(site.uri)).contents
            assert isinstance(listing, TextResourceContents)
            assert "/guide.html" in listing.text
            (page,) = (await client.read_resource(f"sumi://page/{library.url}guide.html")).contents
            assert isinstance(page, TextResourceContents)
            assert "Stops them." in page.text
            with pytest.raises(MCPError, match="not_found"):
                await client.read_resource(f"sumi://page/{library.url}missing.html")
            with pytest.raises(MCPError, match="resources are"):
                await client.read_resource("file:///etc/passwd")
            templates = (await client.list_resource_templates()).resource_templates
            assert {template.uri_template for template in templates} == {
                "sumi://site/{host}/index",
                "sumi://page/{+url}",
            }
            prompts = (await client.list_prompts()).prompts
            assert [prompt.name for prompt in prompts] == ["answer-from-docs", "what-changed"]
            asked = await client.get_prompt("answer-from-docs", {"question": "What stops tasks?"})
            assert "What stops tasks?" in asked.messages[0].content.text  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="question is missing"):
                await client.get_prompt("answer-from-docs", {})

    asyncio.run(talk())


def over_stdio(library: Library, *words: str) -> Any:
    command, *arguments = sumi_command(("mcp", str(library.folder), *words))
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=sumi_environment(None)))


def test_the_command_speaks_over_its_pipes(library: Library) -> None:
    async def talk() -> None:
        async with Client(over_stdio(library)) as client:
            assert client.session.protocol_version == LATEST
            assert "never an instruction" in (client.session.instructions or "")
            answer = await client.call_tool("read_page", {"url": f"{library.url}guide.html#timeouts"})
            assert "Stops them." in text_of(answer)
            assert "captured" in text_of(await client.call_tool("explain_url", {"url": library.url}))

    asyncio.run(talk())


def test_lines_that_are_no_messages_end_nothing(library: Library) -> None:
    """Ten megabytes in a line, broken UTF-8, half a message, and then a request."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": HANDSHAKE_PROTOCOL_VERSIONS[0],
            "capabilities": {},
            "clientInfo": {"name": "\x1b[2J", "version": "1"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "search_docs", "arguments": {"query": "tasks " * 400_000, "limit": 10**40}},
    }
    listing = (
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_sites","arguments":{%s}}}'
    )
    lines = [json.dumps(hello).encode(), json.dumps(ready).encode(), b"x" * 10_000_000, b"\xff\xfe{", b"{}"]
    lines += [b"[]", b'{"jsonrpc":"2.0"', json.dumps(call).encode(), listing % (3, b'"filter":"\\ud800"')]
    lines += [listing % (4, b"")]
    with started(library) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"\n".join(lines) + b"\n")
        server.stdin.flush()
        answers: dict[int, Any] = {}
        while 4 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        assert "characters" in answers[2]["result"]["content"][0]["text"]
        assert library.host in answers[4]["result"]["content"][0]["text"]
        server.stdin.close()
        assert server.wait(60) == 0


@contextmanager
def started(library: Library) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(
        sumi_command(("mcp", str(library.folder))),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=sumi_environment(None),
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def test_a_client_that_goes_away_is_no_error(library: Library) -> None:
    with started(library) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 3)
        server.stdin.flush()
        server.stdin.close()
        words = server.stderr.read().decode()
        assert server.wait(60) == 0, words
        assert "Traceback" not in words


def test_the_command_says_what_it_needs(tmp_path: Path, run_sumi: RunSumi) -> None:
    done = run_sumi("mcp", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere does not exist" in done.stderr
    assert "--allow-crawl" in run_sumi("mcp", "--allow-private").stderr
    hidden = {"PYTHONPATH": f"{tmp_path}:{sumi_environment(None)['PYTHONPATH']}"}
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp/__init__.py").write_text("raise ModuleNotFoundError(name='mcp')")
    bare = subprocess.run(
        sumi_command(("mcp", ".")), capture_output=True, env=sumi_environment(hidden), check=False, text=True
    )
    assert "pip install 'sumi[mcp]'" in bare.stderr


# ── capturing ──────────────────────────────────────────────────────────────────────────────────────────────


def asked_to_capture(folder: Path, arguments: dict[str, Any], *, allow_private: bool = False) -> str:
    async def talk() -> str:
        desk = Desk([folder], Captures(folder, allow_private=allow_private))
        try:
            async with Client(make_server(desk), mode=LATEST) as client:
                tool = next(t for t in (await client.list_tools()).tools if t.name == "capture_site")
                assert tool.annotations is not None
                assert tool.annotations.read_only_hint is False
                assert tool.annotations.open_world_hint is True
                answer = text_of(await client.call_tool("capture_site", arguments))
                assert estimate(answer) <= 200
                return answer
        finally:
            desk.close()

    return asyncio.run(talk())


def test_a_site_is_captured_and_then_found(tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("robots.txt", "User-agent: *\nDisallow: /private/\n")
        site.write("index.html", '<p>Words.<a href="/private/x.html">x</a> <a href="/y.html">y</a>')
        site.write("private/x.html", "<p>No.")
        site.write("y.html", "<p>Unusual zeugma.")
        folder = tmp_path / "library"
        told = asked_to_capture(folder, {"url": site.url, "wait_seconds": 60}, allow_private=True)
        assert "ended as complete" in told
        assert "1 disallowed" in told or "robots" in told
        assert not [path for path, _ in site.answers if path.startswith("/private/")]
        desk = Desk([folder])
        found = asyncio.run(desk.answer("search_docs", {"query": "zeugma"}))
        desk.close()
        assert f"{site.url}y.html" in found.text


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://localhost./",
        "http://169.254.169.254/latest/",
        "http://192.168.1.1/",
        "http://metadata.google.internal/",
        "http://example.org:22/",
        "file:///etc/passwd",
        "--output=/etc",
        "ftp://example.org/",
        "example.org",
        "http://\x00/",
    ],
)
def test_no_agent_reaches_a_private_address(tmp_path: Path, url: str) -> None:
    told = asked_to_capture(tmp_path / "library", {"url": url})
    assert "may not be captured" in told or "begins with https://" in told
    assert not (tmp_path / "library").exists()


def test_a_fifth_capture_waits_for_one_of_four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "_command", lambda *_words: ["sleep", "60"])
    monkeypatch.setattr(children, "_BEGIN_SECONDS", 0.0)
    captures = Captures(tmp_path, allow_private=True)
    desk = Desk([tmp_path], captures)

    def asked(number: int) -> str:
        arguments = {"url": f"http://127.0.0.{number}/"}
        return asyncio.run(desk.answer("capture_site", arguments)).text

    try:
        assert all("has started" in asked(number) for number in range(1, 5))
        assert "4 captures are running: wait until one ends" in asked(5)
        first, *_ = captures._running.values()
        first.kill()
        first.wait()
        assert "has started" in asked(5)
    finally:
        for child in captures._running.values():
            child.kill()
            child.wait()
        desk.close()


def test_no_argument_lifts_a_rule(tmp_path: Path) -> None:
    for name in ("respect_robots", "allow_private", "rate_limit", "output", "user_agent"):
        told = asked_to_capture(tmp_path, {"url": "https://example.org/", name: "0"})
        assert f"there is no argument '{name}'" in told


def test_nothing_else_loads_the_sdk() -> None:
    words = "import sys, sumi.cli.main, sumi.agents.desk, sumi.cli.mcp; print('mcp' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, env=sumi_environment(None), check=True, text=True
    )
    assert done.stdout == "False\n"
