"""One self-contained HTML report of a release: public by default, internal on request."""
