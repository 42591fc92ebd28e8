"use strict";
// Drawing with SVG, and the few helpers that board and report share. Text goes in as text, never as markup.
const vindeby = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function make(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") node.addEventListener("click", value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    for (const child of children) node.append(child);
    return node;
  }

  function shape(name, attributes = {}) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  }

  function title(text) {
    const node = shape("title");
    node.textContent = text;
    return node;
  }

  // Positions come as 16-bit numbers, x and y in turn, over a frame [left, bottom, width, height] in metres.
  function positions(packed, frame) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const numbers = new Uint16Array(bytes.buffer, 0, bytes.length >> 1);
    const found = [];
    for (let i = 0; i + 1 < numbers.length; i += 2) {
      found.push([frame[0] + numbers[i] / 65535 * frame[2], frame[1] + numbers[i + 1] / 65535 * frame[3]]);
    }
    return found;
  }

  // A layout in its area; all lengths in metres. North is up.
  function layout(farm, places, diameter, spacing, label, cables = []) {
    const [left, bottom, width, height] = farm.frame;
    const margin = 0.04 * Math.max(width, height, 1);
    const svg = shape("svg", {
      viewBox: `${left - margin} ${-(bottom + height) - margin} ${width + 2 * margin} ${height + 2 * margin}`,
      role: "img", "aria-label": label,
    });
    const rings = farm.rings.map((ring) => "M" + ring.map(([x, y]) => `${x} ${-y}`).join("L") + "Z");
    svg.append(shape("path", { class: "inside", "fill-rule": "evenodd", d: rings.join("") }));
    for (const d of rings) svg.append(shape("path", { class: "area", d }));
    const radius = Math.max((diameter || 0) / 2, 0.006 * Math.max(width, height));
    (farm.neighbours || []).forEach(([x, y]) => {
      const mark = shape("path", { class: "neighbour", d: `M${x} ${-y - 1.4 * radius}l${1.3 * radius} ${2.3 * radius}h${-2.6 * radius}Z` });
      mark.append(title("neighbour: stands already"));
      svg.append(mark);
    });
    for (const line of cables) {
      svg.append(shape("path", { class: "cable", d: "M" + line.map(([x, y]) => `${x} ${-y}`).join("L") }));
    }
    places.forEach(([x, y], number) => {
      if (spacing) svg.append(shape("circle", { class: "spacing", cx: x, cy: -y, r: spacing / 2 }));
      const dot = shape("circle", { class: "turbine", cx: x, cy: -y, r: radius });
      dot.append(title(`turbine ${number}`));
      svg.append(dot);
    });
    return svg;
  }

  // Energies of every result, one column a farm and type; growing as results come.
  function strips(groups, room) {
    const margin = 58, step = Math.max(13, (room - margin) / Math.max(1, groups.length));
    const width = Math.max(room, step * groups.length + margin), height = 250;
    const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "energy of every result" });
    const values = groups.flatMap((group) => group.values);
    if (!values.length) return svg;
    let low = Infinity, high = -Infinity;
    for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
    if (low === high) { low -= 1; high += 1; }
    // Ticks at one, two or five times a power of ten; the axis begins and ends with one.
    const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const tick = power * [1, 2, 5, 10].find((times) => times * power >= rough * 0.999);
    [low, high] = [Math.floor(low / tick) * tick, Math.ceil(high / tick) * tick];
    const y = (value) => 12 + (height - 50) * (1 - (value - low) / (high - low));
    for (let value = low; value < high + 0.5 * tick; value += tick) {
      svg.append(shape("line", { class: "axis", x1: 48, x2: 52, y1: y(value), y2: y(value) }));
      const text = shape("text", { class: "tick", x: 44, y: y(value) + 4, "text-anchor": "end" });
      text.textContent = number(value, Math.max(0, -Math.floor(Math.log10(tick))));
      svg.append(text);
    }
    svg.append(shape("line", { class: "axis", x1: 52, x2: 52, y1: 12, y2: height - 38 }));
    groups.forEach((group, column) => {
      const middle = margin + step * (column + 0.5);
      let best = -Infinity;
      group.values.forEach((value, index) => {
        const aside = ((index * 0.618034) % 1 - 0.5) * Math.min(0.6 * step, 40);
        svg.append(shape("circle", { class: "point", cx: middle + aside, cy: y(value), r: 2 }));
        best = Math.max(best, value);
      });
      if (group.values.length) {
        const top = y(best) - 3;
        svg.append(shape("path", { class: "best", d: `M${middle - 4} ${top}h8l-4 -7Z` }));
      }
      const labels = [[`t${group.type}`, height - 24]];
      if (!column || groups[column - 1].farm !== group.farm) labels.push([`farm${group.farm}`, height - 8]);
      for (const [words, at] of labels) {
        const text = shape("text", { class: "tick", x: at === height - 24 ? middle : middle - step * 0.5, y: at, "text-anchor": at === height - 24 ? "middle" : "start" });
        text.textContent = words;
        text.append(title(group.title));
        svg.append(text);
      }
    });
    return svg;
  }

  const number = (value, digits = 0) => value === null || value === undefined || Number.isNaN(value) ? ""
    : value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });

  function facts(pairs) {
    const list = make("dl", { class: "facts" });
    for (const [name, value] of pairs) {
      if (value !== "" && value !== null && value !== undefined) {
        const what = make("dt"), figure = make("dd");
        what.textContent = name;
        figure.textContent = value;
        list.append(what, figure);
      }
    }
    return list;
  }

  return { make, shape, positions, layout, strips, number, facts };
})();
