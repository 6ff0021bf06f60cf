"""What is said about the thesis in words: setup, slips in print, and why results differ."""

from __future__ import annotations

__all__ = ["DISCREPANCIES", "PAPER", "PRINTED_NOTES", "SETUP", "STAND_INS"]

PAPER = (
    "S. Martínez Lluís, *Ontology based semantic anonymisation of microdata*, Ph.D. thesis, "
    "Universitat Rovira i Virgili, Tarragona (December 2012). Chapters 4 (centroids), 5 "
    "(recoding), 6 (microaggregation), 7 (resampling), 8 (record linkage) and 9 (medical records)."
)
SETUP = """\
Every method is a call of the library; logSC is the distance unless said otherwise, and depth
counts from the ontology's root.

* **Centroids**: the centroid of n records is what microaggregation with k = n gives them, for
  each operator set; on whole columns, the whole table, and the seven clusters of Ward's method.
* **Recoding**: k from 2 to 15; random substitution is averaged over five draws as in the
  thesis.
* **Microaggregation**: masked by logSC, judged by Wu-Palmer distances (Eqs. 6.2 to 6.4).
  *Boolean* is `mdav+equality`, *LCS* is `mdav+lcs`. Weighted (by frequency, Eq. 4.2) and
  refined SA-MDAV are shown as well; the thesis has no counterpart of the latter.
* **Resampling**: four settings, three draws each, judged by Wu-Palmer; k beyond 15 shows how it
  goes on.
* **Record linkage**: tuples are generalized one by one (`algorithm="tuple"`) along a hierarchy
  with two levels (VGH2) and one with three (VGH3); the intruder knows only the ontology.
* **Medical records**: semantic operators against equality and mode, and suppression (records
  become stars, each counted as moved by 1).

Record linkage is Eq. 5.7 in chapters 5 and 6 (for each masked record the equal originals) and
Eq. 8.3 in chapters 8 and 9 (for each original the nearest masked records).
"""
PRINTED_NOTES = (
    "The figures of the thesis are drawings; the numbers quoted here are those that its "
    "text and its tables print.",
    "Section 6.3.1: merging Outlying-US with United-States gives the printed 3,739, 83.2 % "
    "and 1.9 % (with 387 combinations, 81 unique): in the thesis the two seem to share a "
    "concept.",
    "Table 12 has no entry for Sales, South and Columbia, which WordNet knows as an income, "
    "a region of the United States and a river; here they are salesperson, South Korea and "
    "Colombia.",
    "Section 4.3.5.4 gives 0.98 as the chance to draw the mode of a cluster in which it has "
    "109 of 120 records; that is 0.91.",
    "Section 9.2.1 speaks of 90 % masked records at k = 15; the suppression SSE of 2,875 of "
    "3,006 is 95.6 %.",
    "Section 9.2.3 says that resampling has the *minimal* score in almost all cases; by the "
    "sentence around it, the maximal one is meant, and tested here.",
    "Eq. 5.2 sums squared group sizes over records instead of groups. Eq. 8.6 calls "
    "distance what is 1 for equal records. Eq. 9.2 is infinite as soon as a combination "
    "vanishes, which it does in every release.",
    "Section 5.2.4 names Wu-Palmer, section 5.2.3 logSC as the distance of the same "
    "recoding; logSC is used here. Section 8.4.1 refers to Table 13 where Table 10 is "
    "meant.",
    "The correlations with human ratings of Table 4 come from the literature; "
    "`benchmarks/word_similarity.py` recomputes them.",
)
DISCREPANCIES = (
    "**Other tables.** The poll of 975 visitors and the hospital's records are not public. "
    "Their stand-ins have the same size and nearly the same share of unique combinations, "
    "but other words; ICD-9-CM has five levels and no multiple inheritance, SNOMED CT far "
    "more.",
    "**Centroids minimize distances, L and SSE square them.** Where the two disagree, the "
    "semantic centroid can lose to the LCS (chapter 7, k up to 15) and adaptive clusters to "
    "fixed ones (chapter 6, poll): the masked values are nearer on average, but the "
    "outliers lie farther off.",
    "**Equality is strong where records half agree.** Two of the digestive claims that "
    "share one of two codes are at Boolean distance 0.5, so equality finds sensible "
    "neighbors too, and semantics gains less than the 50 % printed for microaggregation.",
    "**Linkage nearer to the Boolean method.** The semantic centroid of a small cluster is "
    "most often one of its values, so that many masked records equal an original; "
    "generalized LCS values equal none.",
    "**One masked value that is an original.** Other-service stands for the concept "
    "*worker* (Table 12), which is also what other occupations are generalized to; so "
    "matching links a few records above the largest class.",
    "**Time.** Distances come from tables computed once and all loops are compiled: tenths "
    "of seconds instead of minutes, and what remains is no longer ordered as printed. MDAV "
    "on records still costs many times what SA-MDAV on distinct tuples does.",
)
STAND_INS = {
    "poll": "people born abroad, sampled from Adult (occupation, native country; WordNet 3.0); for "
    "the poll at the Ebro delta: 975 records, 211 combinations, 118 unique, largest 115",
    "census": "Adult (occupation, native country; WordNet 3.0, mapped as in Table 12); the same "
    "table in the thesis: 30,162 records, 388 combinations, 83 unique, largest 3,739",
    "records": "digestive claims (principal and secondary diagnosis; ICD-9-CM), sampled; for the "
    "hospital's records with SNOMED CT: 3,006 records, 2,331 combinations, 2,073 unique",
}
"""What each table is, and which table of the thesis it stands in for."""
