// The outside of the gateway in a storm on Slack: people who write in private, in channels, in threads, with files, who change what they
// wrote; a Slack that asks for pauses, loses answers, cuts its connections and delivers twice; and what kills the gateway.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type Child, lines, type Workbench } from "../../crash/support.ts";
import {
	type CallRecord,
	type ChannelRecord,
	createSlackPeer,
	type Fault,
	type Person,
	type SlackPeer,
} from "../../peers/slack/index.ts";
import { Presser } from "./presser.ts";
import { DRAIN, freePort, type Orders, postedTo, type Report } from "./scene.ts";
import type { Judged, Said as SaidThere } from "./verdict.ts";

/** So many events may wait at Slack before people write on. */
const UNTAKEN = 40;
/** Slack tries again after some minutes, and three times; here it is quicker, and does not give up while Keryx starts. */
const RETRIES = Array.from({ length: 10_000 }, () => 100);
const SENDS = /^chat\.(?:postMessage|update)$/;

interface Place {
	readonly chat: ChannelRecord;
	readonly people: readonly Person[];
	readonly thread?: string;
	/** How the app is called there. */
	readonly call: string;
}

interface WorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
	/** Slack posts its events, and some gateways die between a commit and their answer. */
	readonly isPosted?: boolean;
}

type Said = Omit<SaidThere, "chat"> & { readonly chat: ChannelRecord };

export class SlackWorld {
	readonly said: Said[] = [];
	readonly logs: string[] = [];
	readonly counts = {
		kills: 0,
		duplicates: 0,
		redelivered: 0,
		pauses: 0,
		lost: 0,
		broken: 0,
		cuts: 0,
		moves: 0,
		edits: 0,
		files: 0,
		presses: 0,
	};
	readonly path: string;
	/** How many are said in all. */
	messages: number;
	readonly places: Place[] = [];
	readonly peer: SlackPeer;
	readonly #options: WorldOptions;
	readonly #owner: Person;
	readonly #presser: Presser;
	readonly #dangers: string;
	#port: number | undefined;
	#calm = false;
	#isWriting = false;

	private constructor(options: WorldOptions, peer: SlackPeer) {
		this.#options = options;
		this.peer = peer;
		this.#owner = peer.user("Owner");
		this.messages = options.messages;
		this.path = options.bench.file("storm.db");
		this.#dangers = options.bench.file("dangers");
		this.#presser = new Presser(options.random);
		for (let n = 0; n < options.chats; n++) this.places.push(this.#place(n));
		peer.faults = (call) => this.#fault(call);
	}

	static async create(options: WorldOptions): Promise<SlackWorld> {
		const world = new SlackWorld(options, await createSlackPeer({ ackMs: 3000, retryMs: RETRIES }));
		if (options.isPosted) world.#port = await freePort();
		return world;
	}

	get isTaken(): boolean {
		return this.said.length >= this.messages && this.#untaken() === 0;
	}

	/** What is asked of it at the end. */
	judged(): Judged {
		return {
			said: this.said.map(({ chat, ...said }) => ({ ...said, chat: chat.id })),
			places: [...new Set(this.places.map(({ chat }) => chat))].map((chat) => ({
				name: chat.id,
				holds: ({ chatId }) => chatId === chat.id,
				seen: this.peer.answers(chat).map(({ ts, text }) => ({ id: ts, text })),
			})),
			done: this.done(),
			chatPart: 5,
			shows: ({ text }) => text.trim(),
		};
	}

	/** One life of the gateway: killed after so many more calls of the Web API, or left to work everything off. */
	async live(calls: number | null): Promise<"killed" | "drained"> {
		const { peer } = this;
		const port = this.#port;
		const orders: Orders = {
			platform: "slack",
			path: this.path,
			apiRoot: peer.apiRoot,
			token: peer.botToken,
			...(port === undefined
				? { appToken: peer.appToken }
				: { posted: { port, signingSecret: peer.signingSecret } }),
			owner: this.#owner.id,
			members: this.places.flatMap(({ people }) => people).map(({ id }) => id),
			dangers: this.#dangers,
			...(port !== undefined && calls !== null && this.#chance(0.5) && { commits: Math.ceil(calls / 10) }),
		};
		const child = this.#options.bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		const until = calls === null ? Number.POSITIVE_INFINITY : peer.calls.length + calls;
		let isTold = false;
		this.#presser.again();
		const look = () => {
			this.#write();
			if (!isTold) this.#press(this.#pick(this.places));
			if (peer.calls.length >= until || (calls !== null && this.isTaken)) child.kill("SIGKILL");
			if (isTold || calls !== null || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${DRAIN}\n`);
		};
		const unwatch = peer.onChange(look);
		const ending = this.#listen(child);
		look();
		const { isDrained, signal, code } = await ending;
		unwatch();
		if (isDrained) return "drained";
		if (signal !== "SIGKILL") throw new Error(`the gateway ended with ${signal ?? code}`);
		this.counts.kills++;
		return "killed";
	}

	/** Everybody writes before anybody listens. */
	writeAll(): void {
		while (this.said.length < this.messages) this.#say();
	}

	/** From now on nothing breaks. */
	calm(): void {
		this.#calm = true;
	}

	/** The dangerous things that were done. */
	done(): readonly string[] {
		return existsSync(this.#dangers) ? readFileSync(this.#dangers, "utf8").trim().split("\n") : [];
	}

	/** The owner presses what is open there. */
	#press({ chat }: Place): void {
		for (const { ts, buttons } of this.peer.answers(chat))
			this.#presser.press(`${chat.id} ${ts}`, buttons, (button) =>
				this.peer.press(this.#owner, chat, ts, button),
			);
		this.counts.presses = this.#presser.count;
	}

	#place(n: number): Place {
		const { peer } = this;
		const people = [peer.user(`Ada${n}`), peer.user(`Bob${n}`)];
		const [first] = people as [Person];
		const call = `${peer.mention} `;
		if (n % 4 === 1) return { chat: peer.channel(`channel-${n}`), people, call };
		if (n % 4 === 2) return { chat: peer.groupDm(...people), people, call };
		if (n % 4 === 3) {
			const chat = peer.privateChannel(`private-${n}`);
			return { chat, people, call, thread: peer.say(first, chat, "a thread", { silent: true }) };
		}
		return { chat: peer.dm(first), people: [first], call: "" };
	}

	#write(): void {
		if (this.#isWriting) return;
		this.#isWriting = true;
		while (this.said.length < this.messages && this.#untaken() < UNTAKEN) {
			this.#say();
			if (this.#chance(0.08)) {
				const { chat, id } = this.#pick(this.said);
				this.peer.redeliver(chat, String(id));
				this.counts.redelivered++;
			}
			if (this.#chance(0.02)) {
				this.counts.cuts++;
				this.peer.disconnect();
			}
			if (this.#chance(0.02)) {
				this.counts.moves++;
				this.peer.sockets.announce("refresh_requested");
			}
		}
		this.#isWriting = false;
	}

	#say(): void {
		const { random } = this.#options;
		const { chat, people, thread, call } = this.#pick(this.places);
		const by = this.#pick(people);
		const in_ = thread === undefined ? {} : { thread };
		const part = random();
		const name = `message ${this.said.length + 1}`;
		if (part < 0.04) {
			const id = this.peer.say(by, chat, `${call} /status`, in_);
			this.said.push({ chat, id, kind: "command", text: "/status" });
			return;
		}
		if (part < 0.16) {
			const files = Array.from({ length: part < 0.1 ? 1 : 2 }, () => this.#file());
			const text = `${name} with files`;
			const id = this.peer.say(by, chat, `${call}${text}`, { ...in_, files });
			const digests = files.map(({ bytes }) => createHash("sha256").update(bytes).digest("hex"));
			this.said.push({ chat, id, kind: "file", text, digests });
			this.counts.files += files.length;
			return;
		}
		const kind = part < 0.3 ? "slow " : part < 0.38 && call !== "" ? "danger " : "";
		const text = `${kind}${name}`;
		const id = this.peer.say(by, chat, `${call}${text}`, in_);
		this.said.push({ chat, id, kind: "words", text });
		if (!this.#chance(0.1)) return;
		this.counts.edits++;
		if (this.#chance(0.3)) this.peer.unfurl(chat, id);
		else this.peer.edit(chat, id, `${call}${text} changed`);
	}

	#file() {
		const bytes = Buffer.alloc(1 + Math.floor(this.#options.random() * 60_000));
		for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(this.#options.random() * 256);
		return { name: `file ${bytes.length}.bin`, bytes };
	}

	#fault({ method }: CallRecord): Fault | undefined {
		if (this.#calm) return undefined;
		const part = this.#options.random();
		if (SENDS.test(method)) {
			if (part < 0.06) {
				this.counts.pauses++;
				return { retryAfter: 0 };
			}
			if (part < 0.1) {
				this.counts.lost++;
				return part < 0.08 ? "lose_ack" : "lost";
			}
			return undefined;
		}
		if (part > 0.04) return undefined;
		this.counts.broken++;
		return part < 0.02 ? "lost" : { status: 502 };
	}

	#listen(child: Child): Promise<{ isDrained: boolean; code: number | null; signal: string | null }> {
		const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
			child.once("close", (code, signal) => resolve({ code, signal })),
		);
		const read = async () => {
			let isDrained = false;
			for await (const line of lines(child)) {
				const report = JSON.parse(line) as Report;
				if (report.say === "duplicate") this.counts.duplicates++;
				if (report.say === "drained") isDrained = true;
				if (report.say === "log") this.logs.push(report.message);
				if (report.say === "started") await this.#subscribe();
			}
			return { isDrained, ...(await closed) };
		};
		return read();
	}

	/** Slack tries the address before it posts there. */
	async #subscribe(): Promise<void> {
		if (this.#port === undefined || this.peer.sockets.requestUrl !== null) return;
		// A gateway that died meanwhile answers nothing: the next one is tried.
		await this.peer.subscribe(postedTo(this.#port)).catch(() => false);
	}

	#untaken(): number {
		return this.peer.sockets.envelopes.filter(({ state }) => state === "waiting").length;
	}

	#chance(share: number): boolean {
		return this.#options.random() < share;
	}

	#pick<Item>(items: readonly Item[]): Item {
		return items[Math.floor(this.#options.random() * items.length)] as Item;
	}
}
