// The outside of the gateway in a storm on Discord: people who write in private, in servers and in threads, with files, who change what they
// wrote; a Discord that asks for pauses, loses answers, forgets sessions and delivers twice; and what kills the gateway.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type Child, lines, type Workbench } from "../../crash/support.ts";
import {
	type CallRecord,
	type ChannelRecord,
	createDiscordPeer,
	type DiscordPeer,
	type Fault,
	type Person,
} from "../../peers/discord/index.ts";
import { Presser } from "./presser.ts";
import { DRAIN, type Orders, type Report } from "./scene.ts";
import type { Judged, Said } from "./verdict.ts";

/** So many messages may be on their way before people write on. */
const UNTAKEN = 40;
const SHOWS = /^\/channels\/\d+\/messages/;
const HISTORY = /^\/channels\/\d+\/messages(?:\?|$)/;
/** Short, so that the peer soon hears what was taken. */
const HEARTBEAT_MS = 20;

interface Place {
	readonly channel: ChannelRecord;
	/** The channel that a thread belongs to. */
	readonly chat: ChannelRecord;
	readonly people: readonly Person[];
	/** How the bot is called there. */
	readonly call: string;
}

interface WorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
}

export class DiscordWorld {
	readonly said: Said[] = [];
	readonly logs: string[] = [];
	readonly counts = {
		kills: 0,
		duplicates: 0,
		redelivered: 0,
		pauses: 0,
		lost: 0,
		broken: 0,
		disconnects: 0,
		reconnects: 0,
		forgotten: 0,
		edits: 0,
		files: 0,
		presses: 0,
	};
	readonly path: string;
	/** How many are said in all. */
	messages: number;
	readonly peer: DiscordPeer;
	readonly #places: Place[] = [];
	readonly #options: WorldOptions;
	readonly #presser: Presser;
	readonly #owner: Person;
	readonly #dangers: string;
	readonly #taken = new Set<string>();
	#calm = false;
	#isMet = false;
	#isWriting = false;

	private constructor(options: WorldOptions, peer: DiscordPeer) {
		this.#options = options;
		this.peer = peer;
		this.path = options.bench.file("storm.db");
		this.messages = options.messages;
		this.#dangers = options.bench.file("dangers");
		this.#presser = new Presser(options.random);
		this.#owner = peer.user("Owner");
		for (let n = 0; n < options.chats; n++) this.#places.push(this.#place(n));
		peer.faults = (call) => this.#fault(call);
	}

	static async create(options: WorldOptions): Promise<DiscordWorld> {
		return new DiscordWorld(options, await createDiscordPeer({ heartbeatMs: HEARTBEAT_MS }));
	}

	get isTaken(): boolean {
		return this.said.length >= this.messages && this.#untaken() === 0;
	}

	/** One life of the gateway: killed after so many more requests, or left to work everything off. */
	async live(calls: number | null): Promise<"killed" | "drained"> {
		const { bench } = this.#options;
		const { apiRoot, bot } = this.peer;
		const orders: Orders = {
			platform: "discord",
			path: this.path,
			apiRoot,
			token: bot.token,
			owner: this.#owner.id,
			members: [...this.#places.flatMap(({ people }) => people).map(({ id }) => id), ...this.#strangers],
			dangers: this.#dangers,
		};
		const child = bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		const until = calls === null ? Number.POSITIVE_INFINITY : this.peer.calls.length + calls;
		let isTold = false;
		this.#presser.again();
		const look = () => {
			if (!this.#isMet) this.#meet();
			if (!this.#isMet) return;
			this.#write();
			if (!isTold) this.#press(this.#pick(this.#places));
			if (this.peer.calls.length >= until || (calls !== null && this.isTaken)) child.kill("SIGKILL");
			if (isTold || calls !== null || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${DRAIN}\n`);
		};
		const unwatch = this.peer.onChange(look);
		const ending = this.#listen(child, look);
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

	/** Nobody can resume. */
	forget(): void {
		for (const session of [...this.peer.gateway.sessions]) this.peer.gateway.forget(session);
	}

	/** Somebody who never wrote before says something in private; answers their chat. */
	stranger(text: string): ChannelRecord {
		const by = this.peer.user("Stranger");
		const channel = this.peer.dm(by);
		this.#strangers.push(by.id);
		this.peer.say(by, channel, text);
		return channel;
	}
	readonly #strangers: string[] = [];

	/** How many histories were read. */
	read(): number {
		return this.peer.calls.filter(({ method, path }) => method === "GET" && HISTORY.test(path)).length;
	}

	/** From now on nothing breaks. */
	calm(): void {
		this.#calm = true;
	}

	/** What is asked of it at the end. */
	judged(): Judged {
		return {
			said: this.said,
			places: this.#places.map(({ channel, chat }) => ({
				name: channel.name || channel.id,
				holds: ({ chatId, threadId }) => chatId === chat.id && (threadId ?? chatId) === channel.id,
				seen: this.peer.answers(channel),
			})),
			done: this.done(),
			chatPart: 4,
			shows: ({ text }) => text.trim(),
		};
	}

	/** The dangerous things that were done. */
	done(): readonly string[] {
		return existsSync(this.#dangers) ? readFileSync(this.#dangers, "utf8").trim().split("\n") : [];
	}

	/** The owner presses what is open there. */
	#press({ channel }: Place): void {
		for (const { id, buttons } of this.peer.answers(channel))
			this.#presser.press(`${channel.id} ${id}`, buttons.flat(), (button) =>
				this.peer.press(this.#owner, channel, id, button),
			);
		this.counts.presses = this.#presser.count;
	}

	#place(n: number): Place {
		const { peer } = this;
		const people = [peer.user(`Ada${n}`), peer.user(`Bob${n}`)];
		const call = `${peer.mention(peer.bot)} `;
		if (n % 4 === 0) {
			const dm = peer.dm(people[0] as Person);
			return { channel: dm, chat: dm, people: people.slice(0, 1), call: "" };
		}
		const chat = peer.channel(peer.guild(`Server ${n}`), `channel-${n}`);
		if (n % 4 !== 3) return { channel: chat, chat, people, call };
		return { channel: peer.thread(chat, `thread-${n}`), chat, people, call };
	}

	/**
	 * The first message of each private chat, with nothing broken: before it there is no place to go on from, and Discord names private chats
	 * to nobody.
	 */
	#meet(): void {
		if (this.#isWriting || !this.peer.gateway.sessions.some(({ told }) => told > 0)) return;
		const strangers = this.#places.filter(({ chat }) => chat.guild === null);
		this.#isWriting = true;
		if (this.said.length < strangers.length) this.#say(strangers[this.said.length]);
		this.#isWriting = false;
		this.#isMet = this.said.length === strangers.length && this.#untaken() === 0;
	}

	#write(): void {
		if (this.#isWriting) return;
		this.#isWriting = true;
		while (this.said.length < this.messages && this.#untaken() < UNTAKEN) {
			this.#say();
			if (this.#chance(0.08)) this.#redeliver();
			if (this.#chance(0.02)) {
				this.counts.disconnects++;
				this.peer.gateway.disconnect();
			}
			if (this.#chance(0.02)) {
				this.counts.reconnects++;
				this.peer.gateway.askToReconnect();
			}
			if (this.#chance(0.01)) {
				this.counts.forgotten++;
				this.peer.gateway.invalidate(false);
			}
		}
		this.#isWriting = false;
	}

	#say({ channel, chat, people, call }: Place = this.#pick(this.#places)): void {
		const by = this.#pick(people);
		const part = this.#options.random();
		const name = `message ${this.said.length + 1}`;
		if (part < 0.04) {
			const text = "/status";
			const id = this.peer.say(by, channel, `${call}${text}`);
			this.said.push({ chat: chat.id, id, kind: "command", text });
			return;
		}
		if (part < 0.16) {
			const files = Array.from({ length: part < 0.1 ? 1 : 2 }, () => this.#file());
			const text = `${name} with files`;
			const id = this.peer.say(by, channel, `${call}${text}`, { files });
			const digest = createHash("sha256")
				.update(files.at(-1)?.bytes ?? "")
				.digest("hex");
			this.said.push({ chat: chat.id, id, kind: "file", text, digests: [digest] });
			this.counts.files += files.length;
			return;
		}
		const kind = part < 0.3 ? "slow " : part < 0.38 && call !== "" ? "danger " : "";
		const text = `${kind}${name}`;
		const id = this.peer.say(by, channel, `${call}${text}`);
		this.said.push({ chat: chat.id, id, kind: "words", text });
		if (!this.#chance(0.1)) return;
		this.counts.edits++;
		if (this.#chance(0.3)) this.peer.embed(channel, id);
		else this.peer.edit(channel, id, `${call}${text} changed`);
	}

	#file() {
		const bytes = new Uint8Array(1 + Math.floor(this.#options.random() * 60_000));
		for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(this.#options.random() * 256);
		return { name: `file ${bytes.length}.bin`, bytes };
	}

	#redeliver(): void {
		const { id } = this.#pick(this.said);
		const place = this.#places.find(({ channel }) => channel.messages.has(id));
		if (!place) return;
		this.peer.redeliver(place.channel, id);
		this.counts.redelivered++;
	}

	#fault({ method, path }: CallRecord): Fault | undefined {
		if (this.#calm || !this.#isMet) return undefined;
		const part = this.#options.random();
		if (method !== "GET" && SHOWS.test(path)) {
			if (part < 0.06) {
				this.counts.pauses++;
				return { retryAfter: 0.02, global: part < 0.01 };
			}
			if (part < 0.1) {
				this.counts.lost++;
				return part < 0.08 ? "lose_ack" : "lost";
			}
			return undefined;
		}
		if (part > 0.04) return undefined;
		this.counts.broken++;
		return part < 0.02 ? "lost" : { status: 502, message: "Bad Gateway" };
	}

	#listen(
		child: Child,
		look: () => void,
	): Promise<{ isDrained: boolean; code: number | null; signal: string | null }> {
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
				if (report.say !== "taken") continue;
				this.#taken.add(report.message);
				look();
			}
			return { isDrained, ...(await closed) };
		};
		return read();
	}

	/** What was taken is known from the gateway itself, or from what its connection says that it received. */
	#untaken(): number {
		const { received } = this.peer.gateway;
		for (const id of received) this.#taken.add(id);
		received.clear();
		return this.said.length - this.#taken.size;
	}

	#chance(share: number): boolean {
		return this.#options.random() < share;
	}

	#pick<Item>(items: readonly Item[]): Item {
		return items[Math.floor(this.#options.random() * items.length)] as Item;
	}
}
