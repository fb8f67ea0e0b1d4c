"""What agents may ask of captured sites: eight tools over MCP, each answer within a budget of tokens.

``sumi mcp`` speaks over stdin and stdout. To mount the same server in a Starlette application::

    desk = Desk(places)                    # reading only; Captures(...) as its second argument allows more
    endpoint = HttpEndpoint(desk)          # an ASGI application: stateless, answers in JSON
    Starlette(routes=[Route("/mcp", endpoint)], lifespan=...)   # the lifespan enters endpoint.running()

Only ``server`` imports the SDK. Everything else can be tested, and could be offered, without it.
"""
