// The configured rooms (XEP-0045): whether Keryx is in them, under which nick, and who else is. It joins no others, even if invited.
import { isWithin, type Jid, parseJid } from "./stream/jid.ts";
import { NS } from "./stream/namespaces.ts";
import { child, type Element, element, elements, textOf } from "./stream/xml.ts";

export type RoomState =
	/** Not asked to join yet, or not answered. */
	| { readonly kind: "out" }
	| { readonly kind: "in" }
	/** Removed, or not let in. */
	| { readonly kind: "refused"; readonly reason: string };

const OUT: RoomState = { kind: "out" };
const IN: RoomState = { kind: "in" };
/** How many nicks are tried. */
const MOST_NICKS = 5;

export interface Room {
	readonly jid: string;
	readonly password?: string;
	state: RoomState;
	/** Ours. */
	nick: string;
	tries: number;
	name: string | undefined;
	topic: string | undefined;
	/** The room keeps what is said; undefined: not known yet. */
	hasArchive: boolean | undefined;
	/** Everybody in it sees who has a nick, also in the archive. */
	showsAddresses: boolean;
	/** By nick; the person's address where the room shows it. */
	readonly occupants: Map<string, string | undefined>;
}

export interface Person {
	readonly id: string;
	readonly name: string;
	/** Our own server, or the person's own, says that it is them. */
	readonly isProven: boolean;
}

export type RoomEvent =
	| { readonly kind: "joined"; readonly room: Room }
	/** Another nick is tried. */
	| { readonly kind: "again"; readonly room: Room }
	/** Deliveries for the room end, with the reason. */
	| { readonly kind: "thrown_out"; readonly room: Room; readonly reason: string }
	/** The room went away by itself. */
	| { readonly kind: "left"; readonly room: Room }
	| null;

export class Rooms {
	readonly #rooms = new Map<string, Room>();
	readonly #wanted: string;
	readonly #own: Jid;

	constructor(
		rooms: readonly { readonly jid: string; readonly password?: string }[],
		wanted: string,
		own: Jid,
	) {
		this.#wanted = wanted;
		this.#own = own;
		for (const room of rooms)
			this.#rooms.set(room.jid, {
				...room,
				state: OUT,
				nick: wanted,
				tries: 0,
				name: undefined,
				topic: undefined,
				hasArchive: undefined,
				showsAddresses: false,
				occupants: new Map(),
			});
	}

	/** Undefined: not in the configuration. */
	get(jid: string): Room | undefined {
		return this.#rooms.get(jid);
	}

	all(): readonly Room[] {
		return [...this.#rooms.values()];
	}

	/** What is wrong, in words. */
	*problems(): Generator<string> {
		for (const { jid, state, nick } of this.#rooms.values()) {
			if (state.kind === "refused") yield `not in ${jid}: ${state.reason}`;
			if (state.kind === "in" && nick !== this.#wanted)
				yield `the nick ${this.#wanted} is taken in ${jid}, so Keryx is ${nick} there`;
		}
	}

	joining(room: Room): Element {
		room.state = OUT;
		room.occupants.clear();
		return element(
			"presence",
			NS.client,
			{ to: `${room.jid}/${room.nick}` },
			element(
				"x",
				NS.muc,
				{},
				// Earlier messages are read from the archive.
				element("history", NS.muc, { maxstanzas: "0" }),
				...(room.password === undefined ? [] : [element("password", NS.muc, {}, room.password)]),
			),
		);
	}

	/** A new session on the server is in no room. */
	reset(): void {
		for (const room of this.#rooms.values()) {
			room.state = OUT;
			room.nick = this.#wanted;
			room.tries = 0;
			room.occupants.clear();
		}
	}

	/** Presence in a room. */
	heard(room: Room, nick: string, presence: Element): RoomEvent {
		const { type } = presence.attrs;
		const x = child(presence, "x", NS.mucUser);
		const item = x && child(x, "item");
		const codes = new Set(
			x ? elements(x).map(({ name, attrs }) => (name === "status" ? attrs.code : "")) : [],
		);
		const isSelf = codes.has("110") || nick === room.nick;
		if (type === "error") return this.#refused(room, presence);
		if (type === "unavailable") {
			room.occupants.delete(nick);
			if (!isSelf) return null;
			if (codes.has("303") && item?.attrs.nick !== undefined) {
				room.nick = item.attrs.nick;
				return null;
			}
			return this.#left(room, codes, item);
		}
		if (type !== undefined) return null;
		room.occupants.set(nick, parseJid(item?.attrs.jid)?.bare);
		if (!isSelf) return null;
		const isNew = room.state.kind !== "in";
		// The service may have changed it.
		room.nick = nick;
		room.state = IN;
		room.tries = 0;
		return isNew ? { kind: "joined", room } : null;
	}

	/** Who has a nick in a room now. */
	personOf(room: Room, nick: string): Person {
		const jid = room.occupants.get(nick);
		if (jid === undefined) return { id: `${room.jid}/${nick}`, name: nick, isProven: false };
		return { id: jid, name: nick, isProven: this.#isVouchedFor(room, jid) };
	}

	/** Who had a nick when a message was archived. The archive alone proves nothing: it is compared with the current occupants. */
	formerPerson(room: Room, nick: string, message: Element): Person {
		const stated = elements(message).filter(({ name, ns }) => name === "x" && ns === NS.mucUser);
		const item = stated[0] && child(stated[0], "item");
		const jid = parseJid(item?.attrs.jid)?.bare;
		const now = this.personOf(room, nick);
		// Some archives keep the writer's own claim, next to the room's statement or, without one, alone.
		if (jid === undefined || stated.length > 1 || !room.showsAddresses)
			return { id: `${room.jid}/${nick}`, name: nick, isProven: false };
		return now.id === jid ? now : { id: jid, name: nick, isProven: false };
	}

	/** A room on another server can claim anything about other servers' people. */
	#isVouchedFor(room: Room, jid: string): boolean {
		const domain = parseJid(room.jid)?.domain ?? "";
		const theirs = parseJid(jid)?.domain ?? "";
		return isWithin(domain, this.#own.domain) || (theirs.includes(".") && isWithin(domain, theirs));
	}

	#refused(room: Room, presence: Element): RoomEvent {
		const error = child(presence, "error");
		const found = error && elements(error).find(({ ns, name }) => ns === NS.stanzas && name !== "text");
		if (found?.name === "conflict" && room.tries < MOST_NICKS) {
			room.tries++;
			room.nick = `${this.#wanted}${"_".repeat(room.tries)}`;
			return { kind: "again", room };
		}
		if (error?.attrs.type === "wait" || /^remote-server/.test(found?.name ?? ""))
			return { kind: "left", room };
		const said = textOf(error && child(error, "text", NS.stanzas));
		return this.#out(room, `${WHY[found?.name ?? ""] ?? found?.name ?? "not let in"}${said && `: ${said}`}`);
	}

	#left(room: Room, codes: ReadonlySet<string | undefined>, item: Element | undefined): RoomEvent {
		const said = textOf(item && child(item, "reason"));
		const by = item && child(item, "actor")?.attrs.nick;
		// The service stopped or lost us: nobody decided it.
		if (codes.has("332") || codes.has("333")) {
			room.state = OUT;
			return { kind: "left", room };
		}
		const how = codes.has("301") ? "banned Keryx from" : codes.has("307") ? "removed Keryx from" : undefined;
		if (how === undefined) return this.#out(room, `Keryx is no longer in the room${said && `: ${said}`}`);
		return this.#out(room, `${by ?? "somebody"} ${how} ${room.jid}${said && `: ${said}`}`);
	}

	#out(room: Room, reason: string): RoomEvent {
		room.state = { kind: "refused", reason };
		room.occupants.clear();
		return { kind: "thrown_out", room, reason };
	}
}

const WHY: Readonly<Record<string, string>> = {
	"not-authorized": "the room has a password: check password_env or password_file of its entry in xmpp.join",
	forbidden: "Keryx is banned from the room",
	"registration-required": "only members of the room may come in",
	"item-not-found": "the room does not exist",
	"not-allowed": "the room does not exist, and Keryx may not make it",
	conflict: "every nick that Keryx tried is taken",
	"service-unavailable": "the room is full",
	"not-acceptable": "only with a reserved nick",
};
