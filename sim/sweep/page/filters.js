// Filters: each chosen value hides the points that have another one, in plots, table and count.
const selects = [...document.querySelectorAll("select[data-fact]")];
const charts = [...document.querySelectorAll(".plotly-graph-div")];
const BARS_MARGIN = 140, BAR_HEIGHT = 18;
const KEYS = ["x", "y", "text"];
let whole = null;

function isShown(number) {
  return selects.every((select) => !select.value || FACTS[number][select.dataset.fact] === select.value);
}

// The points of a trace on the Pareto front: no other point is at most as large in both coordinates.
function front(points) {
  const order = points.x.map((_, index) => index);
  order.sort((a, b) => points.x[a] - points.x[b] || points.y[a] - points.y[b]);
  const best = [];
  for (const index of order) {
    if (!best.length || points.y[index] < points.y[best.at(-1)]) best.push(index);
  }
  return pick(points, best);
}

function pick(points, indices) {
  return Object.fromEntries(Object.entries(points).map(([key, values]) => [key, indices.map((each) => values[each])]));
}

function pointsOf(trace) {
  const points = { customdata: [...trace.customdata] };
  for (const key of KEYS) points[key] = [...trace[key]];
  return points;
}

function draw(chart, traces) {
  let last = null;
  const changed = { x: [], y: [], text: [], customdata: [] }, numbers = [];
  traces.forEach((points, number) => {
    if (!points) return;
    const isFront = chart.data[number].meta === "front";
    const indices = points.customdata.map((_, index) => index).filter((index) => isShown(points.customdata[index]));
    const found = isFront ? front(last) : pick(points, indices);
    last = found;
    numbers.push(number);
    for (const key of Object.keys(changed)) changed[key].push(found[key]);
  });
  Plotly.restyle(chart, changed, numbers);
  // The bars of the remaining points keep their height.
  if (chart.id === "stalls") Plotly.relayout(chart, { height: BARS_MARGIN + BAR_HEIGHT * last.x.length });
}

function filter() {
  whole ??= charts.map((chart) => chart.data.map((trace) => (trace.customdata ? pointsOf(trace) : null)));
  charts.forEach((chart, index) => draw(chart, whole[index]));
  let count = 0;
  for (const number of Object.keys(FACTS)) count += isShown(number);
  for (const row of document.querySelectorAll("tr[data-row]")) row.hidden = !isShown(row.dataset.row);
  const shown = document.getElementById("shown");
  if (shown) shown.textContent = `${count} of ${Object.keys(FACTS).length} points are shown`;
}

for (const select of selects) select.addEventListener("change", filter);
document.getElementById("all")?.addEventListener("click", () => {
  for (const select of selects) select.value = "";
  filter();
});
