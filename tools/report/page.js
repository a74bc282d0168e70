// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The page: its words and tables, its buttons and keys, and what its parts say to each other.
// Invariant: text of the trace gets into the page as text, never as HTML.

const KERNEL_COLOURS = ["#4e79a7", "#e07b1a", "#4a9a45", "#a3609b", "#2f9c95", "#b8942a", "#8c6239", "#d9534f", "#6a6fc4", "#5b8c2a", "#c2558a", "#3d7ea6"];
const STATE_COLOURS = {
	light: { fetching: "#8a6d00", runtime: "#454b54", callback: "#7a4fa3", message: "#e79aa3", program: "#9ad3de", task: "#d3d8de", rest: "#eceef1", missing: "#f6ecd6" },
	dark: { fetching: "#cfae2f", runtime: "#aab2bd", callback: "#b892dd", message: "#8a3d48", program: "#2b6b77", task: "#3b424c", rest: "#23272d", missing: "#37301f" },
};
const CHANGE_COLOURS = { checkpoint: "#7d3fc4", restore: "#c43f9e", resize: "#c4563f", use: "#c49a3f", join: "#3f9ec4", leave: "#5f6b78", restart: "#c43f9e", mark: "#2f7d4f", iteration: "#5f6b78" };
const GAP_COLOUR = "#d9534f";
const PIECE_STATES = { fetching: "fetching", runtime: "runtime", callback: "callback", program: "program", begin: "program", datum: "program", finish: "rest", unknown: "rest" };

function element(name, attributes, ...children) {
	const node = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		node.setAttribute(key, value);
	node.append(...children);
	return node;
}

function byId(id) {
	return document.getElementById(id);
}

// seconds: a length of time in the unit that fits it.
function seconds(ns, digits = 4) {
	const [unit, scale] = Math.abs(ns) >= 1e9 ? ["s", 1e9] : Math.abs(ns) >= 1e6 ? ["ms", 1e6] : Math.abs(ns) >= 1e3 ? ["µs", 1e3] : ["ns", 1];
	return `${Number((ns / scale).toPrecision(digits))} ${unit}`;
}

function amount(value, what) {
	if (what === "messages")
		return `${value} messages`;
	const power = value > 0 ? Math.max(0, Math.min(4, Math.floor(Math.log10(value) / 3))) : 0;
	return `${Number((value / 1000 ** power).toPrecision(4))} ${["B", "kB", "MB", "GB", "TB"][power]}${what === "bandwidth" ? "/s" : ""}`;
}

// timeFormat: how to write times of an axis, with as many digits as tell two ticks apart.
function timeFormat(from, to, ticks) {
	const step = (to - from) / ticks, largest = Math.max(Math.abs(from), Math.abs(to));
	const [unit, scale] = largest >= 1 ? ["s", 1] : largest >= 1e-3 ? ["ms", 1e3] : ["µs", 1e6];
	const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step * scale)) + 1));
	return tick => `${Number((tick * scale).toFixed(digits))} ${unit}`;
}

class Colours {
	constructor() { this.cache = new Map(); }
	dark() { return document.documentElement.dataset.theme === "dark"; }

	theme() {
		const style = getComputedStyle(document.documentElement), found = { dark: this.dark() };
		for (const name of ["back", "panel", "text", "dim", "line", "accent", "path"])
			found[name] = style.getPropertyValue("--" + name).trim();
		return found;
	}

	change(what) { return CHANGE_COLOURS[what] || CHANGE_COLOURS.resize; }

	kernel(i) {
		return i < KERNEL_COLOURS.length ? KERNEL_COLOURS[i] : d3.hsl(i * 137.5 % 360, 0.45, 0.5).toString();
	}

	state(name) { return STATE_COLOURS[this.dark() ? "dark" : "light"][name]; }
	piece(piece) {
		return piece.kind === "kernel" ? this.kernel(Math.max(0, this.names.indexOf(piece.detail))) : this.state(PIECE_STATES[piece.kind] || "message");
	}

	rgb(colour) {
		if (!this.cache.has(colour)) {
			const c = d3.rgb(colour);
			this.cache.set(colour, [c.r, c.g, c.b]);
		}
		return this.cache.get(colour);
	}
}

class Page {
	constructor(meta) {
		this.meta = meta;
		this.colours = new Colours();
		this.save = (svg, name, kind) => savePlot(svg, this.fileName(name), kind, this.caption());
		this.gantt = new Gantt(byId("gantt"), this.colours, { selected: i => this.showTask(i), moved: () => this.showStatus() });
		this.inputs = new Inputs(this);
		this.comparison = new Comparison(meta, this);
		this.matches = { list: [], at: -1 };
	}

	fileName(name) { return `${this.run.meta.name}-${name}`; }
	caption() { return [this.meta.title, this.meta.memo, this.run.meta.machine_line].filter(Boolean); }

	async start(number) {
		const about = this.meta.runs[number], holder = byId("data-" + number);
		this.run = new RunData(about, await inflate(holder.textContent.trim()));
		this.colours.names = this.run.kernels.map(k => k.name);
		byId("title").textContent = this.meta.title;
		byId("subtitle").textContent = [this.meta.memo, about.machine_line].filter(Boolean).join(" · ");
		byId("cut").hidden = !about.state && !about.missing;
		byId("cut").textContent = (about.state ? `This trace is not whole: ${about.state}. What is drawn is true up to there. ` : "")
			+ (about.missing ? `Not all is drawn: ${about.missing}.` : "");
		byId("has-changes").hidden = !about.changes.length;
		byId("has-marks").hidden = !about.marks.length;
		byId("has-gaps").hidden = !about.gaps.length;
		this.explain();
		this.gantt.load(this.run);
		this.legend();
		this.showTask(-1);
		this.kernelTable();
		this.modelTable();
		this.runtimeTable();
		this.environment();
		this.plots();
	}

	plots() {
		this.comparison.draw();
		statesPlot(byId("states-plot"), this.run, this);
		ranksPlot(byId("ranks-plot"), this.run, this);
		this.matrix = new Matrix(byId("matrix-plot"), this.run, this);
		this.matrix.draw();
		kernelsPlot(byId("kernels-plot"), this.run, this);
		this.lists = new Lists(byId("lists-plot"), this.run, this);
		this.linkPlot = new Links(byId("links-plot"), this.run, this);
	}

	tip(box, text) {
		let line = box.querySelector(".status");
		if (!line)
			box.append(line = element("p", { class: "status" }));
		line.textContent = text;
	}

	explain() {
		const box = byId("explanation"), found = this.run.meta.explanation, total = found.makespan_seconds || 1;
		box.replaceChildren();
		box.append(element("p", {}, `${found.makespan_seconds.toFixed(6)} s in a ${found.world} run of ${found.ranks} ranks and ${found.workers} workers: `
			+ `${found.tasks} tasks, ${found.messages} messages.`));
		const rows = found.path.map(part => [part.title, part.seconds, part.pieces]);
		box.append(element("h3", {}, "Where the time went, along the critical path"), shareTable(rows, total));
		const list = (title, lines) => box.append(element("h3", {}, title), element("ul", {}, ...lines.map(line => element("li", {}, line))));
		if (found.changed.length) list("What changed the run, on the rank where it took longest", found.changed);
		if (found.alone) list(...found.alone);
		list("What is unusual", found.unusual.length ? found.unusual : ["nothing"]);
		list("What would help most", found.changes.map(c => c.text));
		if (found.certainty.length) list("How sure this is", found.certainty);
	}

	legend() {
		const box = byId("legend");
		box.replaceChildren();
		this.run.kernels.forEach((kernel, i) => {
			const button = element("button", { type: "button", "aria-pressed": "true", title: "show or hide " + kernel.name }, element("i"), kernel.name);
			button.firstChild.style.background = this.colours.kernel(i);
			button.addEventListener("click", () => {
				this.gantt.hidden[i] ^= 1;
				button.setAttribute("aria-pressed", String(!this.gantt.hidden[i]));
				this.gantt.changed();
			});
			box.append(button);
		});
	}

	// The task that is selected.
	showTask(i) {
		const box = byId("task"), run = this.run;
		box.replaceChildren();
		if (i < 0)
			return;
		const lane = run.lane[i], at = ns => isNaN(ns) ? "not in the trace" : seconds(ns, 9), rows = [];
		const where = `rank ${run.laneRank[lane]}, ${run.laneName(lane)}`;
		if (run.count[i] > 1) {
			rows.push(["tasks", `${run.count[i]}, most of their time in ${run.kernels[run.kernel[i]].name}`], ["worker", where],
				["from, to", `${at(run.start[i])}, ${at(run.end[i])}`], ["in kernels", seconds(run.busy[i])],
				["", "These tasks are drawn as one block, because the page would be too large with each of them. A larger --size, or a trace of a window, has them."]);
		} else {
			const delay = run.start[i] - run.ready[i], related = this.gantt.related;
			rows.push(["task", `${run.kernels[run.kernel[i]].name} ${run.number[i]}${run.onPath[i] ? ", on the critical path" : ""}`], ["worker", where],
				["submitted", at(run.submit[i])], ["ready", `${at(run.ready[i])}, after ${["the program", "a task", "a message"][run.cause[i]] || "the program"}`],
				["started", `${at(run.start[i])}${isNaN(delay) ? "" : `, ${seconds(delay)} after it was ready`}`],
				[run.unfinished[i] ? "did not end" : "ended", run.unfinished[i] ? "until the end of the trace" : at(run.end[i])],
				["length", seconds(run.end[i] - run.start[i])]);
			if (run.fetch[i])
				rows.push(["data came", seconds(run.fetch[i])]);
			const { expected, transfer } = run.details, hopes = [];
			if (expected[i]) hopes.push(`${seconds(expected[i])} in its kernel`);
			if (transfer[i]) hopes.push(`${seconds(transfer[i] - 1)} of copies of its data`);
			if (hopes.length)
				rows.push(["the policy expected", hopes.join(", ")]);
			if (related)
				rows.push(["ancestors", related.ancestors], ["descendants", related.descendants]);
			rows.push(["waited for", this.links(run.causesOf(i))], ["was waited for by", this.links(run.effectsOf(i))]);
		}
		box.append(element("table", {}, ...rows.map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value instanceof Node ? value : String(value))))));
	}

	// links: buttons that select tasks, and words for messages.
	links(nodes) {
		const run = this.run, box = element("span"), shown = [...nodes].slice(0, 12);
		for (const node of shown) {
			if (node >= run.blocks) {
				const j = node - run.blocks;
				box.append(`message of ${amount(run.mBytes[j], "bytes")} from rank ${run.mSender[j]} to ${run.mReceiver[j]} (${seconds(run.mCame[j] - run.mSend[j])}) `);
			} else {
				const link = element("button", { type: "button" }, `${run.count[node] > 1 ? run.count[node] + " tasks" : run.kernels[run.kernel[node]].name + " " + run.number[node]}`);
				link.addEventListener("click", () => this.gantt.select(node));
				box.append(link, " ");
			}
		}
		if (nodes.length > shown.length)
			box.append(`and ${nodes.length - shown.length} more`);
		return nodes.length ? box : "nothing that was recorded";
	}

	showStatus() {
		const v = this.gantt.view, d = this.gantt.drawn;
		let text = `${seconds(v.t0, 6)} to ${seconds(v.t1, 6)}, ${Math.max(1, Math.round(v.y1 - v.y0))} of ${this.run.lanes} workers`;
		if (this.gantt.show.messages)
			text += d.messages > d.arrows ? `; the largest ${MOST_ARROWS} of ${d.messages} messages here: zoom in for the others` : `; ${d.messages} messages`;
		if (this.matches.list.length || byId("search").value)
			text += `; ${this.matches.list.length} matches${this.matches.at >= 0 ? `, at number ${this.matches.at + 1}` : ""}`;
		byId("gantt-status").textContent = text;
	}

	search(words) {
		const found = words.trim() ? this.run.find(words) : { match: null, list: [] };
		this.gantt.match = found.match;
		this.matches = { list: found.list, at: -1 };
		this.gantt.changed();
	}

	goto(step) {
		const m = this.matches;
		if (!m.list.length)
			return;
		m.at = m.at < 0 ? (step > 0 ? 0 : m.list.length - 1) : (m.at + step + m.list.length) % m.list.length;
		this.gantt.select(m.list[m.at]);
	}

	zoomTime(t0, t1) {
		this.gantt.place(t0, t1, this.gantt.view.y0, this.gantt.view.y1);
		byId("what").scrollIntoView();
	}

	zoomRank(rank) {
		const first = this.run.rankLane.get(rank);
		if (first === undefined)
			return;
		this.gantt.place(this.gantt.view.t0, this.gantt.view.t1, first, first + this.run.rankLanes.get(rank));
		byId("what").scrollIntoView();
	}

	kernelTable() {
		const total = this.run.kernels.reduce((sum, k) => sum + k.ns, 0) || 1;
		const head = ["kernel", "started", "ended", "share", "sum", "mean", "median", "95 %", "least", "most", "ready to started"];
		const number = text => element("td", { class: "number" }, text);
		const rows = this.run.kernels.map(k => element("tr", {}, element("td", {}, k.name), number(k.started), number(k.ended), number((100 * k.ns / total).toFixed(1) + " %"),
			...[k.ns, k.ended ? k.ns / k.ended : 0, k.median_ns, k.p95_ns, k.min_ns, k.max_ns, k.delay_ns].map(ns => number(seconds(ns)))));
		byId("kernels-table").replaceChildren(element("table", {}, element("tr", {}, ...head.map((h, i) => element("th", i ? { class: "number" } : {}, h))), ...rows));
	}

	modelTable() {
		const number = text => element("td", { class: "number" }, text), percent = share => (100 * share).toFixed(1) + " %";
		const head = ["kernel", "model", "worker", "tasks", "mean", "expected", "mean / expected", "half within", "90 % within"];
		const rows = this.run.meta.explanation.models.map(m => element("tr", {}, ...[m.name, m.model, m.unit].map(text => element("td", {}, text)), number(m.tasks),
			number(seconds(m.seconds * 1e9 / m.tasks)), number(seconds(m.expected_seconds * 1e9 / m.tasks)), number((m.seconds / m.expected_seconds).toFixed(3)),
			number(percent(m.median_error)), number(percent(m.p90_error))));
		byId("models-table").replaceChildren(rows.length ? element("table", {}, element("tr", {}, ...head.map((h, i) => element("th", i > 2 ? { class: "number" } : {}, h))), ...rows)
			: element("p", {}, "The scheduling policy expected no times: it asks no models, or kernels have none, or these were not measured yet."));
	}

	runtimeTable() {
		const rows = this.run.meta.overhead.map(([what, much, unit, more]) => element("tr", {}, element("td", {}, what),
			element("td", { class: "number" }, unit === "ns" ? seconds(much) : String(much)), element("td", {}, more)));
		byId("runtime-table").replaceChildren(element("table", {}, ...rows));
	}

	environment() {
		const box = byId("environment"), about = this.run.meta, list = element("dl");
		for (const [name, value] of about.environment)
			list.append(element("dt", {}, name), element("dd", {}, String(value)));
		box.replaceChildren(list, element("h3", {}, "What is left out"), element("ul", {}, ...about.left_out.map(line => element("li", {}, line))),
			element("h3", {}, "How this page was made"), element("p", {}, this.meta.made), element("p", {}, this.meta.library.words), element("pre", {}, this.meta.library.licence));
	}
}

// shareTable: rows of [name, seconds, times], with a bar for the share.
function shareTable(rows, total) {
	const table = element("table");
	for (const [name, value, times] of rows) {
		const bar = element("span");
		bar.style.width = `${Math.min(100, 100 * value / total).toFixed(2)}%`;
		table.append(element("tr", {}, element("td", { class: "number" }, `${(100 * value / total).toFixed(1)} %`), element("td", { class: "share" }, bar),
			element("td", { class: "number" }, `${value.toFixed(6)} s`), element("td", {}, `${name} (${times} times)`)));
	}
	return element("div", { class: "wide" }, table);
}

async function main() {
	const meta = JSON.parse(byId("meta").textContent), stored = themeStored();
	setTheme(stored || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
	try {
		const page = window.page = new Page(meta);
		await page.start(0);
		page.inputs.listen();
		requestAnimationFrame(() => setTimeout(() => {
			document.documentElement.dataset.ready = Math.round(performance.now());
			document.dispatchEvent(new Event("report-ready"));
		}));
	} catch (error) {
		byId("cut").hidden = false;
		byId("cut").textContent = `This page could not be shown: ${error.message}`;
		document.documentElement.dataset.failed = error.stack || error.message;
	}
}
