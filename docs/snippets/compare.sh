ontomask compare plan.toml --methods sa-mdav,recoding --k 3..10 --html comparison.html
