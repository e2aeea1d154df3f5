// The outside of the gateway in a storm: people who write in private, in groups, in topics, with files and albums, who change what they
// wrote; a Telegram that asks for pauses, loses answers and delivers twice; and what kills the gateway.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { User } from "grammy/types";
import { type Child, lines, type Workbench } from "../../crash/support.ts";
import {
	type CallRecord,
	type ChatRecord,
	createTelegramPeer,
	type Fault,
	type TelegramPeer,
} from "../../peers/telegram/index.ts";
import { Presser } from "./presser.ts";
import { DRAIN, freePort, type Orders, type Report } from "./scene.ts";
import type { Judged } from "./verdict.ts";

/** So many messages may wait at Telegram before people write on. */
const UNTAKEN = 40;
const SENDS = /^send(?!ChatAction)/;

interface SaidMessage {
	readonly chat: ChatRecord;
	readonly id: number;
	readonly kind: "words" | "file" | "command";
	readonly text: string;
	/** What it was changed to. */
	changed?: string;
	/** Of its file. */
	readonly digests?: readonly string[];
}

interface Place {
	readonly chat: ChatRecord;
	readonly people: readonly User[];
	readonly thread?: number;
	/** How the bot is called there. */
	readonly call: string;
}

interface WorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
	/** Telegram posts its updates, and some gateways die between a commit and their answer. */
	readonly isPosted?: boolean;
}

export class World {
	readonly said: SaidMessage[] = [];
	readonly logs: string[] = [];
	readonly counts = {
		kills: 0,
		duplicates: 0,
		redelivered: 0,
		pauses: 0,
		lost: 0,
		broken: 0,
		disconnects: 0,
		edits: 0,
		files: 0,
		presses: 0,
	};
	readonly path: string;
	/** What was done of what is dangerous, a line each. */
	readonly dangers: string;
	/** Presses buttons, and writes nothing. */
	readonly owner: User;
	readonly places: Place[] = [];
	readonly peer: TelegramPeer;
	readonly #options: WorldOptions;
	readonly #presser: Presser;
	#port: number | undefined;
	#calm = false;

	private constructor(options: WorldOptions, peer: TelegramPeer) {
		this.#options = options;
		this.peer = peer;
		this.path = options.bench.file("storm.db");
		this.dangers = options.bench.file("dangers");
		this.#presser = new Presser(options.random);
		this.owner = peer.user("Owner");
		for (let n = 0; n < options.chats; n++) this.places.push(this.#place(n));
		peer.faults = (call) => this.#fault(call);
	}

	static async create(options: WorldOptions): Promise<World> {
		const world = new World(options, await createTelegramPeer());
		if (options.isPosted) world.#port = await freePort();
		return world;
	}

	get isTaken(): boolean {
		return this.said.length >= this.#options.messages && this.#untaken() === 0;
	}

	/** One life of the gateway: killed after so many more calls of the Bot API, or left to work everything off. */
	async live(calls: number | null): Promise<"killed" | "drained"> {
		const { bench } = this.#options;
		const members = this.places.flatMap(({ people }) => people).map(({ id }) => String(id));
		const { path, dangers } = this;
		const { apiRoot, bot } = this.peer;
		const owner = String(this.owner.id);
		const port = this.#port;
		const orders: Orders = {
			platform: "telegram",
			path,
			dangers,
			apiRoot,
			token: bot.token,
			owner,
			members,
			...(port !== undefined && { posted: { port } }),
			...(port !== undefined && calls !== null && this.#chance(0.5) && { commits: Math.ceil(calls / 10) }),
		};
		const child = bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		const until = calls === null ? Number.POSITIVE_INFINITY : this.peer.calls.length + calls;
		let isTold = false;
		const look = () => {
			this.#write();
			// Not after it was told to end: what is pressed then is for a life that never comes.
			if (!isTold) this.#press(this.#pick(this.places));
			// Once everything is taken, hardly a call comes any more: the gateway dies while it works off what is left.
			if (this.peer.calls.length >= until || (calls !== null && this.isTaken)) child.kill("SIGKILL");
			if (isTold || calls !== null || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${DRAIN}\n`);
		};
		const unwatch = this.peer.onChange(look);
		const ending = this.#listen(child);
		look();
		const { isDrained, signal, code } = await ending;
		unwatch();
		if (isDrained) return "drained";
		if (signal !== "SIGKILL") throw new Error(`the gateway ended with ${signal ?? code}`);
		this.counts.kills++;
		return "killed";
	}

	/** What is asked of it at the end. */
	judged(): Judged {
		return {
			said: this.said.map(({ chat, id, ...said }) => ({
				...said,
				chat: String(chat.chat.id),
				id: String(id),
			})),
			places: [...new Set(this.places.map((place) => place.chat))].map((chat) => ({
				name: chat.key,
				holds: ({ chatId }) => chatId === String(chat.chat.id),
				seen: this.peer.answers(chat).map(({ id, text }) => ({ id: String(id), text })),
			})),
			done: this.done(),
			chatPart: 4,
			shows: ({ plain }) => plain.trim(),
		};
	}

	/** What was done of what is dangerous. */
	done(): readonly string[] {
		return existsSync(this.dangers) ? readFileSync(this.dangers, "utf8").trim().split("\n") : [];
	}

	/** Everybody writes before anybody listens. */
	writeAll(): void {
		while (this.said.length < this.#options.messages) this.#say();
	}

	/** The owner presses what is open there. */
	#press({ chat }: Place): void {
		for (const { id, buttons } of this.peer.answers(chat))
			this.#presser.press(`${chat.key} ${id}`, buttons.flat(), (button) =>
				this.peer.press(this.owner, chat, id, button),
			);
		this.counts.presses = this.#presser.count;
	}

	/** From now on nothing breaks. */
	calm(): void {
		this.#calm = true;
	}

	#place(n: number): Place {
		const { peer } = this;
		const people = [peer.user(`Ada${n}`), peer.user(`Bob${n}`)];
		const call = `@${peer.bot.user.username} `;
		if (n % 4 === 1) return { chat: peer.group(`Group ${n}`), people, call };
		if (n % 4 === 2) return { chat: peer.supergroup(`Supergroup ${n}`), people, call };
		if (n % 4 === 3) {
			const chat = peer.forum(`Forum ${n}`);
			const thread = peer.topic(chat, `Topic ${n}`, people[0] as User);
			return { chat, people, call, ...(n % 8 === 3 && { thread }) };
		}
		return { chat: peer.dm(people[0] as User), people: people.slice(0, 1), call: "" };
	}

	#writing = false;
	#write(): void {
		if (this.#writing) return;
		this.#writing = true;
		while (this.said.length < this.#options.messages && this.#untaken() < UNTAKEN) {
			this.#say();
			if (this.#chance(0.08)) this.#redeliver();
			if (this.#chance(0.05)) this.peer.reorder((waiting) => waiting.toReversed());
			if (this.#chance(0.02)) {
				this.counts.disconnects++;
				this.peer.disconnect();
			}
		}
		this.#writing = false;
	}

	#say(): void {
		const { chat, people, thread, call } = this.#pick(this.places);
		const by = this.#pick(people);
		const in_ = thread === undefined ? {} : { thread };
		const part = this.#options.random();
		const name = `message ${this.said.length + 1}`;
		if (part < 0.04) {
			const text = "/status";
			const id = this.peer.say(by, chat, `${text}${call.trim()}`, in_);
			this.said.push({ chat, id, kind: "command", text });
			return;
		}
		if (part < 0.16) {
			const files = Array.from({ length: part < 0.1 ? 1 : 2 }, () => this.#file());
			const words = `${call}${name} with files`;
			const ids =
				files.length === 1
					? [this.peer.say(by, chat, words, { ...in_, file: files[0] as (typeof files)[number] })]
					: this.peer.album(by, chat, words, files, in_);
			for (const [n, id] of ids.entries()) {
				const digest = createHash("sha256")
					.update(files[n]?.bytes ?? "")
					.digest("hex");
				this.said.push({
					chat,
					id,
					kind: "file",
					text: n === 0 ? `${name} with files` : "",
					digests: [digest],
				});
				this.counts.files++;
			}
			return;
		}
		const kind = part < 0.3 ? "slow " : part < 0.38 && call !== "" ? "danger " : "";
		const text = `${kind}${name}`;
		const id = this.peer.say(by, chat, `${call}${text}`, in_);
		const said: SaidMessage = { chat, id, kind: "words", text };
		this.said.push(said);
		if (!this.#chance(0.1)) return;
		this.counts.edits++;
		if (this.#chance(0.3)) {
			this.peer.touch(chat, id);
			return;
		}
		said.changed = `${text} changed`;
		this.peer.edit(chat, id, `${call}${said.changed}`);
	}

	#file() {
		const bytes = new Uint8Array(1 + Math.floor(this.#options.random() * 60_000));
		for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(this.#options.random() * 256);
		return { kind: "document" as const, name: `file ${bytes.length}.bin`, bytes };
	}

	#redeliver(): void {
		const { chat, id } = this.#pick(this.said);
		this.peer.redeliver(chat, id);
		this.counts.redelivered++;
	}

	#fault({ method }: CallRecord): Fault | undefined {
		if (this.#calm) return undefined;
		const part = this.#options.random();
		if (SENDS.test(method) || method.startsWith("edit")) {
			if (part < 0.06) {
				this.counts.pauses++;
				return { retryAfter: 0.02 };
			}
			if (part < 0.1) {
				this.counts.lost++;
				return part < 0.08 ? "lose_ack" : "lost";
			}
			return undefined;
		}
		if (part > 0.04) return undefined;
		this.counts.broken++;
		if (part < 0.02) return "lost";
		return { status: 502, description: "Bad Gateway" };
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
			}
			return { isDrained, ...(await closed) };
		};
		return read();
	}

	#untaken(): number {
		return this.peer.bot.queue.waiting.length;
	}

	#chance(share: number): boolean {
		return this.#options.random() < share;
	}

	#pick<Item>(items: readonly Item[]): Item {
		return items[Math.floor(this.#options.random() * items.length)] as Item;
	}
}
