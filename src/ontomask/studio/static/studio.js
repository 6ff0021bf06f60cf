// Parts of pages, forms that are sent as they change, and progress. Every page works without it.
"use strict";

const token = document.body.dataset.token;

async function load(part, address) {
  const answer = await fetch(address, { headers: { "x-requested-with": "fetch" } });
  if ((answer.headers.get("content-type") || "").startsWith("application/json")) {
    const said = await answer.json();
    if (said.go) location.assign(said.go);
    if (said.problem) tell(said.problem);
    return;
  }
  part.innerHTML = await answer.text();
  enliven(part);
  if (!touched && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

// What comes late moves the place that an address points to, until somebody moves by hand.
let touched = false;
for (const one of ["wheel", "pointerdown", "keydown"]) addEventListener(one, () => { touched = true; }, { passive: true });

function tell(sentence) {
  const place = document.getElementById("problem");
  place.textContent = sentence;
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
}

function follow(job) {
  const bar = job.querySelector("progress"), said = job.querySelector("[role=status]");
  const events = new EventSource(job.dataset.follow);
  const over = () => {
    events.close();
    if (!job.isConnected) return;
    if (job.dataset.then === "reload") location.reload();
    else if (job.dataset.then === "gone") job.remove();
    else load(job.parentElement, job.dataset.then);
  };
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    if (!("whole" in bar.dataset)) bar.value = state.done;  // else it counts jobs
    if (state.said) said.textContent = state.said;
    if (["done", "failed", "stopped"].includes(state.state)) over();
  };
  events.onerror = over;
}

// A changed field is sent; what depends on it is asked for anew. Typing never waits.
let sending = 0;
async function send(form) {
  const mine = ++sending;
  const answer = await fetch(form.action, {
    method: "POST",
    headers: { "x-requested-with": "fetch", "form-token": token },
    body: new URLSearchParams(new FormData(form)),
  });
  if (mine !== sending) return;
  if (!answer.ok) {
    const kind = answer.headers.get("content-type") || "";
    return tell(kind.startsWith("application/json") ? (await answer.json()).problem : await answer.text());
  }
  document.getElementById("problem").hidden = true;
  if (answer.redirected && new URL(answer.url).pathname !== location.pathname) return location.assign(answer.url);
  await refresh();
}

async function refresh() {
  const { version } = await (await fetch("/version")).json();
  document.body.dataset.version = version;
  for (const input of document.querySelectorAll("input[name=version]")) input.value = version;
  for (const part of document.querySelectorAll("[data-part]")) load(part, part.dataset.part);
}

// Another way of looking at the same result is an address of its own.
function look(inside, query) {
  const part = inside.closest("[data-address]");
  history.pushState(null, "", part.dataset.address + query);
  part.dataset.part = part.dataset.part.split("?")[0] + query;
  load(part, part.dataset.part);
}

// The points of both curves that belong to a threshold; thresholds fall along a curve, or rise.
function threshold(slider) {
  const card = slider.closest(".card"), said = [];
  slider.nextElementSibling.textContent = Number(slider.value).toFixed(2);
  for (const curve of card.querySelectorAll("[data-points]")) {
    const points = JSON.parse(curve.dataset.points);
    const near = points.reduce((best, point) => Math.abs(point[2] - slider.value) < Math.abs(best[2] - slider.value) ? point : best);
    const dot = curve.querySelector("circle");
    dot.setAttribute("cx", 250 * near[0]);
    dot.setAttribute("cy", 220 - 220 * near[1]);
    said.push(near.slice(0, 2).map((one) => one.toFixed(2)));
  }
  const axes = [["all classes: recall", "precision"], ["this class: 1 - specificity", "sensitivity"], ["recall", "precision"]];
  card.querySelector("[data-read]").textContent = axes.map((names, place) => names.map((name, axis) => `${name} ${said[2 * place][axis]} before, ${said[2 * place + 1][axis]} after`).join("; ")).join(". ") + ".";
}

function step(slider) {
  const rows = slider.closest("[data-part]").querySelectorAll("[data-rows] tbody tr");
  rows.forEach((row, place) => row.classList.toggle("best", place === Number(slider.value)));
  const cells = rows[slider.value].children;
  slider.parentElement.querySelector("[data-read]").textContent = `Risk above ${cells[0].textContent}: ${cells[2].textContent} before, ${cells[3].textContent} after.`;
}

// Cuts of numbers are lines on a histogram: dragged, moved by arrow keys, added by a double click.
function cuts(picture) {
  const form = document.querySelector("form[data-levels]");
  if (!form) return;
  const { least, greatest, unit } = Object.fromEntries(["least", "greatest", "unit"].map((name) => [name, Number(picture.dataset[name])]));
  const wide = greatest - least || 1, step = Math.max(unit, 10 ** Math.floor(Math.log10(wide / 200)));
  const rounded = (number) => Number((Math.round(number / step) * step).toPrecision(12));
  const place = (number) => 720 * (number - least) / wide;
  const at = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    return rounded(least + wide * Math.min(720, Math.max(0, point.x)) / 720);
  };
  const typed = () => form.said.value.split(/[\s,]+/).filter(Boolean).map(Number).filter(Number.isFinite);
  const said = () => {
    const numbers = typed();
    if (form.way.value === "cuts") return numbers;
    const first = form.way.value === "intervals" && numbers[0] > 0 ? numbers[0] : Infinity;
    const found = [];
    for (let cut = Math.ceil(least / first) * first; cut <= greatest && found.length < 60; cut += first) if (cut > least) found.push(cut);
    return found;
  };
  const say = (numbers) => {
    form.way.value = "cuts";
    form.said.value = [...new Set(numbers)].sort((one, other) => one - other).join(", ");
  };
  function line(number) {
    const one = document.createElementNS("http://www.w3.org/2000/svg", "g");
    one.setAttribute("class", "cut");
    for (const [name, value] of Object.entries({ tabindex: 0, role: "slider", "aria-label": "cut", "aria-valuemin": least, "aria-valuemax": greatest })) one.setAttribute(name, value);
    one.innerHTML = '<line y1="-4" y2="116"></line><circle cy="-8" r="6"></circle><title></title>';
    const move = (to) => {
      number = to;
      one.setAttribute("transform", `translate(${place(to).toFixed(1)} 0)`);
      one.setAttribute("aria-valuenow", to);
      one.querySelector("title").textContent = to;
      one.number = to;
    };
    const told = () => say([...picture.querySelectorAll(".cut")].map((other) => other.number));
    move(number);
    one.addEventListener("pointerdown", (event) => { one.setPointerCapture(event.pointerId); event.preventDefault(); one.focus(); });
    one.addEventListener("pointermove", (event) => { if (one.hasPointerCapture(event.pointerId)) { move(at(event)); told(); } });
    one.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -step, ArrowRight: step, PageDown: -10 * step, PageUp: 10 * step }[event.key];
      if (by) move(rounded(number + by));
      else if (event.key === "Delete") one.remove();
      else return;
      event.preventDefault();
      told();
    });
    picture.append(one);
  }
  function draw() {
    for (const one of picture.querySelectorAll(".cut")) one.remove();
    said().forEach(line);
  }
  picture.addEventListener("dblclick", (event) => { say([...said(), at(event)]); draw(); });
  for (const name of ["way", "said"]) form[name].addEventListener("input", draw);
  draw();
}

// One key sets the role of the row that has the focus, and goes on to the next.
let next = null;
function role(event) {
  const row = event.target.closest("tbody tr");
  if (!row || !"1234".includes(event.key) || event.target.tagName === "SELECT") return;
  const button = row.querySelectorAll(".roles button")[Number(event.key) - 1];
  if (!button) return;
  next = Math.min(row.rowIndex, row.parentElement.rows.length - 1);
  button.click();
}

function drop(form) {
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.querySelector("input[type=file]").files = event.dataTransfer.files;
  });
}

function enliven(root) {
  const rows = root.querySelectorAll("table.columns tbody tr");
  if (next !== null && rows.length) {
    rows[next].querySelector("button, select")?.focus();
    next = null;
  }
  for (const part of root.querySelectorAll("[data-part]")) load(part, part.dataset.part);
  for (const job of root.querySelectorAll("[data-follow]")) follow(job);
  for (const form of root.querySelectorAll("form[data-live]")) {
    form.addEventListener("change", () => send(form));
    form.addEventListener("submit", (event) => { event.preventDefault(); send(form); });
  }
  for (const form of root.querySelectorAll("form[data-stop]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      fetch(form.action, { method: "POST", headers: { "form-token": token }, body: new URLSearchParams(new FormData(form)) });
    });
  }
  for (const link of root.querySelectorAll("[data-again]")) {
    link.addEventListener("click", (event) => { event.preventDefault(); load(link.closest("[data-part]"), link.getAttribute("href")); });
  }
  for (const link of root.querySelectorAll("[data-look]")) {
    link.addEventListener("click", (event) => { event.preventDefault(); look(link, new URL(link.href?.baseVal ?? link.href, location.href).search); });
  }
  for (const form of root.querySelectorAll("form[data-filter]")) {
    const show = () => look(form, "?" + new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")));
    form.addEventListener("change", show);
    form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
  }
  for (const slider of root.querySelectorAll("[data-threshold]")) { slider.addEventListener("input", () => threshold(slider)); threshold(slider); }
  for (const slider of root.querySelectorAll("[data-steps]")) { slider.addEventListener("input", () => step(slider)); step(slider); }
  for (const picture of root.querySelectorAll("svg[data-cuts]")) cuts(picture);
  for (const table of root.querySelectorAll("table.columns")) table.addEventListener("keydown", role);
  for (const form of root.querySelectorAll("form[data-drop]")) drop(form);
  for (const form of root.querySelectorAll("form[data-begin]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      form.querySelector("button").disabled = true;
      load(document.getElementById("begin"), form.dataset.begin);
    });
  }
}

// Someone may edit the plan in an editor, or in another tab.
async function notice() {
  if (!document.body.dataset.version || document.hidden) return;
  try {
    const { version } = await (await fetch("/version")).json();
    document.getElementById("changed").hidden = version === document.body.dataset.version || sending > 0 && version === "";
  } catch { tell("The studio no longer answers; start it again with: ontomask studio."); }
}

enliven(document);
addEventListener("popstate", () => location.reload());
setInterval(notice, 2000);
