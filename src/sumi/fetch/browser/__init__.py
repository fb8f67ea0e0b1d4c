"""Rendering in a real Chromium. Only ``rendering`` is imported unless a job renders pages."""
