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

function enliven(root) {
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
setInterval(notice, 2000);
