"""The parts as a player: agents, GTP, matches, ratings. It never trains."""
