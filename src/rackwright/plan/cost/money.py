"""Arithmetic of money: whole micro-dollars a year, rounded once for each line of a cost.

Rounding is half to even. Sums of lines are exact, so a total never differs from its parts.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

HOURS_PER_YEAR = 8760
"""365 days; cloud prices by the month are for 730 hours, a twelfth of it."""
MONTHS_PER_YEAR = 12
"""So a price by the month counts twelve times, however long its months are."""
MICROS = 1_000_000
"""Micro-dollars in a dollar."""
_DIGITS = 60
"""Precision of intermediate products, beyond any number that a blueprint can state."""


def to_micros(dollars: Decimal) -> int:
    """Return whole micro-dollars, rounded half to even."""
    with localcontext() as context:
        context.prec = _DIGITS
        return int((dollars * MICROS).to_integral_value(rounding=ROUND_HALF_EVEN))


def to_dollars(micros: int) -> Decimal:
    """Return the dollars with six decimals, exactly."""
    return Decimal(micros).scaleb(-6)


def hourly(micros_per_year: int) -> int:
    """Return micro-dollars an hour of a yearly amount, rounded half to even."""
    whole, rest = divmod(micros_per_year, HOURS_PER_YEAR)
    twice = 2 * rest
    return whole + (twice > HOURS_PER_YEAR or (twice == HOURS_PER_YEAR and whole % 2 == 1))


def recurring(quantity: Decimal, price: Decimal, periods_per_year: Decimal | int) -> int:
    """Return micro-dollars a year of ``quantity`` units that cost ``price`` dollars each period."""
    with localcontext() as context:
        context.prec = _DIGITS
        return to_micros(quantity * price * periods_per_year)


def energy(power: float, utilisation: float, pue: float, price: Decimal) -> int:
    """Return micro-dollars a year for energy: IT power × utilisation × PUE × 8,760 h × price.

    Args:
        power: highest continuous IT power in watts.
        utilisation: mean share of it in percent.
        pue: ratio of facility to IT power.
        price: dollars a kilowatt hour.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        mean = exact(power) * exact(utilisation) / 100 / 1000  # kilowatts
        return to_micros(mean * exact(pue) * HOURS_PER_YEAR * price)


def demand(power: float, pue: float, price: Decimal) -> int:
    """Return micro-dollars a year for the highest power: IT power × PUE × 12 months × price.

    Args:
        power: highest continuous IT power in watts.
        pue: ratio of facility to IT power.
        price: dollars a kilowatt and month.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        return to_micros(exact(power) / 1000 * exact(pue) * MONTHS_PER_YEAR * price)


def amortise(total: int, years: int) -> tuple[int, ...]:
    """Return equal yearly parts of ``total``, which they add up to; earlier years bear the remainder."""
    part, rest = divmod(total, years)
    return tuple(part + (year < rest) for year in range(years))


def share(total: int, percent: float) -> int:
    """Return ``percent`` of an amount, rounded half to even."""
    with localcontext() as context:
        context.prec = _DIGITS
        part = Decimal(total) * exact(percent) / 100
        return int(part.to_integral_value(rounding=ROUND_HALF_EVEN))


def discounted(price: Decimal, percent: float) -> Decimal:
    """Return ``price`` less a discount, not rounded."""
    with localcontext() as context:
        context.prec = _DIGITS
        return price * (100 - exact(percent)) / 100


def exact(number: float) -> Decimal:
    """Return the shortest decimal that reads back as ``number``: 0.1 is one tenth."""
    return Decimal(repr(number))
