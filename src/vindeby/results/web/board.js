"use strict";
(() => {
  const { make, number, positions, layout, strips } = vindeby;
  const at = (id) => document.getElementById(id);
  let areas = { farms: [], types: [] }, rows = [], generation = "", drawnRows = -1;

  function text(name, words, attributes = {}) {
    const node = make(name, attributes);
    node.textContent = words;
    return node;
  }

  function duration(seconds) {
    if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.round(seconds % 3600 / 60)} min`;
  }

  function size(bytes) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    while (bytes >= 1000 && unit < 4) { bytes /= 1000; unit += 1; }
    return `${bytes >= 100 || unit === 0 ? Math.round(bytes) : bytes.toPrecision(3)} ${units[unit]}`;
  }

  async function poll() {
    let data = null;
    try {
      const answer = await fetch(`news?generation=${generation}&count=${rows.length}`);
      if (!answer.ok) throw new Error(answer.statusText);
      data = await answer.json();
      connection("live", false);
    } catch {
      connection("connection lost, trying again", true);
    }
    setTimeout(poll, data && data.left ? 0 : 1000);
    if (data) take(data);
  }

  function take(data) {
    if (data.areas) { areas = data.areas; rows = []; drawnRows = -1; }
    generation = data.generation;
    rows.push(...data.rows);
    energy();
    at("problem").hidden = !data.problem;
    at("problem").textContent = data.problem;
    if (data.state) state(data.state);
    strip("newest", data.shown.newest);
    strip("best", data.shown.best);
  }

  function connection(words, lost) {
    at("connection").textContent = words;
    at("connection").classList.toggle("lost", lost);
  }

  function state(data) {
    document.title = data.expected ? `${number(100 * data.done / data.expected, 1)} % ${data.name}` : data.name;
    at("name").textContent = data.name;
    at("path").textContent = data.path;
    const figures = [["done", data.done], ["expected", data.expected], ["failed", data.failed], ["running", data.running], ["missing", data.missing], ["invalid", data.invalid]];
    const items = figures.filter(([, value]) => value !== null).map(([name, value]) => {
      const item = make("li", { "data-name": name, class: value && (name === "failed" || name === "invalid") ? "bad" : "" });
      item.append(text("b", number(value)), name);
      return item;
    });
    if (data.rate && data.active) items.push(figure(`${data.rate >= 1 ? number(data.rate, 1) + "/s" : number(60 * data.rate, 1) + "/min"}`, "rate"));
    if (data.eta_s !== null) items.push(figure(duration(data.eta_s), "left"));
    at("figures").replaceChildren(...items);
    bar(data);
    matrix(data);
    workers(data);
    failures(data);
    files(data);
    at("disk").textContent = data.disk ? `disk: ${size(data.disk.database)} in the database, ${size(data.disk.run_directory)} in the run directory, ${size(data.disk.free)} left` : "";
  }

  function figure(value, name) {
    const item = make("li", { "data-name": name });
    item.append(text("b", value), name);
    return item;
  }

  // What failed has a part of the bar, with words, so that a colour alone tells nothing.
  function bar(data) {
    const total = data.expected || 0, done = Math.min(data.done, total), bad = Math.min(data.failed + data.invalid, total - done);
    const parts = [["done", done, `${number(done)} done`], ["failed", bad, `${number(bad)} failed`], ["open", total - done - bad, `${number(total - done - bad)} open`]];
    at("bar").replaceChildren(...parts.filter(([, count]) => count > 0).map(([name, count, words]) => {
      const part = text("span", words, { class: name, title: words });
      part.style.flexGrow = count;
      return part;
    }));
    at("bar").setAttribute("aria-valuemax", total || 1);
    at("bar").setAttribute("aria-valuenow", done);
    at("bar").setAttribute("aria-valuetext", parts.filter(([, count]) => count > 0).map(([, , words]) => words).join(", "));
  }

  function matrix(data) {
    at("matrix-section").hidden = !data.counts.length;
    const width = data.types.length;
    const head = make("tr");
    head.append(text("th", "farm", { class: "name" }), ...data.types.map((name, index) => text("th", `t${index}`, { title: name, scope: "col" })));
    const lines = data.farms.map((farm, index) => {
      const line = make("tr");
      line.append(text("th", farm, { class: "name", scope: "row" }));
      for (const cell of data.counts.slice(index * width, (index + 1) * width)) {
        if (cell.expected === 0) { line.append(make("td")); continue; }
        const bad = cell.failed + cell.invalid;
        const full = cell.expected !== null && cell.done >= cell.expected;
        const step = cell.expected ? (cell.done === 0 ? 0 : full ? 4 : 1 + Math.floor(3 * cell.done / cell.expected)) : 1;
        line.append(text("td", `${cell.done}${bad ? ` !${bad}` : cell.running ? " *" : ""}`, {
          class: bad ? `c${step} failing` : `c${step}`, title: `${farm}, ${cell.turbine}: ${cell.done} done${bad ? `, ${bad} failed or invalid` : ""}${cell.running ? `, ${cell.running} running` : ""}`,
        }));
      }
      return line;
    });
    at("matrix").replaceChildren(head, ...lines);
    at("types").textContent = data.types.map((name, index) => `t${index} ${name}`).join(", ");
  }

  // A farm with a mix of types has one entry of its own.
  const typeIn = (farm, type) => (areas.mixed || {})[`${farm}/${type}`] || areas.types[type];

  // Energies compare only where capacities are the same (to 0.1 %, as in the pictures); else capacity factors do.
  function comparable() {
    let least = Infinity, most = 0;
    for (const [, farm, type, , aep, turbines] of rows) {
      if (aep === null) continue;
      const capacity = turbines * ((typeIn(farm, type) || {}).rated || 0);
      if (!(capacity > 0)) return false;
      least = Math.min(least, capacity);
      most = Math.max(most, capacity);
    }
    return most - least > 1e-3 * most;
  }

  function energy() {
    if (rows.length === drawnRows) return;
    drawnRows = rows.length;
    const groups = new Map(), fair = comparable();
    at("quantity").textContent = fair ? "capacity factor, %" : "AEP, GWh";
    for (const [, farm, type, , aep, turbines] of rows) {
      if (aep === null) continue;
      const name = `${farm}/${type}`;
      if (!groups.has(name)) {
        groups.set(name, { title: `${(areas.farms[farm] || { name: farm }).name}, ${(typeIn(farm, type) || { name: type }).name}`, farm, type, values: [] });
      }
      groups.get(name).values.push(fair ? 100 * aep / (8.76 * turbines * typeIn(farm, type).rated) : aep);
    }
    const sorted = [...groups.values()].sort((a, b) => a.farm - b.farm || a.type - b.type);
    at("energy").replaceChildren(strips(sorted, at("energy").clientWidth));
    at("keys").replaceChildren(...rows.slice(-200).map((row) => make("option", { value: row[0] })));
  }

  function card(entry) {
    const farm = { ...(areas.farms[entry.farm] || { name: "", rings: [] }), frame: entry.frame };
    const type = typeIn(entry.farm, entry.type) || { name: "" };
    const node = make("figure", { "data-key": entry.key });
    const cables = entry.cables.map((line) => positions(line, entry.frame));
    node.append(layout(farm, positions(entry.layout, entry.frame), type.diameter, null, `layout ${entry.key}`, cables));
    const words = [entry.key, farm.name, type.name, `${entry.n} turbines`];
    if (entry.aep !== null) words.push(`${number(entry.aep, 1)} GWh`);
    if (entry.lcoe !== null) words.push(`${number(entry.lcoe, 2)} EUR/MWh`);
    node.append(text("figcaption", words.filter(Boolean).join(", ")));
    return node;
  }

  function strip(id, entries) {
    const box = at(id);
    const have = new Map([...box.children].map((node) => [node.dataset.key, node]));
    box.replaceChildren(...entries.map((entry) => have.get(entry.key) || card(entry)));
  }

  function workers(data) {
    at("workers-section").hidden = !data.workers.length;
    const head = make("tr");
    const placed = data.workers.some((worker) => worker.job) || new Set(data.workers.map((worker) => worker.node)).size > 1;
    const places = placed ? ["node", "job"] : [];
    for (const name of ["worker", ...places, "pid", "task", "for", "heartbeat", "memory", "at"]) head.append(text("th", name, { class: name === "task" || name === "at" ? "name" : "" }));
    at("workers").replaceChildren(head, ...data.workers.map((worker) => {
      const line = make("tr");
      line.append(text("td", worker.slot), ...places.map((place) => text("td", worker[place] || "")), text("td", worker.pid), text("td", worker.task || "-", { class: "name" }),
        text("td", worker.task ? duration(worker.seconds) : ""), text("td", `${duration(worker.silent_s)} ago`), text("td", size(worker.memory)), text("td", worker.doing, { class: "name" }));
      return line;
    }));
  }

  function failures(data) {
    at("failures-section").hidden = !data.failures.length;
    at("failures-title").textContent = `Failures (${number(data.failures.length < data.failed ? data.failed : data.failures.length)})`;
    const open = new Set([...at("failures").querySelectorAll("details[open]")].map((node) => node.dataset.key));
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.focus : null;
    at("failures").replaceChildren(...data.failures.map((failure) => {
      const node = make("details", { "data-key": failure.key });
      if (open.has(failure.key)) node.open = true;
      node.append(text("summary", `${failure.key}: ${failure.kind}: ${failure.reason}`, { "data-focus": `s${failure.key}` }), text("pre", failure.traceback || "no traceback"));
      if (failure.log) {
        const button = text("button", "open the log", { type: "button", class: "plain", "data-focus": `l${failure.key}` });
        button.addEventListener("click", () => log(failure.log));
        node.append(button);
      }
      return node;
    }));
    if (focused) for (const node of at("failures").querySelectorAll("[data-focus]")) if (node.dataset.focus === focused) node.focus();
  }

  function files(data) {
    at("files-section").hidden = !data.bad_files.length;
    at("files").replaceChildren(...data.bad_files.map((file) => {
      const line = make("tr");
      line.append(text("td", file.path, { class: "name" }), text("td", file.findings.join("; "), { class: "text" }));
      return line;
    }));
  }

  async function log(name) {
    at("log-name").textContent = name;
    at("log-text").textContent = "reading";
    at("log").showModal();
    try {
      const answer = await fetch(`log?name=${encodeURIComponent(name)}`);
      at("log-text").textContent = await answer.text();
    } catch (error) {
      at("log-text").textContent = `cannot be read: ${error}`;
    }
    at("log-text").scrollTop = at("log-text").scrollHeight;
  }

  let resized = null;
  window.addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => { drawnRows = -1; energy(); }, 200);
  });
  at("log-close").addEventListener("click", () => at("log").close());
  at("lookup").addEventListener("submit", async (event) => {
    event.preventDefault();
    const key = at("wanted").value.trim();
    try {
      const answer = await fetch(`layout?key=${encodeURIComponent(key)}`);
      at("found").replaceChildren(answer.ok ? card(await answer.json()) : text("p", `there is no result ${key}`));
    } catch (error) {
      at("found").replaceChildren(text("p", `cannot be asked for now: ${error}`));
    }
  });
  poll();
})();
