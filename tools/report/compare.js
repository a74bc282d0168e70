// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The part of the page that compares two runs: what explains the difference of their
// makespans, the drift over the work, kernels, ranks and messages (D3, version 3).
// Invariant: the bars of the first plot, with what is summed up as others, add up to the
// difference of the makespans.

class Comparison {
	constructor(meta, page) {
		this.found = meta.compare;
		this.page = page;
		for (const node of document.querySelectorAll("[data-comparison]"))
			node.hidden = !this.found;
		if (this.found)
			this.words();
	}

	words() {
		const found = this.found, box = byId("compare-words"), d = found.difference_seconds, a = found.a.makespan_seconds;
		box.replaceChildren(...["A", "B"].map((letter, i) => {
			const side = i ? found.b : found.a;
			return element("p", {}, element("b", {}, letter), ` ${side.makespan_seconds.toFixed(6)} s, ${side.name}: a ${side.world} run of ${side.ranks} ranks, ${side.workers} workers, ${side.tasks} tasks`);
		}));
		box.append(element("p", {}, d ? `B takes ${Math.abs(d).toFixed(6)} s ${d > 0 ? "longer" : "less"} than A${a ? `, ${d > 0 ? "+" : "−"}${Math.abs(100 * d / a).toFixed(1)} %` : ""}.`
			: "Both take the same time."));
		const remarks = [...found.work.map(s => "Not the same work: " + s + "."), ...found.machine.map(s => "Not the same machine: " + s + "."), ...found.verdict, ...found.incomplete];
		if (remarks.length)
			box.append(element("ul", {}, ...remarks.map(s => element("li", {}, s))));
		const tables = byId("compare-tables");
		tables.replaceChildren();
		for (const table of found.tables)
			tables.append(element("h3", {}, table.title), table.rows.length ? this.table(table) : element("p", {}, "none differs by more than 2 %"));
	}

	table(about) {
		const cell = (value, i) => element("td", i ? { class: "number" } : {}, value);
		return element("table", {}, element("tr", {}, ...about.head.map((h, i) => element("th", i ? { class: "number" } : {}, h))),
			...about.rows.map(row => element("tr", {}, ...row.map(cell))));
	}

	draw() {
		if (!this.found)
			return;
		this.drawParts();
		this.drawDrift();
	}

	// Bars to the right are what B takes longer.
	drawParts() {
		const parts = this.found.parts, theme = this.page.colours.theme(), box = byId("compare-parts");
		const { svg, width, height } = svgIn(box, 40 + 24 * Math.max(1, parts.length), theme), top = 6, bottom = 32, right = 80;
		const left = Math.min(width * 0.45, 20 + 7 * d3.max(parts.map(p => p.title.length).concat(10)));
		const least = Math.min(0, d3.min(parts, p => p.seconds) || 0), most = Math.max(0, d3.max(parts, p => p.seconds) || 0);
		const x = d3.scale.linear().domain(least < most ? [least, most] : [-1, 1]).range([left + (least < 0 ? 70 : 0), width - right]);
		const y = d3.scale.ordinal().domain(d3.range(parts.length)).rangeBands([top, height - bottom], 0.25);
		const bars = svg.selectAll("g.part").data(parts).enter().append("g").attr("class", "part");
		bars.append("rect").attr({ x: p => Math.min(x(0), x(p.seconds)), width: p => Math.abs(x(p.seconds) - x(0)), y: (p, i) => y(i), height: y.rangeBand(),
			fill: p => p.seconds > 0 ? theme.path : theme.accent });
		bars.append("text").attr({ x: left - 6, y: (p, i) => y(i) + y.rangeBand() / 2 + 4, "text-anchor": "end" }).text(p => p.title.length * 7 > left ? p.title.slice(0, Math.floor(left / 7) - 2) + "…" : p.title);
		bars.append("text").attr({ x: p => x(p.seconds) + (p.seconds > 0 ? 4 : -4), y: (p, i) => y(i) + y.rangeBand() / 2 + 4, "text-anchor": p => p.seconds > 0 ? "start" : "end" })
			.text(p => `${p.seconds > 0 ? "+" : "−"}${seconds(Math.abs(p.seconds) * 1e9, 3)}`);
		svg.append("line").attr({ x1: x(0), x2: x(0), y1: top, y2: height - bottom, stroke: theme.dim });
		svg.append("text").attr({ x: width - 12, y: height - 8, "text-anchor": "end" }).text("to the right: B takes longer, along the critical path");
		bars.on("mousemove", p => this.page.tip(box, `${p.title}: ${p.a_seconds.toFixed(6)} s, then ${p.b_seconds.toFixed(6)} s${p.rank === null ? "" : `, most of it on rank ${p.rank}`}`))
			.on("mouseout", () => this.page.tip(box, ""));
		this.page.tip(box, parts.length ? "" : "The critical paths have the same parts.");
		saveButtons(box, "difference", this.page.save);
	}

	drawDrift() {
		const steps = this.found.progress, box = byId("compare-drift"), theme = this.page.colours.theme();
		byId("compare-drift-words").textContent = steps.length ? this.found.drift : "The runs have too few tasks in common to say when they drift apart.";
		if (!steps.length)
			return;
		const { svg, width, height } = svgIn(box, 240, theme), left = 74, right = 12, top = 10, bottom = 36;
		const points = [{ tasks: 0, seconds: 0 }, ...steps], [least, most] = d3.extent(points, p => p.seconds);
		const x = d3.scale.linear().domain([0, 100]).range([left, width - right]);
		const y = d3.scale.linear().domain(least < most ? [least, most] : [-1, 1]).range([height - bottom, top]);
		svg.append("line").attr({ x1: left, x2: width - right, y1: y(0), y2: y(0), stroke: theme.dim });
		svg.append("path").attr({ class: "drift", d: d3.svg.line().x(p => x(100 * p.tasks)).y(p => y(p.seconds))(points), fill: "none", stroke: theme.path, "stroke-width": 2 });
		svg.selectAll("circle").data(points).enter().append("circle").attr({ cx: p => x(100 * p.tasks), cy: p => y(p.seconds), r: 4, fill: theme.path })
			.on("mousemove", p => this.page.tip(box, `when ${Math.round(100 * p.tasks)} % of the tasks were done: B against A ${p.seconds >= 0 ? "+" : "−"}${Math.abs(p.seconds).toFixed(6)} s`))
			.on("mouseout", () => this.page.tip(box, ""));
		styleAxis(svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.svg.axis().scale(x).ticks(10)), theme);
		styleAxis(svg.append("g").attr("transform", `translate(${left},0)`).call(d3.svg.axis().scale(y).orient("left").ticks(6)), theme);
		svg.append("text").attr({ x: width - right, y: height - 4, "text-anchor": "end" }).text("% of the tasks that both have");
		svg.append("text").attr({ transform: `translate(12,${height / 2}) rotate(-90)`, "text-anchor": "middle" }).text("seconds, B − A");
		saveButtons(box, "drift", this.page.save);
	}
}
