"""How many people of a population are unique, estimated from a sample of it.

Notation: n people in the sample, pi the sampling fraction, N = n / pi people in the population; u
classes (people with equal quasi-identifiers) in the sample, s_j of them of size j; K and S_j the
same in the population. Wanted is S_1. Four estimators and a rule that chooses among them:

* Zayatz, "Estimation of the number of unique population elements using a sample", Proceedings of
  the Survey Research Methods Section, American Statistical Association (1991);
* Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", Journal of
  Official Statistics 17 (2001);
* Chen and Keller-McNulty, "Estimation of identification disclosure risk in microdata", Journal of
  Official Statistics 14 (1998): the slide negative binomial model, with the number of classes after
  Haas and Stokes, "Estimating the number of classes in a finite population", Journal of the
  American Statistical Association 93 (1998);
* Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of clinical data sets",
  BMC Medical Informatics and Decision Making 12:66 (2012).

Where an estimator has no answer, its number is None and the reason says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ontomask.arithmetic import exp, log, raised, summed_logarithms, summed_products, summed_rows
from ontomask.arrays import Floats, Longs
from ontomask.brevity import Brief
from ontomask.checks import Real, check
from ontomask.decompositions import eigenvectors
from ontomask.errors import DataError
from ontomask.gamma_functions import digamma, log_rising, trigamma

__all__ = [
    "DEFINITIONS",
    "FRACTION",
    "ClassSizes",
    "Estimate",
    "PopulationUniqueness",
    "classes_in_population",
    "dankar",
    "estimated_uniques",
    "intrusion_success",
    "pitman",
    "population_uniqueness",
    "slide_negative_binomial",
    "zayatz",
]

FRACTION = Real(0, 1, open_low=True)
"""A share of the population that is in the sample."""

SMALL_FRACTION = 0.1
"""Up to this fraction Dankar's rule trusts Pitman's model."""

DEFINITIONS: dict[str, str] = {
    "fraction": "share of the population that is in the table",
    "population": "people in the population: people in the table / fraction, rounded",
    "sample_uniques": "people in the table whose quasi-identifiers nobody else in it shares",
    "zayatz": (
        "estimated people unique in the population if class sizes there were shared out as in the "
        "table, by Bayes' rule (Zayatz 1991)"
    ),
    "pitman": (
        "estimated people unique in the population by Pitman's sampling formula with the "
        "parameters of greatest likelihood (Hoshino 2001)"
    ),
    "snb": (
        "estimated people unique in the population if class sizes less one are negative binomial "
        "(slide negative binomial model, Chen and Keller-McNulty 1998)"
    ),
    "dankar": (
        "the estimate that the rule of Dankar et al. (2012) trusts: Pitman's for a fraction of at "
        "most 0.1, else the smaller one of the slide negative binomial model's and Zayatz'"
    ),
    "chosen": "which estimator the rule of Dankar et al. (2012) trusts here",
    "intrusion_success": (
        "estimated probability that a match with a person unique in the table is correct (data "
        "intrusion simulation, Skinner and Elliot 2002)"
    ),
}


@dataclass(frozen=True)
class Estimate:
    """An estimated number of people who are unique in the population.

    Attributes
    ----------
    uniques
        The number, None if the estimator has no answer.
    share
        The number divided by the size of the population.
    reason
        How the number was found, or why there is none.
    """

    uniques: float | None
    share: float | None
    reason: str


@dataclass(frozen=True)
class PopulationUniqueness:
    """Population uniqueness by several estimators; see `DEFINITIONS` for each figure.

    Attributes
    ----------
    fraction
        Share of the population that is in the table.
    population
        Size of the population, people in the table / fraction, rounded.
    sample_uniques
        People who are unique in the table.
    zayatz, pitman, snb
        The estimators.
    dankar
        The estimate chosen by the rule of Dankar et al.
    chosen
        Which one that is: `zayatz`, `pitman` or `snb`.
    intrusion_success
        Probability that a match with a person unique in the table is correct; None without such.
    """

    fraction: float
    population: int
    sample_uniques: int
    zayatz: Estimate
    pitman: Estimate
    snb: Estimate
    dankar: Estimate
    chosen: str
    intrusion_success: float | None

    def as_dict(self) -> dict[str, Any]:
        """The figures as a dictionary."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class ClassSizes(Brief):
    """The sample: which class sizes occur (ascending) and how often, and the sampling fraction."""

    sizes: Longs
    counts: Longs
    fraction: float

    @classmethod
    def of(cls, sizes: Sequence[int] | Longs, fraction: float) -> ClassSizes:
        """Take the size of each class."""
        check("fraction", fraction, FRACTION)
        given = np.asarray(sizes)
        if not given.size or (given < 1).any() or (given != np.rint(given)).any():
            raise DataError("Class sizes must be whole numbers of at least 1, and at least one.")
        found, counts = np.unique(given.astype(np.int64), return_counts=True)
        return cls(found, counts, float(fraction))

    @property
    def people(self) -> int:
        """The people in the sample, n."""
        return int(self.sizes @ self.counts)

    @property
    def classes(self) -> int:
        """The classes in the sample, u."""
        return int(self.counts.sum())

    @property
    def population(self) -> int:
        """The people in the population, N."""
        return max(self.people, round(self.people / self.fraction))

    def of_size(self, size: int) -> int:
        """The number of classes of a size, s_j."""
        return int(self.counts[self.sizes == size].sum())

    def estimate(self, uniques: float, reason: str) -> Estimate:
        """An answer, never more than the whole population."""
        bounded = min(float(uniques), float(self.population))
        return Estimate(bounded, bounded / self.population, reason)

    def settled(self) -> Estimate | None:
        """The answer where it needs no model."""
        uniques = self.of_size(1)
        if self.population == self.people:
            return self.estimate(uniques, "The table is the whole population: counted.")
        if not uniques:
            return self.estimate(0, "Nobody is unique in the table, so none is expected to be.")
        if uniques == self.people:
            return self.estimate(
                self.population, "Everybody is unique in the table: the limit of the models."
            )
        return None


def population_uniqueness(sizes: Sequence[int] | Longs, fraction: float) -> PopulationUniqueness:
    """Estimate how many people are unique in the population.

    Parameters
    ----------
    sizes
        The number of people in each class of the sample.
    fraction
        The share of the population that is in the sample, above 0 and at most 1.

    Examples
    --------
    >>> estimated = om.measuring.population_uniqueness([1, 1, 1, 2, 2, 3, 4, 6], fraction=0.1)
    >>> estimated.population, estimated.sample_uniques
    (200, 3)
    >>> round(estimated.zayatz.uniques, 1)
    5.8
    """
    sample = ClassSizes.of(sizes, fraction)
    found = {name: estimator(sample) for name, estimator in _estimators().items()}
    chosen, best = dankar(sample.fraction, found.__getitem__)
    return PopulationUniqueness(
        fraction=sample.fraction,
        population=sample.population,
        sample_uniques=sample.of_size(1),
        dankar=best,
        chosen=chosen,
        intrusion_success=intrusion_success(sample),
        **found,
    )


def _estimators() -> dict[str, Callable[[ClassSizes], Estimate]]:
    return {"zayatz": zayatz, "pitman": pitman, "snb": slide_negative_binomial}


def estimated_uniques(sizes: Sequence[int] | Longs, fraction: float, estimator: str) -> Estimate:
    """What one estimator says, `dankar` included; no other is asked that it does not go by."""
    sample, known = ClassSizes.of(sizes, fraction), _estimators()
    if estimator == "dankar":
        return dankar(sample.fraction, lambda name: known[name](sample))[1]
    return known[estimator](sample)


def dankar(fraction: float, found: Callable[[str], Estimate]) -> tuple[str, Estimate]:
    """Choose an estimate, given those that are asked for, by the rule of Dankar et al. (2012).

    Pitman's if pi <= 0.1; else that of the slide negative binomial model, unless it exceeds
    Zayatz', which is taken then. Zayatz', which always has an answer, stands in for a model without
    one.
    """
    name = "pitman" if fraction <= SMALL_FRACTION else "snb"
    preferred = found(name)
    if name == "pitman" and preferred.uniques is not None:
        return name, preferred
    other = found("zayatz")
    if preferred.uniques is None:
        return "zayatz", other
    exceeds = other.uniques is not None and preferred.uniques > other.uniques
    return ("zayatz", other) if exceeds else (name, preferred)


def intrusion_success(sample: ClassSizes) -> float | None:
    """Probability that a match with a sample unique is correct: pi s_1 / (pi s_1 + 2 (1 - pi) s_2).

    Skinner and Elliot, "A measure of disclosure risk for microdata", Journal of the Royal
    Statistical Society B 64 (2002).
    """
    uniques, pairs, fraction = sample.of_size(1), sample.of_size(2), sample.fraction
    if not uniques:
        return None
    return fraction * uniques / (fraction * uniques + 2 * (1 - fraction) * pairs)


# Zayatz ---------------------------------------------------------------------------------------


def zayatz(sample: ClassSizes) -> Estimate:
    """Estimate by Bayes' rule that a sample unique is a population unique (Zayatz 1991).

    P(F = 1 | f = 1) = p_1 P(f = 1 | F = 1) / sum_j p_j P(f = 1 | F = j), where P(f = 1 | F = j) is
    hypergeometric (n drawn from N, j of them of the class) and p_j, the share of classes of size j
    in the population, is taken from the sample: s_j / u. Then S_1 = s_1 P(F = 1 | f = 1) N / n.
    """
    settled = sample.settled()
    if settled is not None:
        return settled
    chances = _chance_of_one(sample.sizes, sample.people, sample.population)
    uniques = sample.of_size(1)
    correct = uniques * chances[0] / summed_products(sample.counts, chances)
    return sample.estimate(
        uniques * correct * sample.population / sample.people,
        f"A person unique in the table is unique in the population with probability {correct:.3g}.",
    )


def _chance_of_one(sizes: Longs, drawn: int, population: int) -> Floats:
    """P(f = 1 | F = j) = j C(N - j, n - 1) / C(N, n), zero where too few others are left.

    That is j n (N - n)! / (N - n - j + 1)! over N! / (N - j)!.
    """
    size, left = sizes.astype(np.float64), population - drawn
    possible = size - 1 <= left
    logarithms = log(size * drawn) - log_rising(population - size + 1, size)
    logarithms += log_rising(np.where(possible, left - size + 2, 1.0), size - 1)
    return np.where(possible, exp(logarithms), 0.0)


# Pitman ---------------------------------------------------------------------------------------


def pitman(sample: ClassSizes) -> Estimate:
    """Estimate by Pitman's sampling formula (Hoshino 2001).

    With 0 <= alpha < 1 and theta > -alpha, the sample has the log-likelihood

        sum_{i=1}^{u-1} ln(theta + i alpha) - sum_{i=1}^{n-1} ln(theta + i)
            + sum_j s_j sum_{i=1}^{j-1} ln(i - alpha),

    which is maximized. The expected number of uniques among N people is

        S_1 = N G(theta + 1) / G(theta + alpha) G(theta + alpha + N - 1) / G(theta + N),

    G the gamma function. Hoshino writes its limit for large N, G(theta + 1) / G(theta + alpha)
    N^alpha, which can exceed N where theta is not small against it. Class sizes that are more even
    than the model allows drive alpha to 0 and the estimate too high.
    """
    settled = sample.settled()
    if settled is not None:
        return settled
    likelihood = _PitmanLikelihood(sample)
    alpha, theta, steepness = likelihood.best()
    if not steepness < CONVERGED:
        return Estimate(
            None, None, "The likelihood of Pitman's model has no maximum that could be found."
        )
    return sample.estimate(
        pitman_uniques(sample.population, alpha, theta),
        f"Greatest likelihood at alpha = {alpha:.4g}, theta = {theta:.4g}.",
    )


CONVERGED = 1e-5
"""How steep the log-likelihood may be, per class and step of the transformed parameters."""

STILL = 1e-12
"""Where it is less steep than this, it is lowest."""

ROUNDS = 200
"""So many steps are enough."""


def pitman_uniques(people: int, alpha: float, theta: float) -> float:
    """The expected number of uniques among so many people."""
    logarithm = log_rising(theta + alpha, 1 - alpha)
    return people * math.exp(logarithm - log_rising(theta + alpha + people - 1, 1 - alpha))


class _PitmanLikelihood:
    """The log-likelihood over a = logit(alpha) and b = ln(theta + alpha), which are unbounded."""

    def __init__(self, sample: ClassSizes) -> None:
        self.sample = sample
        self.steps = np.arange(1.0, sample.classes)
        self.rises = np.append(sample.sizes, sample.people) - 1.0

    def best(self) -> tuple[float, float, float]:
        """Alpha and theta of the greatest likelihood, and how steep it still is there."""
        widest = math.log(1e4 * self.sample.people)
        low, high = np.array([-16.0, -16.0]), np.array([16.0, widest])
        for start in ((-2.0, math.log(1.0 + self.sample.classes) / 2), (0.0, 0.0), (2.0, 2.0)):
            point = _lowest(self, np.array(start), low, high)
            steepness = self._steepness(point, widest)
            if steepness < CONVERGED:
                break
        return *self.parameters(point), steepness

    @staticmethod
    def parameters(point: Floats) -> tuple[float, float]:
        """Alpha and theta."""
        alpha = _logistic(point[0])
        return alpha, math.exp(point[1]) - alpha

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """The negative log-likelihood per class, and its slope."""
        alpha, theta = self.parameters(point)
        sample, terms, starts = self.sample, theta + alpha * self.steps, self._starts(alpha, theta)
        risen = log_rising(starts, self.rises)
        value = summed_logarithms(terms) - risen[-1] + summed_products(sample.counts, risen[:-1])
        by_alpha, by_theta = self._slopes(terms, starts)
        slope = np.array([(by_alpha - by_theta) * alpha * (1 - alpha), by_theta * (theta + alpha)])
        return -float(value) / sample.classes, -slope / sample.classes

    def _starts(self, alpha: float, theta: float) -> Floats:
        """Where the products begin that rise by one in each step: of each size, and of all."""
        return np.append(np.full(self.sample.sizes.size, 1 - alpha), theta + 1)

    def _slopes(self, terms: Floats, starts: Floats) -> tuple[float, float]:
        """How the log-likelihood grows with alpha and with theta."""
        faster = digamma(starts + self.rises) - digamma(starts)
        by_alpha = (self.steps / terms).sum() - summed_products(self.sample.counts, faster[:-1])
        return float(by_alpha), float((1 / terms).sum() - faster[-1])

    def curvature(self, point: Floats) -> Floats:
        """How the slope of the negative log-likelihood per class changes."""
        alpha, theta = self.parameters(point)
        terms, starts = theta + alpha * self.steps, self._starts(alpha, theta)
        by_alpha, by_theta = self._slopes(terms, starts)
        faster, ratios = trigamma(starts + self.rises) - trigamma(starts), self.steps / terms
        twice_alpha = summed_products(self.sample.counts, faster[:-1]) - (ratios**2).sum()
        both = -(ratios / terms).sum()
        twice_theta = -((1 / terms) ** 2).sum() - faster[-1]
        inner, outer = alpha * (1 - alpha), theta + alpha
        across = (both - twice_theta) * inner * outer
        first = (twice_alpha - 2 * both + twice_theta) * inner**2
        first += (by_alpha - by_theta) * inner * (1 - 2 * alpha)
        second = twice_theta * outer**2 + by_theta * outer
        return -np.array([[first, across], [across, second]]) / self.sample.classes

    def _steepness(self, point: Floats, widest: float) -> float:
        """The slope; infinite where theta grows without end. Alpha may be as small as it likes."""
        if point[1] > widest - 1e-3:
            return math.inf
        return float(np.abs(self(point)[1]).max())


def _lowest(function: _PitmanLikelihood, start: Floats, low: Floats, high: Floats) -> Floats:
    """A lowest point between bounds, by Newton's steps, shortened where they lead astray.

    After Levenberg (1944) and Marquardt (1963); what is convex the wrong way is turned round.
    """
    point, damping = start, 1.0
    (value, slope), curvature = function(point), function.curvature(point)
    for _ in range(ROUNDS):
        free = ~((point <= low) & (slope > 0) | (point >= high) & (slope < 0))
        if damping > 1e12 or np.abs(slope[free]).max(initial=0.0) < STILL:
            break
        curves, axes = eigenvectors(curvature[np.ix_(free, free)])
        step = np.zeros(2)
        along = summed_rows(axes.T, slope[free]) / (np.abs(curves) + damping)
        step[free] = -summed_rows(axes, along)
        trial = np.clip(point + step, low, high)
        found, new = function(trial)
        lower = found < value or (found == value and np.abs(new).max() < np.abs(slope).max())
        damping *= 0.1 if lower else 10.0
        if lower:
            point, value, slope, curvature = trial, found, new, function.curvature(trial)
    return point


def _logistic(number: float) -> float:
    return 1.0 / (1.0 + math.exp(-number))


# Slide negative binomial ----------------------------------------------------------------------


def slide_negative_binomial(sample: ClassSizes) -> Estimate:
    """Estimate with class sizes F = 1 + X, X negative binomial (Chen and Keller-McNulty 1998).

    P(X = x) = Gamma(alpha + x) / (Gamma(alpha) x!) beta^alpha (1 - beta)^x. When every person is
    drawn with probability pi, with A = (1 - pi)(1 - beta) and B = beta / (1 - A),

        E s_1 = K pi B^alpha (1 + alpha A / (1 - A)),
        E s_2 = K pi^2 / 2 B^alpha alpha (1 - beta) (2 - (1 - alpha) A) / (1 - A)^2.

    K is estimated by `classes_in_population`, alpha and beta solve the two equations for the
    observed s_1 and s_2, and S_1 = K beta^alpha. Of several solutions the one is taken whose
    population, K (1 + alpha (1 - beta) / beta), is nearest to N.
    """
    settled = sample.settled()
    if settled is not None:
        return settled
    if not sample.of_size(2):
        return Estimate(
            None, None, "No class of the table has two people, as the slide model needs them."
        )
    classes = classes_in_population(sample)
    solutions = _snb_solutions(sample, classes)
    if not solutions:
        return Estimate(
            None, None, "The equations of the slide negative binomial model have no solution here."
        )
    alpha, beta = min(
        solutions,
        key=lambda one: abs(classes * (1 + one[0] * (1 - one[1]) / one[1]) - sample.population),
    )
    return sample.estimate(
        classes * math.exp(alpha * math.log(beta)),
        f"Solved with {classes:.6g} classes by alpha = {alpha:.4g}, beta = {beta:.4g}.",
    )


def classes_in_population(sample: ClassSizes) -> float:
    """Estimate K by the modified estimator of Shlosser (Haas and Stokes 1998), at most N.

    With q = pi: u + s_1 * (sum_i i q^2 (1 - q^2)^(i-1) s_i / sum_i (1 - q)^i ((1 + q)^i - 1) s_i)
    * (sum_i (1 - q)^i s_i / sum_i i q (1 - q)^(i-1) s_i)^2.
    """
    size, count, q = sample.sizes.astype(np.float64), sample.counts, sample.fraction
    if q == 1:
        return float(sample.classes)
    first = summed_products(size * q**2 * raised(1 - q**2, size - 1), count)
    # (1 - q)^i (1 + q)^i is written (1 - q^2)^i, which does not overflow for large classes.
    second = summed_products(raised(1 - q**2, size) - raised(1 - q, size), count)
    third = summed_products(raised(1 - q, size), count)
    fourth = summed_products(size * q * raised(1 - q, size - 1), count)
    if not second or not fourth:
        return float(sample.classes)
    found = sample.classes + sample.of_size(1) * first / second * (third / fourth) ** 2
    return min(float(found), float(sample.population))


def snb_expected(alpha: float, beta: float, fraction: float) -> tuple[float, float]:
    """The logarithms of E s_1 / K and of E s_2 / K."""
    missed = (1 - fraction) * (1 - beta)
    power = alpha * (math.log(beta) - math.log1p(-missed))
    ones = math.log(fraction) + power + math.log1p(alpha * missed / (1 - missed))
    pairs = 2 * math.log(fraction) + power + math.log(alpha * (1 - beta) / 2)
    return ones, pairs + math.log(2 - (1 - alpha) * missed) - 2 * math.log1p(-missed)


def _snb_solutions(sample: ClassSizes, classes: float) -> list[tuple[float, float]]:
    """Alpha and beta for which the expected numbers are the observed ones, by bisection.

    Their ratio gives alpha for each beta; which of them have the right number of uniques is looked
    for along the logit of beta.
    """
    wanted = math.log(sample.of_size(1) / classes)
    ratio = 2.0 * sample.of_size(2) / (sample.fraction * sample.of_size(1))

    def parameters(logit: float) -> tuple[float, float]:
        return _snb_alpha(ratio, sample.fraction, logit), _logistic(logit)

    def difference(logit: float) -> float:
        return snb_expected(*parameters(logit), sample.fraction)[0] - wanted

    grid = np.linspace(-20.0, 20.0, 801).tolist()
    signs = [difference(one) > 0.0 for one in grid]
    changes = [place for place in range(800) if signs[place] != signs[place + 1]]
    return [parameters(_crossing(difference, *grid[one : one + 2])) for one in changes]


def _snb_alpha(ratio: float, fraction: float, logit: float) -> float:
    """The alpha with which beta gives the observed ratio of pairs to uniques.

    With r = 2 s_2 / (pi s_1) and c = 1 - beta it is the positive solution of
    c A alpha^2 + (c (2 - A) - r A (1 - A)) alpha = r (1 - A)^2.
    """
    rest = _logistic(-logit)
    missed = (1.0 - fraction) * rest
    half = (rest * (2.0 - missed) - ratio * missed * (1.0 - missed)) / 2.0
    right = ratio * (1.0 - missed) ** 2
    root = math.sqrt(half * half + rest * missed * right)
    return right / (half + root) if half > 0.0 else (root - half) / (rest * missed)


def _crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign between two numbers."""
    below = function(low) > 0.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (function(middle) > 0.0) == below else (low, middle)
    return middle
