// The configured channels, and whether Keryx is in them. It joins no others, even if invited.
import { folded, formatLine, isWord, type Message } from "./wire.ts";

export interface Room {
	readonly channel: string;
	/** Absent: the channel has none. */
	readonly key?: string;
}

export type RoomState =
	/** Not asked to join yet, or not answered. */
	| { readonly kind: "out" }
	| { readonly kind: "in" }
	/** Removed, or not let in. */
	| { readonly kind: "refused"; readonly reason: string };

const OUT: RoomState = { kind: "out" };
const IN: RoomState = { kind: "in" };
/** A server's refusals to join. */
const NOT_LET_IN = new Set([
	"403",
	"405",
	"437",
	"471",
	"473",
	"474",
	"475",
	"476",
	"477",
	"479",
	"489",
	"520",
]);
/** Well below a line's length. */
const LIST_BYTES = 350;

export class Rooms {
	readonly #rooms = new Map<string, Room>();
	readonly #states = new Map<string, RoomState>();
	readonly #topics = new Map<string, string>();

	constructor(rooms: readonly Room[]) {
		for (const room of rooms) this.#rooms.set(folded(room.channel), room);
	}

	/** Null: not in the configuration. */
	stateOf(channel: string): RoomState | null {
		const name = folded(channel);
		return this.#rooms.has(name) ? (this.#states.get(name) ?? OUT) : null;
	}

	nameOf(channel: string): string {
		return this.#rooms.get(folded(channel))?.channel ?? channel;
	}

	topicOf(channel: string): string | undefined {
		return this.#topics.get(folded(channel));
	}

	/** What is wrong, in words. */
	*problems(): Generator<string> {
		for (const [name, state] of this.#states)
			if (state.kind === "refused") yield `not in ${this.nameOf(name)}: ${state.reason}`;
	}

	/** For every room Keryx is not in. Those without a key share lines. */
	joining(): string[] {
		const wanted = [...this.#rooms].filter(([name]) => this.#states.get(name)?.kind !== "in");
		const lines = wanted.flatMap(([, { channel, key }]) =>
			key === undefined ? [] : [formatLine("JOIN", [channel, key])],
		);
		let list = "";
		for (const [, { channel, key }] of wanted) {
			if (key !== undefined || !isWord(channel)) continue;
			if (Buffer.byteLength(`${list},${channel}`) > LIST_BYTES) {
				lines.push(`JOIN ${list}`);
				list = "";
			}
			list += list === "" ? channel : `,${channel}`;
		}
		return list === "" ? lines : [...lines, `JOIN ${list}`];
	}

	joined(channel: string): boolean {
		return this.#set(channel, IN);
	}

	/** We were removed, or have left. */
	left(channel: string, reason: string): boolean {
		return this.#set(channel, { kind: "refused", reason });
	}

	/** Whether the message says that we may not join; returns the channel. */
	refused({ command, params }: Message): { readonly channel: string; readonly reason: string } | null {
		const channel = params.find((param) => this.#rooms.has(folded(param)));
		if (!NOT_LET_IN.has(command) || channel === undefined) return null;
		// An error about a channel we are in is about a message to it.
		if (this.stateOf(channel)?.kind === "in") return null;
		const reason = params.at(-1) ?? command;
		this.left(channel, reason);
		return { channel, reason };
	}

	topic(channel: string, topic: string): void {
		if (this.#rooms.has(folded(channel))) this.#topics.set(folded(channel), topic);
	}

	#set(channel: string, state: RoomState): boolean {
		const name = folded(channel);
		if (!this.#rooms.has(name)) return false;
		this.#states.set(name, state);
		return true;
	}
}
