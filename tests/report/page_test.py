#!/usr/bin/env python3
"""Opens the report page in a real browser: page_test.py PROGRAM

The page is made from sound, cut, damaged and missing records, one with a hostile name, and opened from a file by headless
Chromium. A copy of the page gets the script below, which uses it as a reader would and writes down what it saw; nothing
of that is in the page itself. tidy checks the HTML. Without a browser or tidy the test is skipped (77).
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE.parent.parent / "experiments" / "records"
HOSTILE = "<script>alert(1)<!-- & 'x'.csv"
LARGEST = 1_500_000

USE_THE_PAGE = r"""
const seen = {};
const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const ink = (canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  const lines = Chart.getChart(canvas).data.datasets.map((dataset) => ({ colour: channels(dataset.borderColor), drawn: 0 }));
  let drawn = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i + 3] === 0) continue;
    drawn += 1;
    colours.add(`${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`);
    for (const line of lines) line.drawn += line.colour.every((value, j) => Math.abs(value - pixels[i + j]) < 24);
  }
  const end = Chart.getChart(canvas).scales.x.max;
  const shown = (dataset) => dataset.data.filter((point) => point.x <= end).length;
  const points = Math.max(...Chart.getChart(canvas).data.datasets.map(shown));
  return { drawn, colours: colours.size, line: Math.max(...lines.map((line) => line.drawn)), width: canvas.width, points };
};
const column = (table, i) => [...table.tBodies].map((body) => body.rows[0].cells[i].dataset.value ?? "");
seen.charts = [...document.querySelectorAll("canvas")].map(ink);
seen.axes = charts.every((chart) => Object.values(chart.scales).every((scale) => scale.options.title.text.length > 0));
seen.matrix = [...document.querySelectorAll(".matrix td")].map((cell) => Number(cell.textContent));
seen.titles = [...document.querySelectorAll("figcaption")].map((caption) => caption.textContent);
const table = document.querySelector("#table1 table");
const heading = [...table.tHead.querySelectorAll("[aria-sort]")].find((th) => th.textContent === "paper");
heading.querySelector("button").click();
seen.ascending = [heading.getAttribute("aria-sort"), column(table, heading.cellIndex)];
heading.querySelector("button").click();
seen.descending = [heading.getAttribute("aria-sort"), column(table, heading.cellIndex)];
seen.reasonsFollow = [...table.tBodies].every((body) => body.rows.length === 2);
seen.keyboard = heading.querySelector("button").tabIndex >= 0;
const legend = document.querySelector(".legend button");
legend.click();
seen.hidden = [legend.getAttribute("aria-pressed"), charts[0].isDatasetVisible(0)];
legend.click();
const before = [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor];
document.getElementById("theme").click();
seen.themes = [before, [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]];
seen.csv = [...document.querySelectorAll(".tools a")].map((a) => decodeURIComponent(a.href).split("\n").length);
seen.links = [...document.querySelectorAll("td a, th a")].map((a) => a.getAttribute("href"));
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const out = document.createElement("pre");
out.id = "seen";
out.textContent = JSON.stringify(seen);
document.body.append(out);
"""


# On a phone: the page in a frame as wide as one, telling the frame's owner how wide it turned out.
TELL_WIDTH = r"""
const first = document.querySelector("canvas").getBoundingClientRect();
parent.postMessage({ window: innerWidth, page: document.documentElement.scrollWidth, chart: [first.left, first.right],
  text: parseFloat(getComputedStyle(document.querySelector("#summary p")).fontSize) }, "*");
"""
PHONE = 390
PHONE_PAGE = """<!DOCTYPE html><title>phone</title><iframe src="%s" width="%d" height="800" style="border:0"></iframe>
<script>onmessage = (event) => {
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(event.data);
  document.body.append(out);
};</script>"""


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, **more)


def make_records(program, folder):
    """Records of every kind under folder/runs, and what reproduce prints."""
    runs = folder / "runs"
    shutil.copytree(RECORDS, runs / "networks")
    shutil.copytree(runs / "networks" / "cifar10-resnet20-sgd-adaptive", runs / "cut")
    (runs / "cut" / "summary.json").unlink()
    lines = (runs / "cut" / "metrics.jsonl").read_text()
    (runs / "cut" / "metrics.jsonl").write_text(lines[: len(lines) * 2 // 3])
    (runs / "damaged").mkdir()
    (runs / "damaged" / "config.json").write_text('{"options": ')
    (folder / HOSTILE).write_text("x,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(20)))
    for rate in ("0.1", "published", "gradient"):
        done = run([program, "fit", "boston", "--scale", "sum", "--solver", "gd", "--rate", rate, "--random-start",
                    "--epochs", "3000", "--tolerance", "0", "-q", "--record", f"runs/boston-{rate}"], cwd=folder)
        assert done.returncode == 0, done.stderr
    done = run([program, "fit", HOSTILE, "-q", "--epochs", "20", "--record", "runs/" + HOSTILE], cwd=folder)
    assert done.returncode == 0, done.stderr
    for data in ("iris", "diabetes"):
        done = run([program, "fit", data, "--holdout", "0.3", "-q", "--record", f"runs/{data}-held"], cwd=folder)
        assert done.returncode == 0, done.stderr
    done = run([program, "reproduce", "table1", "boston", "iris", "--seeds", "1", "--max-iterations", "3000", "--json"],
               cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "table1.json").write_text(done.stdout)


def browse(page, profile, *more):
    browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               f"--user-data-dir={profile}", "--enable-logging=stderr", "--virtual-time-budget=20000", *more]
    return run([*browser, page.as_uri()])


def check(complaints, truth, sentence):
    if not truth:
        complaints.append(sentence)


def with_script(page, name, script):
    copy = page.with_name(name)
    copy.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    return copy


def seen_in(page, folder, complaints):
    """What the script of a page wrote down; None, with a complaint, when it did not get there."""
    done = browse(page, folder / "profile", "--window-size=1280,900", "--dump-dom")
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    check(complaints, not console, f"the console says: {console}")
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    check(complaints, found, f"{page.name} was not used to the end\n{done.stderr[-3000:]}")
    return json.loads(html.unescape(found.group(1))) if found else None


def look_at_phone(page, folder, complaints):
    inner = with_script(page, "inner.html", TELL_WIDTH)
    outer = page.with_name("phone.html")
    outer.write_text(PHONE_PAGE % (inner.name, PHONE))
    seen = seen_in(outer, folder, complaints)
    if seen is None:
        return
    check(complaints, seen["window"] == PHONE and seen["page"] <= PHONE, f"the page does not fit a phone: {seen}")
    left, right = seen["chart"]
    check(complaints, 0 <= left < right - 200 and right <= PHONE, f"a chart does not fit a phone: {seen}")
    check(complaints, seen["text"] >= 14, f"small print on a phone: {seen}")


def look_at(page, folder, complaints):
    seen = seen_in(with_script(page, "copy.html", USE_THE_PAGE), folder, complaints)
    if seen is None:
        return
    check(complaints, len(seen["charts"]) >= 15, f"only {len(seen['charts'])} charts")
    check(complaints, all(ink["drawn"] > 2000 and ink["colours"] > 20 for ink in seen["charts"]),
          f"a chart is blank: {seen['charts']}")
    unseen = [ink for ink in seen["charts"] if ink["line"] < (ink["width"] / 3 if ink["points"] > 2 else 30)]
    check(complaints, not unseen, f"no line is drawn, or no point of a single epoch: {unseen}")
    check(complaints, seen["axes"], "an axis has no label")
    check(complaints, len(seen["matrix"]) == 9 and sum(seen["matrix"]) == 45, f"classes of iris: {seen['matrix']}")
    for title in ("Coefficients", "ROC curve of the test rows", "Calibration on the test rows", "Errors of the test rows"):
        check(complaints, title in seen["titles"], f"no chart: {title}")
    for way, order in (("ascending", 1), ("descending", -1)):
        word, values = seen[way]
        numbers = [float(value) for value in values]
        check(complaints, word == way and numbers == sorted(numbers, reverse=order < 0) and len(set(numbers)) > 4,
              f"not sorted {way}: {word} {values}")
    check(complaints, seen["reasonsFollow"], "a row lost its reasons when sorted")
    check(complaints, seen["keyboard"], "a heading can't be reached by keyboard")
    check(complaints, seen["hidden"] == ["false", False], f"the legend does not switch: {seen['hidden']}")
    (theme, paper), (other_theme, other_paper) = seen["themes"]
    check(complaints, {theme, other_theme} == {"light", "dark"} and paper != other_paper, f"themes: {seen['themes']}")
    check(complaints, len(seen["csv"]) == len(seen["charts"]) and min(seen["csv"]) > 2, f"CSV: {seen['csv']}")
    for link in set(seen["links"]):
        check(complaints, "nowhere" in link or (page.parent / html.unescape(link_path(link))).exists(), f"{link} leads nowhere")
    check(complaints, seen["wide"] <= 0, f"the page is {seen['wide']} pixels wider than the window")


def link_path(link):
    return re.sub("%([0-9A-F]{2})", lambda code: chr(int(code.group(1), 16)), link)


def main():
    for needed in ("chromium", "tidy"):
        if shutil.which(needed) is None:
            print(f"{needed} is not installed: nothing was looked at")
            return 77
    program = os.path.abspath(sys.argv[1])
    complaints = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_records(program, folder)
        (folder / "pages").mkdir()
        page = folder / "pages" / "report.html"
        done = run([program, "report", "table1.json", "runs", "nowhere", "-o", "pages/report.html"], cwd=folder)
        check(complaints, done.returncode == 3, f"report ended with {done.returncode}, not 3: {done.stderr}")
        text = page.read_text()
        check(complaints, len(text.encode()) < LARGEST, f"the page has {len(text.encode())} bytes")
        check(complaints, "<script>alert(1)" not in text, "a name became part of the page")
        for sentence in ("There is no such file or folder.", "ends in the middle of line", "config.json is not valid JSON"):
            check(complaints, sentence in text, f"the page does not say: {sentence}")
        tidied = run(["tidy", "-quiet", "-errors", "-utf8", str(page)])
        check(complaints, tidied.returncode == 0, f"tidy: {tidied.stderr[:3000]}")
        look_at(page, folder, complaints)
        look_at_phone(page, folder, complaints)
        keep = os.environ.get("LIPSCHITZLR_KEEP_PAGE")
        if keep:
            shutil.copytree(folder, keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("profile"))
    for complaint in complaints:
        print("FAILED", complaint)
    print("the page is sound" if not complaints else f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
