// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plots that D3 draws (version 3, of Debian's libjs-d3): states over time and by
// rank, the communication matrix, kernels.
// Invariant: a plot is one SVG element whose colours and sizes are attributes, so that
// it looks the same when it is saved.

// svgIn: an empty plot of a box, as wide as the box, with its axes' colours.
function svgIn(box, height, theme) {
	d3.select(box).selectAll("svg, .save").remove();
	const width = Math.max(300, Math.min(1700, box.clientWidth || 800));
	const svg = d3.select(box).append("svg").attr({ xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height,
		"font-family": "system-ui, sans-serif", "font-size": 12, fill: theme.text });
	svg.append("rect").attr({ width, height, fill: theme.back });
	return { svg, width, height };
}

function styleAxis(g, theme) {
	g.selectAll("path, line").attr({ fill: "none", stroke: theme.dim, "shape-rendering": "crispEdges" });
	g.selectAll("text").attr("fill", theme.text);
	return g;
}

function saveButtons(box, name, save) {
	const bar = d3.select(box).append("div").attr("class", "save");
	for (const kind of ["SVG", "PNG"])
		bar.append("button").attr({ type: "button", "data-plot": name + " " + kind.toLowerCase() }).text(kind)
			.on("click", () => save(box.querySelector("svg"), name, kind.toLowerCase()));
}

// statesPlot: stacked areas with a step for each bin; a brush chooses a stretch of time.
function statesPlot(box, run, page) {
	const about = run.meta.states, table = run.table || (run.table = run.get("states")), theme = page.colours.theme();
	const { svg, width, height } = svgIn(box, 320, theme), left = 74, right = 12, top = 10, bottom = 36;
	const n = about.bins, seconds = about.width_ns * 1e-9;
	const layers = about.names.map((name, i) => ({ name, i, values: d3.range(n).map(b => ({ b, y: table[i * n + b] / about.width_ns })) }))
		.filter((layer, i) => about.totals_ns[i] > 0);
	d3.layout.stack().values(layer => layer.values).x(d => d.b)(layers);
	const x = d3.scale.linear().domain([0, run.span * 1e-9]).range([left, width - right]);
	const y = d3.scale.linear().domain([0, Math.max(1, run.lanes)]).range([height - bottom, top]);
	const area = d3.svg.area().interpolate("step-after").x(d => x(Math.min(d.b * seconds, run.span * 1e-9))).y0(d => y(d.y0)).y1(d => y(d.y0 + d.y));
	const closed = layer => area(layer.values.concat([Object.assign({}, layer.values[n - 1], { b: n })]));
	const colour = name => name[0] === "kernel" ? page.colours.kernel(run.kernels.findIndex(k => k.name === name[1])) : page.colours.state(name[0]);
	svg.selectAll("path.layer").data(layers).enter().append("path").attr({ class: "layer", d: closed, fill: layer => colour(layer.name) });
	styleAxis(svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.svg.axis().scale(x).ticks(Math.floor(width / 100))), theme);
	styleAxis(svg.append("g").attr("transform", `translate(${left},0)`).call(d3.svg.axis().scale(y).orient("left").ticks(6)), theme);
	svg.append("text").attr({ x: width - right, y: height - 4, "text-anchor": "end" }).text("seconds");
	svg.append("text").attr({ transform: `translate(12,${height / 2}) rotate(-90)`, "text-anchor": "middle" }).text("workers");
	const brush = d3.svg.brush().x(x).on("brushend", () => {
		if (!brush.empty())
			page.zoomTime(brush.extent()[0] * 1e9, brush.extent()[1] * 1e9);
	});
	svg.append("g").call(brush).selectAll("rect").attr({ y: top, height: height - top - bottom, "fill-opacity": 0.2 })
		.on("mousemove", function () {
			const b = Math.max(0, Math.min(n - 1, Math.floor(x.invert(d3.mouse(this)[0]) / seconds)));
			const parts = layers.map(l => [l.name, table[l.i * n + b] / about.width_ns]).filter(p => p[1] > 0.005).sort((a, c) => c[1] - a[1]);
			page.tip(box, `${(b * seconds).toPrecision(4)} s: ` + parts.slice(0, 6).map(p => `${p[0][1]} ${p[1].toFixed(2)}`).join(", "));
		}).on("mouseout", () => page.tip(box, ""));
	legend(box, layers.map(l => [colour(l.name), l.name[1], about.totals_ns[l.i]]), about.totals_ns);
	saveButtons(box, "states", page.save);
}

// legend: a line with colours, names, and shares of the whole.
function legend(box, entries, totals) {
	const sum = totals.reduce((a, b) => a + b, 0) || 1;
	d3.select(box).selectAll("div.legend").remove();
	const items = d3.select(box).append("div").attr("class", "legend").selectAll("span").data(entries).enter().append("span");
	items.append("i").style("background", e => e[0]);
	items.append("span").text(e => ` ${e[1]} ${(100 * e[2] / sum).toFixed(1)} %\u2003`);
}

// bandsOf: [least, quarter, median, three quarters, greatest] over n things for each stretch of time.
function bandsOf(n, bins, value) {
	const column = new Float64Array(n);
	return d3.range(bins).map(bin => {
		for (let i = 0; i < n; i++)
			column[i] = value(i, bin);
		column.sort();
		return [0, 0.25, 0.5, 0.75, 1].map(share => d3.quantile(column, share));
	});
}

// bandsPlot: bands over time, and the line of `one` thing, a function of the stretch. The pointer tells `whose` the greatest value is.
function bandsPlot(box, page, { bands, bins, width_ns, span, most, unit, one, name, whose, save }) {
	const theme = page.colours.theme(), { svg, width, height } = svgIn(box, 260, theme), left = 74, right = 12, top = 10, bottom = 36, seconds = width_ns * 1e-9;
	const x = d3.scale.linear().domain([0, span * 1e-9]).range([left, width - right]), y = d3.scale.linear().domain([0, most]).range([height - bottom, top]);
	const at = bin => x(Math.min(bin * seconds, span * 1e-9)), steps = d3.range(bins + 1);
	const area = (low, high) => d3.svg.area().interpolate("step-after").x(at).y0(b => y(bands[Math.min(b, bins - 1)][low])).y1(b => y(bands[Math.min(b, bins - 1)][high]))(steps);
	const line = of => d3.svg.line().interpolate("step-after").x(at).y(b => y(of(Math.min(b, bins - 1))))(steps);
	svg.append("path").attr({ class: "band", d: area(0, 4), fill: theme.accent, "fill-opacity": 0.2 });
	svg.append("path").attr({ class: "band", d: area(1, 3), fill: theme.accent, "fill-opacity": 0.35 });
	svg.append("path").attr({ class: "median", d: line(b => bands[b][2]), fill: "none", stroke: theme.accent, "stroke-width": 1.5 });
	if (one)
		svg.append("path").attr({ class: "one", d: line(one), fill: "none", stroke: theme.path, "stroke-width": 1.5 });
	styleAxis(svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.svg.axis().scale(x).ticks(Math.floor(width / 100))), theme);
	styleAxis(svg.append("g").attr("transform", `translate(${left},0)`).call(d3.svg.axis().scale(y).orient("left").ticks(6)), theme);
	svg.append("text").attr({ x: width - right, y: height - 4, "text-anchor": "end" }).text("seconds");
	svg.append("text").attr({ transform: `translate(12,${height / 2}) rotate(-90)`, "text-anchor": "middle" }).text(unit);
	svg.append("rect").attr({ x: left, y: top, width: width - left - right, height: height - top - bottom, fill: "none", "pointer-events": "all" })
		.on("mousemove", () => {
			const b = Math.max(0, Math.min(bins - 1, Math.floor(x.invert(d3.mouse(box.querySelector("svg"))[0]) / seconds))), say = v => Number(v.toPrecision(3));
			page.tip(box, `${(b * seconds).toPrecision(4)} s: least ${say(bands[b][0])}, median ${say(bands[b][2])}, greatest ${say(bands[b][4])} (${whose(b, bands[b][4])})`
				+ (one ? `, ${name} ${say(one(b))}` : ""));
		}).on("mouseout", () => page.tip(box, ""));
	saveButtons(box, save, page.save);
}

// ranksPlot: the same by rank; where ranks are narrower than a pixel, neighbours are added up.
function ranksPlot(box, run, page) {
	const about = run.meta.states, theme = page.colours.theme(), { svg, width, height } = svgIn(box, 260, theme);
	const table = run.rankTable || (run.rankTable = run.get("rank_states")), ranks = run.rankNumbers || (run.rankNumbers = run.get("rank_number"));
	const k = about.names.length, left = 74, right = 12, top = 10, bottom = 36;
	const each = Math.max(1, Math.ceil(ranks.length / (width - left - right)));
	const groups = d3.range(Math.ceil(ranks.length / each)), sum = (g, i) => {
		let total = 0;
		for (let r = g * each; r < Math.min(ranks.length, (g + 1) * each); r++)
			total += table[r * k + i];
		return total;
	};
	const layers = d3.range(k).filter(i => about.totals_ns[i] > 0).map(i => ({ i, values: groups.map(g => ({ g, y: sum(g, i) * 1e-9 })) }));
	d3.layout.stack().values(layer => layer.values).x(d => d.g)(layers);
	const x = d3.scale.ordinal().domain(groups).rangeBands([left, width - right], groups.length > 200 ? 0 : 0.1);
	const most = d3.max(layers, l => d3.max(l.values, d => d.y0 + d.y)) || 1;
	const y = d3.scale.linear().domain([0, most]).range([height - bottom, top]);
	const colour = i => i < run.kernels.length ? page.colours.kernel(i) : page.colours.state(about.names[i][0]);
	svg.selectAll("g.layer").data(layers).enter().append("g").attr({ class: "layer", fill: l => colour(l.i) })
		.selectAll("rect").data(l => l.values.filter(d => d.y > 0)).enter().append("rect")
		.attr({ x: d => x(d.g), width: x.rangeBand(), y: d => y(d.y0 + d.y), height: d => Math.max(0, y(d.y0) - y(d.y0 + d.y)) });
	const shown = d3.scale.linear().domain([0, ranks.length]).range([left, width - right]);
	styleAxis(svg.append("g").attr("transform", `translate(0,${height - bottom})`)
		.call(d3.svg.axis().scale(shown).ticks(Math.min(ranks.length, Math.floor(width / 80))).tickFormat(r => Number.isInteger(r) && r < ranks.length ? ranks[r] : "")), theme);
	styleAxis(svg.append("g").attr("transform", `translate(${left},0)`).call(d3.svg.axis().scale(y).orient("left").ticks(5)), theme);
	svg.append("text").attr({ x: width - right, y: height - 4, "text-anchor": "end" }).text(each > 1 ? `rank (${each} in each bar)` : "rank");
	svg.append("text").attr({ transform: `translate(12,${height / 2}) rotate(-90)`, "text-anchor": "middle" }).text("seconds of workers");
	svg.append("rect").attr({ x: left, y: top, width: width - left - right, height: height - top - bottom, fill: "none", "pointer-events": "all" })
		.on("mousemove", function () {
			const g = Math.min(groups.length - 1, Math.max(0, Math.floor(shown.invert(d3.mouse(this)[0]) / each)));
			const parts = layers.map(l => [about.names[l.i][1], sum(g, l.i) * 1e-9]).filter(p => p[1] > 0).sort((a, b) => b[1] - a[1]);
			page.tip(box, `rank ${ranks[g * each]}${each > 1 ? " to " + ranks[Math.min(ranks.length, (g + 1) * each) - 1] : ""}: ` +
				parts.slice(0, 6).map(p => `${p[0]} ${p[1].toPrecision(4)} s`).join(", "));
		}).on("mouseout", () => page.tip(box, ""))
		.on("click", function () {
			page.zoomRank(ranks[Math.min(ranks.length - 1, Math.max(0, Math.floor(shown.invert(d3.mouse(this)[0]))))]);
		});
	saveButtons(box, "ranks", page.save);
}

// The matrix: cells are painted into an image; D3 has the axes and the zoom. Its pairs are of ranks or of computers, in
// the whole run or in one of its phases.
class Matrix {
	constructor(box, run, page) {
		this.box = box;
		this.run = run;
		this.page = page;
		const about = run.meta.matrix, phases = byId("matrix-phase"), group = labels => element("optgroup", { label: /half/.test(labels[0]) ? "halves" : /quarter/.test(labels[0]) ? "quarters" : "iterations" });
		byId("has-hosts").hidden = !about.hosts.length;
		if (!about.hosts.length)
			byId("matrix-level").value = "pair";
		const chosen = phases.value;
		phases.replaceChildren(element("option", { value: -1 }, "the whole run"));
		let number = 0;
		for (const labels of about.phases) {
			const box = group(labels);
			labels.forEach(label => box.append(element("option", { value: number++ }, label)));
			phases.append(box);
		}
		phases.value = [...phases.options].some(option => option.value === chosen) ? chosen : "-1";
		this.choose();
	}

	// choose: the pairs that are asked for, with their sums.
	choose() {
		const about = this.run.meta.matrix, level = byId("matrix-level").value, phase = +byId("matrix-phase").value;
		this.what = byId("matrix-what").value;
		this.hosts = level === "host";
		this.stride = this.hosts ? about.hosts.length : about.ranks;
		this.n = Math.max(1, this.hosts ? about.hosts.length : Math.ceil(about.ranks / about.group));
		this.view = [0, this.n, 0, this.n];
		let cell = 0, cells = this.run.get(level).map(d => cell += d), [bytes, messages, active] = this.values(level);
		if (phase >= 0) {
			const counts = this.run.get(level + "_phase"), first = offsets(counts), range = [first[phase], first[phase + 1]];
			let index = 0;
			cells = this.run.get(level + "_in").map(d => cells[index += d]).subarray(...range);
			[bytes, messages, active] = this.values(level + "_in").map(values => values.subarray(...range));
		}
		this.at = new Map();
		cells.forEach((c, i) => this.at.set(c, i));
		this.from = Int32Array.from(cells, c => Math.floor(c / this.stride));
		this.to = Int32Array.from(cells, c => c % this.stride);
		Object.assign(this, { bytes, messages, active });
		const note = `${amount(d3.sum(bytes), "bytes")} in ${d3.sum(messages)} messages` + (phase < 0 && about.relayed
			? `, ${about.relayed} of which were passed on for another rank: they count for the rank that passed them on.` : ".");
		byId("matrix-note").textContent = note + (this.what !== "bandwidth" ? "" : about.timed
			? " Bandwidth: bytes over the time in which at least one message of the pair was under way." : " The trace reached its limit, and does not know for how long messages were under way.");
	}

	values(name) {
		return ["bytes", "messages", "active"].map(what => this.run.get(`${name}_${what}`));
	}

	// cells: the sums of what falls into each of `side` x `side` squares of the view; of bandwidths the mean over their times.
	cells(side) {
		const [x0, x1, y0, y1] = this.view, sums = new Float64Array(side * side), over = new Float64Array(side * side), wide = this.what === "bandwidth";
		const values = this.what === "messages" ? this.messages : this.bytes;
		for (let i = 0; i < values.length; i++) {
			const a = Math.floor((this.to[i] - x0) / (x1 - x0) * side), b = Math.floor((this.from[i] - y0) / (y1 - y0) * side);
			if (a >= 0 && a < side && b >= 0 && b < side && (!wide || this.active[i])) {
				sums[b * side + a] += values[i];
				over[b * side + a] += this.active[i];
			}
		}
		return wide ? sums.map((v, i) => over[i] ? v / over[i] * 1e9 : 0) : sums;
	}

	draw() {
		const theme = this.page.colours.theme(), about = this.run.meta.matrix;
		this.choose();
		const width = Math.max(300, Math.min(760, this.box.clientWidth || 700)), left = 64, top = 26, plot = width - left - 28;
		const { svg } = svgIn(this.box, plot + top + 46, theme);
		svg.attr({ width: width, viewBox: `0 0 ${width} ${plot + top + 46}` });
		this.x = d3.scale.linear().range([left, left + plot]);
		this.y = d3.scale.linear().range([top, top + plot]);
		this.image = svg.append("image").attr({ x: left, y: top, width: plot, height: plot, preserveAspectRatio: "none", style: "image-rendering: pixelated" });
		this.axes = [svg.append("g").attr("transform", `translate(0,${top})`), svg.append("g").attr("transform", `translate(${left},0)`)];
		svg.append("text").attr({ x: left + plot / 2, y: top + plot + 16, "text-anchor": "middle" }).text("receiver" + (this.hosts ? ", computers" : about.group > 1 ? ` (groups of ${about.group} ranks)` : ""));
		svg.append("text").attr({ transform: `translate(14,${top + plot / 2}) rotate(-90)`, "text-anchor": "middle" }).text("sender");
		this.most = svg.append("text").attr({ x: left, y: top + plot + 36, fill: theme.dim });
		this.zoom = d3.behavior.zoom().x(this.x).y(this.y).scaleExtent([1, Math.max(1, this.n / 2)]).on("zoom", () => this.zoomed());
		svg.append("rect").attr({ x: left, y: top, width: plot, height: plot, fill: "none", "pointer-events": "all", tabindex: 0 }).call(this.zoom)
			.on("mousemove", () => this.point()).on("mouseout", () => this.page.tip(this.box, ""));
		this.all();
		saveButtons(this.box, "matrix", this.page.save);
	}

	all() {
		this.x.domain([0, this.n]);
		this.y.domain([0, this.n]);
		this.zoom.x(this.x).y(this.y);
		this.zoomed();
	}

	zoomed() {
		const keep = scale => {
			const [a, b] = scale.domain(), span = Math.min(this.n, b - a), low = Math.max(0, Math.min(a, this.n - span));
			return [low, low + span];
		};
		const [x0, x1] = keep(this.x), [y0, y1] = keep(this.y), theme = this.page.colours.theme();
		this.x.domain([x0, x1]);
		this.y.domain([y0, y1]);
		this.view = [x0, x1, y0, y1];
		const side = Math.max(1, Math.min(320, Math.round(x1 - x0))), exact = x1 - x0 <= 320;
		if (exact)   // whole cells
			this.view = [Math.floor(x0), Math.floor(x0) + side, Math.floor(y0), Math.floor(y0) + side];
		this.paint(this.cells(side), side, theme);
		[d3.svg.axis().scale(this.x).orient("top").ticks(6), d3.svg.axis().scale(this.y).orient("left").ticks(6)].forEach((axis, i) => {
			this.axes[i].call(axis.tickFormat(r => Number.isInteger(r) ? r * (this.hosts ? 1 : this.run.meta.matrix.group) : ""));
			styleAxis(this.axes[i], theme);
		});
	}

	paint(sums, side, theme) {
		const canvas = document.createElement("canvas"), most = d3.max(sums) || 1, [r, g, b] = this.page.colours.rgb(theme.back);
		const ramp = d3.scale.linear().domain([0, 0.35, 0.7, 1]).range(theme.dark ? ["#1c3a63", "#3f7fd0", "#9fd0ff", "#fff3b0"] : ["#d7e6f7", "#6fa8dc", "#1f5fa8", "#0a1f44"]);
		const shades = d3.range(256).map(i => d3.rgb(ramp(i / 255)));
		canvas.width = canvas.height = side;
		const image = new ImageData(side, side);
		for (let i = 0; i < side * side; i++) {
			const shade = sums[i] ? shades[Math.round(255 * Math.sqrt(sums[i] / most))] : { r, g, b };
			image.data.set([shade.r, shade.g, shade.b, 255], i * 4);
		}
		canvas.getContext("2d").putImageData(image, 0, 0);
		const [x0, x1, y0, y1] = this.view;
		this.x.domain([x0, x1]);
		this.y.domain([y0, y1]);
		this.image.attr("href", canvas.toDataURL()).attr("xlink:href", canvas.toDataURL());
		this.most.text(`darkest: ${amount(most, this.what)}`.replace("darkest", theme.dark ? "brightest" : "darkest") + (x1 - x0 > side ? this.what === "bandwidth" ? " (mean of neighbours)" : " (neighbours added up)" : ""));
	}

	point() {
		const [px, py] = d3.mouse(this.image.node()), about = this.run.meta.matrix, to = Math.floor(this.x.invert(px)), from = Math.floor(this.y.invert(py));
		const i = this.at.get(from * this.stride + to);
		const name = r => this.hosts ? about.hosts[r] : about.group > 1 ? `rank ${r * about.group} to ${Math.min(about.ranks, (r + 1) * about.group) - 1}` : `rank ${r}`;
		if (from >= 0 && from < this.n && to >= 0 && to < this.n)
			this.page.tip(this.box, `${name(from)} → ${name(to)}: ` + (i === undefined ? "nothing" : `${amount(this.bytes[i], "bytes")} in ${this.messages[i]} messages`
				+ (this.active[i] ? `, ${amount(this.bytes[i] / this.active[i] * 1e9, "bandwidth")}` : "")));
	}
}

// kernelsPlot: how much of the time in kernels each has.
function kernelsPlot(box, run, page) {
	const theme = page.colours.theme(), shown = run.kernels.slice(0, 20), total = d3.sum(run.kernels, k => k.ns) || 1;
	const { svg, width } = svgIn(box, 24 * shown.length + 34, theme), left = Math.min(150, width * 0.35);
	const x = d3.scale.linear().domain([0, d3.max(shown, k => k.ns) * 1e-9 || 1]).range([left, width - 64]);
	const row = svg.selectAll("g.row").data(shown).enter().append("g").attr({ class: "row", transform: (k, i) => `translate(0,${i * 24 + 4})` });
	row.append("text").attr({ x: left - 6, y: 14, "text-anchor": "end" }).text(k => k.name.length > left / 7 ? k.name.slice(0, Math.floor(left / 7)) + "…" : k.name);
	row.append("rect").attr({ x: left, width: k => Math.max(0.5, x(k.ns * 1e-9) - left), height: 19, fill: (k, i) => page.colours.kernel(i) });
	row.append("text").attr({ x: k => x(k.ns * 1e-9) + 4, y: 14 }).text(k => (100 * k.ns / total).toFixed(1) + " %");
	styleAxis(svg.append("g").attr("transform", `translate(0,${24 * shown.length + 6})`).call(d3.svg.axis().scale(x).ticks(Math.max(2, Math.floor(width / 160)))
		.tickFormat(s => s + " s")), theme);
	saveButtons(box, "kernels", page.save);
}
