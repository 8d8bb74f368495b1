(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const names = JSON.parse(document.getElementById("names").textContent);

  // Sort by a click on a header.
  const valueOf = (row, place, kind) => {
    const cell = row.cells[place];
    if (kind === "text") return cell.textContent.trim();
    const text = cell.dataset.v;
    return text === undefined || text === "" ? null : Number(text);
  };
  const sort = (table, header) => {
    const place = header.cellIndex;
    const kind = header.dataset.sort;
    const before = header.getAttribute("aria-sort");
    // Numbers start with the largest, except places.
    const first = kind === "number" && place > 0 ? "descending" : "ascending";
    const order = before ? (before === "ascending" ? "descending" : "ascending") : first;
    const sign = order === "ascending" ? 1 : -1;
    const collator = new Intl.Collator(undefined, { numeric: true });
    // The line where chance begins has its place in the order of choice only.
    const line = table.divide;
    if (line) line.remove();
    const rows = [...table.tBodies[0].rows].map((row, at) => ({ row, at, value: valueOf(row, place, kind) }));
    rows.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.at - b.at;
      return sign * (kind === "text" ? collator.compare(a.value, b.value) : a.value - b.value) || a.at - b.at;
    });
    table.tBodies[0].append(...rows.map((entry) => entry.row));
    if (line && place === 0 && order === "ascending") rows[Number(line.dataset.after)].row.before(line);
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", order);
  };
  all("table.sortable").forEach((table) => {
    table.divide = table.querySelector("tr.divide");
    all("thead th[data-sort]", table).forEach((header) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sort(table, header));
    });
  });

  // Search: rows whose name or kind has the words stay.
  all("input[data-filters]").forEach((input) => {
    const table = document.getElementById(input.dataset.filters);
    const rows = [...table.tBodies[0].rows].filter((row) => row !== table.divide);
    const textOf = (row) => [...row.cells].filter((cell) => !cell.classList.contains("n")).map((cell) => cell.textContent);
    const texts = new Map(rows.map((row) => [row, textOf(row).join(" ").toLocaleLowerCase()]));
    const output = input.parentElement.querySelector("output");
    const update = () => {
      const words = input.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const row of rows) {
        row.hidden = !words.every((word) => texts.get(row).includes(word));
        left += !row.hidden;
      }
      if (table.divide) table.divide.hidden = words.length > 0;
      output.textContent = words.length ? `${left} of ${rows.length}` : "";
    };
    input.addEventListener("input", update);
    input.parentElement.hidden = false;
    update();
  });

  // Highlight a column wherever it is, and say what is under the pointer.
  const tip = document.getElementById("tip");
  let lit = [];
  const clear = () => {
    lit.forEach((element) => element.classList.remove("lit"));
    lit = [];
    tip.hidden = true;
  };
  const tell = (element) => {
    if (element.dataset.says) {
      const [by, of, share] = element.dataset.says.split(",");
      return `${names[by]} explains ${share} of ${names[of]}`;
    }
    const name = element instanceof SVGElement && element.dataset.f ? names[element.dataset.f] : "";
    return [name, element.dataset.tip].filter(Boolean).join(": ");
  };
  const show = (element, x, y) => {
    clear();
    for (const column of (element.dataset.f || "").split(" ").filter(Boolean)) {
      for (const other of all(`[data-f="${column}"]`)) if (!lit.includes(other)) lit.push(other);
    }
    if (element.classList.contains("cell")) lit.push(element);
    lit.forEach((other) => other.classList.add("lit"));
    const text = element instanceof SVGElement ? tell(element) : "";
    if (!text) return;
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box.width - 6))}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(6, y - box.height - 10) : y + 18}px`;
  };
  const over = (event) => {
    const element = event.target instanceof Element && event.target.closest("[data-f], [data-tip]");
    if (element) show(element, event.clientX, event.clientY);
    else clear();
  };
  document.addEventListener("pointerover", over);
  document.addEventListener("pointerdown", over);
  for (const moved of ["wheel", "touchmove"]) document.addEventListener(moved, clear, { passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && clear());

  // Copy the names of the chosen columns, one a line.
  const copy = document.getElementById("copy");
  if (copy) {
    const copied = document.getElementById("copied");
    const text = (names.list || []).join("\n");
    const byHand = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done ? Promise.resolve() : Promise.reject();
    };
    const put = () => (navigator.clipboard ? navigator.clipboard.writeText(text).catch(byHand) : byHand());
    copy.addEventListener("click", () => {
      put().then(
        () => (copied.textContent = `${names.list.length} copied`),
        () => (copied.textContent = "The browser does not allow it")
      );
    });
    copy.hidden = false;
  }

  // Enlarge a picture.
  const large = document.getElementById("large");
  all(".picture").forEach((picture) => {
    const drawn = picture.querySelector(".drawn");
    const caption = picture.querySelector("figcaption");
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-label", `Enlarge: ${caption.textContent.trim()}`);
    button.append(...drawn.childNodes);
    drawn.replaceWith(button);
    button.addEventListener("click", () => {
      const title = document.createElement("p");
      title.append(...[...caption.childNodes].map((node) => node.cloneNode(true)));
      large.querySelector("div").replaceChildren(button.querySelector("svg").cloneNode(true), title);
      clear();
      large.showModal();
    });
  });
  large.querySelector("button").addEventListener("click", () => large.close());
  large.addEventListener("click", (event) => event.target === large && large.close());
  all(".script-only").forEach((element) => (element.hidden = false));

  // Dark or light: as the system says, until the reader chooses.
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  label();
  button.hidden = false;

  // Inside a notebook the page has no address of its own.
  if (location.protocol === "about:") {
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      document.querySelector(link.getAttribute("href")).scrollIntoView();
    });
  }
})();
