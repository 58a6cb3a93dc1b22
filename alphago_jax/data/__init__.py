"""Where examples come from: game files, records, replayed positions, streams."""
