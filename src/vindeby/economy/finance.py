"""Money over the years: the capital recovery factor, the levelised cost of energy (LCOE) and the net present value.

The annuity form: what is spent before the first year is repaid in equal yearly amounts, each discounted from the end of
its year. Yearly cost and yearly energy are the same in every year. Then the LCOE is the price of energy at which the
net present value is 0 (W. Short, D. J. Packey and T. Holt, "A manual for the economic evaluation of energy efficiency
and renewable energy technologies", NREL/TP-462-5173, 1995).
"""

from math import expm1, inf, isfinite, log1p

from vindeby.errors import ArgumentError
from vindeby.units import MWH_PER_GWH


def capital_recovery(discount: float, years: float) -> float:
    """The share of an investment that is repaid each year: r / (1 - (1 + r)^-years), and 1 / years for r = 0.

    ``discount`` is a fraction: 0.0661 for 6.61 %.
    """
    if not (isfinite(discount) and discount > -1.0):
        raise ArgumentError(f"discount must be a fraction above -1, e.g. 0.0661 for 6.61 %, not {discount!r}")
    if not (isfinite(years) and years > 0.0):
        raise ArgumentError(f"years must be above 0, not {years!r}")
    return 1.0 / years if discount == 0.0 else discount / -expm1(-years * log1p(discount))


def lcoe_eur_per_mwh(capex: float, opex: float, aep_gwh: float, discount: float, years: float) -> float:
    """The levelised cost of energy: yearly cost divided by yearly energy.

    ``capex`` is in EUR, ``opex`` in EUR per year, ``aep_gwh`` in GWh per year; without energy it is infinite.
    """
    if aep_gwh <= 0.0:
        return inf
    return (capex * capital_recovery(discount, years) + opex) / (MWH_PER_GWH * aep_gwh)


def npv_eur(
    capex: float, opex: float, aep_gwh: float, discount: float, years: float, price_eur_per_mwh: float
) -> float:
    """The net present value (EUR) of a farm whose energy is sold at a price; arguments as for the LCOE."""
    yearly = MWH_PER_GWH * aep_gwh * price_eur_per_mwh - opex
    return yearly / capital_recovery(discount, years) - capex
