"use strict";
// What moves on the page: the theme, tables that sort, commands that copy, and the charts.

const root = document.documentElement;

// ---- light and dark: the system's choice until the button is used
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function rememberedTheme() {
  // A page opened from a file may be forbidden to remember anything.
  try {
    return localStorage.getItem("lipschitzlr-theme");
  } catch {
    return null;
  }
}

function showTheme(theme) {
  root.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "Light colours" : "Dark colours";
}

function preferredTheme() {
  return rememberedTheme() ?? (systemDark.matches ? "dark" : "light");
}

function setUpTheme(afterChange) {
  const show = (theme) => {
    showTheme(theme);
    afterChange();
  };
  systemDark.addEventListener("change", () => show(preferredTheme()));
  document.getElementById("theme").addEventListener("click", () => {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("lipschitzlr-theme", theme);
    } catch {
      // Then it lasts as long as the page.
    }
    show(theme);
  });
  // Paper is white, and on paper nothing can be opened.
  const closed = [];
  addEventListener("beforeprint", () => {
    show("light");
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      closed.push(details);
    }
  });
  addEventListener("afterprint", () => {
    show(preferredTheme());
    for (const details of closed.splice(0)) details.open = false;
  });
}

// ---- tables: each row of the report is a tbody, so that its explanation moves with it
function sortKey(body, column) {
  const cell = body.rows[0].cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
}

// Numbers before words, cells without anything last whichever way is sorted.
function compareKeys(a, b, direction) {
  const nothing = (key) => key === "" || key === "–";
  if (nothing(a) || nothing(b)) return nothing(a) - nothing(b);
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return direction * (typeof a === "number" ? a - b : a.localeCompare(b));
}

function sortTable(table, heading) {
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const bodies = [...table.tBodies];
  bodies.sort((a, b) => compareKeys(sortKey(a, heading.cellIndex), sortKey(b, heading.cellIndex), descending ? -1 : 1));
  table.append(...bodies);
}

function setUpTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const heading of table.tHead.querySelectorAll("[aria-sort]")) {
      heading.querySelector("button").addEventListener("click", () => sortTable(table, heading));
    }
  }
}

function setUpFilters() {
  for (const button of document.querySelectorAll(".filter")) {
    const table = button.parentElement;
    const words = button.textContent;
    const fold = (hidden) => {
      table.classList.toggle("only-run", hidden);
      button.setAttribute("aria-pressed", String(hidden));
      button.textContent = hidden ? words.replace("hide", "show") : words;
    };
    button.addEventListener("click", () => fold(!table.classList.contains("only-run")));
    // Folded at first, unless nothing was run or the address names such a row.
    const named = () => table.querySelector(".unrun:target") !== null;
    fold(table.querySelector(".run") !== null && !named());
    addEventListener("hashchange", () => named() && fold(false));
  }
}

// ---- commands: copied, or selected where copying is forbidden
function setUpCopying() {
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      const code = button.previousElementSibling;
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "selected";
      }
    });
  }
}

// ---- charts
const colourOf = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const seriesColour = (series) => colourOf(`--series-${series.color % 8}`);
const faded = (colour) => colour + "b0";
const isAuthors = (series) => series.role.startsWith("authors");
const isTraining = (series) => series.role.endsWith("training");
const MANY_SERIES = 12; // then the training ones wait in the legend

function shortNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(5)));
}

function makeDataset(series, kind) {
  const few = series.x.length <= 30 && kind !== "steps";
  return {
    label: series.label,
    data: kind === "bars" ? series.y : series.x.map((x, i) => ({ x, y: series.y[i] })),
    series,
    stepped: kind === "steps",
    fill: kind === "steps" ? "origin" : false,
    backgroundColor: () => seriesColour(series) + (kind === "steps" ? "40" : ""),
    borderWidth: kind === "bars" ? 0 : isTraining(series) ? 1 : isAuthors(series) ? 1.5 : 2.5,
    borderDash: isAuthors(series) ? [6, 4] : [],
    pointRadius: series.x.length === 1 ? 5 : !isAuthors(series) && few ? 2.5 : 0,
    pointBackgroundColor: (context) => context.dataset.borderColor,
    pointBorderColor: (context) => context.dataset.borderColor,
    pointHitRadius: 6,
    // A smaller number is drawn in front.
    order: isAuthors(series) ? 2 : isTraining(series) ? 1 : 0,
  };
}

function makeAxis(axis, small, least) {
  return {
    type: axis.logarithmic ? "logarithmic" : "linear",
    title: { display: true, text: axis.label + (axis.logarithmic ? " (log scale)" : "") },
    min: axis.logarithmic ? undefined : least,
    max: small ? undefined : axis.end,
    ticks: {
      maxTicksLimit: small ? 6 : 9,
      maxRotation: 0,
      callback(value) {
        const leading = Number(value.toExponential()[0]);
        return axis.logarithmic && ![1, 2, 5].includes(leading) ? null : shortNumber(value);
      },
    },
    grid: {},
  };
}

function paint(chart) {
  for (const dataset of chart.data.datasets) {
    const colour = seriesColour(dataset.series);
    dataset.borderColor = isAuthors(dataset.series) ? faded(colour) : colour;
  }
  for (const scale of Object.values(chart.options.scales)) {
    scale.title.color = colourOf("--ink");
    scale.ticks.color = colourOf("--faint");
    scale.grid.color = colourOf("--line");
  }
  for (const swatch of chart.legend_.querySelectorAll(".swatch")) {
    swatch.style.borderColor = colourOf(`--series-${swatch.dataset.color % 8}`);
  }
  chart.update("none");
}

function fillLegend(chart, legend) {
  chart.data.datasets.forEach((dataset, i) => {
    const button = document.createElement("button");
    const swatch = document.createElement("span");
    swatch.className = `swatch ${dataset.series.role}`;
    swatch.dataset.color = dataset.series.color;
    button.type = "button";
    button.setAttribute("aria-pressed", String(chart.isDatasetVisible(i)));
    button.append(swatch, dataset.label);
    button.addEventListener("click", () => {
      const shown = !chart.isDatasetVisible(i);
      chart.setDatasetVisibility(i, shown);
      button.setAttribute("aria-pressed", String(shown));
      chart.update("none");
    });
    legend.append(button);
  });
}

function csvField(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function chartCsv(description) {
  if (description.kind === "bars") {
    const rows = description.names.map((name, i) => `${csvField(name)},${description.series[0].y[i]}`);
    return ["feature,effect", ...rows].join("\n") + "\n";
  }
  const lines = [["series", description.x.label, description.y.label].map(csvField).join(",")];
  for (const series of description.series) {
    series.x.forEach((x, i) => lines.push(`${csvField(series.label)},${x},${series.y[i]}`));
  }
  return lines.join("\n") + "\n";
}

function fillTools(chart, description, tools) {
  const end = description.x.end;
  if (end !== undefined && description.series.some((series) => series.x.at(-1) > end)) {
    const button = document.createElement("button");
    const words = ["whole curves", `first ${end} epochs`];
    button.type = "button";
    button.textContent = words[description.small ? 1 : 0];
    button.addEventListener("click", () => {
      const whole = chart.options.scales.x.max === undefined;
      chart.options.scales.x.max = whole ? end : undefined;
      button.textContent = words[whole ? 0 : 1];
      chart.update("none");
    });
    tools.append(button);
  }
  const link = document.createElement("a");
  link.textContent = "CSV";
  link.download = `${description.id}.csv`;
  link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(chartCsv(description));
  link.setAttribute("aria-label", `${description.group}, ${description.title}: the numbers as CSV`);
  tools.append(link);
}

// Names of features beside their bars, the longest cut.
function makeNameAxis(names) {
  const shortName = (name) => (name.length > 24 ? name.slice(0, 23) + "…" : name);
  return {
    title: { display: false, text: "feature" },
    ticks: { autoSkip: false, callback: (_, i) => shortName(names[i]) },
    grid: { display: false },
  };
}

function drawBars(description) {
  const figure = document.getElementById(description.id);
  figure.querySelector(".plot").style.height = `${description.names.length * 1.35 + 5}rem`;
  const chart = new Chart(figure.querySelector("canvas"), {
    type: "bar",
    data: { labels: description.names, datasets: description.series.map((series) => makeDataset(series, "bars")) },
    options: {
      animation: false,
      indexAxis: "y",
      responsive: true,
      maintainAspectRatio: false,
      scales: { x: makeAxis(description.x, false), y: makeNameAxis(description.names) },
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: { label: (item) => `effect ${shortNumber(item.parsed.x)}` } },
      },
    },
  });
  chart.legend_ = figure.querySelector(".legend");
  fillTools(chart, description, figure.querySelector(".tools"));
  return chart;
}

function drawChart(description) {
  if (description.kind === "bars") return drawBars(description);
  const figure = document.getElementById(description.id);
  // An axis from 1 to 1 has no room for its only point.
  const start = Math.min(...description.series.flatMap((series) => series.x.slice(0, 1)));
  const first = description.x.end === start ? start - 1 : start;
  if (first < start) description.x.end = start + 1;
  const chart = new Chart(figure.querySelector("canvas"), {
    type: "line",
    data: { datasets: description.series.map((series) => makeDataset(series, description.kind)) },
    options: {
      animation: false,
      parsing: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: makeAxis(description.x, description.small, first), y: makeAxis(description.y, description.small) },
      plugins: {
        legend: { display: false },
        tooltip: {
          callbacks: {
            title: (items) => (items.length ? `${description.x.label} ${shortNumber(items[0].parsed.x)}` : ""),
            label: (item) => `${item.dataset.label}: ${shortNumber(item.parsed.y)}`,
          },
        },
      },
    },
  });
  if (description.kind === "steps") chart.options.scales.y.min = 0;
  if (description.series.length > MANY_SERIES) {
    description.series.forEach((series, i) => chart.setDatasetVisibility(i, !isTraining(series)));
  }
  chart.legend_ = figure.querySelector(".legend");
  fillLegend(chart, chart.legend_);
  fillTools(chart, description, figure.querySelector(".tools"));
  return chart;
}

showTheme(preferredTheme());
setUpTables();
setUpFilters();
setUpCopying();
const descriptions = JSON.parse(document.getElementById("charts").textContent);
const charts = descriptions.filter((description) => description.series.length > 0).map(drawChart);
const paintAll = () => charts.forEach(paint);
paintAll();
setUpTheme(paintAll);
