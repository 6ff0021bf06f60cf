"""Tables of any size: asked twice, for distinct combinations and for a rewriting of them."""
