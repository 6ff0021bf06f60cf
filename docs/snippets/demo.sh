ontomask demo example
