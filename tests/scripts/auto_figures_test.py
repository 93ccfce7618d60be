#!/usr/bin/env python3
"""The measures of the benchmark of automatic methods, by hand-computed numbers, and the growth of its grid.
    auto_figures_test.py SOURCE_FOLDER"""
import math
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "bench" / "auto"))
import compare
import figures


def run(losses, seed=1, **wish):
    return {"losses": losses, "wish": {"workload": "made-up", "seed": seed} | wish}


def straight(first, last):
    """Twenty losses on a line, the last two given."""
    return [first + (last - first) * place / 19 for place in range(20)]


def three(role, losses, **wish):
    return [run(losses, seed, role=role, **wish) for seed in (1, 2, 3)]


# Of the best constant rate the loss is 3.4 - 0.1 place at place 1, 2, ... 20, of the best decay 4.2 - 0.2 place.
CONSTANT = three("best constant", straight(3.3, 1.4), optimizer="momentum", rate=0.1, schedule="constant")
LINEAR = three("best linear", straight(4.0, 0.2), optimizer="nadamw", rate=0.01, schedule="linear")


class Measures(unittest.TestCase):
    def workload(self, losses):
        return figures.workloads_of(CONSTANT + LINEAR + three("method", losses))["made-up"]

    def test_quality_is_the_final_loss_over_that_of_the_better_schedule(self):
        self.assertAlmostEqual(self.workload(straight(4, 0.3)).quality["method"], 1.5)

    def test_a_loss_that_is_not_finite_counts_ten(self):
        self.assertEqual(self.workload([1.0] * 10 + [None] * 10).quality["method"], 10)
        self.assertEqual(self.workload(straight(9, 9)).quality["method"], 10)

    def test_targets_are_the_constant_rates_at_two_fifths_and_the_decays_at_the_end(self):
        # 2.6 after 8 of 20 places, 0.4 after 19; this method is there after 4 and 16.
        losses = [5, 5, 5, 2.59] + [2.5] * 11 + [0.39] + [9] * 4
        early, late = self.workload(losses).time["method"]
        self.assertAlmostEqual(early, 4 / 8)
        self.assertAlmostEqual(late, 16 / 19)

    def test_a_target_that_is_missed_counts_four_and_the_median_of_the_seeds_decides(self):
        runs = three("method", [9.0] * 20)
        runs[0]["losses"] = [0.1] * 20
        one = figures.workloads_of(CONSTANT + LINEAR + runs)["made-up"]
        self.assertEqual(one.time["method"], (4, 4))

    def test_a_workload_without_its_oracle_is_left_out(self):
        self.assertEqual(figures.workloads_of(CONSTANT + LINEAR[:2]), {})

    def test_the_table_sorts_by_quality_and_counts_misses(self):
        lines = CONSTANT + LINEAR + three("good", straight(4, 0.2)) + three("bad", straight(9, 1.0))
        table = figures.table(figures.workloads_of(lines), ["bad", "good", "absent"], "development")
        self.assertLess(table.index("| good | 1.000 |"), table.index("| bad | 5.000 |"))
        self.assertIn("| 1 of 2 |", table)
        self.assertNotIn("absent", table)
        self.assertIn("<svg", figures.profile_svg(figures.workloads_of(lines), ["bad", "good"]))


class Valley:
    """Answers for auto_bench: the loss is least at one rate."""

    def __init__(self, best):
        self.best, self.rates = best, set()

    def train(self, wish):
        place = round(2 * math.log10(wish["rate"]))
        self.rates.add(place)
        return run([None if place > self.best + 2 else 1 + abs(place - self.best)], role="grid")


class Grid(unittest.TestCase):
    def test_it_grows_until_the_best_is_inside(self):
        for best in (-9, -6, -4, 0, 1):
            bench = Valley(best)
            self.assertEqual(compare.search(bench, "made-up", "nadam", "linear"), (1, best))
            self.assertIn(best - 1, bench.rates)
            self.assertIn(best + 1, bench.rates)
            self.assertLessEqual(len(bench.rates), 9)

    def test_it_ends_where_nothing_is_looked_for(self):
        self.assertEqual(compare.search(Valley(-20), "made-up", "nadam", "constant")[1], -12)

    def test_its_rates_are_half_decades(self):
        self.assertEqual([compare.rate_of(place) for place in (-4, -3, 0, 1)], [0.01, 0.0316, 1, 3.16])


if __name__ == "__main__":
    unittest.main()
