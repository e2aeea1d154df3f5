// The outside of the gateway in a storm on Telegram: people who write in private, in groups, in topics, with files and albums, who change
// what they wrote; a Telegram that asks for pauses, loses answers, reorders and delivers twice.
import type { User } from "grammy/types";
import {
	type CallRecord,
	type ChatRecord,
	createTelegramPeer,
	type Fault,
	type TelegramPeer,
} from "../../peers/telegram/index.ts";
import { freePort } from "../../support/free-port.ts";
import type { Orders } from "./scene.ts";
import type { Judged } from "./verdict.ts";
import { type Question, World, type WorldOptions } from "./world.ts";

const SENDS = /^send(?!ChatAction)/;

interface Place {
	readonly chat: ChatRecord;
	readonly people: readonly User[];
	readonly thread?: number;
	/** How the bot is called there. */
	readonly call: string;
}

export class TelegramWorld extends World {
	readonly peer: TelegramPeer;
	readonly #places: Place[] = [];
	/** Presses buttons, and writes nothing. */
	readonly #owner: User;
	#port: number | undefined;

	private constructor(options: WorldOptions, peer: TelegramPeer) {
		super(options);
		this.peer = peer;
		this.#owner = peer.user("Owner");
		for (let n = 0; n < options.chats; n++) this.#places.push(this.#place(n));
		peer.faults = (call) => this.#fault(call);
	}

	static async create(options: WorldOptions): Promise<TelegramWorld> {
		const world = new TelegramWorld(options, await createTelegramPeer());
		if (options.isPosted) world.#port = await freePort();
		return world;
	}

	judged(): Judged {
		return {
			said: this.said,
			places: this.#places.map(({ chat }) => ({
				name: chat.key,
				holds: ({ chatId }) => chatId === chatOf(chat),
				seen: this.peer.answers(chat).map(({ id, text }) => ({ id: String(id), text })),
			})),
			done: this.done(),
			chatPart: 4,
			shows: ({ plain }) => plain.trim(),
		};
	}

	protected peerOf(): TelegramPeer {
		return this.peer;
	}

	protected ordersOf(common: Pick<Orders, "path" | "dangers">): Orders {
		const { apiRoot, bot } = this.peer;
		const port = this.#port;
		return {
			...common,
			platform: "telegram",
			apiRoot,
			token: bot.token,
			owner: String(this.#owner.id),
			members: this.#places.flatMap(({ people }) => people).map(({ id }) => String(id)),
			...(port !== undefined && { posted: { port } }),
		};
	}

	protected questions(where: "somewhere" | "everywhere"): Question[] {
		return (where === "everywhere" ? this.#places : [this.pick(this.#places)]).flatMap(({ chat }) =>
			this.peer.answers(chat).map(({ id, buttons }) => ({
				name: `${chat.key} ${id}`,
				buttons: buttons.flat(),
				press: (button) => this.peer.press(this.#owner, chat, id, button),
			})),
		);
	}

	protected untaken(): number {
		return this.peer.bot.queue.waiting.length;
	}

	protected disturb(): void {
		if (this.chance(0.08)) this.#redeliver();
		if (this.chance(0.05)) {
			this.counts.moves++;
			this.peer.reorder((waiting) => waiting.toReversed());
		}
		if (this.chance(0.02)) {
			this.counts.cuts++;
			this.peer.disconnect();
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
			const text = "/status";
			const id = this.peer.say(by, chat, `${text}${call.trim()}`, in_);
			this.said.push({ chat: chatOf(chat), id: String(id), kind: "command", text });
			return;
		}
		if (part < 0.16 && !isDanger) {
			this.#sayFiles(part < 0.1 ? 1 : 2, name, { chat, by, call, in_ });
			return;
		}
		const text = `${isDanger ? "danger " : part < 0.3 ? "slow " : ""}${name}`;
		const id = this.peer.say(by, chat, `${call}${text}`, in_);
		this.said.push({ chat: chatOf(chat), id: String(id), kind: "words", text });
		if (isDanger) this.counts.dangers++;
		if (!this.chance(0.1)) return;
		this.counts.edits++;
		if (this.chance(0.3)) this.peer.touch(chat, id);
		else this.peer.edit(chat, id, `${call}${text} changed`);
	}

	/** One file, or an album; only its first file has words. */
	#sayFiles(
		count: number,
		name: string,
		to: { chat: ChatRecord; by: User; call: string; in_: { thread?: number } },
	): void {
		const { chat, by, call, in_ } = to;
		const files = Array.from({ length: count }, () => ({ kind: "document" as const, ...this.file() }));
		const words = `${call}${name} with files`;
		const [only] = files;
		const ids =
			only && files.length === 1
				? [this.peer.say(by, chat, words, { ...in_, file: only })]
				: this.peer.album(by, chat, words, files, in_);
		for (const [n, id] of ids.entries()) {
			const text = n === 0 ? `${name} with files` : "";
			const digests = [files[n]?.digest ?? ""];
			this.said.push({ chat: chatOf(chat), id: String(id), kind: "file", text, digests });
			this.counts.files++;
		}
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

	#redeliver(): void {
		const { chat, id } = this.pick(this.said);
		const place = this.#places.find((one) => chatOf(one.chat) === chat);
		if (!place) return;
		this.peer.redeliver(place.chat, Number(id));
		this.counts.redelivered++;
	}

	#fault({ method }: CallRecord): Fault | undefined {
		if (this.isCalm) return undefined;
		const part = this.options.random();
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
}

function chatOf({ chat }: ChatRecord): string {
	return String(chat.id);
}
