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
}

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
    else load(job.parentElement, job.dataset.then);
  };
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    bar.value = state.done;
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
    said.push(`${near[0].toFixed(2)}, ${near[1].toFixed(2)}`);
  }
  const names = ["all classes", "ROC", "precision and recall"];
  card.querySelector("[data-read]").textContent = names.map((name, place) => `${name}: ${said[2 * place]} before, ${said[2 * place + 1]} after`).join("; ");
}

function step(slider) {
  const rows = slider.closest("[data-part]").querySelectorAll("[data-rows] tbody tr");
  rows.forEach((row, place) => row.classList.toggle("best", place === Number(slider.value)));
  const cells = rows[slider.value].children;
  slider.parentElement.querySelector("[data-read]").textContent = `Risk above ${cells[0].textContent}: ${cells[2].textContent} before, ${cells[3].textContent} after.`;
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
