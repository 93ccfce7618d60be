"""The table and the performance profile of the benchmark, from the lines of compare.py.

Two measures, both relative to the oracle (the best of the grid at the same budget), over three seeds:
  quality   final validation loss / the oracle's, means over the seeds; at most 10, which is also what a loss that is not
            finite counts
  time      steps until the validation loss reaches a target / the oracle's, medians over the seeds; a miss counts 4. The
            early target is what the best constant rate has after 0.4 of the steps, the final one what the best decay
            has after 0.95 of them."""
import collections
import math
import statistics

WORST_QUALITY, MISS = 10.0, 4.0
EARLY, LATE = 0.4, 0.95
COLOURS = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#ff7f0e",
           "#555555"]


def mean_final(runs):
    finals = [run["losses"][-1] for run in runs if run is not None]
    return math.inf if not finals or None in finals else statistics.mean(finals)


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(value) for value in values))


def at_share(run, share):
    losses = run["losses"]
    return losses[round(share * len(losses)) - 1]


def steps_to(run, target):
    """The share of the steps after which the target is reached; infinite: it is not."""
    for place, loss in enumerate(run["losses"], 1):
        if loss is not None and loss <= target:
            return place / len(run["losses"])
    return math.inf


def time_ratio(runs, target, oracle_share):
    share = statistics.median(steps_to(run, target) for run in runs)
    return MISS if math.isinf(share) else min(MISS, share / oracle_share)


class Workload:
    """What the lines say of one workload: {method: quality}, {method: (early, final) time}, and the oracle's loss."""

    def __init__(self, by_role):
        constant, linear = by_role["best constant"], by_role["best linear"]
        self.oracle_runs = min(constant, linear, key=mean_final)
        self.oracle = mean_final(self.oracle_runs)
        early = statistics.mean(at_share(run, EARLY) for run in constant)
        late = statistics.mean(at_share(run, LATE) for run in linear)
        self.quality, self.time, self.accuracy = {}, {}, {}
        for role, runs in by_role.items():
            if role == "grid" or len(runs) < 3:
                continue
            self.quality[role] = min(WORST_QUALITY, mean_final(runs) / self.oracle)
            self.time[role] = (time_ratio(runs, early, EARLY), time_ratio(runs, late, LATE))


def workloads_of(lines):
    roles = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        roles[line["wish"]["workload"]][line["wish"]["role"]].append(line)
    whole = {name: by_role for name, by_role in roles.items()
             if all(len(by_role[f"best {schedule}"]) == 3 for schedule in ("constant", "linear"))}
    return {name: Workload(by_role) for name, by_role in whole.items()}


def describe(line):
    wish = line["wish"]
    name = "NAdam" if wish["optimizer"] == "nadamw" else "momentum"
    return f"{name} {wish['rate']:g}, {wish['schedule']}"


def overall_rows(workloads, methods):
    rows = []
    for method in methods:
        known = [one for one in workloads.values() if method in one.quality]
        if not known:
            continue
        worst = max(known, key=lambda one: one.quality[method])
        name = next(name for name, one in workloads.items() if one is worst)
        times = [ratio for one in known for ratio in one.time[method]]
        rows.append((len(known) < len(workloads), geometric_mean([one.quality[method] for one in known]), method,
                     f"{worst.quality[method]:.2f} ({name})", geometric_mean(times),
                     sum(ratio >= MISS for ratio in times), len(known)))
    return sorted(rows)


def table(workloads, methods, kind):
    lines = [f"# The benchmark of automatic methods: {kind} workloads", "",
             "Made by `scripts/bench auto` from the lines beside it; see `bench/auto/figures.py` for the two measures.",
             "", "| method, nothing set | final loss / oracle's, geometric mean | worst | steps to target / oracle's | "
             "misses | workloads |", "|---|---|---|---|---|---|"]
    for _, quality, method, worst, times, misses, count in overall_rows(workloads, methods):
        lines.append(f"| {method} | {quality:.3f} | {worst} | {times:.2f} | {misses} of {2 * count} | {count} |")
    present = [row[2] for row in overall_rows(workloads, methods)]
    lines += ["", "Final validation loss / the oracle's:", "",
              "| workload | oracle | its loss | " + " | ".join(present) + " |", "|---" * (3 + len(present)) + "|"]
    for name, one in workloads.items():
        cells = [f"{one.quality[method]:.3f}" if method in one.quality else "" for method in present]
        lines.append(f"| {name} | {describe(one.oracle_runs[0])} | {one.oracle:.4f} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def profile_svg(workloads, methods):
    """Share of (workload, target) pairs that a method reaches within so many times the oracle's steps."""
    left, top, width, height = 60, 20, 480, 300
    log_low, log_high = math.log(0.25), math.log(MISS)
    x = lambda ratio: left + width * (math.log(max(ratio, 0.25)) - log_low) / (log_high - log_low)
    y = lambda share: top + height * (1 - share)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{top + height + 50}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="760" height="{top + height + 50}" fill="white"/>']
    for ratio in (0.25, 0.5, 1, 2, 4):
        parts.append(f'<line x1="{x(ratio):.1f}" y1="{top}" x2="{x(ratio):.1f}" y2="{top + height}" stroke="#ddd"/>'
                     f'<text x="{x(ratio):.1f}" y="{top + height + 16}" text-anchor="middle">{ratio:g}</text>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line x1="{left}" y1="{y(share):.1f}" x2="{left + width}" y2="{y(share):.1f}" stroke="#ddd"/>'
                     f'<text x="{left - 8}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>')
    parts.append(f'<text x="{left + width / 2}" y="{top + height + 36}" text-anchor="middle">'
                 'steps to the target / the oracle\'s</text>')
    for number, method in enumerate(row[2] for row in overall_rows(workloads, methods)):
        ratios = sorted(ratio for one in workloads.values() if method in one.time for ratio in one.time[method])
        reached = [ratio for ratio in ratios if ratio < MISS]
        points, share = [(left, y(0))], 0.0
        for count, ratio in enumerate(reached, 1):
            points.append((x(ratio), y(share)))
            share = count / len(ratios)
            points.append((x(ratio), y(share)))
        points.append((left + width, y(share)))
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{3 if number == 0 else 1.5}"/>'
                     f'<text x="{left + width + 12}" y="{top + 12 + 18 * number}" fill="{colour}">{method}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def write(lines, kind, folder, methods):
    workloads = workloads_of(lines)
    if not workloads:
        print("No workload has its oracle yet: no figures.")
        return
    (folder / f"{kind}.md").write_text(table(workloads, methods, kind))
    (folder / f"{kind}-profile.svg").write_text(profile_svg(workloads, methods))
    print(table(workloads, methods, kind))


def write_ablations(lines, ablated, roles, folder):
    """What each part of the rule is worth: final loss without it / with it, workload by workload."""
    whole, without = workloads_of(lines), collections.defaultdict(lambda: collections.defaultdict(list))
    for line in ablated:
        without[line["wish"]["workload"]][line["wish"]["role"]].append(line)
    names = [name for name, one in whole.items() if "auto" in one.quality and name in without]
    ratios = {role: {name: min(WORST_QUALITY, mean_final(without[name][role]) / (whole[name].quality["auto"] *
                                                                               whole[name].oracle))
                     for name in names if len(without[name][role]) == 3} for role in roles}
    text = ["# What each part of `auto` is worth: development workloads", "",
            "Made by `scripts/bench auto --ablations`. Final validation loss without the part / with all of them, means over "
            f"three seeds; at most {WORST_QUALITY:g}, which is also what a loss that is not finite counts.", "",
            "| workload | " + " | ".join(roles) + " |", "|---" * (1 + len(roles)) + "|"]
    for name in names:
        cells = [f"{ratios[role][name]:.3f}" if name in ratios[role] else "" for role in roles]
        text.append(f"| {name} | " + " | ".join(cells) + " |")
    means = [f"**{geometric_mean(list(ratios[role].values())):.3f}**" if ratios[role] else "" for role in roles]
    text.append("| **geometric mean** | " + " | ".join(means) + " |")
    (folder / "ablations.md").write_text("\n".join(text) + "\n")
    print("\n".join(text))


def write_hostile(lines, folder):
    """Final losses from hostile starts beside that of the best constant predictor."""
    text = ["# Hostile starts", "",
            "Made by `scripts/bench auto --hostile`: `auto` from starts that nobody would choose. A network has learnt when its "
            "final validation loss is below that of the best constant outputs; with labels at random nothing is to be learnt.",
            "",
            "| workload | start | final loss | best constant | accuracy | rollbacks | learnt |", "|---|---|---|---|---|---|---|"]
    learnt, possible, finite, reasons = 0, 0, 0, []
    for line in lines:
        wish, final, constant = line["wish"], line["losses"][-1], line["constant_loss"]
        start = ", ".join(f"{key} {'' if key in ('batch', 'labels') else 'x '}{wish[key]}"
                          for key in ("start", "inputs", "batch", "labels") if key in wish)
        finite += final is not None
        possible += "labels" not in wish
        better = final is not None and final < constant
        learnt += better and "labels" not in wish
        verdict = "nothing to learn" if "labels" in wish else "yes" if better else "**no**"
        right = f"{100 * line['accuracies'][-1]:.1f} %" if line["accuracies"] else ""
        text.append(f"| {wish['workload']} | {start} | {'not finite' if final is None else f'{final:.4g}'} | {constant:.4g} | "
                    f"{right} | {line['rollbacks']} | {verdict} |")
        if line.get("shortfall"):
            reasons.append(f"- {wish['workload']}, {start}: {line['shortfall']}.")
    text[4:4] = [f"{finite} of {len(lines)} ended with finite losses; {learnt} of {possible} with something to learn "
                 f"have learnt; {len(reasons)} that are not better than the constant say why.", ""]
    text += ["", "What the optimizer says (`shortfall`) of those that are not better than the constant:", "", *reasons]
    (folder / "hostile.md").write_text("\n".join(text) + "\n")
    print("\n".join(text))
