"""SNOMED CT RF2: a small release, as a folder and as a zip, with all that real files hold."""

import zipfile

import pytest

from ontomask.errors import (
    EncodingError,
    FormatError,
    ParameterError,
    SourceNotFoundError,
    UnsafeSourceError,
)
from ontomask.taxonomy.readers import rf2
from ontomask.taxonomy.readers.sources import first_bytes

COMPONENT = "id effectiveTime active moduleId"
HEADERS = {
    "Concept": f"{COMPONENT} definitionStatusId",
    "Description": f"{COMPONENT} conceptId languageCode typeId term caseSignificanceId",
    "Relationship": f"{COMPONENT} sourceId destinationId relationshipGroup typeId "
    "characteristicTypeId modifierId",
    "Language": f"{COMPONENT} refsetId referencedComponentId acceptabilityId",
    "ConcreteValues": f"{COMPONENT} sourceId value relationshipGroup typeId characteristicTypeId "
    "modifierId",
}
CORE, DEFINED, CASE, INFERRED, STATED, SOME = (
    "900000000000207008", "900000000000074008", "900000000000448009", "900000000000011006",
    "900000000000010007", "900000000000451002",
)  # fmt: skip
FSN, SYNONYM, DEFINITION = "900000000000003001", "900000000000013009", "900000000000550004"
IS_A, SITE = "116680003", "363698007"
ROOT, FINDING, DISEASE, HEART, INFARCTION, RETIRED = (
    "138875005", "404684003", "64572001", "56265001", "22298006", "999001",
)  # fmt: skip


def table(kind, rows, end="\r\n"):
    return end.join(["\t".join(HEADERS[kind].split()), *("\t".join(row) for row in rows)]) + end


def concept(identifier, active="1", time="20020131"):
    return identifier, time, active, CORE, DEFINED


def description(number, concept_id, kind, term, *, language="en", active="1", time="20170731"):
    return str(number), time, active, CORE, concept_id, language, kind, term, CASE


def relationship(number, child, parent, kind=IS_A, *, active="1", time="20020131", group="0"):
    return str(number), time, active, CORE, child, parent, group, kind, INFERRED, SOME


CONCEPTS = [*map(concept, (ROOT, FINDING, DISEASE, HEART, INFARCTION)), concept(RETIRED, "0")]
ENGLISH = [
    description(1, ROOT, FSN, "SNOMED CT Concept (SNOMED RT+CTV3)"),
    description(2, FINDING, FSN, "Clinical finding (finding)"),
    description(3, DISEASE, FSN, "Disease (disorder)"),
    description(4, HEART, FSN, "Heart disease (disorder)"),
    description(5, INFARCTION, SYNONYM, "Heart attack"),
    description(6, INFARCTION, FSN, "Myocardial infarction (disorder)"),
    description(7, INFARCTION, SYNONYM, 'So-called "coronary"'),
    description(8, INFARCTION, SYNONYM, "Cardiac infarction", active="0"),
    description(9, RETIRED, FSN, "Retired thing (finding)"),
    description(10, INFARCTION, SYNONYM, "Herzinfarkt", language="de"),
    description(11, HEART, SYNONYM, "Morbus cardiacus – señal"),
]
SPANISH = [
    description(21, INFARCTION, FSN, "infarto de miocardio (trastorno)", language="es"),
    description(22, INFARCTION, SYNONYM, "ataque al corazón", language="es"),
    description(23, HEART, SYNONYM, "cardiopatía", language="es"),
]
RELATIONSHIPS = [
    relationship(31, FINDING, ROOT),
    relationship(32, DISEASE, FINDING),
    relationship(33, HEART, DISEASE),
    relationship(34, INFARCTION, HEART),
    relationship(35, INFARCTION, DISEASE, active="0"),
    relationship(36, INFARCTION, ROOT, SITE, group="1"),
    relationship(37, RETIRED, DISEASE),
    relationship(38, HEART, RETIRED),
]
LINKS = {(FINDING, ROOT), (DISEASE, FINDING), (HEART, DISEASE), (INFARCTION, HEART)}

TERMINOLOGY = "SnomedCT_InternationalRF2/{view}/Terminology/"
SNAPSHOT = TERMINOLOGY.format(view="Snapshot")
CONCEPT_FILE = SNAPSHOT + "sct2_Concept_Snapshot_INT_20240101.txt"
ENGLISH_FILE = SNAPSHOT + "sct2_Description_Snapshot-en_INT_20240101.txt"
RELATIONSHIP_FILE = SNAPSHOT + "sct2_Relationship_Snapshot_INT_20240101.txt"


def release():
    """Return a whole release as file names and texts, with the files that must not be read."""
    wrong = [relationship(91, ROOT, INFARCTION)]
    return {
        "SnomedCT_InternationalRF2/Readme_en_20240101.txt": "no table",
        CONCEPT_FILE: table("Concept", CONCEPTS),
        ENGLISH_FILE: table("Description", ENGLISH),
        SNAPSHOT + "sct2_Description_Snapshot-es_INT_20240101.txt": table("Description", SPANISH),
        SNAPSHOT + "sct2_TextDefinition_Snapshot-en_INT_20240101.txt": table(
            "Description", [description(41, INFARCTION, DEFINITION, "Necrosis of heart muscle.")]
        ),
        RELATIONSHIP_FILE: table("Relationship", RELATIONSHIPS),
        SNAPSHOT + "sct2_StatedRelationship_Snapshot_INT_20240101.txt": table(
            "Relationship", wrong
        ),
        SNAPSHOT + "sct2_RelationshipConcreteValues_Snapshot_INT_20240101.txt": table(
            "ConcreteValues", [relationship(92, ROOT, "#5", SITE)]
        ),
        TERMINOLOGY.format(view="Full") + "sct2_Relationship_Full_INT_20240101.txt": table(
            "Relationship", wrong
        ),
        "SnomedCT_InternationalRF2/Snapshot/Refset/Language/"
        "der2_cRefset_LanguageSnapshot-en_INT_20240101.txt": table("Language", []),
    }


def write_folder(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / "release" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / "release"


def write_zip(tmp_path, files):
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(params=[write_folder, write_zip], ids=["folder", "zip"])
def read(request, tmp_path):
    """Write a release in either shape, have it recognized, and read it."""

    def write_and_read(files, **options):
        path = request.param(tmp_path, files)
        assert rf2.can_read(path, first_bytes(path))
        return rf2.read(path, **options)

    return write_and_read


def links(draft):
    return {(child, parent) for child, parent, _ in draft.links}


def terms(draft, identifier):
    position = draft.positions[identifier]
    return draft.labels[position], draft.synonyms[position]


def test_a_whole_release(read):
    draft = read(release())
    assert list(draft.positions) == [ROOT, FINDING, DISEASE, HEART, INFARCTION]
    assert links(draft) == LINKS
    assert terms(draft, INFARCTION) == (
        "Myocardial infarction (disorder)",
        ("Heart attack", 'So-called "coronary"'),
    )
    assert terms(draft, HEART)[1] == ("Morbus cardiacus – señal",)
    assert draft.glosses[draft.positions[INFARCTION]] == "Necrosis of heart muscle."
    assert draft.version == "20240101"


def test_another_language_falls_back_to_english(read):
    draft = read(release(), language="es")
    assert terms(draft, INFARCTION) == ("infarto de miocardio (trastorno)", ("ataque al corazón",))
    assert terms(draft, HEART) == ("cardiopatía", ())
    assert terms(draft, DISEASE) == ("Disease (disorder)", ())


def test_a_language_without_descriptions(read):
    with pytest.raises(ParameterError, match=r"language='fr'; its files are for en, es"):
        read(release(), language="fr")


def test_unix_line_ends_blank_last_line_and_byte_order_mark(read):
    files = release()
    files[CONCEPT_FILE] = "\ufeff" + table("Concept", CONCEPTS, end="\n") + "\n"
    assert links(read(files)) == LINKS


def test_beta_releases_and_edition_names(read):
    renamed = {
        name.replace("sct2_", "xsct2_").replace("Snapshot_INT", "UKCLSnapshot_GB1000000"): text
        for name, text in release().items()
    }
    assert links(read(renamed)) == LINKS


def test_an_extension_is_united_with_the_international_files(read):
    lung, own = "19829001", "1234561000999109"
    folder = "SnomedCT_ExtensionRF2/Snapshot/Terminology/"
    files = release() | {
        folder + "sct2_Concept_Snapshot_XX_20240301.txt": table(
            "Concept",
            [concept(own), concept(lung), concept(FINDING, "0", "20010101"), concept(RETIRED, "0")],
        ),
        folder + "sct2_Description_Snapshot-en_XX_20240301.txt": table(
            "Description",
            [
                description(51, own, FSN, "Own finding (finding)"),
                description(5, INFARCTION, SYNONYM, "Heart attack", active="0", time="20240301"),
                description(7, INFARCTION, SYNONYM, "Outdated", time="20000101"),
                description(6, INFARCTION, FSN, "Myocardial infarction (disorder)"),
            ],
        ),
        folder + "sct2_Relationship_Snapshot_XX_20240301.txt": table(
            "Relationship",
            [
                relationship(61, own, INFARCTION),
                relationship(62, lung, DISEASE),
                relationship(63, HEART, DISEASE),
                relationship(34, INFARCTION, HEART, active="0", time="20240301"),
                relationship(64, INFARCTION, DISEASE, time="20240301"),
            ],
        ),
    }
    draft = read(files)
    assert links(draft) == (LINKS - {(INFARCTION, HEART)}) | {
        (own, INFARCTION), (lung, DISEASE), (INFARCTION, DISEASE),
    }  # fmt: skip
    assert len(draft.links) == len(links(draft))
    assert terms(draft, INFARCTION) == (
        "Myocardial infarction (disorder)", ('So-called "coronary"',),
    )  # fmt: skip
    assert terms(draft, lung) == ("", ())
    assert draft.version == "20240301"


@pytest.mark.parametrize("name", [CONCEPT_FILE, ENGLISH_FILE, RELATIONSHIP_FILE])
def test_wrong_headers_name_the_file_and_the_columns(read, name):
    files = release()
    files[name] = files[name].replace("moduleId", "module")
    expected = rf"{name.rpartition('/')[2]}, line 1: .*'id, effectiveTime, active, moduleId, "
    with pytest.raises(FormatError, match=expected):
        read(files)


def test_a_cut_row_names_its_line(read):
    files = release()
    files[RELATIONSHIP_FILE] += "39\t20020131\t1"
    with pytest.raises(
        FormatError, match=r"Relationship_Snapshot_INT_20240101\.txt, line 10: .* 3 c"
    ):
        read(files)


def test_another_encoding_names_its_line(read):
    files = release()
    files[ENGLISH_FILE] = files[ENGLISH_FILE].replace("–", "-").encode("latin-1")
    with pytest.raises(EncodingError, match=r"Snapshot-en_INT_20240101\.txt, line 12: byte 0xf1"):
        read(files)


@pytest.mark.parametrize("kind", ["Description", "Relationship"])
def test_missing_files_are_named(read, kind):
    files = {name: text for name, text in release().items() if f"sct2_{kind}_" not in name}
    with pytest.raises(FormatError, match=rf"holds no sct2_{kind}_Snapshot\*\.txt; a SNOMED CT"):
        read(files)


def test_other_folders_and_zips_are_left_alone(tmp_path):
    full = {TERMINOLOGY.format(view="Full") + "sct2_Concept_Full_INT_20240101.txt": "id"}
    folder, archive = write_folder(tmp_path, full), write_zip(tmp_path, full)
    assert not rf2.can_read(folder, b"")
    assert not rf2.can_read(archive, first_bytes(archive))
    text = tmp_path / "PK.csv"
    text.write_text("PK,parent\n")
    assert not rf2.can_read(text, first_bytes(text))
    with pytest.raises(FormatError, match="holds no sct2_Concept_Snapshot"):
        rf2.read(folder)


def test_a_missing_folder(tmp_path):
    with pytest.raises(SourceNotFoundError, match="There is no file or folder"):
        rf2.read(tmp_path / "nothing")


def test_a_zip_that_points_outside_is_refused(tmp_path):
    path = write_zip(tmp_path, release() | {"../../evil.txt": "x"})
    with pytest.raises(UnsafeSourceError, match=r"release\.zip: .*'\.\./\.\./evil\.txt'"):
        rf2.read(path)
    with pytest.raises(UnsafeSourceError):
        rf2.can_read(path, first_bytes(path))


def test_a_zip_bomb_is_refused(tmp_path):
    path = write_zip(tmp_path, release() | {CONCEPT_FILE: b"\0" * (70 * 2**20)})
    with pytest.raises(UnsafeSourceError, match=r"release\.zip.*sct2_Concept.* unpacks to more"):
        rf2.read(path)


def test_a_zip_that_lies_about_its_sizes_is_refused(tmp_path):
    size = 70 * 2**20
    text = table("Concept", CONCEPTS).encode().ljust(size, b"\n")
    path = write_zip(tmp_path, release() | {CONCEPT_FILE: text})
    content = path.read_bytes()
    assert content.count(size.to_bytes(4, "little")) == 2
    path.write_bytes(content.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    with pytest.raises(FormatError, match=r"release\.zip is damaged .*CRC"):
        rf2.read(path)


def test_a_damaged_zip(tmp_path):
    path = write_zip(tmp_path, release())
    content = bytearray(path.read_bytes())
    middle = content.index(b"sct2_Concept") + 60
    content[middle : middle + 20] = bytes(20)
    path.write_bytes(bytes(content))
    with pytest.raises(FormatError, match=r"release\.zip is damaged"):
        rf2.read(path)
