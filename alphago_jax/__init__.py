"""AlphaGo, AlphaGo Zero and KataGo as pure functions in JAX."""
