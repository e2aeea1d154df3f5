// The outside of the gateway in a storm on XMPP: people on a real server who write in private and in rooms, a line that is cut, and what
// kills the gateway. The server keeps everything, so nothing may be lost and nothing may come twice.
import { createFaultProxy, type FaultProxy } from "../../../src/testing/fault-proxy.ts";
import { PASSWORD, type Prosody } from "../../support/prosody.ts";
import { XmppPerson } from "../../support/xmpp-person.ts";
import type { Orders, Report } from "./scene.ts";
import { type Reader, ServerWorld, type ServerWorldOptions } from "./server-world.ts";
import type { Said } from "./verdict.ts";

/** So many messages may be on their way before people write on. */
const UNTAKEN = 8;

interface XmppWorldOptions extends ServerWorldOptions {
	readonly server: Prosody;
}

interface Chat {
	/** As the gateway names it. */
	readonly name: string;
	readonly person: XmppPerson;
	readonly isRoom: boolean;
	/** Whose messages the person sees there. */
	readonly from: string;
	/** Something was taken there: from then on nothing may be lost. */
	isBegun: boolean;
}

interface SaidMessage {
	readonly chat: Chat;
	readonly text: string;
	readonly kind: "words" | "command";
	taken?: { readonly chat: string; readonly id: string };
}

export class XmppWorld extends ServerWorld<XmppWorldOptions> {
	readonly #chats: Chat[] = [];
	readonly #said = new Map<string, SaidMessage>();
	readonly #proxy: FaultProxy;
	readonly #bot: string;
	/** By the server's id: a kill may come between a commit and its report, and the next gateway knows the id alone. */
	readonly #coming = new Map<string, { readonly chat: string; readonly text: string }>();
	#isThere = false;
	#isWriting = false;

	private constructor(options: XmppWorldOptions, proxy: FaultProxy) {
		super(options);
		this.#proxy = proxy;
		this.#bot = options.server.account("keryx");
	}

	static async create(options: XmppWorldOptions): Promise<XmppWorld> {
		const world = new XmppWorld(options, await createFaultProxy(`http://127.0.0.1:${options.server.port}`));
		for (let n = 0; n < options.chats; n++) await world.#open(n);
		return world;
	}

	get isTaken(): boolean {
		return this.#said.size >= this.options.messages && this.#untaken() === 0;
	}

	async close(): Promise<void> {
		for (const { person } of this.#chats) await person.leave();
		await this.#proxy.close();
	}

	protected ordersOf(common: Pick<Orders, "path" | "dangers">): Orders {
		return {
			...common,
			platform: "xmpp",
			apiRoot: `http://127.0.0.1:${this.options.server.port}`,
			token: PASSWORD,
			owner: "nobody@localhost",
			members: this.#chats.map(({ person }) => person.jid),
			seen: this.seen,
			xmpp: {
				port: this.#proxy.port,
				jid: this.#bot,
				join: this.#chats.filter(({ isRoom }) => isRoom).map(({ name }) => name),
			},
		};
	}

	protected said(): readonly Said[] {
		return [...this.#said.values()].flatMap(({ taken, kind, text }) =>
			taken ? [{ ...taken, kind, text }] : [],
		);
	}

	protected async readers(): Promise<readonly Reader[]> {
		for (const { person } of this.#chats) await person.sync();
		return this.#chats.map(
			({ name, person, from }): Reader => ({
				name,
				texts: person.shown(from).map(({ text }) => text),
				sees: ({ chatId }) => chatId === name,
			}),
		);
	}

	protected stateOf(): string {
		const heard = this.#chats.reduce((sum, { person }) => sum + person.heard.length, 0);
		return `${this.#said.size} said, ${this.#untaken()} of them not taken, ${heard} stanzas heard`;
	}

	/** Every chat begins before the first kill. */
	protected override mayDie(): boolean {
		return this.#chats.every(({ isBegun }) => isBegun);
	}

	protected write(): void {
		if (this.#isWriting || !this.#isThere) return;
		this.#isWriting = true;
		const first = this.#chats.filter(
			(chat) =>
				!chat.isBegun && this.#sees(chat) && ![...this.#said.values()].some((one) => one.chat === chat),
		);
		for (const chat of first) this.#say(chat);
		while (this.mayDie() && this.#said.size < this.options.messages && this.#untaken() < UNTAKEN) {
			this.#say(this.pick(this.#chats));
			if (!this.isCalm && this.options.random() < 0.02) {
				this.counts.cuts++;
				this.#proxy.cut();
			}
		}
		this.#isWriting = false;
	}

	protected override onReport(report: Report): void {
		if (report.say === "coming") this.#coming.set(report.message, report);
	}

	protected onTaken(report: Extract<Report, { say: "taken" }>): boolean {
		const { chat, text } = this.#coming.get(report.message) ?? report;
		const said = this.#said.get(text);
		if (!said || said.taken) return false;
		said.taken = { chat, id: report.message };
		said.chat.isBegun = true;
		return true;
	}

	async #open(n: number): Promise<void> {
		const { server } = this.options;
		const person = await XmppPerson.connect(server, `ada${n}`);
		const isRoom = n % 2 === 1;
		const room = `room${n}@${server.rooms}`;
		// At least one room, where the bot can be seen.
		const watched = isRoom || n === 0 ? room : null;
		if (watched !== null) await person.join(watched, "ada", { "muc#roomconfig_whois": "anyone" });
		this.#chats.push({
			name: isRoom ? room : person.jid,
			person,
			isRoom,
			from: isRoom ? `${room}/keryx` : this.#bot,
			isBegun: false,
		});
		person.onStanza = (stanza) => {
			if (stanza.name === "presence" && stanza.attrs.from === `${room}/keryx`) this.#isThere = true;
			this.look();
		};
	}

	#untaken(): number {
		return [...this.#said.values()].filter(({ taken }) => !taken).length;
	}

	/** The bot is there for the first time. */
	#sees({ person, isRoom, from }: Chat): boolean {
		return !isRoom || person.heard.some(({ name, attrs }) => name === "presence" && attrs.from === from);
	}

	#say(chat: Chat): void {
		const words = this.wordsOf(this.#said.size + 1);
		this.#said.set(words.text, { chat, ...words });
		if (chat.isRoom) chat.person.sayIn(chat.name, `keryx: ${words.text}`);
		else chat.person.say(this.#bot, words.text);
	}
}
