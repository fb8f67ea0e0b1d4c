"""The window: a local web page on the jobs below some folders (``sumi serve``).

It reads what jobs leave on disk, steers them by flag files and starts them as processes of their own. It
never imports the engine: what needs it (the ledger's view, a plan, an explanation) runs as another process.
"""
