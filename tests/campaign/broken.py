"""Every kind of mistake that people make in a campaign file, and what they must be told.

Each case: what is replaced in the small campaign, with what, and the words that the message must have: the field,
the value and the remedy, or what stands for them.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.campaign.examples import SMALL


class Broken(NamedTuple):
    """A wrong file and the words that must be said about it."""

    text: str | bytes
    words: tuple[str, ...]


def _with(old: str, new: str, *words: str) -> Broken:
    assert SMALL.count(old) == 1, f"{old!r} stands {SMALL.count(old)} times in the small campaign"
    return Broken(SMALL.replace(old, new), words)


_SQUARE = "[[0, 0], [4000, 0], [4000, 3000], [0, 3000]]"
_FIVE = "{rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}"

BROKEN: dict[str, Broken] = {
    # what is no campaign at all
    "empty file": Broken("", ("holds nothing", "vindeby init")),
    "only comments": Broken("# nothing\n", ("holds nothing",)),
    "a list": Broken("- 1\n- 2\n", ("must be a mapping",)),
    "plain text": Broken("hello\n", ("must be a mapping",)),
    "not YAML": Broken("name: [1, 2\nfarms: }", (":2:", "not valid YAML", "check the indentation")),
    "tab indentation": Broken("name: a\nfarms:\n\t- name: b\n", (":3:", "not valid YAML")),
    "binary": Broken(bytes(range(256)), ("byte 128 is not UTF-8",)),
    "control characters": Broken(b"name: \x00\x01\n", ("not valid YAML", "plain UTF-8 text")),
    "50 MB of garbage": Broken(b"\xc3\xa9#[{" * 10_000_000, ("50,000,000 bytes", "is it the right file?")),
    "deep nesting": Broken("a: " + "[" * 5000, ("nested deeper", "bracket left open")),
    "alias bomb": Broken(
        "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)),
        ("more than 2,000,000 values",),
    ),
    "python tag": _with(
        "name: small", "name: !!python/object/apply:os.system [ls]", "tags are not supported"
    ),
    "two documents": Broken(SMALL + "---\nname: more\n", ("second document", "remove the line")),
    "key twice": _with(
        "seeds: 3", "seeds: 3\nwake: jensen", "duplicate key 'wake', first on line 32", "remove one"
    ),
    "key is a number": _with("seeds: 3", "seeds: 3\n7: 8", "key must be text", "got 7", "quotes"),
    "merge key": _with("wake: nygaard-2022", "<<: {a: 1}", "merge keys", "write the fields out"),
    "unknown alias": _with("capacity_mw: 30", "capacity_mw: *power", "*power", "&power"),
    # keys
    "unknown key": _with("capacity_mw: 30", "capacity_mv: 30", "capacity_mv", "did you mean 'capacity_mw'?"),
    "unknown inner key": _with(
        "hub_height_m: 90", "hub_hight_m: 90", ".hub_hight_m", "'hub_height_m'?", ":14:"
    ),
    "unknown step parameter": _with(
        "grid_size: 18", "gridsize: 18", "method[0].smart-start.gridsize", "'grid_size'?"
    ),
    "unknown wake model": _with("wake: nygaard-2022", "wake: nygard-2022", "nygard-2022", "'nygaard-2022'?"),
    "unknown step": _with("  - gradient", "  - gradiant", "method[1].gradiant", "did you mean 'gradient'?"),
    "missing name": _with("name: small\n", "", "name: is missing", "add it"),
    "missing farms": Broken("name: small\n", ("farms: is missing", "site: is missing", "seeds: is missing")),
    "missing boundary": _with(f"    boundary: {_SQUARE}\n", "", "farms[0].boundary: is missing", ":3:"),
    "missing diameter": _with(
        "rotor_diameter_m: 126, ", "", "turbines[0].generic.rotor_diameter_m", "add it"
    ),
    "no amount": _with("capacity_mw: 30\n", "", "farms[0]", "farm 'north' is missing", "give n_turbines or"),
    "two amounts": _with("capacity_mw: 30", "capacity_mw: 30\nn_turbines: 6", "exclude each other", ":22:"),
    "two descriptions": _with(
        f"    generic: {_FIVE}",
        f"    generic: {_FIVE}\n    cubic: {_FIVE[:-1]}, rated_speed: 12}}",
        "turbines[0]: gives generic and cubic",
        "exactly one of: generic, table, cubic",
    ),
    "no description": _with(
        f"    generic: {_FIVE}\n", "", "turbines[0]", "exactly one of: generic, table, cubic"
    ),
    # types and values
    "text for a number": _with("capacity_mw: 30", "capacity_mw: thirty", "must be a number", "got 'thirty'"),
    "quoted number": _with(
        "capacity_mw: 30", "capacity_mw: '30'", "capacity_mw", "must be a number", "without quotes"
    ),
    "yes for a number": _with("capacity_mw: 30", "capacity_mw: true", "must be a number", "got True"),
    "negative": _with("capacity_mw: 30", "capacity_mw: -30", "capacity_mw", "greater than 0", "got -30"),
    "zero": _with(
        "rated_power_mw: 5", "rated_power_mw: 0", "generic.rated_power_mw", "greater than 0", "got 0"
    ),
    "not a number": _with("capacity_mw: 30", "capacity_mw: .nan", "capacity_mw", "finite number", "got nan"),
    "infinite": _with("a: 11", "a: .inf", "sectors[3].a", "finite number", "got inf"),
    "huge integer": _with("capacity_mw: 30", "capacity_mw: 1" + "0" * 400, "capacity_mw", "number"),
    "too many digits": _with("capacity_mw: 30", "capacity_mw: 1" + "0" * 5000, "capacity_mw", "5001 digits"),
    "number for a name": _with(
        "name: north", "name: 12", "farms[0].name", "must be text", "got 12", "quotes"
    ),
    "empty name": _with("name: north", "name: ''", "farms[0].name", "must not be empty"),
    "name with a line break": _with("name: north", 'name: "a\\nb"', "farms[0].name", "printable"),
    "name with blanks": _with("name: north", "name: ' north'", "farms[0].name", "blank"),
    "farm name twice": _with(
        "name: south", "name: north", "farms[1].name", "same name", "got 'north'", ":5:"
    ),
    "type name twice": _with("name: tabulated", "name: five", "turbines[1].name", "same name", "must differ"),
    "no farms": Broken(
        SMALL[: SMALL.index("  - name: north")].replace("farms:", "farms: []"), ("farms", "at least 1")
    ),
    "mapping for a list": _with("  - name: five\n", "  name: five\n", "not valid YAML"),
    "list for a mapping": _with(
        "run:\n  workers: 2", "run: [2]", "run: must be a mapping", "key: value lines"
    ),
    "null": _with("seeds: 3", "seeds:", "seeds", "neither a number nor a list"),
    "seeds 0": _with("seeds: 3", "seeds: 0", "seeds", "not a number of seeds", "got 0"),
    "fractional seeds": _with("seeds: 3", "seeds: 2.5", "seeds", "neither a number nor a list", "got 2.5"),
    "seed twice": _with("seeds: 3", "seeds: [1, 2, 1]", "seeds", "twice", "got 1"),
    "negative seed": _with("seeds: 3", "seeds: [1, -2]", "seeds[1]", "at least 0", "got -2"),
    "spacing without unit": _with(
        "min_spacing: 3 D", "min_spacing: 3", "min_spacing", 'like "3 D" or "720 m"', "got 3"
    ),
    "spacing in feet": _with("min_spacing: 3 D", "min_spacing: 900 ft", "min_spacing", "got '900 ft'"),
    "capacity below a turbine": _with(
        "capacity_mw: 30", "capacity_mw: 3", "0 turbines of type 'five'", "got 3", "MW"
    ),
    "capacity in watts": _with(
        "capacity_mw: 30", "capacity_mw: 1e9", "200,000,000 turbines", "the unit is MW"
    ),
    "too many tasks": _with("seeds: 3", "seeds: 5000000", "20,000,000 tasks"),
    # polygons
    "crossing polygon": _with(
        _SQUARE,
        "[[0, 0], [4000, 3000], [4000, 0], [0, 3000]]",
        "farms[0].boundary[0]",
        "Self-intersection[2000 1500]",
        "in order",
    ),
    "polygon that turns back": _with(
        _SQUARE, "[[0, 0], [9, 0], [9, 9], [9, 3], [9, 7]]", "touches itself", "near vertex 3"
    ),
    "open polygon": _with(
        _SQUARE, "[[0, 0], [4000, 0]]", "farms[0].boundary[1]", "open", "vertex 1", "at least three"
    ),
    "almost closed polygon": _with(
        _SQUARE,
        _SQUARE[:-1] + ", [0, 0.2]]",
        "farms[0].boundary[4]",
        "open by 0.2 m: vertex 4",
        "make the two equal",
    ),
    "flat polygon": _with(_SQUARE, "[[0, 0], [1, 1], [3, 3]]", "no area", "near vertex 1", "got [1, 1]"),
    "vertex with three numbers": _with("[4000, 3000]", "[4000, 3000, 7]", "farms[0].boundary[2]", "2"),
    "vertex with text": _with(
        "[4000, 3000]", "[4000, north]", "farms[0].boundary[2][1]", "number", "got 'north'"
    ),
    "vertex at infinity": _with(
        "[4000, 3000]", "[4000, 3e9]", "farms[0].boundary[2][1]", "farther than 1e+08 m", "in metres"
    ),
    "polygon and circle": _with(
        "      polygons:",
        "      circle: {center: [0, 0], radius_m: 5}\n      polygons:",
        "farms[1].boundary",
        "exclude",
    ),
    "empty list of polygons": Broken(
        SMALL.replace(_SQUARE, "{polygons: []}"),
        ("farms[0].boundary.polygons", "empty", "at least one polygon"),
    ),
    "circle of no radius": _with(
        "radius_m: 200", "radius_m: 0", "exclusions[0].circle.radius_m", "greater than 0"
    ),
    "all excluded": _with(
        "radius_m: 200", "radius_m: 90000", "farms[1].boundary.exclusions", "leave no area"
    ),
    "absent boundary file": _with(
        _SQUARE, "{file: nowhere.csv}", "farms[0].boundary.file", "no such file", "nowhere.csv"
    ),
    "boundary file and more": _with(
        _SQUARE, "{file: a.csv, exclusions: []}", "farms[0].boundary.exclusions", "is given beside file"
    ),
    # turbines, site, method, run
    "rotor in the ground": _with(
        "hub_height_m: 90", "hub_height_m: 60", "generic.hub_height_m", "below the ground"
    ),
    "uneven curve": _with(
        "power_kw: [0, 70, 700,", "power_kw: [0, 70,", "table.power_kw", "4 entries", "has 5"
    ),
    "unsorted curve": _with(
        "[3, 4, 8, 12, 25]", "[3, 8, 4, 12, 25]", "table.wind_speed[2]", "must increase", "got 4"
    ),
    "power of zero": _with(
        "[0, 70, 700, 2000, 2000]", "[0, 0, 0, 0, 0]", "table.power_kw", "never gives power"
    ),
    "thrust of 8": _with("ct: [0.8, 0.8", "ct: [0.8, 8", "table.ct[1]", "less than 1.5", "got 8"),
    "sectors out of order": _with(
        "{direction: 90,", "{direction: 80,", "sectors[1].direction", "90 degrees", "got 80"
    ),
    "direction of 400": _with("{direction: 90,", "{direction: 400,", "sectors[1].direction", "less than 360"),
    "frequencies in percent": _with(
        "frequency: 0.2}\n      - {direction: 90",
        "frequency: 20}\n      - {direction: 90",
        "frequency",
        "at most 1",
    ),
    "frequencies that miss one": _with(
        "a: 11, k: 2.3, frequency: 0.3", "a: 11, k: 2.3, frequency: 0.1", "sum to 0.8", "divide"
    ),
    "turbulence in percent": _with(
        "turbulence_intensity: 0.1", "turbulence_intensity: 10", "less than 1", "got 10"
    ),
    "no such site": _with("  weibull:", "  weibul:", "site.weibul", "did you mean 'weibull'?"),
    "table of the wrong shape": Broken(
        SMALL[: SMALL.index("site:")]
        + "site: {table: {turbulence_intensity: .1, wind_directions: [0, 180], wind_speeds: [8, 9], "
        "probability: [[.5, .2], [.3]]}}\n" + SMALL[SMALL.index("wake:") :],
        (
            "site.table.probability: has rows of different lengths",
            "(wind_directions, wind_speeds) has 2 x 2",
            "one number for each point",
        ),
    ),
    "table of uneven directions": Broken(
        SMALL[: SMALL.index("site:")]
        + "site: {table: {turbulence_intensity: .1, wind_directions: [0, 90], wind_speeds: [8], "
        "probability: [[.5], [.5]]}}\n" + SMALL[SMALL.index("wake:") :],
        ("site.table.wind_directions[1]", "must be at 180 degrees", "got 90"),
    ),
    "steps without order": _with(
        "  - smart-start: {grid_size: 18, random_pct: 30}\n  - gradient",
        "  smart-start: {}\n  gradient: {}",
        "method",
        "need an order",
        "as a list",
    ),
    "no layout to start from": _with(
        "  - smart-start: {grid_size: 18, random_pct: 30}\n",
        "",
        "method[0]",
        "begins with gradient",
        "random-start",
        "lattice",
    ),
    "percentage of 130": _with("random_pct: 30", "random_pct: 130", "random_pct", "at most 100", "got 130"),
    "temperature of 0": _with(
        "  - gradient", "  - annealing: {temperature: 0}", "annealing.temperature", "greater than 0", "got 0"
    ),
    "temperature in percent": _with(
        "  - gradient", "  - annealing: {temperature: 3}", "annealing.temperature", "at most 1", "got 3"
    ),
    "fractional grid": _with("grid_size: 18", "grid_size: 18.5", "grid_size", "whole number", "got 18.5"),
    "rows of a lattice in words": _with(
        "smart-start: {grid_size: 18, random_pct: 30}",
        "lattice: {rows: some}",
        ".rows",
        "true or false",
        "'some'",
    ),
    "no lattice at all": _with(
        "smart-start: {grid_size: 18, random_pct: 30}",
        "lattice: {trials: 0}",
        ".trials",
        "at least 1",
        "got 0",
    ),
    "pitch of a lattice": _with(
        "smart-start: {grid_size: 18, random_pct: 30}", "lattice: {pitch_m: 800}", "pitch_m", "rows, trials"
    ),
    "a call before another step": _with(
        "  - smart-start: {grid_size: 18, random_pct: 30}",
        "  - call: mine:search",
        "method[0]",
        f"broken.yaml:{SMALL[: SMALL.index('  - smart')].count(chr(10)) + 1}:",
        "a call cannot be one of several steps",
        "refine in the function",
    ),
    "a call after another step": _with(
        "  - gradient", "  - call: mine:search", "method[1]", "a call cannot be one of several steps"
    ),
    "auto without time": _with("  - gradient", "  - auto: {seconds: 0}", "method[1].auto.seconds", "got 0"),
    "auto with half an evaluation": _with(
        "  - gradient",
        "  - auto: {evaluations: 0.5}",
        "method[1].auto.evaluations",
        "whole number",
        "got 0.5",
    ),
    "auto with two budgets": _with(
        "  - gradient",
        "  - auto: {seconds: 60, evaluations: 1000}",
        "method[1].auto",
        "exclude each other",
        "give one of them",
    ),
    "gradient in unknown wind": _with(
        "  - gradient",
        "  - gradient: {wind: coarse}",
        "method[1].gradient.wind",
        "'coarse-to-fine'",
        "'coarse'",
    ),
    "annealing in unknown wind": _with(
        "  - gradient",
        "  - annealing: {wind: coarse}",
        "method[1].annealing.wind",
        "'coarse-to-fine'",
        "'coarse'",
    ),
    "random search in unknown wind": _with(
        "  - gradient",
        "  - random-search: {wind: 120}",
        "method[1].random-search.wind",
        "'coarse-to-fine'",
        "120",
    ),
    "call of no function": _with(
        "  - gradient", "  - call: os.system", "method[1].call", "package.module:function"
    ),
    "negative grace": _with("workers: 2", "grace_s: -1", "run.grace_s", "got -1"),
    "too many retries": _with("workers: 2", "retries: 1000", "run.retries", "got 1000"),
    "workers 0": _with("workers: 2", "workers: 0", "run.workers", "'auto' or must be at least 1", "got 0"),
    "failures in words": _with("workers: 2", "max_failures: few", "run.max_failures", "got 'few'"),
}
