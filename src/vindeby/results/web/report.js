"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { make, number, positions, layout, facts } = vindeby;
  const rows = data.results;
  const columns = [
    ["key", "result", (r) => r.key],
    ...(rows.some((r) => r.objective !== null) ? [["objective", "objective", (r) => r.objective]] : []),
    ["aep", "AEP, GWh", (r) => r.aep],
    ["loss", "wake loss, %", (r) => r.loss],
    ...(rows.some((r) => r.lcoe !== null) ? [["lcoe", "LCOE, EUR/MWh", (r) => r.lcoe]] : []),
    ["n", "turbines", (r) => r.n],
    ["seconds", "seconds", (r) => r.seconds],
    ["farm", "farm", (r) => data.farms[r.farm].name],
    ["type", "type", (r) => data.types[r.type].name],
    ...(rows.some((r) => r.case) ? [["case", data.of_case, (r) => r.case]] : []),
  ];
  const digits = { objective: 3, aep: 3, loss: 2, lcoe: 2, seconds: 2 };
  const kind = (name) => [["key", "farm", "type", "case"].includes(name) && "name", !["key", "objective", "aep", "loss", "lcoe"].includes(name) && "minor"].filter(Boolean).join(" ");
  const body = document.getElementById("rows");
  const filter = document.getElementById("filter");
  const place = document.getElementById("place");
  const PAGE = 50;
  let order = rows.map((_, index) => index), shown = order, page = 0, sorted = ["key", 1], chosen = null;

  const head = document.getElementById("head");
  for (const [name, text] of columns) {
    const button = make("button", { type: "button", onclick: () => sortBy(name) });
    button.textContent = text;
    const cell = make("th", { scope: "col", "data-name": name, "aria-sort": "none", class: kind(name) });
    cell.append(button);
    head.append(cell);
  }

  function sortBy(name) {
    sorted = [name, sorted[0] === name ? -sorted[1] : name === "objective" ? -data.sign : name === "aep" ? -1 : 1];
    const value = columns.find(([id]) => id === name)[2];
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    order.sort((a, b) => {
      const [one, other] = [value(rows[a]), value(rows[b])];
      if (one === null || other === null) return (one === null) - (other === null);
      return sorted[1] * (typeof one === "string" ? compare(one, other) : one - other);
    });
    for (const cell of head.children) {
      cell.setAttribute("aria-sort", cell.dataset.name === name ? (sorted[1] > 0 ? "ascending" : "descending") : "none");
    }
    narrow();
  }

  function narrow() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = order.filter((index) => {
      const r = rows[index];
      const text = `${r.key} ${data.farms[r.farm].name} ${data.types[r.type].name} ${r.case}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    page = 0;
    draw();
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    body.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((index) => {
      const row = rows[index];
      const line = make("tr", { class: index === chosen ? "chosen" : "" });
      for (const [name, , value] of columns) {
        const cell = make("td", { class: kind(name) });
        if (name === "key") {
          const link = make("a", { class: "key", href: `#layout-${encodeURIComponent(row.key)}` });
          link.textContent = row.key;
          cell.append(link);
        } else {
          const found = value(row);
          cell.textContent = typeof found === "string" ? found : number(found, digits[name] || 0);
        }
        line.append(cell);
      }
      return line;
    }));
    place.textContent = shown.length ? `${number(page * PAGE + 1)} to ${number(Math.min((page + 1) * PAGE, shown.length))} of ${number(shown.length)}` : "none";
  }

  function choose(index) {
    chosen = index;
    const row = rows[index], farm = data.farms[row.farm], type = data.types[row.type];
    const title = make("h3");
    title.textContent = row.key;
    const picture = layout(farm, positions(row.layout, farm.frame), type.diameter, type.spacing, `layout ${row.key}`);
    document.getElementById("drawing").replaceChildren(title, picture, facts([
      ["farm", farm.name], ["type", type.name], ["seed", String(row.seed)], ...(row.case ? [[data.of_case, row.case]] : []), ["turbines", number(row.n)],
      ["AEP", row.aep === null ? "" : `${number(row.aep, 3)} GWh`],
      ["wake loss", row.loss === null ? "" : `${number(row.loss, 2)} %`],
      ...(row.lcoe === null ? [] : [["LCOE", `${number(row.lcoe, 2)} EUR/MWh`]]),
      ["time", row.seconds === null ? "" : `${number(row.seconds, 2)} s`],
    ]));
    for (const line of body.children) {
      line.classList.toggle("chosen", line.firstChild.textContent === row.key);
    }
  }

  // A key anywhere in the page leads to #layout-KEY, which is an address that can be passed on.
  function follow() {
    const prefix = "#layout-";
    if (!location.hash.startsWith(prefix)) return;
    let key;
    try { key = decodeURIComponent(location.hash.slice(prefix.length)); } catch { return; }
    const index = rows.findIndex((row) => row.key === key);
    if (index < 0) return;
    choose(index);
    document.getElementById("drawing").scrollIntoView({ block: "nearest" });
  }

  window.addEventListener("hashchange", follow);
  // A second click on the key in the address changes no address.
  document.addEventListener("click", (event) => { if (event.target.closest("a.key")) setTimeout(follow); });
  filter.addEventListener("input", narrow);
  document.getElementById("before").addEventListener("click", () => { page -= 1; draw(); });
  document.getElementById("after").addEventListener("click", () => { page += 1; draw(); });
  if (rows.length) {
    sortBy(columns[1][0]);
    choose(shown[0]);
    follow();
  }
})();
