"use strict";
// Follows a run: numbers as they come, and the finished page in the end.
(() => {
  const [LEFT, RIGHT, TOP, FLOOR] = [66, 546, 30, 274];
  const find = (id) => document.getElementById(id);
  const number = (value, digits) =>
    value.toLocaleString("en-US", { maximumSignificantDigits: Math.max(digits, 1) });
  const time = (us) =>
    us >= 1e6 ? `${number(us / 1e6, 3)} s` : us >= 1e3 ? `${number(us / 1e3, 3)} ms` : `${number(us, 3)} µs`;
  const rate = (iops) => number(iops, 3);
  const parts = new Map();
  let current = null;

  // The rate from one event to the next with more operations: a stall is a low rate of its length.
  const moments = (points) => {
    let before = points[0];
    return points.flatMap((point) => {
      const [span, done] = [point.elapsed_s - before.elapsed_s, point.operations - before.operations];
      if (span <= 0 || done === 0) return [];
      before = point;
      return done > 0 ? [{ elapsed_s: point.elapsed_s, iops: done / span }] : [];
    });
  };

  const draw = (svg, points, lines, name) => {
    const known = points.filter((point) => point[lines[0]] !== null);
    svg.replaceChildren();
    if (known.length < 2) return;
    const add = (kind, attributes, text) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      if (text) element.textContent = text;
      svg.append(element);
    };
    const highest = Math.max(...known.flatMap((point) => lines.map((of) => point[of] ?? 0))) * 1.1;
    const [first, last] = [known[0].elapsed_s, known.at(-1).elapsed_s];
    const x = (at) => LEFT + ((at - first) / Math.max(last - first, 1e-9)) * (RIGHT - LEFT);
    const y = (value) => FLOOR - (value / highest) * (FLOOR - TOP);
    for (const share of [0, 0.5, 1]) {
      add("path", { class: "grid", d: `M${LEFT} ${y(highest * share)}H${RIGHT}` });
      add("text", { class: "y", x: LEFT - 8, y: y(highest * share) + 4 }, name(highest * share));
    }
    add("text", { x: LEFT, y: FLOOR + 18 }, `${number(first, 3)} s`);
    add("text", { class: "y", x: RIGHT, y: FLOOR + 18 }, `${number(last, 3)} s`);
    lines.forEach((of, number) => {
      const shown = known.filter((point) => point[of] !== null);
      const line = shown.map((point) => `${x(point.elapsed_s)} ${y(point[of])}`).join("L");
      const dashes = number ? "6 3" : "none";
      if (line) add("path", { class: `line s${number}`, "stroke-dasharray": dashes, d: `M${line}` });
    });
  };

  const row = (part) => {
    const cells = [part.iops, part.mean_us, part.error, part.p99_us];
    const shown = [rate, time, (error) => `${number(error * 100, 2)} %`, time];
    part.cells.forEach((cell, at) => {
      cell.textContent = cells[at] === null ? "" : shown[at](cells[at]);
    });
  };

  const seen = (glimpse) => {
    let part = parts.get(glimpse.title);
    if (!part) {
      const line = document.createElement("tr");
      const name = document.createElement("th");
      name.scope = "row";
      name.textContent = glimpse.title;
      line.append(name);
      const cells = ["IOPS", "mean latency", "± 95 %", "p99"].map((label) => {
        const cell = document.createElement("td");
        cell.className = "n";
        cell.dataset.l = label;
        line.append(cell);
        return cell;
      });
      find("rows").append(line);
      part = { cells, points: [] };
      parts.set(glimpse.title, part);
    }
    const { iops, mean_us, error, p99_us, left_s } = glimpse;
    Object.assign(part, { iops, mean_us, error, p99_us });
    // Of two trials alike, the second begins anew.
    if (part.points.at(-1)?.operations > glimpse.operations) part.points = [];
    part.points.push(glimpse);
    if (part.points.length > 600) part.points.splice(0, part.points.length - 600);
    row(part);
    current = part;
    const left = left_s === null ? "" : `, at most ${number(left_s, 2)} s left`;
    find("when").textContent = `${number(glimpse.elapsed_s, 3)} s${left}`;
    find("lead").textContent = glimpse.title;
    find("done").value = glimpse.done;
  };

  let is_due = false;
  let is_over = false;
  const events = new EventSource("events");
  events.addEventListener("message", (event) => {
    seen(JSON.parse(event.data));
    if (is_due) return;
    is_due = true;
    requestAnimationFrame(() => {
      is_due = false;
      // The finished page has come before this frame.
      if (is_over) return;
      draw(find("iops"), moments(current.points), ["iops"], rate);
      draw(find("latency"), current.points, ["mean_us", "p99_us"], time);
    });
  });
  events.addEventListener("end", (event) => {
    events.close();
    is_over = true;
    if (!event.data) {
      find("lead").textContent = "The run ended without results. See the terminal";
      return;
    }
    document.open();
    document.write(event.data);
    document.close();
  });
  events.addEventListener("error", () => {
    find("when").textContent = "the program that measures does not answer";
  });
})();
