"""The cases of hostile_test.py: the bytes of the files, the command, the exit codes that are right, what must be said."""

import copy
import dataclasses
import gzip
import json
import lzma
import struct
import zlib

import raw_tables


@dataclasses.dataclass
class Case:
    name: str
    command: str
    codes: tuple = (3,)
    says: tuple = ()
    files: dict = dataclasses.field(default_factory=dict)
    prepare: str = ""        # a shell command that must succeed before
    kept: dict = dataclasses.field(default_factory=dict)  # files that must still be there, byte for byte
    printable: bool = True   # standard output has no escape codes either
    last: str = ""


GOOD = b"height,weight,price\n1,2,3\n2,3,5.5\n3,5,7\n4,6,11\n5,1,2\n6,2,9.5\n"
MODEL = {
    "family": "linear", "features": ["height", "weight"], "format": "lipschitzlr-linear-model", "intercept": True,
    "labels": [], "scaling": {"kind": "none", "factors": [1, 1, 1], "offsets": [0, 0, 0]}, "target": "price", "target_column": 2,
    "training": {}, "version": 1, "weights": [[1.5], [0.25], [1.0]],
}
CLASSES = dict(MODEL, family="softmax", labels=["a", "b", "c"], weights=[[1, 2, 3], [4, 5, 6], [0, 0, 0]])


def model(**changes):
    changed = copy.deepcopy(MODEL)
    changed.update(changes)
    return json.dumps(changed).encode()


def table(name, content, codes=(3,), says=("t.csv",), options=""):
    return Case(f"table: {name}", f"lipschitzlr fit t.csv --quiet {options}", codes, tuple(says), {"t.csv": content})


def tables():
    rows = b"".join(b"%d,%d\n" % (i, i * i) for i in range(30))
    yield table("an empty file", b"")
    yield table("a line end alone", b"\n")
    yield table("blank lines", b"\n\n\n")
    yield table("a header alone", b"a,b\n")
    yield table("one row of numbers", b"1,2\n", codes=(0, 3), says=())
    yield table("a byte order mark alone", b"\xef\xbb\xbf")
    yield table("UTF-16", "a,b\n1,2\n".encode("utf-16"))
    yield table("NUL bytes", b"a,b\n1,\x002\n3,4\n", says=("t.csv", "byte 7"))
    yield table("a NUL in the header", b"a,\x00b\n1,2\n3,4\n")
    yield table("an invalid byte in the header", b"a,b\xff\n1,2\n3,4\n", says=("t.csv",))
    yield table("an overlong UTF-8 sequence in the header", b"a,\xc0\xaf\n1,2\n3,4\n")
    yield table("a surrogate in the header", b"a,\xed\xa0\x80\n1,2\n3,4\n")
    yield table("a row too short", b"a,b,c\n1,2,3\n4,5\n", says=("t.csv", "line 3"))
    yield table("a row too long", b"a,b\n1,2\n4,5,6\n", says=("t.csv", "line 3"))
    yield table("a quote that never ends", b'a,b\n1,"2\n3,4\n', says=("t.csv",))
    yield table("text after a closing quote", b'a,b\n1,"2"x\n3,4\n', says=("t.csv", "line 2"))
    yield table("a quote in the middle of a cell", b'a,b\n1,2"3\n3,4\n', codes=(0, 3), says=())
    yield table("the same name twice", b"a,a,b\n1,2,3\n4,5,6\n", says=("t.csv",))
    yield table("one column", b"a\n1\n2\n")
    yield table("no rows after the header but blanks", b"a,b\n\n\n")
    yield table("a number beyond double", b"a,b\n1e999,2\n3,4\n5,6\n", says=("t.csv", "line 2"))
    yield table("a number with 10,000 digits", b"a,b\n" + b"9" * 10000 + b",2\n3,4\n", says=("t.csv", "line 2"))
    yield table("infinity", b"a,b\n1,2\ninf,3\n3,4\n", says=("t.csv", "line 3"))
    yield table("not a number", b"a,b\n1,2\nnan,3\n3,4\n", says=("t.csv", "line 3"), options="--missing error")
    for text in (b"0x10", b"1e", b"--1", b"1.2.3", b"1,5e", b"+", b"-", b".", b"e5", b"1 2", b"1_000", b"\xd9\xa1"):
        shown = text.decode()
        yield table(f"{shown} as a number", b"a,b\n1,2\n" + text.replace(b",", b"") + b" x,3\n3,4\n", says=("t.csv", "line 3"))
    yield table("an infinite target", b"a,b\n1,inf\n2,3\n3,4\n", says=("t.csv",), codes=(3,))
    yield table("an empty target cell", b"a,b\n1,\n2,3\n3,4\n", says=("t.csv", "line 2"))
    yield table("a target of one class", b"a,b\n1,yes\n2,yes\n3,yes\n", says=())
    yield table("a target of as many texts as rows", b"a,b\n1,x\n2,y\n3,z\n", codes=(0, 3), says=())
    yield table("1 row, 1 feature", b"a,b\n1,2\n", codes=(0, 3), says=())
    yield table("carriage returns alone", b"a,b\r1,2\r3,4\r", codes=(0, 3), says=())
    yield table("a line of 8 MB", b"a,b\n" + b" " * (8 << 20) + b"1,2\n3,4\n5,7\n", codes=(0, 3), says=())
    yield table("100,000 columns", b",".join(b"c%d" % i for i in range(100000)) + b"\n" +
                (b"1," * 99999 + b"2\n") + (b"2," * 99999 + b"3\n"), codes=(0, 3), says=())
    yield table("a cell of 1 MB", b"a,b\n" + b"x" * (1 << 20) + b",2\n3,4\n", says=("t.csv",))
    yield table("constant columns", b"a,b\n1,1\n1,2\n1,3\n", codes=(0,), says=())
    yield table("a constant target", b"a,b\n1,5.5\n2,5.5\n3,5.5\n", codes=(0, 3), says=())
    yield table("numbers of 1e300", b"a,b\n1e300,1.5\n2e300,2.5\n-1e300,3.5\n", codes=(0, 3, 4), says=())
    yield table("numbers of 1e-300", b"a,b\n1e-300,1.5\n2e-300,2.5\n-1e-300,3.5\n", codes=(0, 3, 4), says=())
    yield table("targets of 1e300", b"a,b\n1,1e300\n2,-1e300\n3,1.5e300\n", codes=(0, 3, 4), says=())
    yield table("subnormal numbers", b"a,b\n5e-324,1.5\n1e-323,2.5\n0,3.5\n", codes=(0, 3, 4), says=())
    yield table("a binary file", bytes(range(256)) * 40)
    yield table("an ELF header", b"\x7fELF\x02\x01\x01" + bytes(57) + bytes(range(256)))
    yield table("HTML", b"<!DOCTYPE html>\n<html><body>404</body></html>\n")
    yield table("JSON", b'{"a": [1, 2], "b": [3, 4]}\n')
    yield table("JSON lines", b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', codes=(0,), says=())
    yield table("a picture", b"\x89PNG\r\n\x1a\n" + bytes(100))
    yield table("a zip archive", b"PK\x03\x04" + bytes(60))
    yield table("escape codes in a cell", b"a,b\n\x1b[31mred\x1b[0m,2\n3,4\n", says=("t.csv",))
    yield table("escape codes in a name", b"\x1b]0;owned\x07a,b\n1,x\n3,4\n", codes=(0, 3), says=())
    yield table("escape codes in the classes", b"a,b\n1,\x1b[2J\n2,ok\n3,ok\n4,\x1b[2J\n", codes=(0,), says=())
    yield table("a target that is not there", rows, codes=(2, 3), options="--target nosuch", says=("nosuch",))
    yield table("a target number beyond the last", rows, codes=(2, 3), options="--target 7", says=("7",))
    yield table("a target number of 0", rows, codes=(2, 3), options="--target 0 --no-header", says=("0",))
    yield table("a target number below the first", rows, codes=(2, 3), options="--target -7", says=("-7",))
    yield table("logistic regression of numbers", b"a,b\n1,1.5\n2,2.5\n3,3.5\n", codes=(2, 3), options="--model logistic", says=())
    yield table("linear regression of texts", b"a,b\n1,x\n2,y\n3,x\n", codes=(2, 3), options="--model linear", says=())
    yield table("a format that it is not", b"a,b\n1,2\n", options="--format libsvm")
    yield Case("table: no such file", "lipschitzlr fit nosuch.csv", (2, 3), ("nosuch.csv",))
    yield Case("table: a folder", "lipschitzlr fit d", (2, 3), ("d",), {"d/x": b""})
    yield Case("table: no permission", "lipschitzlr fit /proc/self/mem", (2, 3), ("/proc/self/mem",))
    yield Case("table: an endless device", "lipschitzlr fit /dev/zero", (2, 3), ("/dev/zero",))
    yield Case("table: nothing on standard input", "lipschitzlr fit -", (3,), ("standard input",))
    yield Case("table: a name of 300 letters", f"lipschitzlr fit {'x' * 300}", (2, 3))
    yield Case("table: escape codes in a file name", "lipschitzlr fit $'\\x1b[31mred.csv'", (2, 3))
    yield Case("table: a newline in a file name", "lipschitzlr fit $'two\\nlines.csv'", (2, 3))


def sparse(name, content, codes=(3,), says=("t.libsvm",), options=""):
    return Case(f"libsvm: {name}", f"lipschitzlr fit t.libsvm --format libsvm --quiet {options}", codes, tuple(says),
                {"t.libsvm": content})


def libsvms():
    yield sparse("an empty file", b"")
    yield sparse("labels alone", b"1\n-1\n1\n-1\n", codes=(0, 3), says=())
    for text, name in ((b"1 a:1", "an index that is text"), (b"1 1:x", "a value that is text"), (b"x 1:1", "a label that is text"),
                       (b"1 -1:1", "an index below 0"), (b"1 1:1 1:2", "the same index twice"),
                       (b"1 2:1 1:2", "indices that fall"), (b"1 1", "an index without a value"), (b"1 1:", "a colon without a value"),
                       (b"1 :1", "a value without an index"), (b"1 99999999999999999999:1", "an index beyond 64 bits"),
                       (b"1 2147483648:1", "an index beyond 31 bits"), (b"1 1:1e999", "a value beyond double"),
                       (b"1 1:nan", "not a number"), (b"1 1:inf", "infinity"), (b"inf 1:1", "an infinite label"),
                       (b"nan 1:1", "a label that is not a number"), (b"1 1:1\x00", "a NUL"), (b"1 1:1 # x \x1b[2J :", "a comment with an escape code"),
                       (b"1 1.5:1", "a fraction as index"), (b"1 0x1:1", "a hexadecimal index"), (b"1 1:0x1", "a hexadecimal value"),
                       (b"1 1::1", "two colons"), (b"1, 1:1", "a comma"), (b"1:1", "no label"), (b"+ 1:1", "a sign as label")):
        yield sparse(name, b"1 1:1\n-1 2:1\n" + text + b"\n-1 1:2\n", says=("t.libsvm", "byte" if b"\x00" in text else "line 3") if b"#" not in text else (),
                     codes=(3,) if b"#" not in text else (0, 3))
    yield sparse("the largest index that is taken", b"1 16777217:1\n-1 1:1\n", codes=(0, 3), says=())
    yield sparse("one row", b"1 1:1\n", codes=(0, 3), says=())
    yield sparse("one class", b"1 1:1\n1 2:1\n", codes=(0, 3), says=())
    yield sparse("a qid", b"1 qid:3 1:1\n-1 qid:3 1:2\n", codes=(0, 3), says=())


def packings():
    packed, xz = gzip.compress(GOOD), lzma.compress(GOOD)

    def case(name, path, content, codes=(3,), command="fit"):
        return Case(f"packing: {name}", f"lipschitzlr {command} {path} --quiet" if command == "fit" else command, codes, (path,), {path: content})

    for size in (1, 2, 3, 5, 9, 10, 15, len(packed) // 2, len(packed) - 9, len(packed) - 4, len(packed) - 1):
        yield case(f"gzip cut after {size} bytes", "t.csv.gz", packed[:size])
    for size in (1, 5, 6, 11, 12, 20, len(xz) // 2, len(xz) - 13, len(xz) - 1):
        yield case(f"xz cut after {size} bytes", "t.csv.xz", xz[:size])
    for place in (3, 10, 20, len(packed) - 8, len(packed) - 4):
        yield case(f"gzip with byte {place} changed", "t.csv.gz", packed[:place] + bytes([packed[place] ^ 0x5a]) + packed[place + 1:], codes=(0, 3))
    for place in (7, 12, 14, 30, len(xz) - 3):
        yield case(f"xz with byte {place} changed", "t.csv.xz", xz[:place] + bytes([xz[place] ^ 0x5a]) + xz[place + 1:])
    yield case("gzip of nothing", "t.csv.gz", gzip.compress(b""))
    yield case("gzip of gzip", "t.csv.gz", gzip.compress(packed))
    yield case("gzip with text behind it", "t.csv.gz", packed + b"some more text", codes=(0, 3))
    yield case("a gzip bomb of one byte", "t.csv.gz", gzip.compress(bytes(300 << 20), 9))
    yield case("a gzip bomb of blank lines", "t.csv.gz", gzip.compress(b"a,b\n" + b"\n" * (300 << 20), 9))
    yield case("an xz file that asks for 4 GB of dictionary", "t.csv.xz",
               lzma.compress(GOOD, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1536 << 20, "preset": 0}]), codes=(0, 3))
    yield case("text that is called gzip", "t.csv.gz", GOOD, codes=(0, 3))
    yield case("gzip that is called text", "t.csv", packed, codes=(0, 3))


def models():
    rows = {"rows.csv": GOOD}

    def case(name, content, codes=(3,), says=("m.json",), command="predict m.json rows.csv"):
        return Case(f"model: {name}", f"lipschitzlr {command}", codes, tuple(says), dict(rows, **{"m.json": content}))

    whole = json.dumps(MODEL).encode()
    yield case("as it should be", whole, codes=(0,), says=())
    for size in (0, 1, 10, 50, len(whole) // 2, len(whole) - 1):
        yield case(f"cut after {size} bytes", whole[:size])
    for depth in (1000, 100000, 3000000):
        yield case(f"{depth} brackets", b"[" * depth)
        yield case(f"{depth} brackets in training", whole.replace(b'"training": {}', b'"training": ' + b"[" * depth + b"]" * depth), codes=(0, 3) if depth < 5000 else (3,), says=())
        yield case(f"{depth} objects in resume", whole[:-1] + b', "resume": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}", codes=(0, 3) if depth < 5000 else (3,), says=())
    for field in MODEL:
        missing = {name: value for name, value in MODEL.items() if name != field}
        yield case(f"without {field}", json.dumps(missing).encode(), codes=(0, 3) if field in ("training", "target", "target_column") else (3,), says=())
        for value in (None, 5, -1, "text", [], {}, [[]], True, 1e308):
            if value == MODEL[field]:
                continue
            yield case(f"{field} is {json.dumps(value)}", model(**{field: value}), codes=(0, 3), says=())
    for name, weights in (("ragged", [[1], [1, 2], [3]]), ("too few", [[1], [2]]), ("too many", [[1]] * 4), ("null", [[None], [1], [2]]),
                          ("text", [["x"], [1], [2]]), ("two columns for one number", [[1, 2]] * 3), ("none", [[], [], []])):
        yield case(f"weights: {name}", model(weights=weights))
    for text in (b"NaN", b"Infinity", b"1e999", b"-1e999"):
        yield case(f"a weight of {text.decode()}", whole.replace(b"1.5", text))
        yield case(f"a weight of {text.decode()}, evaluated", whole.replace(b"1.5", text), command="evaluate m.json rows.csv")
    yield case("a later version", model(version=999))
    yield case("version as text", model(version="1"))
    yield case("another format", model(format="something-else"))
    yield case("not UTF-8", whole.replace(b"price", b"pr\xffce"))
    yield case("the same label twice", json.dumps(dict(CLASSES, labels=["a", "a", "b"])).encode())
    yield case("labels for a number", model(labels=["a"]))
    yield case("one label", json.dumps(dict(CLASSES, labels=["a"], weights=[[1], [2], [3]])).encode())
    yield case("a feature twice", model(features=["height", "height"]), codes=(3,), says=())
    yield case("escape codes in labels", json.dumps(dict(CLASSES, labels=["\x1b[2J", "b", "c"])).encode(), codes=(0, 3), says=(), command="evaluate m.json rows.csv")
    yield case("escape codes in a feature", model(features=["\x1b[2Jheight", "weight"]), codes=(2, 3), says=())
    yield case("scaling of another length", model(scaling={"kind": "standard", "factors": [1], "offsets": [0]}))
    yield case("scaling by 0", model(scaling={"kind": "standard", "factors": [0, 0, 1], "offsets": [0, 0, 0]}), codes=(0, 3), says=())
    yield case("scaling that is infinite", whole.replace(b'"factors": [1, 1, 1]', b'"factors": [1e999, 1, 1]').replace(b'"kind": "none"', b'"kind": "standard"'))
    yield case("an unknown scaling", model(scaling={"kind": "magic", "factors": [1, 1, 1], "offsets": [0, 0, 0]}))
    yield case("a target column far away", model(target_column=10**15), codes=(0, 3), says=())
    yield case("a table in place of a model", GOOD)
    yield Case("model: a model that is a folder", "lipschitzlr predict d rows.csv", (2, 3), ("d",), dict(rows, **{"d/x": b""}))
    yield Case("model: resumed from one that is complete", "lipschitzlr fit rows.csv --resume m.json", (2, 3), ("m.json",), dict(rows, **{"m.json": whole}))


def resumes():
    first = "lipschitzlr fit iris --solver {} --epochs 3 --tolerance 0 -o m.json --quiet"
    edit = "python3 -c \"import json; m = json.load(open('m.json')); s = m['resume']['state']; {}; json.dump(m, open('m.json', 'w'))\""
    for solver in ("accelerated", "gd", "sgd", "adamo", "auto-adam"):
        for name, change in (("a negative epoch", "s['epoch'] = -5"), ("an epoch of 1e18", "s['epoch'] = 10**18"), ("a fraction as epoch", "s['epoch'] = 1.5"),
                             ("no state of the generator", "s.pop('random', 0)"), ("a short generator", "s['random'] = '1 2 3'"),
                             ("weights gone", "m['weights'] = []"), ("text for numbers", "s['quiet'] = 'x'"), ("a state that is a list", "m['resume']['state'] = []")):
            yield Case(f"resume {solver}: {name}", f"lipschitzlr fit iris --solver {solver} --epochs 6 --tolerance 0 --resume m.json --quiet",
                       (2, 3) if "generator" not in name and "quiet" not in change else (0, 2, 3), prepare=first.format(solver) + " && " + edit.format(change))
    yield Case("resume: a training that an older version began", "lipschitzlr fit iris --solver gd --epochs 6 --tolerance 0 --resume m.json --quiet", (3,),
               ("m.json: an older version of lipschitzlr began this training, without l1", "fit again without --resume"),
               prepare=first.format("gd") + " && " + edit.format("m['resume']['setting'].pop('l1')"))


def options():
    def case(words, codes=(2,), says=()):
        return Case(f"option: {words}", f"lipschitzlr {words}", codes, tuple(says), {"t.csv": GOOD})

    for option in ("--l2", "--holdout", "--seed", "--batch", "--first-rate", "--decay", "--beta", "--beta1", "--beta2", "--epsilon", "--k1", "--k2",
                   "--epochs", "--seconds", "--gradient-tolerance", "--tolerance", "--weight-bound", "--threads"):
        for value in ("x", "-1", "nan", "inf", "1e999", "''", "1,5"):
            yield case(f"fit t.csv {option} {value}", codes=(2,), says=(option,))
        yield case(f"fit t.csv {option}", says=(option,))
    for words in ("", "fli", "--nosuch", "fit", "fit t.csv --nosuch", "fit t.csv --epoch 5 --solver gg", "fit t.csv extra", "predict", "predict m.json",
                  "rate", "data", "data get", "data get nosuch", "data nosuch", "reproduce nosuch", "reproduce table1 nosuch", "report", "launch", "launch -n x -- fit iris",
                  "fit t.csv --model nosuch", "fit t.csv --scale nosuch", "fit t.csv --solver nosuch", "fit t.csv --rate nosuch", "fit t.csv --rate -1",
                  "fit t.csv --recompute nosuch", "fit t.csv --second-moment nosuch", "fit t.csv --format nosuch", "fit t.csv --tikhonov nosuch.csv",
                  "fit t.csv --resume nosuch.json", "report nosuch --format xml"):
        yield case(words, codes=(0, 2, 3) if words in ("", "data", "reproduce", "report nosuch --format xml") else (2, 3))


def outputs():
    def case(name, command, codes=(2, 3), files=None, **more):
        return Case(f"output: {name}", f"lipschitzlr {command}", codes, files=dict({"t.csv": GOOD}, **(files or {})), **more)

    yield case("in a folder that is not there", "fit t.csv -o no/such/m.json --quiet")
    yield case("that is a folder", "fit t.csv -o d --quiet", files={"d/x": b""})
    yield case("that is the input", "fit t.csv -o t.csv --quiet", kept={"t.csv": GOOD})
    yield case("that is the input by another name", "fit t.csv -o ./d/../t.csv --quiet", files={"d/x": b""}, kept={"t.csv": GOOD})
    yield case("that is the input by a link", "fit t.csv -o link.csv --quiet", prepare="ln -s t.csv link.csv", kept={"t.csv": GOOD})
    yield case("without a name", "fit t.csv -o '' --quiet")
    yield case("a full disk", "fit t.csv --json --quiet > /dev/full", codes=(3,))
    yield case("a full standard error", "fit t.csv -o m.json 2> /dev/full; test -s m.json", codes=(0,))
    yield case("no standard error", "fit t.csv -o m.json 2>&-; test -s m.json", codes=(0,))
    yield case("no standard output", "fit t.csv -o m.json >&-; test -s m.json", codes=(0,))
    yield case("no standard input", "fit t.csv -o m.json --quiet <&-", codes=(0,))
    yield case("to standard output", "fit t.csv -o - --quiet", codes=(0,))
    yield case("over a dangling link", "fit t.csv -o link.json --quiet", codes=(0, 2, 3), prepare="ln -s elsewhere.json link.json")
    yield case("a record in a folder that holds one", "fit t.csv --record r --quiet", prepare="lipschitzlr fit t.csv --record r --quiet")
    yield case("a record that is a file", "fit t.csv --record t.csv --quiet", kept={"t.csv": GOOD})
    yield case("predictions over their input", "predict m.json t.csv -o t.csv", prepare="lipschitzlr fit t.csv -o m.json --quiet", kept={"t.csv": GOOD})
    yield case("a report over its table", "report table1.json -o table1.json", files={"table1.json": b"{}"}, kept={"table1.json": b"{}"})
    yield case("predictions over their model", "predict m.json t.csv -o m.json", prepare="lipschitzlr fit t.csv -o m.json --quiet")


def records():
    config = json.dumps({"kind": "network training", "command": ["train"], "options": {"data": "mnist", "epochs": 3, "seed": 1},
                         "training_images": 10, "validated_on": "x"}).encode()
    line = json.dumps({"kind": "epoch", "epoch": 1, "step": 5, "loss": 1.0, "accuracy": 0.5, "val_loss": 1.0, "val_accuracy": 0.5, "rate": 0.1}).encode() + b"\n"

    def case(name, files, codes=(0, 3), says=()):
        return Case(f"record: {name}", "lipschitzlr report r -o page.html", codes, tuple(says), {f"r/{path}": content for path, content in files.items()})

    yield case("empty config", {"config.json": b"", "metrics.jsonl": line})
    yield case("config cut short", {"config.json": config[:40], "metrics.jsonl": line})
    yield case("config nested 100,000 deep", {"config.json": b'{"options":' * 100000, "metrics.jsonl": line})
    yield case("options nested 100,000 deep", {"config.json": config.replace(b'"mnist"', b"[" * 100000 + b"]" * 100000), "metrics.jsonl": line})
    yield case("config that is a list", {"config.json": b"[1, 2]", "metrics.jsonl": line})
    for value in (b"null", b"-1", b"1e999", b'"x"', b"[]", b"{}", b"true", b"1e300", b"99999999999999999999999"):
        shown = value.decode()
        yield case(f"epochs asked for: {shown}", {"config.json": config.replace(b'"epochs": 3', b'"epochs": ' + value), "metrics.jsonl": line})
        yield case(f"an epoch of {shown}", {"config.json": config, "metrics.jsonl": line.replace(b'"epoch": 1', b'"epoch": ' + value)})
        yield case(f"a loss of {shown}", {"config.json": config, "metrics.jsonl": line.replace(b'"loss": 1.0', b'"loss": ' + value)})
        yield case(f"a summary of {shown}", {"config.json": config, "metrics.jsonl": line, "summary.json": value})
    yield case("metrics of zeros", {"config.json": config, "metrics.jsonl": bytes(1000)})
    yield case("metrics nested 100,000 deep", {"config.json": config, "metrics.jsonl": line + b"[" * 100000 + b"\n" + line})
    yield case("metrics without a line end", {"config.json": config, "metrics.jsonl": line + line[:20]})
    yield case("no metrics", {"config.json": config})
    yield case("not UTF-8", {"config.json": config.replace(b"mnist", b"mn\xffst"), "metrics.jsonl": line})
    yield case("a command that is markup", {"config.json": config.replace(b'"train"', b'"<script>alert(1)</script>"'), "metrics.jsonl": line})
    yield case("escape codes everywhere", {"config.json": config.replace(b"mnist", b"\\u001b[2J"), "metrics.jsonl": line, "failure.txt": b"\x1b[2J"})
    yield case("tables of nothing", {"table1-boston.json": b"{}"})
    yield case("a table of wrong types", {"table1-boston.json": b'{"table": 1, "rows": {"a": 1}}'})
    yield case("speeds of wrong types", {"speeds.json": b'[{"data": 1}]', "config.json": config, "metrics.jsonl": line})


def images():
    def case(name, files, codes=(2, 3), says=()):
        return Case(f"images: {name}", "lipschitzlr data import in", codes, tuple(says), {f"in/{path}": content for path, content in files.items()})

    def idx(magic, *counts, body=b""):
        return struct.pack(">I", magic) + b"".join(struct.pack(">I", count) for count in counts) + body

    name = "train-images-idx3-ubyte"
    yield case("nothing", {"x": b""}, codes=(0, 2, 3))
    yield case("an IDX file of no images", {name: idx(0x803, 0, 28, 28)}, codes=(0, 2, 3))
    yield case("an IDX file that claims 4 billion images", {name: idx(0x803, 0xffffffff, 28, 28)}, codes=(0, 2, 3))
    yield case("an IDX file of huge pictures", {name: idx(0x803, 1, 0xffffffff, 0xffffffff)}, codes=(0, 2, 3))
    yield case("an IDX file of doubles", {name: idx(0xe03, 1, 2, 2, body=bytes(32))}, codes=(0, 2, 3))
    yield case("an IDX file cut short", {name: idx(0x803, 60000, 28, 28, body=bytes(100))}, codes=(0, 2, 3))
    yield case("a gzip bomb", {name + ".gz": gzip.compress(bytes(1 << 30), 1)}, codes=(0, 2, 3))
    yield case("a forged a9a", {"a9a": b"1 1:1\n-1 2:1\n"}, says=("a9a",))


def networks():
    """Pictures, weights and checkpoints are read by the libtorch part; its own tests have those files."""
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    yield Case("network: a picture of 60,000 by 60,000 points", "lipschitzlr data import in", (0, 2, 3),
               files={"in/a/x.png": b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0))})


def packed_tables():
    def case(name, damage, command="fit t.lrd --quiet", codes=(3,), says=("t.lrd",)):
        prepare = "lipschitzlr data pack t.csv -o t.lrd > pack.log && { " + damage + "; }"
        return Case(f"packed table: {name}", f"lipschitzlr {command}", codes, tuple(says), {"t.csv": GOOD}, prepare)

    def write(place, byte):
        return f"printf '\\{byte:03o}' | dd of=t.lrd bs=1 seek={place} conv=notrunc 2> dd.log"

    yield case("as it was written", "true", codes=(0,), says=())
    yield case("for predictions", "lipschitzlr fit t.lrd -o m.json --quiet", "predict m.json t.lrd", codes=(0,), says=())
    yield case("cut by a byte", "truncate -s -1 t.lrd")
    yield case("cut to its magic", "truncate -s 8 t.lrd")
    yield case("cut to its start", "truncate -s 16 t.lrd")
    yield case("longer by a byte", "truncate -s +1 t.lrd")
    yield case("longer by a gigabyte of holes", "truncate -s +1G t.lrd")
    yield case("of another version", write(8, 2), says=("t.lrd", "version"))
    for place in (16, 40, 60, 110, 130, 150, 200):
        yield case(f"with another byte {place}", write(place, 0x5a))
    yield case("twice", "cat t.lrd t.lrd > two.lrd && mv two.lrd t.lrd")
    yield case("through a pipe", "true", "fit - --quiet < t.lrd", says=("a packed table is read alone",))
    yield case("as a part of a table", "cp t.lrd u.lrd", "fit '[tu].lrd' --quiet", says=("a packed table is read alone",))
    yield case("with another target", "true", "fit t.lrd --target height --quiet", (2,), ("pack it again",))
    yield case("packed over itself", "true", "data pack t.lrd -o t.lrd", (2,), ("that is the file to read",))
    yield case("packed to standard output", "true", "data pack t.csv -o -", (2,), ("name one",))
    yield case("packed into a folder that is not there", "true", "data pack t.csv -o no/t.lrd", (2, 3), ("no/t.lrd",))
    yield case("of a text", "printf 'a,b\\n1,2\\nx,3\\n' > u.csv", "data pack u.csv -o u.lrd", (3,), ("u.csv", "line 3"))


def all_cases():
    for group in (tables, libsvms, packings, packed_tables, models, resumes, options, outputs, records, images, networks):
        yield from group()
    yield from raw_tables.raw_tables(Case)
