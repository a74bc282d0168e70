// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The data of a run: what tools/orrery_report_data.py packed, as typed arrays.
// Invariant: nodes of the graph are blocks 0 to nb - 1, then messages; times are
// nanoseconds since the first event of the run.

async function inflate(text) {
	if (typeof DecompressionStream === "undefined")
		throw new Error("this browser cannot unpack the data of this page; use one of 2023 or later");
	const characters = atob(text), bytes = new Uint8Array(characters.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = characters.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// unpack: an array of numbers, seven bits in each byte; most of them have one or two.
function unpack(bytes, [kind, n, offset, size]) {
	const found = new Float64Array(n), signed = kind === "z";
	let at = offset;
	for (let i = 0; i < n; i++) {
		let byte = bytes[at++], value = byte & 127, shift = 7;
		while (byte & 128 && shift < 28) {
			byte = bytes[at++];
			value |= (byte & 127) << shift;
			shift += 7;
		}
		if (byte & 128) {   // more than 28 bits: no integers of the processor
			let scale = 2 ** 28;
			do {
				byte = bytes[at++];
				value += (byte & 127) * scale;
				scale *= 128;
			} while (byte & 128);
			found[i] = !signed ? value : value % 2 ? -(value + 1) / 2 : value / 2;
		} else {
			found[i] = signed ? (value >>> 1) ^ -(value & 1) : value;
		}
	}
	if (at !== offset + size)
		throw new Error("the data of this page are damaged");
	return found;
}

// offsets: where each of the groups of these sizes begins.
function offsets(counts) {
	const first = new Uint32Array(counts.length + 1);
	for (let i = 0; i < counts.length; i++)
		first[i + 1] = first[i] + counts[i];
	return first;
}

class RunData {
	constructor(meta, bytes) {
		this.meta = meta;
		this.get = name => unpack(bytes, meta.parts[name]);
		this.span = Math.max(1, meta.span_ns);
		this.kernels = meta.kernels;
		this.messages = meta.parts.m_send[1];
		this.readLanes();
		this.readBlocks();
		this.nodes = this.blocks + this.messages;
		this.readPath();
	}

	// once: what is read when it is needed first, so that the page opens sooner.
	once(name, read) {
		const value = read.call(this);
		Object.defineProperty(this, name, { value });
		return value;
	}

	get details() { return this.once("details", this.readDetails); }
	get flights() { return this.once("flights", this.readMessages); }
	get graph() { return this.once("graph", this.readCauses); }
	get reversed() { return this.once("reversed", this.reverse); }
	get number() { return this.details.number; }
	get ready() { return this.details.ready; }
	get submit() { return this.details.submit; }
	get fetch() { return this.details.fetch; }
	get cause() { return this.details.cause; }
	get mSender() { return this.flights.sender; }
	get mReceiver() { return this.flights.receiver; }
	get mBytes() { return this.flights.bytes; }
	get mSend() { return this.flights.send; }
	get mCame() { return this.flights.came; }
	get mRecv() { return this.flights.recv; }

	readLanes() {
		const rank = this.get("lane_rank"), name = this.get("lane_name");
		this.laneWorker = this.get("lane_worker");
		this.laneBegin = this.get("lane_begin");
		this.lanes = rank.length;
		this.laneRank = new Int32Array(rank);
		this.laneName = lane => this.meta.worker_names[name[lane]];
		this.rankLane = new Map();   // the first lane of each rank
		this.rankLanes = new Map();  // how many
		for (let i = 0; i < this.lanes; i++) {
			if (!this.rankLane.has(rank[i]))
				this.rankLane.set(rank[i], i);
			this.rankLanes.set(rank[i], (this.rankLanes.get(rank[i]) || 0) + 1);
		}
	}

	readBlocks() {
		const counts = this.get("lane_blocks"), gap = this.get("gap"), length = this.get("length"), busy = this.get("busy");
		const n = this.blocks = gap.length;
		this.laneFirst = offsets(counts);
		this.start = new Float64Array(n);
		this.end = new Float64Array(n);
		this.lane = new Int32Array(n);
		this.kernel = new Uint16Array(this.get("kernel"));
		this.count = new Uint32Array(this.get("count"));
		this.busy = length;
		this.unfinished = new Uint8Array(n);
		this.get("unfinished").forEach(i => { this.unfinished[i] = 1; });
		let merged = 0;
		for (let lane = 0; lane < this.lanes; lane++) {
			let at = 0;
			for (let i = this.laneFirst[lane]; i < this.laneFirst[lane + 1]; i++) {
				this.lane[i] = lane;
				this.start[i] = at + gap[i];
				this.end[i] = at = this.start[i] + length[i];
				if (this.count[i] > 1)
					this.busy[i] = busy[merged++];
			}
		}
	}

	// readDetails: what is known of single tasks besides their kernels.
	readDetails() {
		const number = this.get("number"), ready = this.get("ready"), submit = this.get("submit");
		for (let lane = 0; lane < this.lanes; lane++) {
			let task = 0;
			for (let i = this.laneFirst[lane]; i < this.laneFirst[lane + 1]; i++) {
				task = number[i] += task;
				ready[i] = ready[i] ? this.start[i] - (ready[i] - 1) : NaN;
				submit[i] = submit[i] ? this.start[i] - (submit[i] - 1) : NaN;
			}
		}
		return { number, ready, submit, fetch: this.get("fetch"), expected: this.get("expected"), transfer: this.get("transfer"), cause: new Uint8Array(this.get("cause")) };
	}

	readMessages() {
		const counts = this.get("m_receivers"), send = this.get("m_send"), came = this.get("m_came"), recv = this.get("m_recv");
		const receiver = new Int32Array(send.length);
		let i = 0;
		for (let rank = 0; rank < counts.length; rank++) {
			let at = 0;
			for (let k = 0; k < counts[rank]; k++, i++) {
				receiver[i] = rank;
				at = send[i] += at;
				came[i] = came[i] ? at + came[i] - 1 : NaN;
				recv[i] = recv[i] ? came[i] + recv[i] - 1 : NaN;
			}
		}
		return { sender: new Int32Array(this.get("m_sender")), receiver, bytes: this.get("m_bytes"), send, came, recv };
	}

	// readCauses: what each node waited for: nodes `to`, from `first` of the node on.
	readCauses() {
		const counts = this.get("causes"), kind = this.get("cause_kind"), to = this.get("cause_to"), code = this.get("m_cause");
		const nb = this.blocks, sizes = new Uint32Array(this.nodes);
		let last = 0;
		sizes.set(counts);
		for (let j = 0; j < this.messages; j++) {
			last = code[j] += last;
			sizes[nb + j] = code[j] ? 1 : 0;
		}
		const first = offsets(sizes), before = new Uint32Array(first[this.nodes]);
		let message = 0, e = 0;
		for (let i = 0; i < nb; i++)
			for (let k = 0; k < counts[i]; k++, e++) {
				if (kind[e])
					before[e] = nb + (message += to[e]);
				else
					before[e] = i - to[e];
			}
		for (let j = 0; j < this.messages; j++)
			if (code[j])
				before[e++] = code[j] % 2 ? (code[j] - 1) / 2 : nb + (code[j] - 2) / 2;
		return { first, to: before };
	}

	// reverse: what waited for each node.
	reverse() {
		const { first, to } = this.graph, sizes = new Uint32Array(this.nodes);
		for (let e = 0; e < to.length; e++)
			sizes[to[e]]++;
		const after = { first: offsets(sizes), to: new Uint32Array(to.length) }, at = after.first.slice();
		for (let i = 0; i < this.nodes; i++)
			for (let e = first[i]; e < first[i + 1]; e++)
				after.to[at[to[e]]++] = i;
		return after;
	}

	causesOf(node) {
		return this.graph.to.subarray(this.graph.first[node], this.graph.first[node + 1]);
	}

	effectsOf(node) {
		return this.reversed.to.subarray(this.reversed.first[node], this.reversed.first[node + 1]);
	}

	// related: 1 for ancestors, 2 for descendants, 4 for the node itself; and how many blocks there are of each.
	related(node) {
		const mark = new Uint8Array(this.nodes), found = { ancestors: 0, descendants: 0 };
		for (const [bit, next, name] of [[1, this.causesOf, "ancestors"], [2, this.effectsOf, "descendants"]]) {
			const stack = [node];
			while (stack.length)
				for (const to of next.call(this, stack.pop()))
					if (!(mark[to] & bit)) {
						mark[to] |= bit;
						if (to < this.blocks)
							found[name]++;
						stack.push(to);
					}
		}
		mark[node] |= 4;
		found.mark = mark;
		return found;
	}

	readPath() {
		const length = this.get("path_length"), kind = this.get("path_kind"), detail = this.get("path_detail");
		const rank = this.get("path_rank"), worker = this.get("path_worker"), about = this.meta.path;
		let at = about.first_ns;
		this.path = Array.from(length, (ns, i) => {
			const piece = { first: at, last: at + ns, kind: about.kinds[kind[i]], detail: about.details[detail[i]], rank: rank[i] };
			piece.lane = this.laneOf(rank[i], worker[i], (piece.first + piece.last) / 2);
			at = piece.last;
			return piece;
		});
		this.onPath = new Uint8Array(this.blocks);
		for (const piece of this.path)
			if (piece.kind === "kernel" && piece.lane >= 0) {
				const i = this.blockAt(piece.lane, (piece.first + piece.last) / 2);
				if (i >= 0)
					this.onPath[i] = 1;
			}
	}

	// laneOf: the lane of a worker, of several that its rank had one after the other the one that does something then.
	laneOf(rank, worker, time) {
		if (!this.rankLane.has(rank))
			return -1;
		const first = this.rankLane.get(rank);
		let found = -1;
		for (let i = first; i < first + this.rankLanes.get(rank); i++)
			if (this.laneWorker[i] === worker) {
				if (this.blockAt(i, time) >= 0)
					return i;
				found = found < 0 ? i : found;
			}
		return found;
	}

	// firstIn: the first block of a lane that ends after that time.
	firstIn(lane, time) {
		let low = this.laneFirst[lane], high = this.laneFirst[lane + 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.end[middle] <= time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	blockAt(lane, time) {
		const i = this.firstIn(lane, time);
		return i < this.laneFirst[lane + 1] && this.start[i] <= time ? i : -1;
	}

	// find: 1 for each block that the words mean: names of kernels, "rank N", "task N".
	find(words) {
		const match = new Uint8Array(this.blocks), list = [];
		const rank = /\brank\s+(\d+)/i.exec(words), task = /\btask\s+(\d+)/i.exec(words);
		const name = words.replace(/\b(rank|task)\s+\d+/gi, "").trim().toLowerCase();
		const kernels = this.kernels.map(k => k.name.toLowerCase().includes(name));
		for (let i = 0; i < this.blocks; i++)
			if ((!name || kernels[this.kernel[i]]) && (!rank || this.laneRank[this.lane[i]] === +rank[1])
			    && (!task || (this.count[i] === 1 && this.number[i] === +task[1]))) {
				match[i] = 1;
				list.push(i);
			}
		list.sort((a, b) => this.start[a] - this.start[b] || a - b);
		return { match, list };
	}
}
