"""How fast and how good the k-anonymous methods are.

    python benchmarks/microaggregation.py DATA [section ...]

DATA is the folder that holds `tables/` (census.csv, adult_train.csv.gz and
inpatient_claims_icd9.csv.gz); sections: census thorough ties numeric adult claims growth loss
wordnet weighting stars (all by default).
Losses are 100 SSE/SST for numbers and the mean semantic distance for concepts.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import ontomask as om
from arguments import CLAIMS, folder_with

HERE = Path(__file__).parent
CODES = ("dx_admit", "dx_principal", "dx_secondary", "procedure", "drg")
KS = (2, 3, 5, 10, 20)
MIXED_UP_TO = 300_000
ADULT_KS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 1800)


def timed(frame: pd.DataFrame, schema: om.Schema, method: object) -> tuple[float, om.Release]:
    start = time.perf_counter()
    release = om.protect(frame, schema, method, seed=1)
    return time.perf_counter() - start, release


def peak() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def numeric_loss(frame: pd.DataFrame, masked: pd.DataFrame) -> float:
    """100 SSE/SST on standardized columns."""
    spread = frame.std()
    errors = (((frame - masked) / spread) ** 2).to_numpy().sum()
    total = (((frame - frame.mean()) / spread) ** 2).to_numpy().sum()
    return 100 * errors / total


def semantic_loss(frame: pd.DataFrame, masked: pd.DataFrame, taxonomies: dict[str, tuple]) -> float:
    """Mean semantic distance of original and masked values (logSC), missing at distance 1."""
    losses = []
    for name, (taxonomy, overrides) in taxonomies.items():
        pairs = pd.DataFrame({"old": frame[name], "new": masked[name]}).value_counts(dropna=False)
        total = 0.0
        known = [pair for pair in pairs.index if not any(pd.isna(one) for one in pair)]
        words = sorted({one for pair in known for one in pair})
        mapped = taxonomy.map(words, overrides=overrides).require()
        place = dict(zip(mapped.values, mapped.concepts, strict=True))
        space = taxonomy.space(mapped.concepts)
        table = space.between(mapped.concepts, mapped.concepts)
        spot = {concept: number for number, concept in enumerate(mapped.concepts.tolist())}
        for (old, new), count in pairs.items():
            gaps = pd.isna(old), pd.isna(new)
            if any(gaps):
                total += count * (not all(gaps))
            else:
                total += count * table[spot[int(place[old])], spot[int(place[new])]]
        losses.append(total / len(frame))
    return float(np.mean(losses))


def plain_mdav(data: np.ndarray, k: int) -> np.ndarray:
    """MDAV in straightforward NumPy, the baseline of the ratios."""
    labels = np.full(len(data), -1)
    left = np.arange(len(data))
    cluster = 0

    def take(center: int, left: np.ndarray) -> np.ndarray:
        distances = ((data[left] - data[center]) ** 2).sum(axis=1)
        order = np.argpartition(distances, k - 1)[:k]
        labels[left[order]] = cluster
        return np.delete(left, order)

    while len(left) >= 3 * k:
        mean = data[left].mean(axis=0)
        far = left[((data[left] - mean) ** 2).sum(axis=1).argmax()]
        opposite = left[((data[left] - data[far]) ** 2).sum(axis=1).argmax()]
        left = take(far, left)
        cluster += 1
        left = take(opposite, left)
        cluster += 1
    if len(left) >= 2 * k:
        mean = data[left].mean(axis=0)
        left = take(left[((data[left] - mean) ** 2).sum(axis=1).argmax()], left)
        cluster += 1
    labels[left] = cluster
    means = np.array([data[labels == one].mean(axis=0) for one in range(cluster + 1)])
    return means[labels]


def census(data: Path) -> Iterator[str]:
    """Census, 1,080 x 13: the reference set of the literature."""
    frame = pd.read_csv(data / "tables/census.csv")
    frame = (frame - frame.mean()) / frame.std()
    schema = om.Schema.of({name: om.Numeric() for name in frame})
    yield f"{'k':>4}{'mdav':>9}{'known':>8}{'refined':>9}{'asked':>8}{'seconds':>9}"
    known = {3: (5.69, 5.25), 4: (7.49, 6.77), 5: (9.09, 8.21), 10: (14.16, 12.35)}
    for k, (published, asked) in known.items():
        _, plain = timed(frame, schema, om.Microaggregation(k, algorithm="mdav"))
        seconds, better = timed(
            frame, schema, om.Microaggregation(k, algorithm="mdav", refine=True)
        )
        yield (
            f"{k:4}{numeric_loss(frame, plain.frame):9.3f}{published:8.2f}"
            f"{numeric_loss(frame, better.frame):9.3f}{asked:8.2f}{seconds:9.2f}"
        )


def thorough(data: Path) -> Iterator[str]:
    """Census, refined as long as it takes by default: the least losses that are known."""
    frame = pd.read_csv(data / "tables/census.csv")
    frame = (frame - frame.mean()) / frame.std()
    schema = om.Schema.of({name: om.Numeric() for name in frame})
    yield f"{'k':>4}{'algorithm':>11}{'loss':>9}{'known':>8}{'rounds':>8}{'seconds':>9}{'CPU':>8}"
    for k, known in {3: 4.72, 4: 6.09, 5: 7.33, 10: 11.49}.items():
        for algorithm in ("mdav", "sa-mdav"):
            method = om.Microaggregation(k, algorithm=algorithm, refine="thorough")
            before = time.process_time()
            seconds, release = timed(frame, schema, method)
            spent, rounds = time.process_time() - before, release.details[0]["rounds"]
            yield (
                f"{k:4}{algorithm:>11}{numeric_loss(frame, release.frame):9.3f}{known:8.2f}"
                f"{rounds:8}{seconds:9.1f}{spent:8.1f}"
            )


def tied_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Made-up tables with many equal records."""
    generator = np.random.default_rng(7)
    for columns in (1, 2, 3, 4, 6):
        found = generator.integers(0, 6, (1500, columns))
        yield f"0 to 5, {columns} columns", pd.DataFrame(found)
    mixing = np.array([[1, 0.5, 0.3, 0], [0, 1, 0.4, 0.2], [0, 0, 1, 0.5], [0, 0, 0, 1]])
    amounts = 300 * np.exp(generator.normal(0, 1.5, (1500, 4)) @ mixing)
    for step in (100, 1000):
        yield f"amounts in {step}s", pd.DataFrame(np.round(amounts / step))
    yield "counts", pd.DataFrame(generator.poisson(1.0, (1500, 3)))
    yield "durations", pd.DataFrame(generator.geometric(0.3, (1500, 2)))


def ties(data: Path) -> Iterator[str]:
    """Tables full of equal records: loss of every algorithm, plain and refined."""
    numbers = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    tables = [*tied_tables(), ("Adult, numbers", adult_frame(data)[numbers].head(4000))]
    algorithms = ("mdav", "v-mdav", "sa-mdav")
    yield f"{'table':20}{'k':>4}" + "".join(f"{one:>10}{'refined':>9}" for one in algorithms)
    for title, table in tables:
        # not whole numbers, or else centroids would be rounded
        frame = table.rename(columns=str) * 1.2345678
        schema = om.Schema.of({name: om.Numeric() for name in frame})
        for k in (3, 5, 10, 25, 50, 100):
            line = f"{title:20}{k:4}"
            for algorithm in algorithms:
                for refine, width in ((False, 10), (True, 9)):
                    method = om.Microaggregation(k, algorithm=algorithm, refine=refine)
                    _, release = timed(frame, schema, method)
                    line += f"{numeric_loss(frame, release.frame):{width}.4f}"
            yield line


def numeric(_: Path) -> Iterator[str]:
    """50,000 x 3 normal numbers: time and loss against plain NumPy."""
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.normal(size=(50_000, 3)), columns=list("abc"))
    schema = om.Schema.of({name: om.Numeric() for name in frame})
    scaled = ((frame - frame.mean()) / frame.std()).to_numpy()
    yield f"{'k':>4}{'seconds':>9}{'masking':>9}{'NumPy':>9}{'ratio':>7}{'loss':>9}{'NumPy':>9}"
    for k in (3, 10):
        seconds, release = timed(frame, schema, om.Microaggregation(k, algorithm="mdav"))
        start = time.perf_counter()
        means = plain_mdav(scaled, k)
        plain = time.perf_counter() - start
        masking = release.timings["step 1: microaggregation"]
        loss = 100 * ((scaled - means) ** 2).sum() / (scaled**2).sum()
        yield (
            f"{k:4}{seconds:9.2f}{masking:9.2f}{plain:9.2f}{plain / masking:7.1f}"
            f"{numeric_loss(frame, release.frame):9.4f}{loss:9.4f}"
        )


def adult_frame(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "tables/adult_train.csv.gz").dropna().reset_index(drop=True)


def adult(data: Path) -> Iterator[str]:
    """Adult, 30,162 records, 12 mixed quasi-identifiers, k = 3."""
    frame = adult_frame(data)
    numbers = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    words = [
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
    ]
    schema = om.Schema.of(
        {**{name: om.Numeric() for name in numbers}, **{name: om.Flat() for name in words}}
    )
    for algorithm in ("mdav", "sa-mdav"):
        seconds, release = timed(frame, schema, om.Microaggregation(3, algorithm=algorithm))
        yield f"{algorithm:10}{seconds:8.2f} s  {release}"


def claims_frame(data: Path) -> pd.DataFrame:
    path = data / "tables/inpatient_claims_icd9.csv.gz"
    return pd.read_csv(path, dtype=dict.fromkeys(CODES, str))


def claims_schema() -> om.Schema:
    diagnoses, procedures = om.load_taxonomy("icd9cm"), om.load_taxonomy("icd9cm-procedures")
    return om.Schema(
        age=om.Numeric(),
        sex=om.Flat(),
        los=om.Numeric(),
        dx_principal=om.Nominal(diagnoses),
        procedure=om.Nominal(procedures),
        dx_secondary=om.Nominal(diagnoses),
    )


def nominal_columns(schema: om.Schema) -> dict[str, tuple]:
    return {
        name: (column.taxonomy, column.overrides)
        for name, column in schema.items()
        if isinstance(column, om.Nominal)
    }


def claims(data: Path) -> Iterator[str]:
    """The 50,025 claims on (age, sex, los, dx_principal, procedure, dx_secondary), k = 5."""
    frame, schema = claims_frame(data), claims_schema()
    methods = {
        "sa-mdav": om.Microaggregation(5),
        "sa-mdav, refined": om.Microaggregation(5, refine=True),
        "sa-mdav, static": om.Microaggregation(5, dynamic=False),
        "mdav": om.Microaggregation(5, algorithm="mdav"),
        "sa-mdav, equality": om.Microaggregation(5, operators="equality"),
        "recoding": om.Recoding(5),
        "recoding, discernibility": om.Recoding(5, algorithm="discernibility"),
        "resampling": om.Resampling(5),
        "hybrid": om.Hybrid(5),
        "local suppression": om.LocalSuppression(5),
    }
    yield f"{'method':26}{'seconds':>9}{'semantic loss':>15}{'numeric loss':>14}{'peak MB':>9}"
    for name, method in methods.items():
        seconds, release = timed(frame, schema, method)
        numbers = ["age", "los"]
        loss = semantic_loss(frame, release.frame, nominal_columns(schema))
        masked = release.frame[numbers].astype(float).fillna(frame[numbers].mean())
        yield (
            f"{name:26}{seconds:9.2f}{loss:15.4f}"
            f"{numeric_loss(frame[numbers], masked):14.3f}{peak():9.0f}"
        )


def growth(data: Path) -> Iterator[str]:
    """How time grows with the number of records."""
    frame, schema = claims_frame(data), claims_schema()
    generator = np.random.default_rng(1)
    titles = ("numeric x 3, k=5", "claims x 6, k=5", "tuples", "peak MB")
    yield f"{'records':>9}{titles[0]:>18}{titles[1]:>17}{titles[2]:>9}{titles[3]:>9}"
    for count in (10_000, 30_000, 100_000, 300_000, 1_000_000):
        numbers = pd.DataFrame(generator.normal(size=(count, 3)), columns=list("abc"))
        plain = om.Schema.of({name: om.Numeric() for name in numbers})
        first, _ = timed(numbers, plain, om.Microaggregation(5, algorithm="mdav"))
        line = f"{count:9,}{first:18.2f}"
        if count <= MIXED_UP_TO:
            sample = resampled(frame[list(schema)], count, generator)
            second, release = timed(sample, schema, om.Microaggregation(5))
            line += f"{second:17.2f}{len(sample.drop_duplicates()):9,}"
            assert min(release.class_sizes) >= 5
        yield f"{line:53}{peak():9.0f}"


def resampled(frame: pd.DataFrame, count: int, generator: np.random.Generator) -> pd.DataFrame:
    """Records drawn with replacement, 15 % of the cells redrawn from their column."""
    drawn = frame.iloc[generator.integers(0, len(frame), count)].reset_index(drop=True)
    for name in drawn:
        cells = generator.random(count) < 0.15
        others = frame[name].to_numpy()[generator.integers(0, len(frame), int(cells.sum()))]
        drawn.loc[cells, name] = others
    return drawn


def loss(data: Path) -> Iterator[str]:
    """Semantic operators against equality on (dx_principal, procedure): loss for each k."""
    frame = claims_frame(data).dropna(subset=["procedure"]).reset_index(drop=True)
    everything = claims_schema()
    schema = om.Schema.of({name: everything[name] for name in ("dx_principal", "procedure")})
    yield f"{'k':>4}{'semantic':>10}{'equality':>10}{'ratio':>7}{'recoding':>10}{'resampling':>12}"
    for k in KS:
        methods = (
            om.Microaggregation(k),
            om.Microaggregation(k, operators="equality"),
            om.Recoding(k),
            om.Resampling(k),
        )
        losses = [
            semantic_loss(frame, timed(frame, schema, one)[1].frame, nominal_columns(schema))
            for one in methods
        ]
        yield (
            f"{k:4}{losses[0]:10.4f}{losses[1]:10.4f}{losses[0] / losses[1]:7.2f}"
            f"{losses[2]:10.4f}{losses[3]:12.4f}"
        )


def adult_wordnet_schema() -> om.Schema:
    wordnet = om.load_taxonomy("wordnet")
    mapping = HERE.parent / "studies" / "thesis" / "adult_wordnet.csv"
    column = om.Nominal(wordnet, overrides=mapping, output="id")
    return om.Schema.of({"occupation": column, "native-country": column})


def wordnet(data: Path) -> Iterator[str]:
    """Adult (occupation, native-country) through WordNet: loss and seconds for each k."""
    frame, schema = adult_frame(data), adult_wordnet_schema()
    names = ("sa-mdav", "mdav+equality", "mdav+lcs", "s-mdav", "recoding", "resampling")
    yield f"{'k':>5}" + "".join(f"{name:>22}" for name in names)
    for k in ADULT_KS:
        cells = []
        for name in names:
            seconds, release = timed(frame, schema, om.preset(name, k))
            value = semantic_loss(frame, release.frame, nominal_columns(schema))
            cells.append(f"{value:12.4f} ({seconds:5.2f} s)")
        yield f"{k:5}" + "".join(f"{cell:>22}" for cell in cells)


def weighting(data: Path) -> Iterator[str]:
    """Does it lose less to multiply distances by frequencies? Adult through WordNet."""
    frame, schema = adult_frame(data), adult_wordnet_schema()
    yield f"{'k':>5}{'sa-mdav':>10}{'frequency':>11}{'recoding':>10}{'frequency':>11}"
    for k in ADULT_KS:
        methods = [
            kind(k, weighting=one)
            for kind in (om.Microaggregation, om.Recoding)
            for one in ("none", "frequency")
        ]
        values = [
            semantic_loss(frame, timed(frame, schema, one)[1].frame, nominal_columns(schema))
            for one in methods
        ]
        yield f"{k:5}" + "".join(
            f"{one:{width}.4f}" for one, width in zip(values, (10, 11, 10, 11), strict=True)
        )


def stars(data: Path) -> Iterator[str]:
    """Local suppression: 20,000 records, five keys, k = 3."""
    tables = {
        "claims (age sex race state los)": (
            claims_frame(data).head(20_000),
            ["age", "sex", "race", "state", "los"],
        ),
        "Adult (age sex race marital-status education)": (
            adult_frame(data).head(20_000),
            ["age", "sex", "race", "marital-status", "education"],
        ),
    }
    for title, (frame, keys) in tables.items():
        schema = om.Schema.of({name: om.Flat() for name in keys})
        seconds, release = timed(frame, schema, om.LocalSuppression(3))
        sizes = frame.groupby(keys)[keys[0]].transform("size")
        cells = release.details[0]["cells"]
        unsafe = int((sizes < 3).sum())
        yield f"{title}: {seconds:.2f} s, {cells:,} cells for {unsafe:,} unsafe records"


SECTIONS = {
    function.__name__: function
    for function in (
        census,
        thorough,
        ties,
        numeric,
        adult,
        claims,
        growth,
        loss,
        wordnet,
        weighting,
        stars,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=folder_with("tables/census.csv", CLAIMS))
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    arguments = parser.parse_args()
    warm = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": list("xyxy")})
    om.protect(warm, om.Schema(a=om.Numeric(), b=om.Flat()), om.Microaggregation(2))  # compile
    for name in arguments.sections or SECTIONS:
        function = SECTIONS[name]
        print(f"\n{function.__doc__}")
        for line in function(arguments.data):
            print(line, flush=True)


if __name__ == "__main__":
    main()
