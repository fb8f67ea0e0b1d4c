"""Rendering in a real Chromium. Nothing here is imported unless a job asks for it: see ``wiring``."""
