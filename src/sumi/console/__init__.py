"""What every command needs to talk to people: options, the terminal, progress, summaries."""
