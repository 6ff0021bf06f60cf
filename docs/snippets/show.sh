ontomask taxonomy show wards.txt
