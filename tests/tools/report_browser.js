// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What tests/tools/report_browser.sh does with a page of `orrery report`: it stands before the page's own
// scripts, so that it misses nothing that they do, uses the page as a user would, by events, and tells the
// page around it what it found.
// Invariant: each line says what was checked; "done" is the last one, so that an exception shows.

const said = [];
// Without a screen there are no frames.
window.requestAnimationFrame = then => setTimeout(() => then(performance.now()), 1);

function check(what, right) {
	said.push(`${right ? "ok" : "WRONG"}: ${what}`);
}

function frame() {
	return new Promise(then => setTimeout(then, 5));
}

function press(key) {
	byId("gantt").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
	return frame();
}

// pointer: a mouse at a place of the chart.
function pointer(kind, x, y, more = {}) {
	const box = byId("gantt").getBoundingClientRect();
	byId("gantt").dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX: box.left + x, clientY: box.top + y, bubbles: true, ...more }));
	return frame();
}

async function testZoom(gantt, run) {
	const span = () => gantt.view.t1 - gantt.view.t0, x = gantt.gutter() + 100, at = gantt.time(x), box = byId("gantt").getBoundingClientRect();
	byId("gantt").dispatchEvent(new WheelEvent("wheel", { deltaY: -300, clientX: box.left + x, clientY: box.top + 100, cancelable: true }));
	await frame();
	check("the wheel zooms in", span() < run.span * 0.8);
	check("the time at the pointer stays", Math.abs(gantt.time(x) - at) < span() * 0.01);
	await press("0");
	check("0 shows all", span() === run.span && gantt.view.y1 === run.lanes);
	await press("+");
	check("+ zooms", span() === run.span / 2);
	const before = gantt.view.t0;
	await press("ArrowRight");
	check("an arrow moves", gantt.view.t0 > before);
	for (let i = 0; i < 80; i++)
		gantt.zoom(2, 2);
	await frame();
	check("nobody zooms out of the run", gantt.view.t0 === 0 && span() === run.span && gantt.view.y0 === 0);
	for (let i = 0; i < 80; i++)
		gantt.zoom(0.5, 0.5);
	await frame();
	check("one lane and some nanoseconds are the closest", gantt.view.y1 - gantt.view.y0 === 1 && span() <= 10);
	await press("0");
	await pointer("pointerdown", x, 60, { shiftKey: true });
	await pointer("pointermove", x + 80, 120, { shiftKey: true });
	await pointer("pointerup", x + 80, 120, { shiftKey: true });
	check("a box zooms", span() < run.span * 0.5);
	await press("0");
}

// testChain: all tasks of a chain are ancestors of the last, and descendants of the first.
async function testChain(gantt, run) {
	const order = [...run.start.keys()].sort((a, b) => run.start[a] - run.start[b]), last = order[order.length - 1], first = order[0];
	gantt.zoomTo(last);
	await frame();
	const x = gantt.x((run.start[last] + run.end[last]) / 2), y = gantt.y(run.lane[last] + 0.5);
	await pointer("pointerdown", x, y);
	await pointer("pointerup", x, y);
	check("a click selects", gantt.selection === last);
	check("the last task has all others before it", gantt.related.ancestors === run.blocks - 1 && gantt.related.descendants === 0);
	check("its ancestors are bright", order.every(i => !gantt.faded(i)));
	check("the table says so", byId("task").textContent.includes(`ancestors${run.blocks - 1}`));
	await press("a");
	check("a goes to the task that it waited for", gantt.selection === order[order.length - 2]);
	for (let i = 0; i < order.length; i++)
		await press("a");
	check("and to the first", gantt.selection === first && gantt.related.descendants === run.blocks - 1);
	await press("Escape");
	check("Escape selects nothing", gantt.selection === -1 && !byId("task").textContent);
	check("the path goes through all tasks", run.onPath.every(on => on === 1));
}

// testExpected: what the policy expected of a task is in its table, if it did.
async function testExpected(gantt, run) {
	const { expected, transfer } = run.details, asked = expected.findIndex(ns => ns > 0), moved = transfer.findIndex(ns => ns > 1);
	for (const [i, ns, words] of [[asked, expected[asked], "in its kernel"], [moved, transfer[moved] - 1, "of copies"]])
		if (i >= 0) {
			gantt.select(i);
			check(`expected ${words} is told`, byId("task").textContent.includes("the policy expected") && byId("task").textContent.includes(`${seconds(ns)} ${words}`));
		}
	gantt.select(asked < 0 ? 0 : -1);
	check("nothing is told that nobody expected", asked >= 0 || !byId("task").textContent.includes("the policy expected"));
	await press("Escape");
}

async function testSearch(gantt, run) {
	const input = byId("search");
	input.value = "chain rank 1";
	input.dispatchEvent(new Event("input"));
	await frame();
	const wanted = [...run.start.keys()].filter(i => run.laneRank[run.lane[i]] === 1);
	check("the search finds the tasks of a rank", page.matches.list.length === wanted.length && wanted.every(i => !gantt.faded(i)));
	check("others fade", gantt.faded([...run.start.keys()].find(i => run.laneRank[run.lane[i]] === 0)));
	input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
	await frame();
	check("Enter selects the first match", wanted.includes(gantt.selection));
	input.value = "";
	input.dispatchEvent(new Event("input"));
	await press("Escape");
	const name = document.querySelector("#legend button");
	name.click();
	await frame();
	check("the legend hides a kernel", gantt.faded(0) && name.getAttribute("aria-pressed") === "false");
	name.click();
	byId("show-messages").click();
	await press("0");
	await frame();
	check("messages are drawn", gantt.drawn.arrows === run.messages && gantt.drawn.messages === run.messages);
}

async function testLists(run) {
	const lists = page.lists, draw = (what, rank) => {
		byId("lists-what").value = what;
		byId("lists-rank").value = rank;
		byId("lists-rank").dispatchEvent(new Event("input"));
		return document.querySelectorAll("#lists-plot path.one").length;
	};
	check("every list and the thread can be shown", byId("lists-what").options.length === run.meta.lists.series.length && run.meta.lists.series.length >= 5);
	check("without a rank there are bands only", draw(0, "") === 0 && document.querySelectorAll("#lists-plot path.band").length === 2);
	check("a rank has its line", draw(0, "0") === 1);
	check("there is no such rank, and it is said", draw(0, run.meta.lists.ranks) === 0 && byId("lists-plot").textContent.includes("there is no rank"));
	check("bands are in order", lists.bands(0).every(band => band.every((v, i) => !i || v >= band[i - 1])));
	draw(0, "");
}

// testLinks: of a simulation, the fullest link has its line; either quantity can be shown; values are percents.
async function testLinks(run) {
	const about = run.meta.links, plot = page.linkPlot, choose = (what, one) => {
		byId("links-what").value = what;
		byId("links-one").value = one;
		byId("links-one").dispatchEvent(new Event("change"));
		return document.querySelectorAll("#links-plot path.one").length;
	};
	check("it is said which links there are", byId("links-words").textContent === about.words && about.words.length > 10);
	if (!about.links.length) {
		check("without links there is no plot", !document.querySelector("#links-plot svg"));
		return;
	}
	check("each link can be chosen", byId("links-one").options.length === about.links.length + 1);
	for (const what of [0, 1]) {
		check("without a link there are bands only", choose(what, -1) === 0 && document.querySelectorAll("#links-plot path.band").length === 2);
		check("a link has its line", choose(what, about.links.length - 1) === 1);
		check("bands of links are percents, in order", plot.bands.every(band => band[0] >= 0 && band[4] <= 100 && band.every((v, i) => !i || v >= band[i - 1])));
	}
	const mean = d3.range(about.bins).map(bin => plot.value(0, bin) * Math.max(0, Math.min(about.width_ns, run.span - bin * about.width_ns)));
	check("the line adds up to what the link's name says", Math.abs(d3.sum(mean) / run.span / 100 - about.links[0][2]) < 0.02);
	choose(0, 0);
}

async function testRest(run) {
	check("the window is as wide as it should be", window.innerWidth === asked);
	check("the page is not wider than the window", document.documentElement.scrollWidth <= window.innerWidth);
	const dark = document.documentElement.dataset.theme, back = getComputedStyle(document.body).backgroundColor;
	byId("theme").click();
	await frame();
	check("light and dark", document.documentElement.dataset.theme !== dark && getComputedStyle(document.body).backgroundColor !== back);
	// A browser without a screen has nowhere to put files: what would be in them is looked at.
	window.download = (name, blob) => document.documentElement.dataset.saved = `${name} ${blob.size}`;
	for (const button of document.querySelectorAll("[data-save], [data-plot]")) {
		delete document.documentElement.dataset.saved;
		button.click();
		for (let i = 0; i < 1000 && !document.documentElement.dataset.saved; i++)
			await frame();
		const name = button.dataset.save || button.dataset.plot, saved = document.documentElement.dataset.saved || "";
		check(`${name} is saved (${saved})`, saved.includes(name.replace(" ", ".")) && +saved.split(" ").pop() > 300);
	}
	const compared = page.meta.compare;
	check("all plots are there", document.querySelectorAll(".plot svg").length === (compared ? 7 : 5) + (run.meta.links.links.length ? 1 : 0));
	check("a comparison is shown if there is one", byId("compare").hidden === !compared);
	if (compared) {
		const bars = [...document.querySelectorAll("#compare-parts g.part rect")], longest = compared.parts.map(p => Math.abs(p.seconds));
		check("each part has its bar", bars.length === compared.parts.length && bars.length > 0);
		check("bars are as long as their parts", bars.every((b, i) => Math.abs(b.getAttribute("width") / bars[0].getAttribute("width") - longest[i] / longest[0]) < 1e-6));
		byId("run").value = "1";
		byId("run").dispatchEvent(new Event("change"));
		for (let i = 0; i < 1000 && page.run === run; i++)
			await frame();
		check("the other run can be chosen", page.run !== run && page.run.meta.name === compared.b.name);
		run = page.run;
	}
	await testLists(run);
	await testLinks(run);
	await testMatrix(run);
	check("kernels are listed", document.querySelectorAll("#kernels-table tr").length === run.kernels.length + 1);
	check("the runtime's own time is listed", document.querySelectorAll("#runtime-table tr").length === run.meta.overhead.length && run.meta.overhead.length > 0);
	const covered = run.meta.states.totals_ns.reduce((a, b) => a + b, 0), moves = run.meta.changes.some(c => c[0] === "join" || c[0] === "leave");
	check("states cover the workers while they are there", moves ? covered > 0 && covered < run.lanes * run.span : Math.abs(covered - run.lanes * run.span) < 1);
}

// testMatrix: computers have the sums of all ranks, and so have the phases of each set; each quantity is drawn.
async function testMatrix(run) {
	const about = run.meta.matrix, matrix = page.matrix, choose = (what, level, phase) => {
		for (const [name, value] of [["what", what], ["level", level], ["phase", phase]])
			byId("matrix-" + name).value = value;
		byId("matrix-phase").dispatchEvent(new Event("change"));
	}, sums = () => [d3.sum(matrix.bytes) || 0, d3.sum(matrix.messages) || 0], whole = [about.bytes, about.messages].join();
	check("computers can be chosen where ranks share some", byId("has-hosts").hidden === !about.hosts.length);
	check("phases can be chosen", byId("matrix-phase").options.length === 1 + about.phases.flat().length && about.phases.length > 0);
	for (const level of about.hosts.length ? ["pair", "host"] : ["pair"]) {
		choose("bytes", level, -1);
		check(`the matrix by ${level} has all`, sums().join() === whole);
		let phase = 0;
		for (const labels of about.phases) {
			const added = [0, 0];
			for (const _ of labels) {
				choose("messages", level, phase++);
				sums().forEach((v, i) => { added[i] += v; });
			}
			check(`${labels.length} phases by ${level} add up`, added.join() === whole);
		}
		choose("bandwidth", level, -1);
		const rates = matrix.bytes.map((b, i) => matrix.active[i] ? b / matrix.active[i] * 1e9 : 0), most = d3.max(matrix.cells(Math.min(320, matrix.n))) || 0;
		check(`bandwidths by ${level} are drawn`, matrix.n > 320 || Math.abs(most - (d3.max(rates) || 0)) <= 1e-9 * most);
		check("and their unit is said", byId("matrix-note").textContent.includes("Bandwidth") && byId("matrix-plot").textContent.includes("B/s"));
	}
	choose("bytes", "pair", -1);
}

// testChanges: what changed the run is marked, and told at the pointer.
async function testChanges(gantt, run) {
	const changes = run.meta.changes, box = byId("show-changes");
	check("checkpoints and sizes can be shown if there are some", byId("has-changes").hidden === !changes.length);
	await press("0");
	check("all of them are marked", gantt.drawn.changes === changes.length);
	box.click();
	await frame();
	check("marks can be hidden", !gantt.show.changes && gantt.changeAt(gantt.gutter() + 5, 100) === null);
	box.click();
	await frame();
	for (const change of changes.filter(c => c[0] === "resize" && c[4] > c[3])) {
		const x = gantt.x((change[3] + change[4]) / 2), y = gantt.y(change[1] + 0.5);
		check(`${change[5]} is at its place`, gantt.changeAt(x, y) !== null && gantt.changeAt(x, y)[1] <= change[1]);
	}
	const between = changes.find(c => c[0] === "resize" && c[4] > c[3] && gantt.blockAt(gantt.x((c[3] + c[4]) / 2), gantt.y(c[1] + 0.5)) < 0);
	if (between) {
		await pointer("pointermove", gantt.x((between[3] + between[4]) / 2), gantt.y(between[1] + 0.5));
		check("the pointer tells of it", !byId("tip").hidden && /size|leaves|joins|ranks/.test(byId("tip").textContent));
	}
}

// testMarks: marks and iterations of the program are drawn, and told at the pointer.
async function testMarks(gantt, run) {
	const marks = run.meta.marks, box = byId("show-marks");
	check("marks can be shown if there are some", byId("has-marks").hidden === !marks.length);
	await press("0");
	check("all marks are drawn", gantt.drawn.marks === marks.length);
	for (const mark of marks.slice(0, 20)) {
		const found = gantt.markAt(gantt.x((mark[3] + mark[4]) / 2), gantt.y(mark[1] + 0.5));
		check(`${mark[5]} is at its place`, found !== null && found[4] - found[3] <= mark[4] - mark[3]);
	}
	box.click();
	await frame();
	check("marks of the program can be hidden", !gantt.show.marks && gantt.markAt(gantt.gutter() + 5, 100) === null);
	box.click();
	await frame();
}

// testGaps: where most workers wait is marked over all lanes, and told at the pointer; a chain is a gap.
async function testGaps(gantt, run) {
	const gaps = run.meta.gaps, box = byId("show-gaps"), chain = run.kernels.length === 1 && run.kernels[0].name === "chain";
	check("gaps can be shown if there are some", byId("has-gaps").hidden === !gaps.length);
	check("a chain is a gap", !chain || gaps.length > 0);
	await press("0");
	check("all gaps are marked", gantt.drawn.gaps === gaps.length);
	for (const gap of gaps)
		check(`the gap of ${gap[2]} is at its place`, gantt.gapAt(gantt.x((gap[0] + gap[1]) / 2), 100) === gap);
	if (chain) {
		const x = gantt.x((gaps[0][0] + gaps[0][1]) / 2), lane = [...Array(run.lanes).keys()].find(i => gantt.blockAt(x, gantt.y(i + 0.5)) < 0);
		await pointer("pointermove", x, gantt.y(lane + 0.5));
		check("the pointer tells of a gap", !byId("tip").hidden && byId("tip").textContent.includes("most workers wait") && byId("tip").textContent.includes(gaps[0][2]));
		check("the words before do", byId("explanation").textContent.includes("executed a kernel and all others waited"));
	}
	box.click();
	await frame();
	check("gaps can be hidden", !gantt.show.gaps && gantt.gapAt(gantt.x(run.span / 2), 100) === null);
	box.click();
	await frame();
}

document.addEventListener("report-ready", async () => {
	try {
		const { gantt, run } = page;
		await testZoom(gantt, run);
		await testChanges(gantt, run);
		await testMarks(gantt, run);
		await testGaps(gantt, run);
		await testExpected(gantt, run);
		if (run.kernels.length === 1 && run.kernels[0].name === "chain") {
			await testChain(gantt, run);
			await testSearch(gantt, run);
		}
		await testRest(run);
		said.push("done");
	} catch (error) {
		said.push(`WRONG: ${error.stack}`);
	}
	parent.postMessage(said.join("\n"), "*");
});
