// Filters: each chosen value hides the points that have another one, in plots, table and count.
const selects = [...document.querySelectorAll("select[data-fact]")];
const charts = [...document.querySelectorAll(".plotly-graph-div")];
const BARS_MARGIN = 140, BAR_HEIGHT = 18;
const KEYS = ["x", "y", "text"];
let whole = null;

function isShown(number) {
  return selects.every((select) => !select.value || FACTS[number][select.dataset.fact] === select.value);
}

// Of the points of a trace those on the Pareto front: none other is at most as large in both.
function front(points) {
  const order = points.x.map((_, place) => place);
  order.sort((a, b) => points.x[a] - points.x[b] || points.y[a] - points.y[b]);
  const best = [];
  for (const place of order) {
    if (!best.length || points.y[place] < points.y[best.at(-1)]) best.push(place);
  }
  return pick(points, best);
}

function pick(points, places) {
  return Object.fromEntries(Object.entries(points).map(([key, values]) => [key, places.map((each) => values[each])]));
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
    const places = points.customdata.map((_, place) => place).filter((place) => isShown(points.customdata[place]));
    const found = isFront ? front(last) : pick(points, places);
    last = found;
    numbers.push(number);
    for (const key of Object.keys(changed)) changed[key].push(found[key]);
  });
  Plotly.restyle(chart, changed, numbers);
  // A bar of each point that is shown, as high as it was.
  if (chart.id === "stalls") Plotly.relayout(chart, { height: BARS_MARGIN + BAR_HEIGHT * last.x.length });
}

function filter() {
  whole ??= charts.map((chart) => chart.data.map((trace) => (trace.customdata ? pointsOf(trace) : null)));
  charts.forEach((chart, place) => draw(chart, whole[place]));
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
