// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plot of the links of a simulated network over time: bands over the fullest ones, and one link.
// Invariant: all that is drawn comes from one array, by quantity, link and stretch of time.

class Links {
	constructor(box, run, page) {
		this.box = box;
		this.run = run;
		this.page = page;
		this.about = run.meta.links;
		this.what = byId("links-what");
		this.one = byId("links-one");
		const percent = share => `${(100 * share).toFixed(1)} %`;
		this.one.replaceChildren(element("option", { value: -1 }, "all links"), ...this.about.links.map(([name, rate, full, busy], i) =>
			element("option", { value: i }, `${name}: ${amount(rate, "bandwidth")}, full for ${percent(full)} of the time, gave ${percent(busy)}`)));
		this.one.value = this.about.links.length ? 0 : -1;
		this.what.onchange = this.one.onchange = () => this.draw();
		byId("links-words").textContent = this.about.words;
		this.what.parentNode.parentNode.hidden = !this.about.links.length;
		this.draw();
	}

	get values() { return this.run.linkValues || (this.run.linkValues = this.run.get("links")); }

	// value: percent, of a link and a stretch.
	value(link, bin) {
		const { links, bins } = this.about;
		return this.values[(+this.what.value * links.length + link) * bins + bin] / 100;
	}

	draw() {
		const { links, bins, width_ns } = this.about, one = +this.one.value;
		this.box.replaceChildren();
		if (!links.length)
			return;
		this.bands = bandsOf(links.length, bins, (link, bin) => this.value(link, bin));
		bandsPlot(this.box, this.page, { bands: this.bands, bins, width_ns, span: this.run.span, most: 100, save: "links",
			unit: +this.what.value ? "% of the time when full" : "% of the bandwidth", one: one < 0 ? null : bin => this.value(one, bin),
			whose: (bin, top) => links[d3.range(links.length).find(link => this.value(link, bin) === top)][0], name: one < 0 ? "" : links[one][0] });
	}
}
