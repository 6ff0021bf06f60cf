ontomask risk patients.csv --quasi age,sex,diagnosis
