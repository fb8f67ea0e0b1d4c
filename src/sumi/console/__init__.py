"""What every command needs to talk to users: options, the terminal, progress, summaries."""
