ontomask init patients.csv -o plan.toml
