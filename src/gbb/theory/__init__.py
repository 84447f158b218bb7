"""The paper's theory: the alphas and parameters of an instance, regret bounds, assumptions."""

from gbb.theory._alphas import (
    Assumption,
    CoupleGain,
    alpha_1,
    alpha_1_sharp,
    alpha_2,
    check_assumptions,
    couple_gain,
    gamma,
)
from gbb.theory._bounds import (
    critical_covariance_bound,
    critical_covariance_count,
    regret_bound,
    regret_bound_sharp,
)
from gbb.theory._lower_bound import LowerBound, lower_bound
from gbb.theory._products import Product, best_product, derandomise
from gbb.theory._report import Report, guaranteed_alpha, report

__all__ = [
    "Assumption",
    "CoupleGain",
    "LowerBound",
    "Product",
    "Report",
    "alpha_1",
    "alpha_1_sharp",
    "alpha_2",
    "best_product",
    "check_assumptions",
    "couple_gain",
    "critical_covariance_bound",
    "critical_covariance_count",
    "derandomise",
    "gamma",
    "guaranteed_alpha",
    "lower_bound",
    "regret_bound",
    "regret_bound_sharp",
    "report",
]
