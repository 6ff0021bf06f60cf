ontomask check plan.toml
