// Parts of pages, forms that are sent as they change, and progress. Every page works without it.
"use strict";

const { body } = document;
const asked = { headers: { "x-requested-with": "fetch" } };

// What is there becomes what it shall be, piece by piece: focus, scrolling and open panels stay.
function morph(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.nodeName === "IFRAME" || old.nodeName === "svg" && !old.isEqualNode(fresh)) return old.replaceWith(fresh);
  if (!old.attributes) { if (old.data !== fresh.data) old.data = fresh.data; return; }
  const other = old.dataset.part !== fresh.dataset.part, value = old.getAttribute("value");
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !KEPT.includes(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && name !== "open") old.setAttribute(name, value);
  if (value !== fresh.getAttribute("value")) old.value = fresh.value;
  if (old.nodeName === "TEXTAREA" && old.defaultValue !== fresh.defaultValue) old.value = fresh.defaultValue;
  const chosen = old.nodeName === "SELECT" && said(old) !== said(fresh);
  if (!fresh.dataset.part || other) morphChildren(old, fresh);
  if (chosen) old.value = fresh.value;
  if (other) { delete old.dataset.settled; old.asked = null; }
}

const KEPT = ["open", "data-settled", "aria-busy", "aria-invalid"];

// What has a name is found again, wherever it is now; other things are what stands in their place.
const named = (one) => one.id || one.dataset?.part;
function morphChildren(old, fresh) {
  const known = new Map([...old.children].filter(named).map((one) => [named(one), one]));
  const wanted = [...fresh.childNodes], names = new Set(wanted.map(named));
  let place = old.firstChild;
  const leave = () => {
    const gone = place;
    place = place.nextSibling;
    if (!gone.classList?.contains("wrong")) gone.remove();  // why a field was refused stays until something is changed
  };
  for (const child of wanted) {
    const same = known.get(named(child));
    while (same && place && place !== same && !names.has(named(place) || same)) leave();
    const here = same ?? (place && !named(place) && !named(child) && place.nodeName === child.nodeName ? place : null);
    if (here && here === place) place = place.nextSibling;
    else old.insertBefore(here ?? child, place);
    if (here) morph(here, child);
  }
  while (place) leave();
}

// What a page said of a field when it came.
function said(field) {
  if (field.nodeName === "SELECT") return [...field.options].find((one) => one.defaultSelected)?.value ?? field.options[0]?.value;
  return field.defaultValue;
}

// A part that shows something keeps it until there is something new.
async function load(part, address) {
  const mine = part.asked = {};
  const answer = await fetch(address, asked).catch(() => null);
  if (!answer) return;  // the studio is away: notice says so, and asks again when it is back
  if ((answer.headers.get("content-type") || "").startsWith("application/json")) {
    const told = await answer.json();
    if (told.go) location.assign(told.go);
    if (told.problem) tell(told.problem);
    if (told.show) show(false);
    return;
  }
  const fresh = part.cloneNode(false);
  fresh.innerHTML = await answer.text();
  if (part.asked !== mine) return;
  const job = fresh.children.length === 1 && fresh.querySelector(":scope > [data-follow]");  // else there is more to see
  part.querySelector(":scope > .over")?.remove();
  part.setAttribute("aria-busy", job ? "true" : "false");
  if (job && part.dataset.settled) {
    job.classList.add("over");
    part.append(job);
    return follow(job);
  }
  morphChildren(part, fresh);
  if (!job) part.dataset.settled = "1";
  enliven(part, true);
  if (!touched && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

// What comes late moves the place that an address points to, until somebody moves by hand.
let touched = false;
for (const one of ["wheel", "pointerdown", "keydown"]) addEventListener(one, () => { touched = true; }, { passive: true });

function tell(sentence) {
  document.getElementById("told").hidden = true;
  const place = document.getElementById("problem");
  place.querySelector("p").textContent = sentence;
  place.hidden = false;
}

function follow(job) {
  const address = job.dataset.follow;
  if (job.followed === address) return;
  job.followed = address;
  job.events?.close();
  const bar = job.querySelector("progress"), told = job.querySelector("[role=status]"), stop = job.querySelector("[data-stop]");
  const events = job.events = new EventSource(address);
  const over = () => {
    events.close();
    job.followed = "";  // a job that was given up may be asked for anew, by the same address
    if (!job.isConnected || job.dataset.follow !== address) return;  // it shows something else by now
    if (job.dataset.then === "reload") show(false);
    else if (job.dataset.then === "gone") job.remove();
    else {
      const part = job.parentElement;  // which may show something else by now
      load(part, part.dataset.part ?? job.dataset.then).then(() => job.closest("[data-rail]") && show(false));
    }
  };
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    if (bar && !("whole" in bar.dataset)) bar.value = state.done;  // else it counts jobs
    if (told && state.said) told.textContent = state.said;
    if (stop) stop.hidden = state.state === "waiting";
    if (["done", "failed", "stopped"].includes(state.state)) over();
  };
  events.onerror = over;
}

// What a form says is sent, one after the other; what depends on it is asked for anew. Typing never waits.
let sending = Promise.resolve();
function send(form, by) {
  const given = new URLSearchParams(new FormData(form, by?.type === "submit" ? by : null));
  sending = sending.then(() => sent(form, given, by)).catch(() => tell("The studio no longer answers; start it again with: ontomask studio."));
}

async function sent(form, given, by) {
  if (given.has("version")) given.set("version", body.dataset.version);
  if (given.has("here")) given.set("here", location.pathname.slice(1) + location.search);
  const answer = await fetch(form.action, { ...asked, method: "POST", body: given });
  const told = (answer.headers.get("content-type") || "").startsWith("application/json") ? await answer.json() : { problem: await answer.text() };
  if (!answer.ok) return wrong(told.problem, by);
  for (const one of document.querySelectorAll("#problem, .field .wrong")) one.hidden = true;
  const to = new URL(told.go, location);
  if (to.pathname !== location.pathname || to.search && to.search !== location.search) {
    sessionStorage.setItem("changed", told.changed);  // the next page tells it
    return location.assign(to);
  }
  await show();
  announce(told.changed);
}

// What was changed, beside a way to undo it.
function announce(changed) {
  if (!changed) return;
  const place = document.getElementById("told");
  place.hidden = false;
  place.querySelector("p").textContent = changed;
}

// A field that was refused says so, and shows what the plan has.
function wrong(problem, by) {
  const field = by?.closest(".field");
  if (!field) return tell(problem);
  let place = field.querySelector(".wrong");
  if (!place) {
    place = document.createElement("p");
    place.className = "wrong warn";
    place.setAttribute("role", "alert");
    field.append(place);
  }
  place.hidden = false;
  place.textContent = problem;
  by.value = said(by);
}

// The page as it is now, where it is looked at.
async function show(anew = true) {
  const address = location.href;
  const fresh = new DOMParser().parseFromString(await (await fetch(address, asked)).text(), "text/html");
  if (location.href !== address) return show(anew);  // something else is looked at by now
  body.dataset.version = fresh.body.dataset.version;
  for (const name of ["rail", "content"]) morph(document.getElementById(name), fresh.getElementById(name));
  for (const input of document.querySelectorAll("input[name=version]")) input.value = body.dataset.version;
  enliven(document, anew);
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
  card.querySelectorAll("[data-read] tbody tr").forEach((row, place) => {
    const chart = 2 * Math.floor(place / 2), axis = place % 2;  // each chart has two curves and two axes
    for (const side of [0, 1]) row.children[1 + side].textContent = said[chart + side][axis];
  });
}

function step(slider) {
  const rows = slider.closest("[data-part]").querySelectorAll("[data-rows] tbody tr");
  rows.forEach((row, place) => row.classList.toggle("best", place === Number(slider.value)));
  const cells = [...rows[slider.value].cells], heads = rows[0].closest("table").tHead.rows[0].cells;
  const told = cells.slice(2).map((cell, place) => `${heads[place + 2].textContent} ${cell.textContent}`).join("; ");
  slider.parentElement.querySelector("[data-read]").textContent = `Risk above ${cells[0].textContent}: ${told}.`;
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

// A mark of the picture does what the button of its row does.
function marks(picture) {
  for (const mark of picture.querySelectorAll(":is(circle, polygon):has(> title)")) {
    const told = mark.querySelector("title").textContent;
    const row = [...document.querySelectorAll("tr[data-title]")].find((one) => told.startsWith(`${one.dataset.title}: `));
    const button = row?.querySelector("button");
    if (!button) continue;
    mark.closest("svg").setAttribute("role", "group");  // a picture has nothing to press inside
    for (const [name, value] of Object.entries({ class: `${mark.getAttribute("class") ?? ""} mark${row.classList.contains("own") ? " own" : ""}`, tabindex: 0, role: "button", "aria-label": `Adopt ${told}` })) mark.setAttribute(name, value);
    mark.addEventListener("click", () => button.click());
    mark.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); button.click(); } });
  }
}

// One key sets the role of the row that has the focus, or of all chosen ones; arrows go from row to row.
function key(event) {
  const row = event.target.closest("table.columns tbody tr");
  if (!row || event.target.matches("select, input:not([type=checkbox])") || event.ctrlKey || event.metaKey || event.altKey) return;
  const choose = (one, yes) => { const box = one.querySelector("input[type=checkbox]"); if (box) box.checked = yes; };
  const go = (one) => one?.querySelector("input[type=checkbox]")?.focus();
  const by = { ArrowUp: row.previousElementSibling, ArrowDown: row.nextElementSibling };
  if (event.key in by) {
    if (event.shiftKey) for (const one of [row, by[event.key]]) if (one) choose(one, true);
    go(by[event.key]);
  } else if (event.key === "Escape") {
    for (const one of row.parentElement.rows) choose(one, false);
  } else if ("1234".includes(event.key)) {
    const many = row.parentElement.querySelector("input:checked");
    (many ? document.getElementById("chosen") : row).querySelectorAll(".roles button")[Number(event.key) - 1]?.click();
    if (!many) go(by.ArrowDown);
  } else if ("kt".includes(event.key)) {
    if (!row.parentElement.querySelector("input:checked")) choose(row, true);
    count();
    document.querySelector(`#chosen [name=${event.key === "k" ? "kind" : "taxonomy"}]`).focus();
  } else return;
  event.preventDefault();
  count();
}

// How many rows are chosen, beside what can be done with them.
function count() {
  const form = document.getElementById("chosen");
  if (!form) return;
  const chosen = document.querySelectorAll("table.columns tbody input:checked").length;
  form.classList.toggle("none", !chosen);
  form.querySelector("[data-count]").textContent = chosen;
}

function began(form) {
  form.querySelector("button").disabled = true;
  load(document.getElementById("begin"), form.dataset.begin);
}

const filtered = (form) => look(form, "?" + new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")));

addEventListener("submit", (event) => {
  const form = event.target, { dataset } = form;
  if (form.enctype.startsWith("multipart")) {  // refused before it is sent: sending it takes minutes
    if (form.querySelector("input[type=file]").files[0]?.size <= Number(dataset.most)) return;
    event.preventDefault();
    return tell("This file is larger than 1 GB. Copy it into the folder yourself, reload the page, and pick it there.");
  }
  if ("plain" in dataset) return;
  if ("filter" in dataset) filtered(form);
  else if ("begin" in dataset) began(form);
  else if ("stop" in dataset) fetch(form.action, { ...asked, method: "POST", body: new URLSearchParams(new FormData(form)) });
  else if (form.getAttribute("method") === "post") send(form, event.submitter);
  else return;
  event.preventDefault();
});
addEventListener("change", ({ target }) => {
  if (target.form && "live" in target.form.dataset) send(target.form, target);
  if (target.form && "filter" in target.form.dataset) filtered(target.form);
  if (target.matches("[data-all]")) for (const box of document.querySelectorAll("table.columns tbody input[type=checkbox]")) box.checked = target.checked;
  count();
});
addEventListener("click", (event) => {
  const link = event.target.closest("[data-again], [data-look], [data-close]");
  if (!link) return;
  event.preventDefault();
  if ("again" in link.dataset) load(link.closest("[data-part]"), link.getAttribute("href"));
  else if ("look" in link.dataset) look(link, new URL(link.href?.baseVal ?? link.href, location.href).search);
  else link.closest(".toast").hidden = true;
});
addEventListener("input", ({ target }) => {
  if ("threshold" in target.dataset) threshold(target);
  if ("steps" in target.dataset) step(target);
});
addEventListener("keydown", key);
addEventListener("dragover", (event) => { if (event.target.closest("form[data-drop]")) event.preventDefault(); });
addEventListener("drop", (event) => {
  const form = event.target.closest("form[data-drop]");
  if (!form) return;
  event.preventDefault();
  form.querySelector("input[type=file]").files = event.dataTransfer.files;
});

// What is new begins to work; parts that are there already are asked for once more where they may be old.
function enliven(root, anew = false) {
  for (const part of root.querySelectorAll("[data-part]")) {
    const outside = part.parentElement.closest("[data-part]") || root;
    if (outside === root && (anew || !part.asked)) load(part, part.dataset.part);
  }
  for (const job of root.querySelectorAll("[data-follow]")) follow(job);
  for (const slider of root.querySelectorAll("[data-threshold]")) threshold(slider);
  for (const slider of root.querySelectorAll("[data-steps]")) step(slider);
  for (const picture of root.querySelectorAll("svg[data-cuts]")) cuts(picture);
  for (const picture of root.querySelectorAll(".picture")) marks(picture);
  count();
}

// Someone may edit the plan in an editor, or in another tab; the studio may be away for a while.
let away = false;
async function notice() {
  if (!body.dataset.version || document.hidden) return;
  let answer;
  try {
    answer = await fetch("/version");
  } catch {
    away = true;
    return tell("The studio no longer answers; start it again with: ontomask studio. Nothing is lost.");
  }
  if (!answer.ok) return tell("The studio was started again; open the link that it shows in the terminal. Nothing is lost.");
  if (away) {  // a night's sleep, or a pause: what was followed then is asked for anew
    away = false;
    document.getElementById("problem").hidden = true;
    await show();
  }
  const { version } = await answer.json();
  await sending;
  document.getElementById("changed").hidden = version === body.dataset.version || version === "";
}

enliven(document);
announce(sessionStorage.getItem("changed"));
sessionStorage.removeItem("changed");
addEventListener("popstate", () => location.reload());
setInterval(notice, 2000);
