// What keeps a page from being used by keyboard, screen reader or weak eyes; an empty list is good.
() => {
  const found = [];
  const shown = (one) => one.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true });
  const place = (one) => `${one.tagName.toLowerCase()}${one.id ? "#" + one.id : ""}.${one.className?.baseVal ?? one.className} "${(one.textContent || "").trim().slice(0, 30)}"`;
  const name = (one) =>
    one.getAttribute("aria-label") ||
    (one.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join("") ||
    [...(one.labels || [])].map((label) => label.textContent).join("") ||
    (["BUTTON", "A", "SUMMARY"].includes(one.tagName) ? one.textContent : "") ||
    one.getAttribute("title") || "";
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href], summary, iframe, [role=region], [role=img]"))
    if (shown(one) && !name(one).trim()) found.push("no name: " + place(one));
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push("id twice: " + id);
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  let level = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4")) {
    if (!shown(one)) continue;
    const here = Number(one.tagName[1]);
    if (here > level + 1) found.push("heading skips a level: " + place(one));
    level = here;
  }
  if (!document.documentElement.lang) found.push("no language");
  for (const one of document.querySelectorAll("table")) if (shown(one) && !one.querySelector("th")) found.push("table without headers: " + place(one));
  const parsed = (color) => { const part = color.match(/[\d.]+/g).map(Number); return [...part.slice(0, 3), part[3] ?? 1]; };
  const light = ([red, green, blue]) => { const [r, g, b] = [red, green, blue].map((one) => (one /= 255) <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (one) => { for (let at = one; at; at = at.parentElement) { const color = parsed(getComputedStyle(at).backgroundColor); if (color[3] > 0.5) return color; } return [255, 255, 255, 1]; };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || !shown(one) || one.closest("svg, [disabled], noscript, option")) continue;
    const style = getComputedStyle(one);
    const [high, low] = [light(parsed(style.color)), light(behind(one))].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ` + place(one));
  }
  return [...new Set(found)];
}
