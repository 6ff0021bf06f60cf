"""What calls return, for annotations; a release is `ontomask.Release`."""

from ontomask.checking import Checked
from ontomask.comparison import Comparison
from ontomask.evaluation.evaluation import Evaluation
from ontomask.plan.execution import Outcome
from ontomask.recommendation import Recommendation

__all__ = [
    "Checked",
    "Comparison",
    "Evaluation",
    "Outcome",
    "Recommendation",
]
