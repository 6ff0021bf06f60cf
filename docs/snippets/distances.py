import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
pairs = [("250.00", "250.01"), ("250.00", "250.13"), ("250.00", "428.0")]
for measure in om.knowledge.measures():
    numbers = [icd9.distance(one, other, measure=measure.name) for one, other in pairs]
    print(f"{measure.name:17}", "  ".join(f"{number:5.2f}" for number in numbers))
