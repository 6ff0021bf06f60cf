"""Tables: schema, encoding to integer codes, and the way back."""
