// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What users do with the page: keys, wheel, drags, fingers, buttons; and files that are saved.
// Invariant: what the mouse can do, the keyboard can do.

function themeStored() {
	try { return localStorage.getItem("orrery-theme"); } catch { return null; }
}

function setTheme(name) {
	document.documentElement.dataset.theme = name;
	document.documentElement.style.colorScheme = name;
	try { localStorage.setItem("orrery-theme", name); } catch { /* pages of files may not store */ }
}

class Inputs {
	constructor(page) {
		this.page = page;
		this.pointers = new Map();
	}

	listen() {
		const canvas = byId("gantt"), page = this.page, gantt = page.gantt;
		canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
		for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel", "pointerleave"])
			canvas.addEventListener(kind, event => this.pointer(event));
		canvas.addEventListener("dblclick", event => {
			const i = gantt.blockAt(event.offsetX, event.offsetY);
			if (i >= 0)
				gantt.zoomTo(i);
		});
		canvas.addEventListener("keydown", event => this.key(event));
		document.addEventListener("keydown", event => {
			if (event.key === "/" && !["INPUT", "SELECT"].includes(document.activeElement.tagName)) {
				event.preventDefault();
				byId("search").focus();
			}
		});
		byId("search").addEventListener("input", event => page.search(event.target.value));
		byId("search").addEventListener("keydown", event => {
			if (event.key === "Enter")
				page.goto(event.shiftKey ? -1 : 1);
		});
		for (const name of ["path", "messages", "waits", "changes", "marks", "gaps"])
			byId("show-" + name).addEventListener("change", event => {
				gantt.show[name] = event.target.checked;
				gantt.changed();
			});
		for (const button of document.querySelectorAll("[data-go]"))
			button.addEventListener("click", () => this.go(button.dataset.go));
		for (const button of document.querySelectorAll("[data-save]"))
			button.addEventListener("click", () => saveGantt(gantt, page, button.dataset.save.split(" ")[1]));
		this.listenAround(page);
	}

	listenAround(page) {
		byId("theme").addEventListener("click", () => {
			setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
			page.gantt.changed();
			page.plots();
		});
		byId("help").addEventListener("click", event => {
			byId("keys").hidden = !byId("keys").hidden;
			event.target.setAttribute("aria-expanded", String(!byId("keys").hidden));
		});
		for (const name of ["what", "level", "phase"])
			byId("matrix-" + name).addEventListener("change", () => page.matrix.draw());
		byId("matrix-all").addEventListener("click", () => page.matrix.draw());
		if (page.meta.runs.length > 1) {
			byId("run-choice").hidden = false;
			page.meta.runs.forEach((run, i) => byId("run").append(element("option", { value: i }, run.name)));
			byId("run").addEventListener("change", event => page.start(+event.target.value));
		}
		let width = window.innerWidth;
		window.addEventListener("resize", () => {
			page.gantt.changed();
			if (window.innerWidth !== width)
				page.plots();
			width = window.innerWidth;
		});
	}

	go(where) {
		const gantt = this.page.gantt;
		({ in: () => gantt.zoom(0.5, 1), out: () => gantt.zoom(2, 1), taller: () => gantt.zoom(1, 0.5), flatter: () => gantt.zoom(1, 2),
			all: () => gantt.all(), next: () => this.page.goto(1), previous: () => this.page.goto(-1) })[where]();
	}

	key(event) {
		const gantt = this.page.gantt, run = this.page.run, i = gantt.selection;
		const neighbour = step => {
			const next = i + step;
			if (i >= 0 && next >= 0 && next < run.blocks && run.lane[next] === run.lane[i])
				gantt.select(next);
		};
		const follow = (nodes, further) => {
			// Through messages to the task behind them.
			const blocks = [];
			for (const node of nodes)
				blocks.push(...(node < run.blocks ? [node] : further(node).filter(n => n < run.blocks)));
			return blocks;
		};
		const actions = {
			ArrowLeft: () => gantt.move(-0.2, 0), ArrowRight: () => gantt.move(0.2, 0), ArrowUp: () => gantt.move(0, -0.2), ArrowDown: () => gantt.move(0, 0.2),
			"+": () => gantt.zoom(0.5, 1), "=": () => gantt.zoom(0.5, 1), "-": () => gantt.zoom(2, 1), ">": () => gantt.zoom(1, 0.5), "<": () => gantt.zoom(1, 2),
			0: () => gantt.all(), Home: () => gantt.all(), Escape: () => gantt.select(-1), n: () => this.page.goto(1), p: () => this.page.goto(-1),
			"[": () => neighbour(-1), "]": () => neighbour(1), z: () => i >= 0 && gantt.zoomTo(i),
			a: () => {
				const found = i >= 0 ? follow(run.causesOf(i), node => [...run.causesOf(node)]) : [];
				if (found.length)
					gantt.select(found.reduce((best, b) => run.end[b] > run.end[best] ? b : best));
			},
			d: () => {
				const found = i >= 0 ? follow(run.effectsOf(i), node => [...run.effectsOf(node)]) : [];
				if (found.length)
					gantt.select(found.reduce((best, b) => run.start[b] < run.start[best] ? b : best));
			},
		};
		if (actions[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			actions[event.key]();
		}
	}

	wheel(event) {
		event.preventDefault();
		const gantt = this.page.gantt, factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY * 0.002)));
		if (event.shiftKey)
			gantt.move(0, (event.deltaY || event.deltaX) * 0.0007);
		else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			gantt.move(event.deltaX * 0.001, 0);
		else
			gantt.zoom(factor, event.ctrlKey ? factor : 1, event.offsetX, event.offsetY);
	}

	// pointer: one moves, or draws a box with Shift; two zoom; a click selects.
	pointer(event) {
		const gantt = this.page.gantt, at = { x: event.offsetX, y: event.offsetY }, before = this.pointers.get(event.pointerId);
		if (event.type === "pointerdown") {
			event.target.setPointerCapture(event.pointerId);
			this.pointers.set(event.pointerId, at);
			this.drag = { start: at, moved: false, box: event.shiftKey, multiple: this.pointers.size > 1 || (this.drag && this.drag.multiple && this.pointers.size > 1) };
		} else if (event.type === "pointermove" && before) {
			this.dragTo(event.pointerId, before, at);
		} else if (event.type === "pointermove") {
			this.hover(at);
		} else if (before) {
			this.pointers.delete(event.pointerId);
			if (event.type === "pointerup" && !this.drag.multiple && !this.pointers.size)
				this.release(at);
		} else {
			byId("tip").hidden = true;
		}
	}

	dragTo(id, before, at) {
		const gantt = this.page.gantt, v = gantt.view, wide = gantt.width - gantt.gutter(), high = gantt.height - gantt.top();
		this.drag.moved = this.drag.moved || Math.hypot(at.x - this.drag.start.x, at.y - this.drag.start.y) > 4;
		if (this.pointers.size === 2) {
			const other = [...this.pointers].find(([key]) => key !== id)[1], spread = (a, b) => Math.max(30, Math.hypot(a.x - b.x, a.y - b.y));
			gantt.zoom(spread(before, other) / spread(at, other), spread(before, other) / spread(at, other), other.x, other.y);
		} else if (this.drag.moved && !this.drag.box) {
			const t = (at.x - before.x) / wide * (v.t1 - v.t0), y = (at.y - before.y) / high * (v.y1 - v.y0);
			gantt.place(v.t0 - t, v.t1 - t, v.y0 - y, v.y1 - y);
		}
		this.pointers.set(id, at);
	}

	release(at) {
		const gantt = this.page.gantt, start = this.drag.start;
		if (!this.drag.moved)
			gantt.select(gantt.blockAt(at.x, at.y));
		else if (this.drag.box)
			gantt.place(Math.min(gantt.time(start.x), gantt.time(at.x)), Math.max(gantt.time(start.x), gantt.time(at.x)),
				Math.min(gantt.lane(start.y), gantt.lane(at.y)), Math.max(gantt.lane(start.y), gantt.lane(at.y)));
	}

	hover(at) {
		const gantt = this.page.gantt, run = this.page.run, tip = byId("tip"), i = gantt.blockAt(at.x, at.y);
		const change = i < 0 ? gantt.changeAt(at.x, at.y) || gantt.markAt(at.x, at.y) : null;
		const gap = i < 0 && !change ? gantt.gapAt(at.x, at.y) : null;
		tip.hidden = i < 0 && !change && !gap;
		if (tip.hidden)
			return;
		if (gap)
			tip.textContent = `most workers wait for ${seconds(gap[1] - gap[0])} from ${seconds(gap[0], 7)}: ${gap[2]}`;
		else if (change)
			tip.textContent = `${change[5]}: ${seconds(change[4] - change[3])} from ${seconds(change[3], 7)}, rank ${run.laneRank[change[1]]}`;
		else
			this.tellBlock(tip, i);
		tip.style.left = `${Math.max(0, Math.min(at.x + 12, gantt.width - 230))}px`;
		tip.style.top = `${at.y > gantt.height - 70 ? at.y - 60 : at.y + 16}px`;
	}

	tellBlock(tip, i) {
		const run = this.page.run;
		const what = run.count[i] > 1 ? `${run.count[i]} tasks, mostly ${run.kernels[run.kernel[i]].name}` : `${run.kernels[run.kernel[i]].name} ${run.number[i]}`;
		tip.textContent = `${what}: ${seconds(run.end[i] - run.start[i])} from ${seconds(run.start[i], 7)}, rank ${run.laneRank[run.lane[i]]}, ${run.laneName(run.lane[i])}`;
	}
}

// Files. Each has the title, the memo and a line about the machine.
function download(name, blob) {
	const link = element("a", { href: URL.createObjectURL(blob), download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// captioned: a copy of a plot with lines of text above it.
function captioned(svg, caption) {
	const copy = svg.cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number), above = 18 * caption.length + 6;
	const outer = document.createElementNS("http://www.w3.org/2000/svg", "svg"), back = getComputedStyle(document.documentElement).getPropertyValue("--back");
	const set = (node, attributes) => Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
	set(outer, { xmlns: "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink", width, height: height + above, viewBox: `0 0 ${width} ${height + above}` });
	const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
	set(rect, { width, height: height + above, fill: back });
	outer.append(rect);
	caption.forEach((line, i) => {
		const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
		set(text, { x: 8, y: 16 + 18 * i, "font-family": "sans-serif", "font-size": i ? 11 : 14, fill: svg.getAttribute("fill") });
		text.textContent = line;
		outer.append(text);
	});
	set(copy, { y: above, width, height });
	outer.append(copy);
	return outer;
}

function savePlot(svg, name, kind, caption) {
	const outer = captioned(svg, caption), text = new XMLSerializer().serializeToString(outer);
	if (kind === "svg") {
		download(name + ".svg", new Blob([text], { type: "image/svg+xml" }));
		return;
	}
	const image = new Image();
	image.onload = () => {
		const canvas = element("canvas", { width: 2 * outer.getAttribute("width"), height: 2 * outer.getAttribute("height") });
		canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
		canvas.toBlob(blob => download(name + ".png", blob));
	};
	image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

// SvgContext: as much of a canvas' context as the Gantt chart uses, which writes SVG.
class SvgContext {
	constructor() {
		this.parts = [];
		this.stack = [];
		this.globalAlpha = 1;
		this.lineWidth = 1;
		this.clipped = 0;
	}
	setTransform() {}
	set(name, value) { return ` ${name}="${String(value).replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;")}"`; }
	alpha() { return this.globalAlpha < 1 ? this.set("opacity", this.globalAlpha) : ""; }
	number(x) { return Math.round(x * 100) / 100; }
	fillRect(x, y, w, h) {
		this.parts.push(`<rect x="${this.number(x)}" y="${this.number(y)}" width="${this.number(Math.max(0, w))}" height="${this.number(Math.max(0, h))}"${this.set("fill", this.fillStyle)}${this.alpha()}/>`);
	}
	strokeRect(x, y, w, h) {
		this.parts.push(`<rect x="${this.number(x)}" y="${this.number(y)}" width="${this.number(w)}" height="${this.number(h)}" fill="none"${this.set("stroke", this.strokeStyle)} stroke-width="${this.lineWidth}"/>`);
	}
	fillText(text, x, y) {
		const words = text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
		this.parts.push(`<text x="${this.number(x)}" y="${this.number(y + 4)}" font-size="11" font-family="sans-serif"${this.set("fill", this.fillStyle)}${this.alpha()}>${words}</text>`);
	}
	beginPath() { this.line = ""; }
	moveTo(x, y) { this.line += `M${this.number(x)} ${this.number(y)}`; }
	lineTo(x, y) { this.line += `L${this.number(x)} ${this.number(y)}`; }
	rect(x, y, w, h) { this.box = [x, y, w, h].map(v => this.number(v)); }
	stroke() {
		if (this.line)
			this.parts.push(`<path d="${this.line}" fill="none"${this.set("stroke", this.strokeStyle)} stroke-width="${this.lineWidth}"${this.alpha()}/>`);
	}
	clip() {
		const [x, y, w, h] = this.box, id = `clip${++this.clipped}`;
		this.parts.push(`<clipPath id="${id}"><rect x="${x}" y="${y}" width="${w}" height="${h}"/></clipPath><g clip-path="url(#${id})">`);
		this.open = true;
	}
	save() { this.stack.push([this.globalAlpha, this.lineWidth, this.strokeStyle, this.fillStyle]); }
	restore() {
		[this.globalAlpha, this.lineWidth, this.strokeStyle, this.fillStyle] = this.stack.pop();
		if (this.open)
			this.parts.push("</g>");
		this.open = false;
	}
	drawImage(canvas, x, y, w, h) {
		this.parts.push(`<image x="${x}" y="${y}" width="${w}" height="${h}" preserveAspectRatio="none" href="${canvas.toDataURL()}"/>`);
	}
}

function saveGantt(gantt, page, kind) {
	const ctx = new SvgContext();
	gantt.draw(ctx, gantt.width, gantt.height, 1);
	const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${gantt.width}" height="${gantt.height}" viewBox="0 0 ${gantt.width} ${gantt.height}"></svg>`;
	const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
	svg.setAttribute("fill", gantt.theme.text);
	svg.innerHTML = ctx.parts.join("");
	savePlot(svg, page.fileName("gantt"), kind, page.caption());
	gantt.changed();
}

main();
