ontomask warm
