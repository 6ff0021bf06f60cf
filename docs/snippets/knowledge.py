import ontomask as om

icd9 = om.load_taxonomy("icd9cm")  # bundled; or a file: .obo .owl .ttl .csv, RF2 folder or zip …
mapping = icd9.map(["25000", "250.13", "Pure hypercholesterolemia", "428.0", "428.0"])
print(mapping.coverage)  # 4 of 4 values mapped …

column = om.statistics.Sample.of(["250.00", "250.13", "272.0", "428.0", "428.0"], icd9)
print(icd9.distances(["250.00", "250.13", "428.0"]).round(2))  # logSC, all pairs
print(om.statistics.semantic_mean(column))  # the concept nearest to all
print(om.statistics.marginality(column).round(2))  # how far each record lies from the rest
