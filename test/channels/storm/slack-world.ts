// The outside of the gateway in a storm on Slack: people who write in private, in channels, in threads, with files, who change what they
// wrote; a Slack that asks for pauses, loses answers, cuts its connections and delivers twice.
import {
	type CallRecord,
	type ChannelRecord,
	createSlackPeer,
	type Envelope,
	type Fault,
	type Person,
	type SlackPeer,
} from "../../peers/slack/index.ts";
import { freePort } from "../../support/free-port.ts";
import { type Orders, postedTo } from "./scene.ts";
import type { Judged } from "./verdict.ts";
import { type Question, World, type WorldOptions } from "./world.ts";

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

export class SlackWorld extends World {
	readonly peer: SlackPeer;
	readonly #places: Place[] = [];
	readonly #owner: Person;
	#port: number | undefined;
	/** Of all that Slack has to deliver, and how many of them were looked at. */
	#waiting: Envelope[] = [];
	#looked = 0;

	private constructor(options: WorldOptions, peer: SlackPeer) {
		super(options);
		this.peer = peer;
		this.#owner = peer.user("Owner");
		for (let n = 0; n < options.chats; n++) this.#places.push(this.#place(n));
		peer.faults = (call) => this.#fault(call);
	}

	static async create(options: WorldOptions): Promise<SlackWorld> {
		const world = new SlackWorld(options, await createSlackPeer({ ackMs: 3000, retryMs: RETRIES }));
		if (options.isPosted) world.#port = await freePort();
		return world;
	}

	judged(): Judged {
		return {
			said: this.said,
			places: this.#places.map(({ chat }) => ({
				name: chat.id,
				holds: ({ chatId }) => chatId === chat.id,
				seen: this.peer.answers(chat).map(({ ts, text }) => ({ id: ts, text })),
			})),
			done: this.done(),
			chatPart: 5,
			shows: ({ text }) => text.trim(),
		};
	}

	protected peerOf(): SlackPeer {
		return this.peer;
	}

	protected ordersOf(common: Pick<Orders, "path" | "dangers">): Orders {
		const { peer } = this;
		const port = this.#port;
		return {
			...common,
			platform: "slack",
			apiRoot: peer.apiRoot,
			token: peer.botToken,
			...(port === undefined
				? { appToken: peer.appToken }
				: { posted: { port, signingSecret: peer.signingSecret } }),
			owner: this.#owner.id,
			members: this.#places.flatMap(({ people }) => people).map(({ id }) => id),
		};
	}

	protected questions(where: "somewhere" | "everywhere"): Question[] {
		return (where === "everywhere" ? this.#places : [this.pick(this.#places)]).flatMap(({ chat }) =>
			this.peer.answers(chat).map(({ ts, buttons }) => ({
				name: `${chat.id} ${ts}`,
				buttons,
				press: (button) => this.peer.press(this.#owner, chat, ts, button),
			})),
		);
	}

	protected untaken(): number {
		const { envelopes } = this.peer.sockets;
		for (; this.#looked < envelopes.length; this.#looked++)
			this.#waiting.push(envelopes[this.#looked] as Envelope);
		this.#waiting = this.#waiting.filter(({ state }) => state === "waiting");
		return this.#waiting.length;
	}

	/** Slack tries the address before it posts there. */
	protected override async onStarted(): Promise<void> {
		if (this.#port === undefined || this.peer.sockets.requestUrl !== null) return;
		// A gateway that died meanwhile answers nothing: the next one is tried.
		await this.peer.subscribe(postedTo(this.#port)).catch(() => false);
	}

	protected disturb(): void {
		if (this.chance(0.08)) this.#redeliver();
		if (this.chance(0.02)) {
			this.counts.cuts++;
			this.peer.disconnect();
		}
		if (this.chance(0.02)) {
			this.counts.moves++;
			this.peer.sockets.announce("refresh_requested");
		}
	}

	protected say(isDanger: boolean): void {
		const { chat, people, thread, call } = this.pick(
			this.#places.filter((place) => !isDanger || place.call !== ""),
		);
		const by = this.pick(people);
		const in_ = thread === undefined ? {} : { thread };
		const part = this.options.random();
		const name = `message ${this.said.length + 1}`;
		if (part < 0.04 && !isDanger) {
			const id = this.peer.say(by, chat, `${call} /status`, in_);
			this.said.push({ chat: chat.id, id, kind: "command", text: "/status" });
			return;
		}
		if (part < 0.16 && !isDanger) {
			const files = Array.from({ length: part < 0.1 ? 1 : 2 }, () => this.file());
			const text = `${name} with files`;
			const sent = files.map((file) => ({ ...file, bytes: Buffer.from(file.bytes) }));
			const id = this.peer.say(by, chat, `${call}${text}`, { ...in_, files: sent });
			const digests = files.map(({ digest }) => digest);
			this.said.push({ chat: chat.id, id, kind: "file", text, digests });
			this.counts.files += files.length;
			return;
		}
		const text = `${isDanger ? "danger " : part < 0.3 ? "slow " : ""}${name}`;
		const id = this.peer.say(by, chat, `${call}${text}`, in_);
		this.said.push({ chat: chat.id, id, kind: "words", text });
		if (isDanger) this.counts.dangers++;
		if (!this.chance(0.1)) return;
		this.counts.edits++;
		if (this.chance(0.3)) this.peer.unfurl(chat, id);
		else this.peer.edit(chat, id, `${call}${text} changed`);
	}

	#place(n: number): Place {
		const { peer } = this;
		const people = [peer.user(`Ada${n}`), peer.user(`Bob${n}`)];
		const [first] = people as [Person];
		const call = `${peer.mention} `;
		if (n % 4 === 1) return { chat: this.#joined(peer.channel(`channel-${n}`)), people, call };
		if (n % 4 === 2) return { chat: peer.groupDm(...people, this.#owner), people, call };
		if (n % 4 === 3) {
			const chat = this.#joined(peer.privateChannel(`private-${n}`));
			return { chat, people, call, thread: peer.say(first, chat, "a thread", { silent: true }) };
		}
		return { chat: peer.dm(first), people: [first], call: "" };
	}

	/** Only a member sees a button there, and what is said after pressing it. */
	#joined(chat: ChannelRecord): ChannelRecord {
		chat.members.add(this.#owner.id);
		return chat;
	}

	#redeliver(): void {
		const { chat, id } = this.pick(this.said);
		const place = this.#places.find((one) => one.chat.id === chat);
		if (!place) return;
		this.peer.redeliver(place.chat, id);
		this.counts.redelivered++;
	}

	#fault({ method }: CallRecord): Fault | undefined {
		if (this.isCalm) return undefined;
		const part = this.options.random();
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
}
