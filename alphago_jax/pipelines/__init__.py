"""The papers' loops: the only place where training meets play."""
