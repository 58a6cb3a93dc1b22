def read_moves(chains, counts, legal, to_play):
    return legal&False, legal&False
