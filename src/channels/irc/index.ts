// IRC: our own client for a line protocol. The server waits for nobody and delivers once, so a message is kept here until it is committed.
// A sent message is proven by its echo, or by the answer to the PING after it.
// Never here: a rule about who may speak, or anything of another platform.

import { platformTraits } from "../../domain/index.ts";
import type { Channel, ChannelHost, ChannelTraits, Outgoing, SendResult } from "../../gateway/index.ts";
import { Line } from "../line.ts";
import { Intake } from "./intake.ts";
import { addressOf, FLOOD, type IrcOptions, loginOf } from "./options.ts";
import { People, type Person } from "./people.ts";
import { Rooms } from "./rooms.ts";
import { Session } from "./session.ts";
import { readText } from "./text.ts";
import { folded, formatLine, isWord, LINE_BYTES, type Message, pictured, shownBytes } from "./wire.ts";

export { identifyIrc } from "./identify.ts";
export type { IrcOptions, IrcSecrets } from "./options.ts";

/** How long an identified nick is trusted, unless the server says that they left. */
const VERIFIED_MS = 10_000;
/** How often a wanted nick that is taken, and a channel that refused us, are tried again. */
const NICK_MS = 30_000;
const REJOIN_MS = 10 * 60_000;
const NOT_CONNECTED: SendResult = { kind: "retry", afterMs: 1000, reason: "not connected" };

/**
 * A line has 512 bytes for its readers, including our name and the target: a nick of 31, a user of 12, a host of 63 and a channel of 64
 * leave 326. So a part fits everywhere.
 */
export const IRC_TRAITS: ChannelTraits = {
	...platformTraits("irc"),
	shows: {
		attachments: false,
		buttons: false,
		edit: false,
		typing: false,
		threads: false,
		idempotentSend: false,
		lookup: false,
		drafts: false,
	},
};

export function createIrcChannel(options: IrcOptions): Channel {
	const line = new IrcLine(options);
	return {
		name: options.name,
		platform: "irc",
		account: options.account ?? "",
		traits: IRC_TRAITS,
		start: (host) => line.start(host),
		stop: () => line.stop(),
		send: (outgoing) => line.send(outgoing),
		room: () => line.room(),
		health: () => line.health(),
	};
}

class IrcLine {
	readonly #options: IrcOptions;
	readonly #line: Line<Session>;
	readonly #intake: Intake;
	readonly #people = new People();
	#rooms: Rooms;
	#commands: ReadonlySet<string> = new Set();
	#connections = 0;
	#messages = 0;
	/** Identifies this run of the channel: its counters are unique only together with it. */
	readonly #life: string;

	constructor(options: IrcOptions) {
		const { clock, random = Math.random, aliveMs = 60_000 } = options;
		this.#options = options;
		this.#life = `${clock.now().toString(36)}${Math.floor(random() * 36 ** 4).toString(36)}`;
		this.#rooms = new Rooms([]);
		const log = (message: string, error?: unknown) => options.log(`${options.name}: ${message}`, error);
		this.#intake = new Intake({ clock, log, pause: (isPaused) => this.#line.session?.pause(isPaused) });
		this.#line = new Line({
			clock,
			random,
			aliveMs,
			firstPauseMs: options.firstPauseMs ?? 1000,
			longestPauseMs: options.longestPauseMs ?? 5 * 60_000,
			log,
			remarks: () => this.#remarks(),
			open: () => this.#open(),
			untrustedRemedy: "check irc.server, or name the server's own authority in irc.ca_file",
		});
	}

	async start(host: ChannelHost): Promise<void> {
		await this.#intake.start(host);
		this.#commands = new Set(host.commands().map(({ name }) => name));
		await this.#line.start();
	}

	async stop(): Promise<void> {
		await this.#line.stop();
		await this.#intake.stop();
		this.#people.forget();
	}

	health() {
		return this.#line.health();
	}

	room(): { readonly free: number; readonly afterMs: number } {
		const { session } = this.#line;
		// Nothing is requested without a connection.
		if (!session) return { free: 1, afterMs: 1000 };
		const { perMessage, pace } = session;
		const { free, afterMs } = pace.room(perMessage);
		const most = (this.#options.flood ?? FLOOD).burst;
		const unanswered = session.underWay * perMessage;
		return { free: Math.max(0, Math.floor(Math.min(free, most - unanswered) / perMessage)), afterMs };
	}

	async send({ destination, body, plain }: Outgoing): Promise<SendResult> {
		const session = this.#line.session;
		if (!session) return NOT_CONNECTED;
		const text = pictured(plain ? body.plain : body.text);
		if (Buffer.byteLength(text) > IRC_TRAITS.messageLimit.max)
			return { kind: "refused", reason: "the text is too long for one line" };
		if (text.trim() === "") return { kind: "refused", reason: "IRC carries no empty lines" };
		const { free, afterMs } = session.pace.room(session.perMessage);
		if (free < session.perMessage)
			return {
				kind: "retry",
				afterMs: Math.max(1, afterMs),
				reason: "Keryx keeps below the server's flood limit",
			};
		const recipient = await this.#recipientOf(destination.chatId, session);
		if (typeof recipient !== "string") return recipient;
		const written = formatLine("PRIVMSG", [recipient, text]);
		if (shownBytes(session.prefix, written) > LINE_BYTES)
			return { kind: "refused", reason: "the text is too long for one line to this chat" };
		return session.send(recipient, text);
	}

	/** Where a chat is written to now: a channel we are in, or the person's current nick. */
	async #recipientOf(chatId: string, session: Session): Promise<string | SendResult> {
		if (isChannel(chatId)) {
			const state = this.#rooms.stateOf(chatId);
			if (!state) return { kind: "refused", reason: `irc.join does not name ${chatId}` };
			if (state.kind === "refused") return { kind: "refused", reason: state.reason };
			return state.kind === "in"
				? this.#rooms.nameOf(chatId)
				: { kind: "retry", afterMs: 500, reason: `not in ${chatId} yet` };
		}
		const id = folded(chatId);
		const nick = this.#people.nickOf(id);
		if (!isWord(nick)) return { kind: "refused", reason: `${chatId} is not a person on IRC` };
		const { clock } = this.#options;
		if (this.#people.isVerified(id, nick, clock.monotonic())) return nick;
		try {
			const found = await session.whois(nick);
			if (!found)
				return { kind: "retry", reason: `${nick} is not on IRC now, and IRC keeps nothing for them` };
			const person = this.#people.known(found.nick, found.user, found.host, found.account);
			if (person.id !== id)
				return { kind: "retry", reason: `somebody else has the nick ${nick} now: ${person.id}` };
			this.#people.verified(id, nick, clock.monotonic() + VERIFIED_MS);
			return nick;
		} catch (error) {
			return { kind: "retry", reason: (error as Error).message };
		}
	}

	async #open(): Promise<Session> {
		const options = this.#options;
		const { nick, clock, aliveMs = 60_000 } = options;
		const secrets = await options.secrets();
		const { serverPassword, keys } = secrets;
		this.#rooms = new Rooms(
			options.join.map((channel) => {
				const key = keys.get(channel);
				return { channel, ...(key !== undefined && { key }) };
			}),
		);
		return new Session({
			clock,
			address: addressOf(options, secrets),
			aliveMs,
			flood: options.flood ?? FLOOD,
			id: `${this.#life}-${++this.#connections}`,
			registration: {
				nick,
				realName: "Keryx",
				...(serverPassword !== undefined && { serverPassword }),
				...loginOf(options, secrets),
			},
			welcomed: () => {
				this.#people.forget();
				this.#intake.hold();
			},
			ready: (session) => void this.#ready(session),
			heard: (message, session) => this.#heard(message, session),
			alive: () => this.#line.alive("the server answered"),
		});
	}

	async #ready(session: Session): Promise<void> {
		const { clock } = this.#options;
		this.#intake.keepTime(session.hasHistory);
		const { since } = this.#intake;
		// From here on nothing is missed: stored before anyone can write.
		if (session.hasHistory && since === null) await this.#intake.begin(clock.now());
		this.#line.ready();
		this.#join(session);
		this.#wantNick(session);
		if (session.hasHistory && since !== null) await this.#catchUp(session, since);
		this.#intake.letGo();
	}

	/** Missed messages come before new ones. */
	async #catchUp(session: Session, since: number): Promise<void> {
		const { clock, join, log, name } = this.#options;
		this.#intake.catchUp(since);
		const partners = (await session.history.partners(since, clock.now() + 60_000)) ?? [];
		for (const target of new Set([...join, ...partners.filter((partner) => !isChannel(partner))])) {
			const { messages, isWhole } = await session.history.after(target, since);
			for (const message of messages) if (message.command === "PRIVMSG") this.#said(message, session, true);
			// The next connection reads everything again.
			if (!session.isOpen) return;
			if (!isWhole)
				log(`${name}: what was said in ${target} while Keryx was away could not be read to its end`);
		}
		this.#intake.catchUp(null);
	}

	#join(session: Session): void {
		const lines = this.#rooms.joining();
		if (lines.length > 0) session.write(...lines);
	}

	/** While someone else has our nick. */
	#wantNick(session: Session): void {
		const { clock, nick, nickMs = NICK_MS } = this.#options;
		if (!session.isOpen || folded(session.nick) === folded(nick)) return;
		clock.after(nickMs, () => {
			if (!session.isOpen || folded(session.nick) === folded(nick)) return;
			session.write(formatLine("NICK", [nick]));
			this.#wantNick(session);
		});
	}

	#heard(message: Message, session: Session): void {
		const { command, params, nick, prefix } = message;
		const isOwn = folded(nick) === folded(session.nick);
		const [first = "", second = ""] = params;
		if (isOwn && prefix.includes("!")) session.prefix = prefix;
		switch (command) {
			case "PRIVMSG":
				this.#said(message, session, false);
				break;
			case "JOIN":
				if (isOwn) this.#rooms.joined(first);
				break;
			case "NICK":
				this.#people.renamed(message);
				if (isOwn) {
					session.nick = first;
					session.prefix = `${first}${prefix.slice(nick.length)}`;
				} else this.#freed(nick, session);
				break;
			case "CHGHOST":
				this.#people.moved(message);
				break;
			case "QUIT":
				this.#people.left(nick);
				this.#freed(nick, session);
				break;
			case "PART":
				this.#people.left(nick);
				if (isOwn) this.#thrownOut(first, "Keryx has left the channel", session);
				break;
			case "KICK":
				this.#people.left(second);
				if (folded(second) === folded(session.nick))
					this.#thrownOut(first, `${nick} removed Keryx from ${first}: ${params[2] ?? ""}`, session);
				break;
			case "INVITE":
				if (this.#rooms.stateOf(second)) this.#join(session);
				break;
			case "332":
				this.#rooms.topic(second, params[2] ?? "");
				break;
			case "TOPIC":
				this.#rooms.topic(first, second);
				break;
			default: {
				const refused = this.#rooms.refused(message);
				if (refused) this.#thrownOut(refused.channel, refused.reason, session);
			}
		}
	}

	/** Our nick is free again. */
	#freed(nick: string, session: Session): void {
		const { nick: wanted } = this.#options;
		if (folded(nick) === folded(wanted) && folded(session.nick) !== folded(wanted))
			session.write(formatLine("NICK", [wanted]));
	}

	/** Deliveries for the channel end, with the reason. Later we ask to join again. */
	#thrownOut(channel: string, reason: string, session: Session): void {
		const { clock, rejoinMs = REJOIN_MS } = this.#options;
		if (!this.#rooms.left(channel, reason)) return;
		this.#people.forget();
		const chat = folded(channel);
		this.#intake.tell(chat, (host) => host.gone({ source: this.#sourceOf(chat, null), reason }));
		clock.after(rejoinMs, () => {
			if (session.isOpen && this.#rooms.stateOf(channel)?.kind === "refused") this.#join(session);
		});
	}

	#said(message: Message, session: Session, isMissed: boolean): void {
		const { params, tags, nick } = message;
		const [target = "", raw = ""] = params;
		const { login, nick: wanted } = this.#options;
		const id = tags.get("msgid");
		const isOwnAccount = session.has("account-tag") && tags.get("account") === (login ?? wanted) && isMissed;
		if (folded(nick) === folded(session.nick) || isOwnAccount) {
			if (!isMissed) session.echoed(target, id);
			return;
		}
		const person = this.#people.of(message);
		const isRoom = isChannel(target) && this.#rooms.stateOf(target) !== null;
		// Missed private messages name the nick we had then.
		const isPrivate = !isChannel(target) && (isMissed || folded(target) === folded(session.nick));
		if (!person || (!isRoom && !isPrivate)) return;
		const said = readText(raw, { nick: session.nick, sender: person.nick, commands: this.#commands });
		if (!said) return;
		const chat = isRoom ? folded(target) : person.id;
		const sentAt = Date.parse(tags.get("time") ?? "");
		this.#intake.take(
			chat,
			{
				source: this.#sourceOf(chat, person),
				platformMessage: id ?? this.#options.messageId?.() ?? `${this.#life}-${++this.#messages}`,
				content: said.text,
				mentioned: isPrivate || said.mentioned,
				...(!Number.isNaN(sentAt) && { sentAt }),
				transport: {
					...((tags.has("bot") || tags.has("draft/bot")) && { isBot: true }),
					...(!person.isProven && this.#options.decides !== true && { unproven: true }),
				},
			},
			isMissed,
		);
	}

	#sourceOf(chat: string, person: Person | null): Record<string, unknown> {
		const { account = "", profile } = this.#options;
		const topic = this.#rooms.topicOf(chat);
		return {
			platform: "irc",
			account,
			chat_id: chat,
			chat_type: isChannel(chat) ? "channel" : "dm",
			...(isChannel(chat) && { chat_name: this.#rooms.nameOf(chat) }),
			...(isChannel(chat) && topic !== undefined && { chat_topic: topic }),
			...(person && { user_id: person.id, user_name: person.nick }),
			...(profile !== undefined && { profile }),
		};
	}

	*#remarks(): Generator<string> {
		const { session } = this.#line;
		if (!session) return;
		const { nick } = this.#options;
		yield* this.#rooms.problems();
		if (folded(session.nick) !== folded(nick))
			yield `the nick ${nick} is taken, so Keryx is ${session.nick} until it is free`;
		yield session.hasHistory
			? "the server keeps a history: what is said while Keryx is away is read later"
			: "the server keeps no history: what is said while Keryx is away is lost";
	}
}

/** Everything else is a person. */
function isChannel(name: string): boolean {
	return /^[#&+!]/.test(name);
}
