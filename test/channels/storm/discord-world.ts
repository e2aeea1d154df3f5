// The outside of the gateway in a storm on Discord: people who write in private, in servers and in threads, with files, who change what they
// wrote; a Discord that asks for pauses, loses answers, forgets sessions and delivers twice.
import {
	type CallRecord,
	type ChannelRecord,
	createDiscordPeer,
	type DiscordPeer,
	type Fault,
	type Person,
} from "../../peers/discord/index.ts";
import type { Orders } from "./scene.ts";
import type { Judged } from "./verdict.ts";
import { type Question, World, type WorldOptions } from "./world.ts";

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

export class DiscordWorld extends World {
	readonly peer: DiscordPeer;
	readonly #places: Place[] = [];
	readonly #owner: Person;
	readonly #strangers: string[] = [];
	/** Messages that were said and are not known to be taken. */
	readonly #open = new Set<string>();
	#counted = 0;
	#seen = "";
	#isMet = false;
	#isMeeting = false;

	private constructor(options: WorldOptions, peer: DiscordPeer) {
		super(options);
		this.peer = peer;
		this.#owner = peer.user("Owner");
		for (let n = 0; n < options.chats; n++) this.#places.push(this.#place(n));
		peer.faults = (call) => this.#fault(call);
	}

	static async create(options: WorldOptions): Promise<DiscordWorld> {
		return new DiscordWorld(options, await createDiscordPeer({ heartbeatMs: HEARTBEAT_MS }));
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

	/** How many histories were read. */
	read(): number {
		return this.peer.calls.filter(({ method, path }) => method === "GET" && HISTORY.test(path)).length;
	}

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

	protected peerOf(): DiscordPeer {
		return this.peer;
	}

	protected ordersOf(common: Pick<Orders, "path" | "dangers">): Orders {
		const { apiRoot, bot } = this.peer;
		return {
			...common,
			platform: "discord",
			apiRoot,
			token: bot.token,
			seen: this.#seen,
			owner: this.#owner.id,
			members: [...this.#places.flatMap(({ people }) => people).map(({ id }) => id), ...this.#strangers],
		};
	}

	protected questions(where: "somewhere" | "everywhere"): Question[] {
		return (where === "everywhere" ? this.#places : [this.pick(this.#places)]).flatMap(({ channel }) =>
			this.peer.answers(channel).map(({ id, buttons }) => ({
				name: `${channel.id} ${id}`,
				buttons: buttons.flat(),
				press: (button) => this.peer.press(this.#owner, channel, id, button),
			})),
		);
	}

	/**
	 * The first message of each private chat comes with nothing broken: before it there is no place to go on from, and Discord names private
	 * chats to nobody.
	 */
	protected override isReady(): boolean {
		if (this.#isMet) return true;
		if (this.#isMeeting || !this.peer.gateway.sessions.some(({ told }) => told > 0)) return false;
		const strangers = this.#places.filter(({ chat }) => chat.guild === null);
		this.#isMeeting = true;
		if (this.said.length < strangers.length) this.#sayIn(strangers[this.said.length] as Place, false);
		this.#isMeeting = false;
		this.#isMet = this.said.length === strangers.length && this.untaken() === 0;
		return this.#isMet;
	}

	protected override onTaken(message: string): void {
		this.#count();
		this.#open.delete(message);
	}

	protected override onSeen(cursor: string): void {
		this.#seen = cursor;
	}

	/** What was taken is known from the gateway itself, or from what its connection says that it received. */
	protected untaken(): number {
		this.#count();
		const { received } = this.peer.gateway;
		for (const id of received) this.#open.delete(id);
		received.clear();
		return this.#open.size;
	}

	#count(): void {
		for (; this.#counted < this.said.length; this.#counted++)
			this.#open.add(this.said[this.#counted]?.id ?? "");
	}

	protected disturb(): void {
		if (this.chance(0.08)) this.#redeliver();
		if (this.chance(0.02)) {
			this.counts.cuts++;
			this.peer.gateway.disconnect();
		}
		if (this.chance(0.02)) {
			this.counts.moves++;
			this.peer.gateway.askToReconnect();
		}
		if (this.chance(0.01)) {
			this.counts.forgotten++;
			this.peer.gateway.invalidate(false);
		}
	}

	protected say(isDanger: boolean): void {
		this.#sayIn(this.pick(this.#places.filter(({ call }) => !isDanger || call !== "")), isDanger);
	}

	#sayIn({ channel, chat, people, call }: Place, isDanger: boolean): void {
		const by = this.pick(people);
		const part = this.options.random();
		const name = `message ${this.said.length + 1}`;
		if (part < 0.04 && !isDanger) {
			const text = "/status";
			const id = this.peer.say(by, channel, `${call}${text}`);
			this.said.push({ chat: chat.id, id, kind: "command", text });
			return;
		}
		if (part < 0.16 && !isDanger) {
			const files = Array.from({ length: part < 0.1 ? 1 : 2 }, () => this.file());
			const text = `${name} with files`;
			const id = this.peer.say(by, channel, `${call}${text}`, { files });
			const digests = files.map(({ digest }) => digest);
			this.said.push({ chat: chat.id, id, kind: "file", text, digests });
			this.counts.files += files.length;
			return;
		}
		const text = `${isDanger ? "danger " : part < 0.3 ? "slow " : ""}${name}`;
		const id = this.peer.say(by, channel, `${call}${text}`);
		this.said.push({ chat: chat.id, id, kind: "words", text });
		if (isDanger) this.counts.dangers++;
		if (!this.chance(0.1)) return;
		this.counts.edits++;
		if (this.chance(0.3)) this.peer.embed(channel, id);
		else this.peer.edit(channel, id, `${call}${text} changed`);
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

	#redeliver(): void {
		const { id } = this.pick(this.said);
		const place = this.#places.find(({ channel }) => channel.messages.has(id));
		if (!place) return;
		this.peer.redeliver(place.channel, id);
		this.counts.redelivered++;
	}

	#fault({ method, path }: CallRecord): Fault | undefined {
		if (this.isCalm || !this.#isMet) return undefined;
		const part = this.options.random();
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
}
