// Leafs through the cases: filters, order, the address (#cases?model=...&state=...), side files.
(() => {
  const browser = document.querySelector("#case-browser");
  const form = browser.querySelector("form");
  const place = browser.querySelector("#case-place");
  const article = browser.querySelector("article");
  const more = browser.querySelector("button[name=more]");
  const left = browser.querySelector("#case-left");
  const held = { cases: [], questions: {}, pictures: {} };
  const waiting = left ? JSON.parse(left.dataset.left) : {};
  const filters = ["model", "corruption", "state"];
  const orders = {
    size: (a, b) => Math.abs(b.ras) - Math.abs(a.ras),
    low: (a, b) => a.ras - b.ras,
    high: (a, b) => b.ras - a.ras,
  };
  let shown = [];
  let at = 0;

  const words = (id) => id.replaceAll("_", " ");
  const letter = (index) => String.fromCharCode(65 + index);
  const signed = (x) => x === null ? "–" : (x > 0 ? "+" : "") + x.toFixed(3).replace("-", "−");

  function make(tag, values = {}, ...children) {
    const made = Object.assign(document.createElement(tag), values);
    made.append(...children);
    return made;
  }

  function add(batch) {
    held.cases.push(...batch.cases);
    Object.assign(held.questions, batch.questions);
    Object.assign(held.pictures, batch.pictures);
  }

  function offer(name, values) {
    for (const value of values) {
      form.elements[name].append(make("option", { value, textContent: words(value) }));
    }
  }

  function filter() {
    shown = held.cases.filter((one) =>
      filters.every((name) => !form.elements[name].value || one[name] === form.elements[name].value));
    shown.sort(orders[form.elements.order.value]);
    at = 0;
    show();
    say();
  }

  function show() {
    const one = shown[at];
    place.textContent = one ? `${at + 1} of ${shown.length}` : "no case fits these filters";
    browser.querySelector("button[name=previous]").disabled = at === 0;
    browser.querySelector("button[name=next]").disabled = at + 1 >= shown.length;
    article.replaceChildren(...(one ? parts(one) : []));
  }

  function parts(one) {
    const { question, options, answer } = held.questions[one.sample_id];
    return [
      make("h3", {}, `${one.model}, ${words(one.corruption)}, ${one.state} at severity ` +
        `${one.severity}: RAS ${signed(one.ras)}`),
      make("p", { className: "soft" }, `${words(one.class)} · misalignment ` +
        `${signed(one.misalignment_shift)}, entropy ${signed(one.uncertainty_shift)} · `,
        make("code", {}, one.sample_id)),
      make("p", {}, make("strong", {}, question)),
      make("ol", {}, ...options.map((text, index) => make("li",
        { className: index === answer ? "right" : "" },
        `${letter(index)}. ${text}${index === answer ? " ✓" : ""}`))),
      make("div", { className: "steps" }, ...one.steps.map((step) => stepOf(one, step, answer))),
    ];
  }

  function stepOf(one, step, answer) {
    const clean = step.severity === 0;
    const name = clean ? "clean" : `severity ${step.severity}`;
    const verdict = step.correct === null ? make("span", {}, `no score (${words(step.status)})`)
      : make("span", { className: step.correct ? "right" : "wrong" },
        step.correct ? "right" : step.is_tie ? "tie" : "wrong");
    const corruption = clean ? "clean" : one.corruption;
    return make("div", { className: step.severity === one.severity ? "step largest" : "step" },
      make("img", {
        src: held.pictures[`${one.image_id}/${corruption}/${step.severity}`],
        alt: clean ? "clean picture" : `${words(one.corruption)}, severity ${step.severity}`,
      }),
      make("p", {}, `${name}: `, verdict,
        ...(step.ras === null ? [] : [make("br"),
          make("span", { className: "soft" }, `RAS ${signed(step.ras)}`)])),
      make("div", { className: "bars" },
        ...(step.p ?? []).flatMap((p, index) => barOf(p, index, step.top1, answer))));
  }

  function barOf(p, index, top, answer) {
    const right = index === answer ? "right" : "";
    const bar = make("i", { className: right });
    bar.style.width = `${(100 * p).toFixed(1)}%`;
    return [
      make("b", { className: right }, letter(index) + (right && "✓")),
      make("span", {}, bar),
      make("b", {}, p.toFixed(2) + (index === top ? " ◂" : "")),
    ];
  }

  function wanted() {
    const corruption = form.elements.corruption.value;
    return Object.keys(waiting).filter((name) => !corruption || name === corruption);
  }

  function say() {
    if (!more) return;
    const count = wanted().reduce((sum, name) => sum + waiting[name], 0);
    left.textContent = count
      ? `${count} more of these corruptions' cases lie in the folder “cases” beside this page.`
      : "All cases are loaded.";
    more.hidden = count === 0;
  }

  // Scripts, since a page opened from a disk may not fetch; each calls benchcCases.
  window.benchcCases = add;
  function load(name) {
    return new Promise((done, failed) => document.head.append(make("script", {
      src: `cases/${encodeURIComponent(name)}.js`, onload: done,
      onerror: () => failed(new Error(`cases/${name}.js is not beside this page`)),
    })));
  }

  more?.addEventListener("click", async () => {
    try {
      for (const name of wanted()) {
        await load(name);
        delete waiting[name];
      }
      filter();
    } catch (error) {
      left.textContent = `${error.message}: copy the folder “cases” along with the page.`;
    }
  });

  function move(by) {
    const next = at + by;
    if (next < 0 || next >= shown.length) return;
    at = next;
    show();
  }

  browser.querySelector("button[name=previous]").addEventListener("click", () => move(-1));
  browser.querySelector("button[name=next]").addEventListener("click", () => move(1));
  browser.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(by);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    const chosen = [...filters, "order"].map((name) => [name, form.elements[name].value]);
    const said = new URLSearchParams(chosen.filter(([name, value]) =>
      value && !(name === "order" && value === "size")));
    history.replaceState(null, "", `#cases${said.size ? `?${said}` : ""}`);
    filter();
  });

  function follow() {
    const [section, asked] = location.hash.slice(1).split("?");
    if (section !== "cases" || asked === undefined) return;
    const values = new URLSearchParams(asked);
    for (const name of [...filters, "order"]) {
      const value = values.get(name) ?? (name === "order" ? "size" : "");
      form.elements[name].value = value;
      if (form.elements[name].selectedIndex < 0) form.elements[name].value = "";
    }
    filter();
    document.querySelector("#cases").scrollIntoView();
    article.focus({ preventScroll: true });
  }

  add(JSON.parse(document.querySelector("#case-data").textContent));
  const sorted = (name) => [...new Set(held.cases.map((one) => one[name]))].sort();
  offer("model", sorted("model"));
  offer("corruption", [...new Set([...sorted("corruption"), ...Object.keys(waiting)])].sort());
  browser.hidden = false;
  filter();
  follow();
  addEventListener("hashchange", follow);
})();
