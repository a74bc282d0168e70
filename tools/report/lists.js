// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plot of requests, progression threads, ready tasks and memories over time: bands over all ranks, and one
// rank (D3, version 3).
// Invariant: all that is drawn comes from one array, by series, rank and stretch of time.

const UNITS = { "%": "% of a rank's time", requests: "requests of a rank", tasks: "tasks of a rank", MB: "MB of a rank" };

class Lists {
	constructor(box, run, page) {
		this.box = box;
		this.run = run;
		this.page = page;
		this.about = run.meta.lists;
		this.what = byId("lists-what");
		this.rank = byId("lists-rank");
		const before = this.what.value;
		this.what.replaceChildren(...this.about.series.map((s, i) => element("option", { value: i }, `${s.name}: ${s.words}`)));
		this.what.value = before && before < this.about.series.length ? before : Math.max(0, d3.range(5).sort((a, b) => this.about.series[b].ns - this.about.series[a].ns)[0]);
		this.rank.max = this.about.ranks - 1;
		this.what.onchange = this.rank.oninput = () => this.draw();
		this.draw();
	}

	// value: of a series, a rank and a stretch.
	value(series, rank, bin) {
		const { ranks, bins } = this.about;
		return this.values[(series * ranks + rank) * bins + bin] / 100;
	}

	get values() { return this.run.listValues || (this.run.listValues = this.run.get("lists")); }

	// bands: [least, quarter, median, three quarters, greatest] over all ranks for each stretch.
	bands(series) {
		const { ranks, bins } = this.about, column = new Float64Array(ranks);
		return d3.range(bins).map(bin => {
			for (let r = 0; r < ranks; r++)
				column[r] = this.value(series, r, bin);
			column.sort();
			return [0, 0.25, 0.5, 0.75, 1].map(share => d3.quantile(column, share));
		});
	}

	draw() {
		const { about, run } = this, theme = this.page.colours.theme(), number = +this.what.value, series = about.series[number], n = about.bins;
		const { svg, width, height } = svgIn(this.box, 260, theme), left = 74, right = 12, top = 10, bottom = 36, seconds = about.width_ns * 1e-9;
		const bands = this.bands(number), rank = this.rank.value === "" ? -1 : +this.rank.value, known = Number.isInteger(rank) && rank >= 0 && rank < about.ranks;
		const x = d3.scale.linear().domain([0, run.span * 1e-9]).range([left, width - right]);
		const most = d3.max(bands, band => band[4]) || 1, y = d3.scale.linear().domain([0, most]).range([height - bottom, top]);
		const at = bin => x(Math.min(bin * seconds, run.span * 1e-9)), steps = d3.range(n + 1);
		const area = (low, high) => d3.svg.area().interpolate("step-after").x(at).y0(b => y(bands[Math.min(b, n - 1)][low])).y1(b => y(bands[Math.min(b, n - 1)][high]))(steps);
		const line = of => d3.svg.line().interpolate("step-after").x(at).y(b => y(of(Math.min(b, n - 1))))(steps);
		svg.append("path").attr({ class: "band", d: area(0, 4), fill: theme.accent, "fill-opacity": 0.2 });
		svg.append("path").attr({ class: "band", d: area(1, 3), fill: theme.accent, "fill-opacity": 0.35 });
		svg.append("path").attr({ class: "median", d: line(b => bands[b][2]), fill: "none", stroke: theme.accent, "stroke-width": 1.5 });
		if (known)
			svg.append("path").attr({ class: "one", d: line(b => this.value(number, rank, b)), fill: "none", stroke: theme.path, "stroke-width": 1.5 });
		styleAxis(svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.svg.axis().scale(x).ticks(Math.floor(width / 100))), theme);
		styleAxis(svg.append("g").attr("transform", `translate(${left},0)`).call(d3.svg.axis().scale(y).orient("left").ticks(6)), theme);
		svg.append("text").attr({ x: width - right, y: height - 4, "text-anchor": "end" }).text("seconds");
		svg.append("text").attr({ transform: `translate(12,${height / 2}) rotate(-90)`, "text-anchor": "middle" }).text(UNITS[series.unit]);
		svg.append("rect").attr({ x: left, y: top, width: width - left - right, height: height - top - bottom, fill: "none", "pointer-events": "all" })
			.on("mousemove", () => {
				const b = Math.max(0, Math.min(n - 1, Math.floor(x.invert(d3.mouse(this.box.querySelector("svg"))[0]) / seconds))), say = v => Number(v.toPrecision(3));
				const whose = d3.range(about.ranks).find(r => this.value(number, r, b) === bands[b][4]);
				this.page.tip(this.box, `${(b * seconds).toPrecision(4)} s: least ${say(bands[b][0])}, median ${say(bands[b][2])}, greatest ${say(bands[b][4])} (rank ${whose})`
					+ (known ? `, rank ${rank} ${say(this.value(number, rank, b))}` : ""));
			}).on("mouseout", () => this.page.tip(this.box, ""));
		this.page.tip(this.box, this.rank.value !== "" && !known ? `there is no rank ${this.rank.value}: give 0 to ${about.ranks - 1}` : "");
		saveButtons(this.box, "lists", this.page.save);
	}
}
