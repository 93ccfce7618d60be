#!/usr/bin/env python3
"""The checker must find one planted fault of each kind, and none in a clean tree."""

import pathlib
import tempfile
import unittest

import dependencies


class Dependencies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("include/lipschitzlr/rate/rule.hpp", '#include <vector>\n#include "lipschitzlr/bound/norms.hpp"\n')
        self.write("src/rate/rule.cpp", "#include <fmt/format.h>\n#include <Eigen/Core>\n")
        self.write("src/nn/tap.cpp", "#include <torch/torch.h>\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def assert_one_fault(self, *words):
        faults, _ = dependencies.check(self.root)
        self.assertEqual(len(faults), 1, faults)
        for word in words:
            self.assertIn(word, faults[0])

    def test_a_clean_tree_has_no_fault(self):
        self.assertEqual(dependencies.check(self.root), ([], []))

    def test_an_umbrella_header_includes_its_library_and_nothing_else(self):
        self.write("include/lipschitzlr/core.hpp", '#include "lipschitzlr/rate/rule.hpp"\n')
        self.assertEqual(dependencies.check(self.root), ([], []))
        self.write("include/lipschitzlr/core.hpp", '#include "lipschitzlr/nn/tap.hpp"\n')
        self.assert_one_fault("core.hpp", "must not use nn/")

    def test_a_folder_to_the_right_is_seen(self):
        self.write("src/bound/norms.cpp", '#include "lipschitzlr/rate/rule.hpp"\n')
        self.assert_one_fault("src/bound/norms.cpp", "must not use rate/")

    def test_an_internal_header_of_a_folder_to_the_right_is_seen(self):
        self.write("src/data/csv.cpp", '#  include "linear/kernel.hpp"\n')
        self.assert_one_fault("must not use linear/")

    def test_an_internal_header_of_another_folder_is_seen(self):
        self.write("src/report/page.cpp", '#include "experiment/table.hpp"\n')
        self.assert_one_fault("src/report/page.cpp", "experiment/table.hpp is internal to experiment/")

    def test_the_internal_headers_of_base_are_for_all(self):
        self.write("src/report/page.cpp", '#include "base/text.hpp"\n')
        self.assertEqual(dependencies.check(self.root), ([], []))

    def test_libtorch_outside_nn_is_seen(self):
        self.write("src/app/main.cpp", "#include <ATen/core/Tensor.h>\n")
        self.assert_one_fault("src/app/main.cpp", "libtorch")

    def test_a_public_header_of_the_core_needs_only_std_and_eigen(self):
        self.write("include/lipschitzlr/data/model.hpp", "#include <nlohmann/json.hpp>\n")
        self.assert_one_fault("model.hpp", "only the standard library and Eigen")

    def test_a_folder_that_is_not_in_the_plan_is_seen(self):
        self.write("src/util/misc.cpp", "")
        self.assert_one_fault("in no folder of docs/architecture.md")

    def test_a_long_file_is_a_remark_not_a_fault(self):
        self.write("src/rate/long.cpp", "\n" * 301)
        faults, remarks = dependencies.check(self.root)
        self.assertEqual((faults, len(remarks)), ([], 1))


if __name__ == "__main__":
    unittest.main()
