ontomask run plan.toml
