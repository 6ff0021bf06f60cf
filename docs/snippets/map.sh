ontomask taxonomy map icd9cm patients.csv --column diagnosis -o mapping.csv
