// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plot of requests, progression threads, ready tasks and memories over time: bands over all ranks, and one
// rank.
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

	bands(series) {
		return bandsOf(this.about.ranks, this.about.bins, (rank, bin) => this.value(series, rank, bin));
	}

	draw() {
		const { about } = this, number = +this.what.value, bands = this.bands(number);
		const rank = this.rank.value === "" ? -1 : +this.rank.value, known = Number.isInteger(rank) && rank >= 0 && rank < about.ranks;
		bandsPlot(this.box, this.page, { bands, bins: about.bins, width_ns: about.width_ns, span: this.run.span, most: d3.max(bands, band => band[4]) || 1, save: "lists",
			unit: UNITS[about.series[number].unit], one: known ? bin => this.value(number, rank, bin) : null, name: `rank ${rank}`,
			whose: (bin, top) => "rank " + d3.range(about.ranks).find(r => this.value(number, r, bin) === top) });
		this.page.tip(this.box, this.rank.value !== "" && !known ? `there is no rank ${this.rank.value}: give 0 to ${about.ranks - 1}` : "");
	}
}
