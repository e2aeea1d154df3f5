// The outside of the gateway in a storm on Matrix: people who write in private rooms, in groups, in threads, with files, who change what
// they wrote; a homeserver that asks for pauses, loses answers and breaks.
import {
	type CallRecord,
	createMatrixPeer,
	type Fault,
	type MatrixPeer,
	type MatrixRoom,
	type MatrixUser,
} from "../../peers/matrix/index.ts";
import type { Orders } from "./scene.ts";
import type { Judged } from "./verdict.ts";
import { type Question, World, type WorldOptions } from "./world.ts";

interface Place {
	readonly room: MatrixRoom;
	readonly people: readonly MatrixUser[];
	/** The first message of a thread in which people write. */
	readonly thread?: string;
	/** How the bot is called there. */
	readonly call: string;
}

export class MatrixWorld extends World {
	readonly peer: MatrixPeer;
	readonly #places: Place[] = [];

	private constructor(options: WorldOptions, peer: MatrixPeer) {
		super(options);
		this.peer = peer;
		for (let n = 0; n < options.chats; n++) this.#places.push(this.#place(n));
		peer.faults = (call) => this.#fault(call);
	}

	static async create(options: WorldOptions): Promise<MatrixWorld> {
		return new MatrixWorld(options, await createMatrixPeer());
	}

	judged(): Judged {
		return {
			said: this.said,
			places: this.#places.map(({ room }) => ({
				name: room.id,
				holds: ({ chatId }) => chatId === room.id,
				seen: this.peer.answers(room).map(({ id, text }) => ({ id, text })),
			})),
			done: this.done(),
			chatPart: 4,
			shows: ({ plain }) => plain,
		};
	}

	protected peerOf(): MatrixPeer {
		return this.peer;
	}

	protected ordersOf(common: Pick<Orders, "path" | "dangers">): Orders {
		return {
			...common,
			platform: "matrix",
			apiRoot: this.peer.url,
			token: this.peer.session().token,
			owner: "@nobody:test.example",
			members: this.#places.flatMap(({ people }) => people).map(({ id }) => id),
		};
	}

	/** What was said before the bot ever followed is history to it. */
	protected override isReady(): boolean {
		return this.peer.place() > 0;
	}

	/** Matrix shows no buttons: nothing is pressed. */
	protected questions(): Question[] {
		return [];
	}

	protected untaken(): number {
		return this.said.length - this.peer.acknowledged().filter((id) => this.#ids.has(id)).length;
	}

	readonly #ids = new Set<string>();

	protected disturb(): void {
		if (!this.chance(0.02)) return;
		this.counts.cuts++;
		this.peer.disconnect();
	}

	protected say(): void {
		const { room, people, thread, call } = this.pick(this.#places);
		const by = this.pick(people);
		const in_ = thread === undefined ? {} : { thread };
		const part = this.options.random();
		const name = `message ${this.said.length + 1}`;
		if (part < 0.04) {
			this.#said(room, this.peer.say(by, room, `${call}!status`, in_), "command", "/status");
			return;
		}
		if (part < 0.16) {
			const { digest, ...file } = this.file();
			const id = this.peer.say(by, room, `${call}${name} with a file`, { ...in_, file });
			this.#said(room, id, "file", `${name} with a file`, [digest]);
			this.counts.files++;
			return;
		}
		const text = `${part < 0.3 ? "slow " : ""}${name}`;
		const id = this.peer.say(by, room, `${call}${text}`, in_);
		this.#said(room, id, "words", text);
		if (!this.chance(0.1)) return;
		this.counts.edits++;
		this.peer.edit(by, room, id, `${call}${text} changed`);
	}

	#said(
		room: MatrixRoom,
		id: string,
		kind: "words" | "file" | "command",
		text: string,
		digests?: readonly string[],
	): void {
		this.#ids.add(id);
		// The key of a conversation ends the room's name at the first colon.
		this.said.push({ chat: room.id.split(":")[0] ?? "", id, kind, text, ...(digests && { digests }) });
	}

	#place(n: number): Place {
		const { peer } = this;
		const people = [peer.user(`Ada${n}`), peer.user(`Bob${n}`)];
		const [ada] = people as [MatrixUser];
		if (n % 3 === 0) return { room: peer.dm(ada), people: [ada], call: "" };
		const room = peer.group(`Group ${n}`, people);
		if (n % 3 === 1) return { room, people, call: "Keryx: " };
		return { room, people, call: "Keryx: ", thread: peer.say(ada, room, "about tomatoes") };
	}

	#fault({ path, user }: CallRecord): Fault | undefined {
		if (this.isCalm || user !== this.peer.bot.id) return undefined;
		const part = this.options.random();
		if (/\/send\//.test(path)) {
			if (part < 0.06) {
				this.counts.pauses++;
				return { status: 429, errcode: "M_LIMIT_EXCEEDED", retryAfterMs: 20 };
			}
			if (part > 0.1) return undefined;
			this.counts.lost++;
			return part < 0.08 ? "lose_ack" : "lost";
		}
		if (part > 0.04) return undefined;
		this.counts.broken++;
		if (part < 0.02) return "lost";
		return { status: 502, errcode: "M_UNKNOWN" };
	}
}
