import ontomask as om

icd10 = om.load_taxonomy("icd10cm")
mapping = icd10.map(["E11.9", "E119", "Type 2 diabetes mellitus without complications", "I50.9"])
print(mapping.ids)
print(icd10.ancestors("E11.9"))
print(round(icd10.distance("E11.9", "E11.65"), 2), round(icd10.distance("E11.9", "I50.9"), 2))
