"""Agents ask the window over HTTP at /mcp, with its key and at its own address only."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.serve.conftest import Library
from tests.serve.windows import OpenWindow

CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("mode", ["legacy", MODERN_PROTOCOL_VERSIONS[-1]])
def test_the_official_client_searches_and_reads(window: OpenWindow, library: Library, mode: str) -> None:
    async def talk() -> None:
        key = {"Authorization": f"Bearer {window.token}"}
        async with (
            httpx2.AsyncClient(headers=key, timeout=60) as http,
            Client(streamable_http_client(f"{window.url}/mcp", http_client=http), mode=mode) as client,
        ):
            assert len((await client.list_tools()).tools) == 7
            found = await client.call_tool("search_docs", {"query": "words of page 7"})
            assert isinstance(found.content[0], TextContent)
            assert f"{library.site.url}part/page-7.html" in found.content[0].text

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic x"}, 401),
        ({"Authorization": "Bearer KEY", "Host": "rebound.example"}, 421),
        ({"Authorization": "Bearer KEY", "Content-Length": "70000"}, 413),
    ],
)
def test_nobody_else_is_answered(window: OpenWindow, headers: dict[str, str], status: int) -> None:
    given = {name: value.replace("KEY", window.token) for name, value in headers.items()}
    answer = window.ask("/mcp", "POST", ACCEPT | given, json.dumps(CALL).encode())
    assert answer.status == status
    assert b"jsonrpc" not in answer.body


def test_a_cookie_is_no_key_for_agents(window: OpenWindow) -> None:
    body: Any = json.dumps(CALL).encode()
    assert window.ask("/mcp", "POST", ACCEPT | {"Cookie": window.cookie()}, body).status == 401
    assert window.ask("/mcp", headers={"Authorization": f"Bearer {window.token}"}).status == 405
