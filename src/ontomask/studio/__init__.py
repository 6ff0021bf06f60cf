"""The studio: deciding about a release in the browser, over one plan file."""
