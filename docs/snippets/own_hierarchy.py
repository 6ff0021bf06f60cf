import ontomask as om

pets = om.Taxonomy.from_parents(
    {"pet": [], "cat": ["pet"], "dog": ["pet"], "terrier": ["dog"], "beagle": ["dog"]},
    synonyms={"dog": ["hound"]},
)
print(pets.lcs(["terrier", "beagle"]))  # dog
print(pets.distance("terrier", "cat", measure="path"))  # 3.0
print(pets.map(["hounds", "Cat"]).ids)  # ('dog', 'cat')

months = om.knowledge.date_taxonomy(["2024-01-31", "2024-02-01", "2025-02-01"])
print(months.ancestors("2024-01-31"))
