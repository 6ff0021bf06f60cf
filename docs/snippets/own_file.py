from pathlib import Path

import ontomask as om

Path("wards.txt").write_text(
    """hospital
    medicine
        cardiology
        oncology
    surgery
        orthopedics | Orthopedic surgery
        trauma
""",
    encoding="utf-8",
)
wards = om.load_taxonomy("wards.txt")
print(len(wards), "concepts,", wards.label_of("orthopedics"))
for one, other in (("trauma", "orthopedics"), ("trauma", "oncology")):
    print(one, other, round(wards.distance(one, other), 2))
