import json
from pathlib import Path

import ontomask as om

concepts = [
    {"code": "I", "display": "Heart disease"},
    {"code": "J", "display": "Lung disease"},
    {"code": "I21", "display": "Infarction", "property": [{"code": "parent", "valueCode": "I"}]},
    {"code": "I20", "display": "Angina", "property": [{"code": "parent", "valueCode": "I"}]},
]
Path("icd.json").write_text(json.dumps({"resourceType": "CodeSystem", "concept": concepts}))
icd = om.load_taxonomy("icd.json")  # recognized as a CodeSystem of FHIR

targets = [{"code": "I21", "equivalence": "relatedto"}, {"code": "I20", "equivalence": "relatedto"}]
elements = [
    {"code": "410.9", "target": [{"code": "I21", "equivalence": "equivalent"}]},
    {"code": "411.1", "target": targets},
]
group = {"source": "icd-9", "target": "icd-10", "element": elements}
Path("map.json").write_text(json.dumps({"resourceType": "ConceptMap", "group": [group]}))
walk = om.knowledge.load_crosswalk("map.json")
print(walk)
print(icd.map(["410.9", "4111", "I20"], overrides=walk).ids)  # 411.1 is either: their parent
