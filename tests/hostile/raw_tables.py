"""Malformed raw tables for hostile_test.py: cells, JSON Lines, arrays of NumPy, zstd, parts, and models of such tables."""

import copy
import io
import json
import struct
import zipfile

HEAD = b"age,city,since,income\n"
GOOD_ROWS = (b"34,Ulm,2020-01-05,high\n51,Bonn,2020-02-11,low\n28,Ulm,2021-03-17,high\n45,Kiel,2021-04-02,low\n"
             b"39,Bonn,2022-02-28,low\n62,Ulm,2023-05-09,high\n")


def fit(content, name="t.csv", options=""):
    return f"lipschitzlr fit {name} --quiet {options}", {name: content}


def with_cell(column, text):
    """The good rows, the cell of the third line replaced."""
    rows = GOOD_ROWS.split(b"\n")
    cells = rows[1].split(b",")
    cells[column] = text
    rows[1] = b",".join(cells)
    return HEAD + b"\n".join(rows)


def cells():
    for text in (b"fifty", b"5O", b"51 years", b"0x33", b"5,1e", b"--51", b"5.1.2", b"51%", b"$51", b"51-", b"(51)", b"1_000", b"5 1",
                 b"\xd9\xa1", b"e5", b"+", b"true", b"2020-01-01", b"12:30", b"'51'", b"=A1", b"#REF!", b"N\\A", b"missing"):
        text = text.replace(b",", b"")
        yield f"{text.decode()} among numbers", with_cell(0, text), ("t.csv: line 3, column 1 (\"age\")",)
    for text in (b"inf", b"-inf", b"Infinity", b"+INF", b"1e999", b"-1e400", b"1.#INF"):
        yield f"{text.decode()} among numbers", with_cell(0, text), ("t.csv: line 3, column 1 (\"age\")",)
        yield f"{text.decode()} among texts", with_cell(1, text), ("t.csv: line 3, column 2 (\"city\")",)
    for text in (b"2020-13-01", b"2020-02-30", b"2020-1-5", b"05.01.2020", b"20200105", b"yesterday", b"7", b"2020-01-05T", b"2020-01-05T25:00",
                 b"2020-01-05 noon", b"2020-01-05x", b"20-01-05", b"2020/01/05", b"2020-W01-1"):
        yield f"{text.decode()} among dates", with_cell(2, text), ("t.csv: line 3, column 3 (\"since\"): expected a date",)
    for text in (b"\xff", b"M\xfcnchen", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"Ulm\xc3"):
        yield f"the bytes {text.hex()} among texts", with_cell(1, text), ("t.csv: line 3, column 2 (\"city\"): expected a text in UTF-8",)
    for text in (b'"Bonn', b'"Bonn"x', b'"Bo"nn"', b'"', b'"""', b'"Bonn""'):
        yield f"{text.decode()} as a cell", with_cell(1, text), ("t.csv: line 3, column 2 (\"city\"): the quotes",)
    for text in (b"Bonn,Ulm", b"Bonn,,", b","):
        yield f"cells {text.decode()}", with_cell(1, text), ("t.csv: line 3",)
    yield "a row of one text", HEAD + b"Ulm\n" + GOOD_ROWS, ("t.csv: line 2: expected 4 cells as in line 1, found 1",)
    yield "a blank line among texts", HEAD + GOOD_ROWS[:23] + b"\n" + GOOD_ROWS[23:], ("t.csv: line 3: the line is blank",)
    yield "a NUL among texts", with_cell(1, b"Bo\x00nn"), ("t.csv: byte",)
    yield "a target of gaps", b"a,c,y\n1,u,\n2,v,\n", ("t.csv: line 2, column 3 (\"y\")",)
    yield "nothing but ids", b"k,y\nk1,1\nk2,2\nk3,3\n", ("t.csv: no feature is left",)
    yield "nothing but gaps", b"k,y\n,1\n?,2\nNA,3\n", ("t.csv: no feature is left",)
    yield "nothing but one text", b"k,y\nu,1\nu,2\nu,3\n", ("t.csv: no feature is left",)


def options():
    table = HEAD + GOOD_ROWS
    for gap in (b"", b"?", b"NA", b"n/a", b"#N/A", b"null", b"None", b"nan", b"-", b".", b"-nan"):
        yield f"the gap {gap.decode()} refused", with_cell(0, gap), "--missing error", 3, "t.csv: line 3, column 1"
        yield f"the gap {gap.decode()} in a text refused", with_cell(1, gap), "--missing error", 3, "t.csv: line 3, column 2"
    for option in ("--ignore", "--only", "--categorical"):
        yield f"{option} of no such column", table, f"{option} nosuch", 2, f"t.csv: {option} \"nosuch\": there is no such column"
        yield f"{option} of column 0", table, f"{option} 0", 2, "there is no such column"
        yield f"{option} of column 5", table, f"{option} 5", 2, "there is no such column"
        yield f"{option} of column -5", table, f"{option}=-5", 2, "there is no such column"
        yield f"{option} of the target", table, f"{option} income", 2, "that is the target"
        yield f"{option} of an empty name", table, f"{option} age,", 2, option
        yield f"{option} of an escape code", table, f"{option} $'\\x1b[2J'", 2, "there is no such column"
    yield "all columns ignored", table, "--ignore age,city,since", 2, "leaves no feature"
    yield "no levels", table, "--max-levels 0", 2, "--max-levels"
    yield "levels that are no number", table, "--max-levels many", 2, "--max-levels"
    yield "gaps filled with zero", table, "--missing 0", 2, "--missing"
    yield "weights of rows that are texts", table, "--weight city", 3, "--weight city: every row needs a number"
    yield "weights of rows that are dates", table, "--weight since", 3, "--weight since: every row needs a number"
    yield "decimal commas that part cells", b"a,y\n1,5,2\n2,5,3\n", "", 3, "t.csv: line 2: expected 2 cells"
    yield "points and commas in one number", b"a;y\n1.000,5;2\n2;3\n4;6\n", "", 3, "t.csv: line 2, column 1"
    yield "a semicolon table read with commas", b"a;b;y\n1;2;3\n4;5;6\n", "--sep ,", 3, "t.csv"


def json_lines():
    first = b'{"a": 1, "c": "u", "y": 2}\n{"a": 2, "c": "v", "y": 3}\n'
    for text in (b"{", b"}", b"{}", b"[]", b"[1, 2, 3]", b"7", b'"text"', b"null", b'{"a": 1', b'{"a": }', b'{"a": 1,}', b"{'a': 1, 'y': 2}", b'{a: 1, y: 2}',
                 b'{"a": 1, "y": 2} {"a": 1, "y": 2}', b'{"a": NaN, "y": 2}', b'{"a": Infinity, "y": 2}', b'{"a": 1e999, "y": 2}',
                 b'{"a": [1], "y": 2}', b'{"a": {"b": 1}, "y": 2}', b'{"a": 1}', b'{"a": 1, "y": null}', b'{"a": 1, "y": [2]}', b'{"a": 1, "y": ""}',
                 b'{"a": 1, "y": "inf"}', b'{"a": "inf", "y": 2}', b'{"a": "\\ud800", "y": 2}', b'{"a": "\xff", "y": 2}', b'{"a": 01, "y": 2}',
                 b'{"a": "1' + b"x" * 50, b"[" * 5000):
        yield f"{text[:30].decode('latin-1')} on a line", first + text + b"\n", "", ("t.jsonl: line 3",)
    yield "a first line that is cut", b'{"a": 1, "y"', "", ("t.jsonl: line 1",)
    yield "fields of the target alone", b'{"y": 1}\n{"y": 2}\n', "", ("t.jsonl: there is no field beside the target",)
    yield "a target that is not there", first, "--target nosuch", ("t.jsonl: line 1: the target \"nosuch\" is missing",)
    yield "a field twice on a line", first + b'{"a": 1, "c": "u", "y": 3, "a": 2}\n', "", ("t.jsonl: line 3: the field \"a\" stands there twice",)
    yield "the target twice on a line", first + b'{"y": 1, "c": "u", "y": 3, "a": 2}\n', "", ("t.jsonl: line 3: the field \"y\" stands there twice",)
    yield "a million fields with blanks", b"{" + b",".join(b'"f%d" :1' % i for i in range(1000000)) + b"}\n", "", ("t.jsonl: line 1: there are more than",)
    yield "70,000 fields", b"{" + b",".join(b'"f%d":1' % i for i in range(70000)) + b"}\n", "", ("t.jsonl: line 1: there are more than",)


def npy(header, numbers, version=b"\x01\x00"):
    text = header.encode()
    size = struct.pack("<H", len(text)) if version == b"\x01\x00" else struct.pack("<I", len(text))
    return b"\x93NUMPY" + version + size + text + numbers


def header(descr="<f8", order="False", shape="(2, 2)"):
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"


def numpy_arrays():
    numbers = struct.pack("<4d", 1, 2, 3, 5)
    good = npy(header(), numbers)
    for size in (6, 7, 9, 10, 12, 30, len(good) - 33, len(good) - 32, len(good) - 8, len(good) - 1):
        yield f"cut after {size} bytes", good[:size]
    yield "a byte more", good + b"\x00"
    for descr in (">f8", "<f16", "<c16", "|O", "<U4", "|S4", "<M8[ns]", "<V8", "", "f", "<f8<f8", "<f3", "x" * 500):
        yield f"the type {descr[:20]}", npy(header(descr), numbers)
    for shape in ("()", "(4,)", "(2, 2, 1)", "(2, 3)", "(0, 2)", "(2, 0)", "(-2, -2)", "(x, 2)", "2, 2", "", "(", "(2, 2", "(4294967296, 4294967296)",
                  "(9223372036854775807, 2)", "(99999999999999999999, 1)", "(2.0, 2)", "(2 2)", "(,)", "((2, 2))"):
        yield f"the shape {shape}", npy(header(shape=shape), numbers)
    yield "no header", npy("", numbers)
    yield "a header of braces", npy("{}", numbers)
    yield "a header without a type", npy("{'fortran_order': False, 'shape': (2, 2)}", numbers)
    yield "a header that is longer than the file", b"\x93NUMPY\x01\x00\xff\xff" + header().encode()
    yield "a header of 4 GB", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + header().encode()
    for name, value in (("infinity", float("inf")), ("minus infinity", float("-inf"))):
        yield f"{name} in it", npy(header(), struct.pack("<4d", value, 2, 3, 4))
        yield f"{name} as target", npy(header(), struct.pack("<4d", 1, value, 3, 4))
    yield "a target that is not a number", npy(header(), struct.pack("<4d", 1, float("nan"), 3, 4))


def archive(arrays, method=zipfile.ZIP_DEFLATED):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as file:
        for name, content in arrays.items():
            file.writestr(name, content)
    return memory.getvalue()


def archives():
    x = npy(header(shape="(3, 2)"), struct.pack("<6d", 1, 2, 3, 4, 5, 7))
    y = npy(header(shape="(3,)"), struct.pack("<3d", 1, 2, 4))
    good = archive({"X.npy": x, "y.npy": y})
    for size in (4, 10, 30, 60, len(good) // 2, len(good) - 23, len(good) - 22, len(good) - 10, len(good) - 1):
        yield f"cut after {size} bytes", good[:size]
    for place in (50, 80, len(good) - 6, len(good) - 12):
        yield f"byte {place} changed", good[:place] + bytes([good[place] ^ 0x5A]) + good[place + 1:]
    yield "no arrays", archive({})
    yield "a text", archive({"readme.txt": b"hello"})
    yield "no target", archive({"X.npy": x, "z.npy": y})
    yield "no features", archive({"y.npy": y, "z.npy": y})
    yield "a target of other length", archive({"X.npy": x, "y.npy": npy(header(shape="(2,)"), struct.pack("<2d", 1, 2))})
    yield "a target of two columns", archive({"X.npy": x, "y.npy": x})
    yield "arrays that are texts", archive({"X.npy": b"1,2\n", "y.npy": b"1\n"})
    yield "arrays packed by bzip2", archive({"X.npy": x, "y.npy": y}, zipfile.ZIP_BZIP2)
    yield "an array of 300 MB of zeros", archive({"X.npy": npy(header(shape="(19660800, 2)"), bytes(300 << 20)), "y.npy": y})


def zstd(content):
    """A frame of raw blocks, as RFC 8878 has it: magic, a descriptor for a single segment of 4 bytes' size, the size."""
    block = struct.pack("<I", len(content) << 3 | 1)[:3]
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(content)) + block + content


def zstds():
    good = zstd(HEAD + GOOD_ROWS)
    for size in (4, 5, 6, 9, 11, 12, 40, len(good) - 1):
        yield f"cut after {size} bytes", good[:size]
    yield "an unknown block", good[:9] + bytes([good[9] | 6]) + good[10:]
    yield "text behind it", good + b"some more text"
    yield "a frame that asks for a window of 4 GB", b"\x28\xb5\x2f\xfd\x00\xb0" + good[9:]
    yield "nothing in it", zstd(b"")
    yield "a bomb", b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", 300 << 20) + (struct.pack("<I", (128 << 10) << 3 | 2)[:3] + b"1") * 2400


def parts():
    one = HEAD + GOOD_ROWS
    for name, second, says in (
            ("another name", one.replace(b"city", b"town"), "p2.csv: line 1, column 2: the header has \"town\" where that of p1.csv has \"city\""),
            ("another order", one.replace(b"age,city", b"city,age"), "p2.csv: line 1, column 1: the header has"),
            ("a column less", one.replace(b",income", b""), "p2.csv: line 1: expected 4 cells as in line 1 of p1.csv, found 3"),
            ("a column more", one.replace(b"income", b"income,x"), "p2.csv: line 1: expected 4 cells as in line 1 of p1.csv, found 5"),
            ("no header", GOOD_ROWS, "p2.csv: line 1, column 1: the header has"),
            ("a ragged row", one + b"1,2\n", "p2.csv: line 8: expected 4 cells"),
            ("a bad date", one + b"1,Ulm,soon,low\n", "p2.csv: line 8, column 3"),
            ("nothing", b"", "p2.csv: the file is empty"),
            ("a NUL", one + b"\x00", "p2.csv: byte"),
            ("a cut gzip", b"\x1f\x8b\x08\x00", "p2.csv: the gzip file ends too early"),
            ("other separators", one.replace(b",", b";"), "p2.csv: line 1")):
        yield name, one, second, says


MODEL = {
    "family": "linear", "features": ["age", "age (missing)", "city=Bonn", "city=Ulm"], "format": "lipschitzlr-linear-model", "intercept": True,
    "labels": [], "scaling": {"kind": "none", "factors": [1] * 5, "offsets": [0] * 5}, "target": "price", "target_column": 2,
    "training": {}, "version": 2, "weights": [[1.5], [0.25], [1.0], [2.0], [3.0]], "has_names": True,
    "columns": {"missing": "mean", "sparse": False, "width": 2,
                "list": [{"name": "age", "place": 0, "kind": "number", "fill": 40.5, "marks_gaps": True},
                         {"name": "city", "place": 1, "kind": "category", "levels": {"names": ["Bonn", "Ulm"], "reference": -1}}]},
}


def models():
    def changed(path, value):
        file = copy.deepcopy(MODEL)
        place = file["columns"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return json.dumps(file).encode()

    number, city = ("list", 0), ("list", 1)
    for path, values in (((*number, "name"), (1, None, "city", "x")), ((*number, "place"), (-1, 2, 1.5, "0", 1 << 70)),
                         ((*number, "kind"), ("colour", 1, None, "category", "date")), ((*number, "fill"), ("40", None, [], 1e400)),
                         ((*number, "marks_gaps"), (False, 1, "yes")), ((*number, "has_other"), (True,)), ((*number, "levels"), ({"names": ["a"], "reference": -1},)),
                         ((*city, "levels"), (None, [], {}, {"names": [], "reference": -1}, {"names": ["Bonn"]})),
                         ((*city, "levels", "names"), (["Bonn", "Bonn"], ["Bonn", 1], "Bonn", ["Bonn"], ["Ulm", "Bonn"])),
                         ((*city, "levels", "reference"), (0, 2, -2, "0", None)), ((*city, "exact"), (1,)), ((*city, "has_other"), (True, "no")),
                         (("width",), (0, 1, -1, 1 << 40, "2", None)), (("sparse",), (1, None)), (("missing",), ("zero", 1, None)),
                         (("list",), ([], {}, 1, None, [1], [[]]))):
        for value in values:
            yield f"columns with {'.'.join(map(str, path))} = {json.dumps(value)[:40]}", changed(path, value)
    for value in (None, [], {}, 1, "x"):
        yield f"columns = {json.dumps(value)}", json.dumps(dict(MODEL, columns=value)).encode()
    yield "no columns", json.dumps({key: value for key, value in MODEL.items() if key != "columns"}).encode()


def raw_tables(case):
    """case: the class of a case."""
    for name, content, says in cells():
        command, files = fit(content)
        yield case(f"raw table: {name}", command, (3,), says, files)
    for name, content, words, code, says in options():
        command, files = fit(content, options=words)
        yield case(f"raw table: {name}", command, (code,), (says,), files)
    for name, content, words, says in json_lines():
        command, files = fit(content, "t.jsonl", words)
        yield case(f"JSON Lines: {name}", command, (3,), says, files)
    for name, content in numpy_arrays():
        command, files = fit(content, "t.npy")
        yield case(f"NumPy array: {name}", command, (3,), ("t.npy",), files)
    for name, content in archives():
        command, files = fit(content, "t.npz")
        yield case(f"NumPy archive: {name}", command, (3,), ("t.npz",), files)
    for name, content in zstds():
        command, files = fit(content, "t.csv.zst")
        yield case(f"zstd: {name}", command, (3,), ("t.csv.zst",), files)
    for name, one, second, says in parts():
        yield case(f"parts: {name}", "lipschitzlr fit 'p*.csv' --quiet", (3,), (says,), {"p1.csv": one, "p2.csv": second})
    for name, content in models():
        yield case(f"model of a raw table: {name}", "lipschitzlr predict m.json t.csv", (3,), ("m.json: not a usable model file",),
                   {"m.json": content, "t.csv": b"age,city\n1,Ulm\n"})
