import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
values = ["25000", "acute myocardial infarctions", "8.45", "hart failure"]
mapping = icd9.map(values)
for value, found, how in zip(mapping.values, mapping.ids, mapping.how, strict=True):
    print(value, "→", found, how or "")
print(mapping.coverage)
for value in mapping.unmapped:
    print(value, "perhaps", ", ".join(one.id for one in mapping.suggestions(value)))

fixed = icd9.map(values, overrides={"8.45": "008.45", "hart failure": "428.9"})
print(fixed.coverage)
