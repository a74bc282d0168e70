// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The Gantt chart: lanes of workers downwards, time to the right.
// Invariant: where lanes or tasks are smaller than a pixel, a pixel has the mean of the
// colours of what it stands for, as strong as the square root of the share of it that
// tasks have, so that no task vanishes and little work can be seen.

const GUTTER = 92, AXIS = 24, STRIP = 10, TALL = 3;   // pixels: labels, times, the critical path; lanes that are drawn singly
const MOST_ARROWS = 4000;

class Gantt {
	constructor(canvas, colours, tell) {
		this.canvas = canvas;
		this.colours = colours;   // of kernels and states: page.js
		this.tell = tell;         // what to do when something is selected or moved
		this.show = { path: true, messages: false, waits: false, changes: true, marks: true, gaps: true };
		this.pending = false;
	}

	load(run) {
		this.run = run;
		this.hidden = new Uint8Array(run.kernels.length);
		this.selection = -1;
		this.related = this.match = null;
		this.all();
	}

	all() {
		this.view = { t0: 0, t1: this.run.span, y0: 0, y1: Math.max(1, this.run.lanes) };
		this.changed();
	}

	// changed: draws soon, once.
	changed() {
		if (this.pending)
			return;
		this.pending = true;
		requestAnimationFrame(() => {
			this.pending = false;
			this.fit();
			this.draw(this.canvas.getContext("2d"), this.width, this.height, this.ratio);
			this.tell.moved();
		});
	}

	fit() {
		this.ratio = Math.min(2, window.devicePixelRatio || 1);
		this.width = Math.max(200, this.canvas.clientWidth);
		this.height = Math.max(120, this.canvas.clientHeight);
		if (this.canvas.width !== Math.round(this.width * this.ratio) || this.canvas.height !== Math.round(this.height * this.ratio)) {
			this.canvas.width = Math.round(this.width * this.ratio);
			this.canvas.height = Math.round(this.height * this.ratio);
		}
	}

	// Places.
	gutter() { return this.width < 600 ? 58 : GUTTER; }
	top() { return AXIS + STRIP; }
	x(time) { return this.gutter() + (time - this.view.t0) / (this.view.t1 - this.view.t0) * (this.width - this.gutter()); }
	y(lane) { return this.top() + (lane - this.view.y0) / (this.view.y1 - this.view.y0) * (this.height - this.top()); }
	time(x) { return this.view.t0 + (x - this.gutter()) / (this.width - this.gutter()) * (this.view.t1 - this.view.t0); }
	lane(y) { return this.view.y0 + (y - this.top()) / (this.height - this.top()) * (this.view.y1 - this.view.y0); }
	laneHeight() { return (this.height - this.top()) / (this.view.y1 - this.view.y0); }
	rankY(rank) {
		const first = this.run.rankLane.get(rank);
		return first === undefined ? -1 : this.y(first + this.run.rankLanes.get(rank) / 2);
	}

	blockAt(x, y) {
		const lane = Math.floor(this.lane(y));
		if (lane < 0 || lane >= this.run.lanes || x < this.gutter() || y < this.top())
			return -1;
		const slack = (this.view.t1 - this.view.t0) / this.width, time = this.time(x);
		const i = this.run.blockAt(lane, time);
		if (i >= 0)
			return i;
		const next = this.run.firstIn(lane, time);   // a task that is narrower than the pointer
		return next < this.run.laneFirst[lane + 1] && this.run.start[next] - time < 2 * slack ? next : -1;
	}

	// Moves: all of them keep the view inside of the run.
	place(t0, t1, y0, y1) {
		const run = this.run, least = Math.max(1, Math.min(10, run.span));
		const span = Math.min(Math.max(t1 - t0, least), run.span), rows = Math.min(Math.max(y1 - y0, 1), Math.max(1, run.lanes));
		const begin = Math.min(Math.max(t0, 0), run.span - span), top = Math.min(Math.max(y0, 0), Math.max(1, run.lanes) - rows);
		this.view = { t0: begin, t1: begin + span, y0: top, y1: top + rows };
		this.changed();
	}

	zoom(factor, lanes, x, y) {
		const v = this.view;
		const t = x === undefined ? (v.t0 + v.t1) / 2 : this.time(x), l = y === undefined ? (v.y0 + v.y1) / 2 : this.lane(y);
		this.place(t - (t - v.t0) * factor, t + (v.t1 - t) * factor, l - (l - v.y0) * lanes, l + (v.y1 - l) * lanes);
	}

	move(dt, dy) {
		const v = this.view, t = dt * (v.t1 - v.t0), y = dy * (v.y1 - v.y0);
		this.place(v.t0 + t, v.t1 + t, v.y0 + y, v.y1 + y);
	}

	// zoomTo: a block, with some of what is around it.
	zoomTo(i) {
		const run = this.run, length = Math.max(1, run.end[i] - run.start[i]);
		const lanes = Math.min(run.lanes, Math.max(4, Math.min(this.view.y1 - this.view.y0, 24)));
		this.place(run.start[i] - 3 * length, run.end[i] + 3 * length, run.lane[i] - lanes / 2, run.lane[i] + lanes / 2);
	}

	// bringIn: moves just as much as is needed to see a block.
	bringIn(i) {
		const run = this.run, v = this.view, span = v.t1 - v.t0, rows = v.y1 - v.y0;
		const inside = run.start[i] >= v.t0 && run.end[i] <= v.t1 && run.lane[i] >= v.y0 && run.lane[i] + 1 <= v.y1;
		if (!inside) {
			const t = (run.start[i] + run.end[i]) / 2;
			this.place(t - span / 2, t + span / 2, run.lane[i] + 0.5 - rows / 2, run.lane[i] + 0.5 + rows / 2);
		}
		this.changed();
	}

	select(i) {
		this.selection = i;
		this.related = i >= 0 && this.run.count[i] === 1 ? this.run.related(i) : null;
		this.tell.selected(i);
		if (i >= 0)
			this.bringIn(i);
		this.changed();
	}

	// faded: whether a block stands back behind what was selected, searched or filtered.
	faded(i) {
		if (this.hidden[this.run.kernel[i]])
			return true;
		if (this.related)
			return !this.related.mark[i];
		return this.match !== null && !this.match[i];
	}

	// Drawing.
	draw(ctx, width, height, ratio) {
		this.theme = this.colours.theme();
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.fillStyle = this.theme.back;
		ctx.fillRect(0, 0, width, height);
		this.drawn = { tasks: 0, messages: 0, arrows: 0 };
		if (this.laneHeight() >= TALL)
			this.drawLanes(ctx);
		else
			this.drawMean(ctx, ratio);
		if (this.show.gaps)
			this.drawGaps(ctx);
		if (this.show.changes)
			this.drawn.changes = this.drawSpans(ctx, this.run.meta.changes, 0.22);
		if (this.show.marks)
			this.drawn.marks = this.drawSpans(ctx, this.run.meta.marks, 0);
		if (this.show.messages)
			this.drawMessages(ctx);
		if (this.show.path)
			this.drawPath(ctx);
		if (this.selection >= 0)
			this.drawSelection(ctx);
		this.drawFrame(ctx, width, height);
	}

	visibleLanes() {
		return [Math.max(0, Math.floor(this.view.y0)), Math.min(this.run.lanes, Math.ceil(this.view.y1))];
	}

	// waitBefore: [from, to, state] of what a worker did before block i.
	waits(i, lane) {
		const run = this.run, before = i > run.laneFirst[lane] ? run.end[i - 1] : run.laneBegin[lane];
		const fetched = Math.max(before, run.start[i] - run.fetch[i]);
		const ready = Math.min(Math.max(before, run.ready[i] || before), fetched);
		const state = ["program", "task", "message"][run.cause[i]] || "program";
		return [[before, ready, state], [ready, fetched, "runtime"], [fetched, run.start[i], "fetching"]];
	}

	// drawLanes: a rectangle for each block; blocks that would be narrower than a pixel share one.
	drawLanes(ctx) {
		const run = this.run, v = this.view, h = this.laneHeight(), pad = h > 8 ? 1 : 0;
		const [from, to] = this.visibleLanes();
		ctx.font = "11px system-ui, sans-serif";
		ctx.textBaseline = "middle";
		for (let lane = from; lane < to; lane++) {
			const y = this.y(lane) + pad;
			let until = -1;
			for (let i = run.firstIn(lane, v.t0); i < run.laneFirst[lane + 1]; i++) {
				if (this.show.waits && run.count[i] === 1)
					for (const [a, b, state] of this.waits(i, lane))
						if (b > a && b > v.t0 && a < v.t1) {
							ctx.fillStyle = this.colours.state(state);
							const x = Math.max(this.gutter(), this.x(a));
							ctx.fillRect(x, y + h * 0.35, Math.max(0.3, this.x(b) - x), h * 0.3);
						}
				if (run.start[i] > v.t1)
					break;
				const x0 = Math.max(this.gutter(), this.x(run.start[i])), x1 = Math.max(x0 + 0.6, this.x(run.end[i]));
				if (x1 <= until + 0.3)
					continue;
				this.drawBlock(ctx, i, x0, x1, y, h - 2 * pad);
				until = x1;
			}
		}
	}

	drawBlock(ctx, i, x0, x1, y, h) {
		const run = this.run;
		ctx.globalAlpha = this.faded(i) ? 0.12 : 1;
		ctx.fillStyle = this.colours.kernel(run.kernel[i]);
		const share = run.count[i] > 1 ? Math.min(1, run.busy[i] / Math.max(1, run.end[i] - run.start[i])) : 1;
		ctx.fillRect(x0, y + h * (1 - share) / 2, x1 - x0, h * share);
		this.drawn.tasks++;
		if (run.unfinished[i]) {
			ctx.fillStyle = this.theme.path;
			ctx.fillRect(x1 - 2, y, 2, h);
		}
		if (h >= 11 && x1 - x0 > 26) {
			const text = run.count[i] > 1 ? run.count[i] + " tasks" : run.kernels[run.kernel[i]].name;
			const room = Math.floor((x1 - x0 - 6) / 6.2);
			if (room >= 2) {
				ctx.fillStyle = "#fff";
				ctx.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, x0 + 3, y + h / 2);
			}
		}
		ctx.globalAlpha = 1;
	}

	// drawMean: colours are added up in an array of pixels, each with the share of the pixel that it has.
	drawMean(ctx, ratio) {
		const run = this.run, v = this.view, left = this.gutter(), top = this.top();
		const w = Math.max(1, Math.floor(this.width - left)), rows = Math.max(1, Math.floor(this.height - top));
		const sum = new Float32Array(w * rows * 4), scale = w / (v.t1 - v.t0), lh = rows / (v.y1 - v.y0);
		const kernels = run.kernels.map((k, i) => this.colours.rgb(this.colours.kernel(i)));
		const add = (lane, a, b, [r, g, bl], strength) => {
			const x0 = Math.max(0, (a - v.t0) * scale), x1 = Math.min(w, (b - v.t0) * scale);
			const y0 = Math.max(0, (lane - v.y0) * lh), y1 = Math.min(rows, (lane + 1 - v.y0) * lh);
			for (let row = Math.floor(y0); row < y1; row++) {
				const part = (Math.min(row + 1, y1) - Math.max(row, y0)) * strength;
				for (let x = Math.floor(x0); x < x1; x++) {
					const weight = part * (Math.min(x + 1, x1) - Math.max(x, x0)), at = (row * w + x) * 4;
					sum[at] += r * weight;
					sum[at + 1] += g * weight;
					sum[at + 2] += bl * weight;
					sum[at + 3] += weight;
				}
			}
		};
		const states = this.show.waits ? {} : null, [from, to] = this.visibleLanes();
		for (const state of states ? ["fetching", "runtime", "message", "program", "task"] : [])
			states[state] = this.colours.rgb(this.colours.state(state));
		for (let lane = from; lane < to; lane++)
			for (let i = run.firstIn(lane, v.t0); i < run.laneFirst[lane + 1]; i++) {
				if (states && run.count[i] === 1)
					for (const [a, b, state] of this.waits(i, lane))
						if (b > a)
							add(lane, a, b, states[state], 0.5);
				if (run.start[i] > v.t1)
					break;
				const share = run.count[i] > 1 ? Math.min(1, run.busy[i] / Math.max(1, run.end[i] - run.start[i])) : 1;
				add(lane, run.start[i], run.end[i], kernels[run.kernel[i]], share * (this.faded(i) ? 0.1 : 1));
				this.drawn.tasks++;
			}
		this.putPixels(ctx, sum, w, rows, left, top, ratio);
	}

	putPixels(ctx, sum, w, rows, left, top) {
		const image = new ImageData(w, rows), out = image.data, [r, g, b] = this.colours.rgb(this.theme.back);
		for (let i = 0; i < w * rows; i++) {
			const weight = sum[i * 4 + 3], strong = Math.sqrt(Math.min(1, weight)), rest = 1 - strong, scale = weight > 0 ? strong / weight : 0;
			out[i * 4] = sum[i * 4] * scale + r * rest;
			out[i * 4 + 1] = sum[i * 4 + 1] * scale + g * rest;
			out[i * 4 + 2] = sum[i * 4 + 2] * scale + b * rest;
			out[i * 4 + 3] = 255;
		}
		const buffer = document.createElement("canvas");
		buffer.width = w;
		buffer.height = rows;
		buffer.getContext("2d").putImageData(image, 0, 0);
		ctx.imageSmoothingEnabled = false;
		ctx.drawImage(buffer, left, top, this.width - left, this.height - top);
	}

	arrow(ctx, x0, y0, x1, y1) {
		ctx.beginPath();
		ctx.moveTo(x0, y0);
		ctx.lineTo(x1, y1);
		const angle = Math.atan2(y1 - y0, x1 - x0);
		if (Math.hypot(x1 - x0, y1 - y0) > 12)
			for (const turn of [2.75, -2.75]) {
				ctx.moveTo(x1, y1);
				ctx.lineTo(x1 + 6 * Math.cos(angle + turn), y1 + 6 * Math.sin(angle + turn));
			}
		ctx.stroke();
	}

	drawMessage(ctx, j) {
		const run = this.run, came = isNaN(run.mCame[j]) ? run.span : run.mCame[j];
		this.arrow(ctx, this.x(run.mSend[j]), this.rankY(run.mSender[j]), this.x(came), this.rankY(run.mReceiver[j]));
		this.drawn.arrows++;
	}

	// drawMessages: those in view; if they are too many, the largest ones.
	drawMessages(ctx) {
		const run = this.run, v = this.view, found = [];
		const inside = rank => {
			const lane = run.rankLane.get(rank);
			return lane !== undefined && lane + run.rankLanes.get(rank) > v.y0 && lane < v.y1;
		};
		for (let j = 0; j < run.messages; j++)
			if (run.mSend[j] < v.t1 && !(run.mCame[j] < v.t0) && (inside(run.mSender[j]) || inside(run.mReceiver[j]))
			    && (!this.related || this.related.mark[run.blocks + j]))
				found.push(j);
		this.drawn.messages = found.length;
		if (found.length > MOST_ARROWS) {
			found.sort((a, b) => run.mBytes[b] - run.mBytes[a] || a - b);
			found.length = MOST_ARROWS;
		}
		ctx.save();
		this.clip(ctx);
		ctx.strokeStyle = this.theme.text;
		ctx.lineWidth = 0.8;
		ctx.globalAlpha = found.length > 500 ? 0.15 : 0.5;
		for (const j of found)
			this.drawMessage(ctx, j);
		ctx.restore();
	}

	clip(ctx) {
		ctx.beginPath();
		ctx.rect(this.gutter(), this.top(), this.width - this.gutter(), this.height - this.top());
		ctx.clip();
	}

	// drawGaps: a light veil with a bar at its top over all lanes, when few workers or none executed a kernel and all others waited.
	drawGaps(ctx) {
		const v = this.view, high = this.height - this.top();
		ctx.save();
		this.clip(ctx);
		ctx.fillStyle = GAP_COLOUR;
		this.drawn.gaps = 0;
		for (const [first, last] of this.run.meta.gaps) {
			if (last < v.t0 || first > v.t1)
				continue;
			const x0 = this.x(first), width = Math.max(1, this.x(last) - x0);
			ctx.globalAlpha = 0.08;
			ctx.fillRect(x0, this.top(), width, high);
			ctx.globalAlpha = 0.9;
			ctx.fillRect(x0, this.top(), width, 3);
			this.drawn.gaps++;
		}
		ctx.restore();
	}

	// gapAt: the gap at that place, or null; gaps do not overlap.
	gapAt(x, y) {
		const time = this.time(x);
		return this.show.gaps && x >= this.gutter() && y >= this.top() && this.run.meta.gaps.find(g => time >= g[0] && time <= g[1]) || null;
	}

	// drawSpans: lines at the begin and the end of what changed the run, or the program marked, over the lanes of its process, a veil
	// between them, and a word if there is room. How many were drawn.
	drawSpans(ctx, spans, veil) {
		const v = this.view;
		let drawn = 0;
		ctx.save();
		this.clip(ctx);
		ctx.font = "11px system-ui, sans-serif";
		ctx.textBaseline = "top";
		for (const [what, lane, lanes, first, last, words] of spans) {
			if (last < v.t0 || first > v.t1 || lane > v.y1 || lane + lanes < v.y0)
				continue;
			const x0 = this.x(first), x1 = Math.max(x0 + 1, this.x(last)), y0 = this.y(lane), y1 = this.y(lane + lanes);
			ctx.fillStyle = this.colours.change(what);
			ctx.globalAlpha = veil;
			ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
			ctx.globalAlpha = 0.9;
			ctx.fillRect(x0, y0, 1, y1 - y0);
			ctx.fillRect(x1 - 1, y0, 1, y1 - y0);
			if (y1 - y0 >= 11 && x1 - x0 > 6.2 * words.length + 6) {
				ctx.fillStyle = this.theme.text;
				ctx.fillText(words, Math.max(x0, this.gutter()) + 3, y0 + 1);
			}
			drawn++;
		}
		ctx.restore();
		return drawn;
	}

	// changeAt, markAt: the shortest change, mark or iteration at that place, or null.
	changeAt(x, y) { return this.show.changes ? this.spanAt(this.run.meta.changes, x, y) : null; }

	markAt(x, y) { return this.show.marks ? this.spanAt(this.run.meta.marks, x, y) : null; }

	spanAt(spans, x, y) {
		const lane = this.lane(y), time = this.time(x), slack = 2 * (this.view.t1 - this.view.t0) / this.width;
		if (x < this.gutter() || y < this.top())
			return null;
		return spans.filter(c => lane >= c[1] && lane < c[1] + c[2] && time >= c[3] - slack && time <= c[4] + slack)
			.sort((a, b) => a[4] - a[3] - b[4] + b[3])[0] || null;
	}

	// drawPath: a line through the pieces of the critical path, and a strip with all of them.
	drawPath(ctx) {
		const run = this.run, v = this.view, h = this.laneHeight();
		let last = null;
		for (const piece of run.path) {
			if (piece.last >= v.t0 && piece.first <= v.t1) {
				const x = Math.max(this.gutter(), this.x(piece.first)), end = Math.max(x, this.x(piece.last));
				ctx.fillStyle = this.colours.piece(piece);
				ctx.fillRect(x, AXIS, Math.max(0.3, end - x), STRIP - 2);
			}
		}
		ctx.save();
		this.clip(ctx);
		ctx.strokeStyle = this.theme.path;
		ctx.lineWidth = h >= TALL ? 2 : 1.4;
		ctx.beginPath();
		for (const piece of run.path) {
			const lane = piece.lane >= 0 ? piece.lane + 0.5 : run.rankLane.has(piece.rank) ? run.rankLane.get(piece.rank) + run.rankLanes.get(piece.rank) / 2 : -1;
			if (piece.kind !== "kernel" || lane < 0)
				continue;
			const y = this.y(lane) + (h > 14 ? h * 0.36 : 0);
			if (last !== null && piece.last >= v.t0 && last.time <= v.t1) {
				ctx.moveTo(this.x(last.time), last.y);
				ctx.lineTo(this.x(piece.first), y);
			}
			if (piece.last >= v.t0 && piece.first <= v.t1) {
				ctx.moveTo(this.x(piece.first), y);
				ctx.lineTo(this.x(piece.last), y);
			}
			last = { time: piece.last, y };
		}
		ctx.stroke();
		ctx.restore();
	}

	// drawSelection: the block, what it waited for and what waited for it, with arrows.
	drawSelection(ctx) {
		const run = this.run, i = this.selection;
		const x0 = this.x(run.start[i]), x1 = Math.max(x0 + 2, this.x(run.end[i])), h = Math.max(3, this.laneHeight());
		ctx.save();
		this.clip(ctx);
		ctx.strokeStyle = this.theme.text;
		ctx.lineWidth = 2;
		ctx.strokeRect(x0, this.y(run.lane[i]), x1 - x0, h);
		if (this.related) {
			ctx.lineWidth = 1.3;
			ctx.strokeStyle = this.theme.accent;
			for (const node of run.causesOf(i))
				this.drawEdge(ctx, node, i);
			ctx.strokeStyle = this.theme.path;
			for (const node of run.effectsOf(i))
				this.drawEdge(ctx, i, node);
		}
		ctx.restore();
	}

	// drawEdge: from a cause to its effect; a message is an arrow of its own.
	drawEdge(ctx, from, to) {
		const run = this.run, nb = run.blocks, middle = i => this.y(run.lane[i] + 0.5);
		if (from >= nb) {
			this.drawMessage(ctx, from - nb);
			if (to < nb)
				this.arrow(ctx, this.x(run.mRecv[from - nb] || run.mCame[from - nb]), this.rankY(run.mReceiver[from - nb]), this.x(run.start[to]), middle(to));
		} else if (to >= nb) {
			this.drawMessage(ctx, to - nb);
			this.arrow(ctx, this.x(run.end[from]), middle(from), this.x(run.mSend[to - nb]), this.rankY(run.mSender[to - nb]));
		} else {
			this.arrow(ctx, this.x(run.end[from]), middle(from), this.x(run.start[to]), middle(to));
		}
	}

	// drawFrame: times above, ranks and workers at the left.
	drawFrame(ctx, width, height) {
		const v = this.view, left = this.gutter();
		ctx.fillStyle = this.theme.panel;
		ctx.fillRect(0, 0, width, AXIS);
		ctx.fillRect(0, AXIS, left, height - AXIS);
		ctx.fillStyle = this.theme.text;
		ctx.font = "11px system-ui, sans-serif";
		ctx.textBaseline = "middle";
		const scale = d3.scale.linear().domain([v.t0 * 1e-9, v.t1 * 1e-9]).range([left, width]);
		const ticks = Math.max(2, Math.floor((width - left) / 110)), words = timeFormat(v.t0 * 1e-9, v.t1 * 1e-9, ticks);
		for (const tick of scale.ticks(ticks)) {
			const x = scale(tick), text = words(tick);
			ctx.fillRect(x, AXIS - 5, 1, 5);
			if (x + 6.3 * text.length < width)
				ctx.fillText(text, x + 3, AXIS / 2);
		}
		if (this.show.path)
			ctx.fillText("path", 4, AXIS + STRIP / 2 - 1);
		this.drawLabels(ctx, left, height);
	}

	drawLabels(ctx, left, height) {
		const run = this.run, h = this.laneHeight(), [from, to] = this.visibleLanes();
		let until = this.top() - 4;
		for (let lane = from; lane < to;) {
			const rank = run.laneRank[lane], first = run.rankLane.get(rank), lanes = run.rankLanes.get(rank);
			const each = h >= 12 && lanes > 1;
			const y = each ? this.y(lane) + h / 2 : Math.max(this.top() + 6, this.y(first) + Math.min(lanes * h, 14) / 2);
			if (y >= until + 7 && y < height - 4) {
				const text = each ? "r" + rank + " " + run.laneName(lane).replace(" of process ", " p") : "rank " + rank;
				ctx.fillText(text.slice(0, Math.floor((left - 6) / 5.6)), 4, y);
				until = y + 6;
			}
			lane = each ? lane + 1 : first + lanes;
		}
	}
}
