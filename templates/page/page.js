// What the page does on a click. Whatever it shows is put there as text, never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const SVG = "http://www.w3.org/2000/svg";
  const all = (selector, inside = document) => Array.from(inside.querySelectorAll(selector));
  const made = (name, text, classes) => {
    const one = document.createElement(name);
    if (text) one.textContent = text;
    if (classes) one.className = classes;
    return one;
  };
  const button = (text, act) => {
    const one = made("button", text, "go");
    one.type = "button";
    one.addEventListener("click", act);
    return one;
  };
  // As svg.fitted(): a label in a room of so many pixels.
  const fitted = (text, room, sign) => {
    const most = Math.max(1, Math.floor(room / sign));
    return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
  };
  const see = (what, block = "center") => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    what.scrollIntoView({ block, inline: "center", behavior: calm ? "instant" : "smooth" });
  };
  const sites = data.sites.map((own, number) => site(own, number));

  // ---- sites

  function site(own, number) {
    const section = document.querySelector(`[data-site="${number}"]`);
    const cells = all(".cell", section);
    const found = data.findings.map((one, index) => ({ ...one, index, p: one.p.filter((p) => p.i === number) }));
    const ofClass = (k) => found.filter((one) => one.p.some((p) => (p.c || []).includes(k)));
    const firsts = new Map();
    for (const [name, [k]] of Object.entries(own.racks)) if (!firsts.has(k)) firsts.set(k, name);

    const flags = own.classes.map((_, k) => flag(ofClass(k)));
    for (const cell of cells) mark(cell, flags[cell.dataset.k]);
    colour("power");
    for (const one of all("[data-measure]", section)) {
      one.addEventListener("click", () => {
        for (const other of all("[data-measure]", section)) other.setAttribute("aria-pressed", other === one);
        for (const legend of all("[data-legend]", section)) legend.hidden = legend.dataset.legend !== one.dataset.measure;
        colour(one.dataset.measure);
      });
    }
    function colour(measure) {
      for (const cell of cells) {
        const [step, words] = own.floor[measure][cell.dataset.k];
        cell.querySelector(".rack").setAttribute("class", `rack ${step}`);
        const title = cell.querySelector("title");
        if (title) title.textContent = `${cell.dataset.r}: ${measure} ${words}`;
      }
    }
    for (const cell of cells) {
      cell.addEventListener("click", () => {
        forget();
        rack(cell.dataset.r || firsts.get(Number(cell.dataset.k)));
        see(section.querySelector('[data-part=rack]'), "nearest");
      });
    }

    function rack(name) {
      const [k, position, labels] = own.racks[name];
      const shape = own.classes[k];
      for (const cell of cells) {
        cell.classList.toggle("shown", cell.dataset.r === name);
        if (cell.dataset.r === name) cell.parentNode.append(cell); // its frame lies over its neighbours
      }
      const place = `${shape.where}, place ${position}`;
      const full = shape.n === 1 ? name : `${name} (${shape.n} alike: ${shape.a})`;
      const at = section.querySelector(".elevation");
      at.replaceChildren();
      if (shape.d === null) {
        at.append(made("p", `This rack is not drawn here, for the page would be too large: rackwright draw racks --name ${name}`, "note"));
      } else {
        at.append(document.querySelector(`template[data-elevation="${shape.d}"]`).content.cloneNode(true));
        const put = (key, text) => {
          for (const one of all(`[data-t="${key}"]`, at)) one.textContent = text;
        };
        put("name", fitted(full, 660, 7.8));
        put("place", place);
        shape.s.forEach((source, n) => put(`s${n}`, fitted(`from ${source}`, 280, 6.1)));
        shape.l.forEach((device, n) => {
          const label = at.querySelector(`[data-t="d${device}"]`);
          if (label) label.textContent = fitted(labels[n], label.classList.contains("sub") ? 214 : 136, 6.1);
          for (const title of all(`[data-t="t${device}"]`, at)) title.textContent = title.textContent.replace(/: .*$/, () => `: ${labels[n]}`);
        });
        const svg = at.querySelector("svg > title");
        svg.textContent = `elevation of rack ${name}`;
      }
      const facts = section.querySelector(".facts");
      facts.replaceChildren(made("strong", name), made("p", place, "note"));
      const list = made("dl");
      for (const [what, value] of shape.facts) list.append(made("dt", what), made("dd", value));
      facts.append(list);
      const here = ofClass(k);
      facts.append(made("h4", here.length ? "Found here" : "Nothing was found here"));
      const findings = made("ul");
      for (const one of here) {
        const item = made("li", "", one.s);
        item.append(button(one.t, () => finding(one.index)));
        findings.append(item);
      }
      facts.append(findings);
    }
    const first = Object.keys(own.racks)[0];
    if (first !== undefined) rack(first);

    power(own, section, found);
    all("[data-fabric]", section).forEach((part, n) => fabric(own.fabrics[n], part));
    return { own, section, cells, firsts, rack };
  }

  // The gravest of what was found, or nothing.
  function flag(found) {
    if (found.some((one) => one.s === "blocks" || one.s === "crash")) return "flag";
    return found.some((one) => one.s === "unknown" || one.s === "warns") ? "flag unknown" : "";
  }
  function mark(group, classes) {
    const shape = group.querySelector("rect");
    if (!classes || !shape) return;
    const x = Number(shape.getAttribute("x")) + Number(shape.getAttribute("width"));
    const y = Number(shape.getAttribute("y"));
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", `M${x - 11} ${y + 1}h10v10z`);
    path.setAttribute("class", classes);
    group.append(path);
  }

  // ---- power

  function power(own, section, found) {
    const boxes = new Map(all(".source", section).map((one) => [one.dataset.s, one]));
    const rows = new Map(all("[data-source]", section).map((one) => [one.dataset.source, one]));
    const choice = section.querySelector("[data-lose]");
    const state = section.querySelector("[data-state]");
    const full = 122;
    const normal = new Map();
    for (const [key, one] of boxes) {
      const [bar, load] = [one.querySelector("[data-bar]"), one.querySelector("[data-load]")];
      normal.set(key, { bar, load, width: bar.getAttribute("width"), fill: bar.getAttribute("class"), text: load.textContent, bad: load.getAttribute("class") });
      const here = found.filter((f) => f.p.some((p) => own.power.boxes[p.o] === key));
      mark(one, flag(here));
      const at = rows.get(key).querySelector("[data-found]");
      for (const f of here) at.append(button(f.t.split(":")[0], () => finding(f.index)), " ");
    }
    function lose(key) {
      const after = own.power.states[key] || {};
      if (choice) choice.value = key;
      for (const [name, was] of normal) {
        const change = after[name];
        const box = boxes.get(name);
        const [words, share, gone] = change || [was.text, null, ""];
        was.load.textContent = words;
        was.bar.setAttribute("width", change ? full * Math.min(1, share || 0) : was.width);
        was.bar.setAttribute("class", change ? (gone === "over" ? "over" : "used") : was.fill);
        const bad = change ? (gone === "over" || words === "lost" || words === "dead" ? "bad" : "") : was.bad;
        if (bad) was.load.setAttribute("class", bad);
        else was.load.removeAttribute("class");
        box.classList.toggle("lost", name === key);
        box.classList.toggle("dead", gone === "dead");
        const row = rows.get(name);
        row.querySelector("[data-after]").textContent = key ? words : "";
        row.className = [change ? "changed" : "", gone].join(" ").trim();
      }
      const title = key ? `after the loss of ${key}` : "nothing lost";
      if (state) state.textContent = `${own.name} power, ${title}`;
      const head = section.querySelector("[data-after-head]");
      if (head) head.textContent = key ? `after losing ${key}` : "after a loss";
    }
    let lost = "";
    for (const [key, one] of boxes) {
      one.addEventListener("click", () => {
        lost = lost === key ? "" : key;
        lose(lost);
      });
    }
    if (choice) choice.addEventListener("change", () => lose((lost = choice.value)));
  }

  // ---- fabrics

  function fabric(own, part) {
    const svg = part.querySelector("svg.drawing");
    const told = part.querySelector(".told");
    const ways = all(".way", svg).map((one) => ({ one, ends: one.dataset.w.split(" "), rail: one.dataset.q }));
    const ports = new Map(all(".port", svg).map((one) => [one.dataset.e, one]));
    const title = (one) => one.querySelector("title").textContent;
    const buttons = all("[data-rail]", part);
    let chosen = null;

    function follow(key, wanted, words) {
      const off = key === chosen;
      chosen = off ? null : key;
      svg.classList.toggle("following", !off && ways.length > 0);
      for (const port of ports.values()) port.classList.remove("on");
      for (const way of ways) {
        const on = !off && wanted(way);
        way.one.classList.toggle("on", on);
        if (on) for (const end of way.ends) ports.get(end).classList.add("on");
      }
      for (const one of buttons) one.setAttribute("aria-pressed", !off && key === `rail ${one.dataset.rail}`);
      told.textContent = off ? "" : words();
    }
    const listed = (wanted, head) => () => {
      const titles = ways.filter(wanted).map((way) => title(way.one));
      const more = titles.length - 12;
      return `${head}: ${titles.slice(0, 12).join("; ")}${more > 0 ? ` and ${more} more` : ""}`;
    };

    if (own.runs) return units(own, part, svg, told, ports);
    for (const [key, port] of ports) {
      const touches = (way) => way.ends.includes(key);
      port.addEventListener("click", () => follow(key, touches, listed(touches, title(port))));
    }
    for (const one of buttons) {
      const rail = String(Number(one.dataset.rail) - 1);
      const of = (way) => way.rail === rail;
      one.addEventListener("click", () => follow(`rail ${one.dataset.rail}`, of, listed(of, `rail ${one.dataset.rail}`)));
    }
    // A cable is thin: the nearest one within a few pixels is meant.
    const lines = ways.map((way) => way.one.querySelector("path").getAttribute("d").slice(1).split(/[ L]/).map(Number));
    svg.addEventListener("click", (event) => {
      if (event.target.closest(".port")) return;
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      let [best, least] = [-1, 7];
      lines.forEach(([ax, ay, bx, by], n) => {
        const [dx, dy] = [bx - ax, by - ay];
        const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
        const far = Math.hypot(ax + t * dx - x, ay + t * dy - y);
        if (far < least) [best, least] = [n, far];
      });
      if (best >= 0) follow(`way ${best}`, (way) => way === ways[best], () => title(ways[best].one));
    });
    return undefined;
  }

  // A fabric by unit: its rails in the unit that is drawn, and in all units like it.
  function units(own, part, svg, told, ports) {
    const shown = own.shapes.map((numbers) => numbers[0]);
    const leaf = (n) => own.leaf[2] ? own.leaf[2][n] : `${own.leaf[0]}-${String(n + 1).padStart(own.leaf[1], "0")}`;
    const some = (names) => (names.length > 12 ? `${names.slice(0, 12).join(", ")} and ${names.length - 12} more` : names.join(", "));
    let rail = null;
    function tell() {
      for (const port of ports.values()) port.classList.remove("on");
      if (!rail) return;
      const [shape, number] = rail;
      ports.get(`u${shape}-${number}`).classList.add("on");
      const [hosts, leaves, first, each, span] = own.runs[shown[shape]];
      const alike = own.shapes[shape].map((run) => own.runs[run]);
      const cables = alike.reduce((sum, run) => sum + run[0] * run[3], 0);
      const own_ = leaves[number];
      told.textContent = `Rail ${number + 1} of ${span}: ${hosts * each} cables to ${leaf(own_)}, ports ${first} to ${first + hosts * each - 1}. ` +
        `In all ${alike.length} units like it: ${cables.toLocaleString("en")} cables to ${some(alike.map((run) => leaf(run[1][number])))}.`;
    }
    for (const port of ports.values()) {
      port.addEventListener("click", () => {
        const [shape, number] = port.dataset.e.slice(1).split("-").map(Number);
        rail = rail && rail[0] === shape && rail[1] === number ? null : [shape, number];
        told.textContent = "";
        tell();
      });
    }
    for (const choice of all("[data-shape]", part)) {
      choice.addEventListener("change", () => {
        const shape = Number(choice.dataset.shape);
        shown[shape] = Number(choice.value);
        const [, leaves, , , span] = own.runs[shown[shape]];
        leaves.forEach((n, number) => {
          const label = svg.querySelector(`[data-t="u${shape}-${number}"]`);
          if (label) label.textContent = `leaf ${n + 1}`;
        });
        const head = svg.querySelector(`[data-t="u${shape}"]`);
        head.textContent = head.textContent.replace(/drawn: .*$/, () => `drawn: ${span}`);
        tell();
      });
    }
  }

  // ---- from a finding to its place and back

  function forget() {
    for (const one of all(".chosen")) one.classList.remove("chosen");
  }
  function finding(index) {
    forget();
    const one = document.getElementById(`f${index}`);
    if (!one) return;
    const fold = one.closest("details");
    if (fold) fold.open = true;
    one.classList.add("chosen");
    see(one);
    one.focus({ preventScroll: true });
  }
  function go(place) {
    const { own, section, cells, firsts, rack } = sites[place.i];
    forget();
    let target = section;
    const choose = (one) => {
      if (!one) return;
      one.classList.add("chosen");
      if (one.matches(".cell")) one.parentNode.append(one);
      target = one;
    };
    if (place.f) choose(all("[data-fabric]", section)[own.fabrics.findIndex((one) => one.name === place.f)]);
    if (place.w) all(".stage", section).filter((one) => one.dataset.c === place.w).reverse().forEach(choose);
    if (place.o) {
      const key = own.power.boxes[place.o];
      all("[data-source]", section).filter((one) => one.dataset.source === key).forEach(choose);
      all(".source", section).filter((one) => one.dataset.s === key).forEach(choose);
    }
    if (place.c.length) {
      cells.filter((one) => place.c.includes(Number(one.dataset.k))).reverse().forEach(choose);
      rack(firsts.get(place.c[0]));
    }
    see(target, target === section ? "start" : "center");
  }
  document.addEventListener("click", (event) => {
    const one = event.target.closest("[data-i]");
    if (!one) return;
    const { i, c, o, w, f } = one.dataset;
    go({ i: Number(i), c: c ? c.split(" ").map(Number) : [], o, w, f });
  });

  // ---- the bar

  const theme = document.getElementById("theme");
  const themes = ["auto", "light", "dark"];
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(theme.textContent.split(" ")[1]) + 1) % 3];
    root.classList.remove(...themes);
    if (next !== "auto") root.classList.add(next);
    theme.textContent = `Colours: ${next}`;
  });
  const isIn = (label, name) => {
    const [first, last] = label.split(" … ");
    if (first === name || !last) return first === name;
    const parts = [first, last, name].map((one) => /^(.*?)(\d+)$/.exec(one));
    if (parts.some((one) => !one || one[1] !== parts[0][1])) return false;
    return Number(parts[0][2]) <= Number(parts[2][2]) && Number(parts[2][2]) <= Number(parts[1][2]);
  };
  document.getElementById("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = event.target.elements.name;
    const name = field.value.trim();
    field.setCustomValidity("");
    for (const one of sites) {
      const rack = Object.hasOwn(one.own.racks, name) ? name : Object.keys(one.own.racks).find((key) => one.own.racks[key][2].some((label) => isIn(label, name)));
      if (rack) {
        forget();
        one.rack(rack);
        const cell = one.cells.find((each) => each.dataset.r === rack);
        if (cell) cell.classList.add("chosen");
        return see(one.section.querySelector('[data-part=rack]'), "start");
      }
      if (Object.hasOwn(one.own.power.boxes, name)) return go({ i: sites.indexOf(one), c: [], o: name });
    }
    field.setCustomValidity(`There is no rack, host or power source '${name}'.`);
    return field.reportValidity();
  });
  document.getElementById("find").addEventListener("input", (event) => event.target.setCustomValidity(""));
  document.addEventListener("keydown", (event) => {
    const one = event.target.closest("svg [role=button]");
    if (!one || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  });
  addEventListener("beforeprint", () => {
    for (const one of all("#findings details")) one.open = true;
  });
})();
