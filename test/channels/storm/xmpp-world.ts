// The outside of the gateway in a storm on XMPP: people on a real server who write in private and in rooms, a line that is cut, and what
// kills the gateway. The server keeps everything, so nothing may be lost and nothing may come twice.
import type { Store } from "../../../src/store/index.ts";
import { createFaultProxy, type FaultProxy } from "../../../src/testing/fault-proxy.ts";
import { type Child, lines, type Workbench } from "../../crash/support.ts";
import { PASSWORD, type Prosody } from "../../support/prosody.ts";
import { XmppPerson } from "../../support/xmpp-person.ts";
import { deliveriesOf } from "./irc-world.ts";
import { type Orders, type Report, TOLD } from "./scene.ts";
import type { Judged } from "./verdict.ts";

/** So many messages may be on their way before people write on. */
const UNTAKEN = 8;

export interface XmppWorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
	readonly server: Prosody;
}

interface Place {
	/** As the gateway names it. */
	readonly chat: string;
	readonly person: XmppPerson;
	readonly isRoom: boolean;
	/** Whose messages the person sees there. */
	readonly from: string;
	/** Something was taken there: from then on nothing may be lost. */
	isBegun: boolean;
}

interface SaidMessage {
	readonly place: Place;
	readonly text: string;
	readonly kind: "words" | "command";
	taken?: { readonly chat: string; readonly id: string };
}

export class XmppWorld {
	readonly counts = { kills: 0, cuts: 0, duplicates: 0, unknown: 0 };
	readonly logs: string[] = [];
	readonly path: string;
	readonly #options: XmppWorldOptions;
	readonly #places: Place[] = [];
	readonly #said = new Map<string, SaidMessage>();
	readonly #proxy: FaultProxy;
	readonly #bot: string;
	/** By the server's id: a kill may come between a commit and its report, and the next gateway knows the id alone. */
	readonly #coming = new Map<string, { readonly chat: string; readonly text: string }>();
	#seen = "";
	#isThere = false;
	#isCalm = false;
	#isWriting = false;
	#look: () => void = () => {};

	private constructor(options: XmppWorldOptions, proxy: FaultProxy) {
		this.#options = options;
		this.#proxy = proxy;
		this.#bot = options.server.account("keryx");
		this.path = options.bench.file("storm.db");
	}

	static async create(options: XmppWorldOptions): Promise<XmppWorld> {
		const world = new XmppWorld(options, await createFaultProxy(`http://127.0.0.1:${options.server.port}`));
		for (let n = 0; n < options.chats; n++) await world.#open(n);
		return world;
	}

	get isTaken(): boolean {
		return this.#said.size >= this.#options.messages && this.#untaken().length === 0;
	}

	calm(): void {
		this.#isCalm = true;
	}

	/** One life of the gateway: killed after so many messages, or left to work everything off. */
	async live(messages: number | null): Promise<"killed" | "drained"> {
		const { bench, server } = this.#options;
		const orders: Orders = {
			platform: "xmpp",
			path: this.path,
			apiRoot: `http://127.0.0.1:${server.port}`,
			token: PASSWORD,
			owner: "nobody@localhost",
			members: this.#places.map(({ person }) => person.jid),
			dangers: bench.file("dangers"),
			seen: this.#seen,
			xmpp: {
				port: this.#proxy.port,
				jid: this.#bot,
				join: this.#places.filter(({ isRoom }) => isRoom).map(({ chat }) => chat),
			},
		};
		const child = bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		let left = messages ?? Number.POSITIVE_INFINITY;
		let isTold = false;
		this.#look = () => {
			this.#write();
			if ((left <= 0 && this.#isBegun()) || (messages !== null && this.isTaken)) child.kill("SIGKILL");
			if (isTold || messages !== null || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${TOLD.drain}\n`);
		};
		const { isDrained, signal, code } = await this.#listen(child, () => left--);
		this.#look = () => {};
		if (isDrained) return "drained";
		if (signal !== "SIGKILL") throw new Error(`the gateway ended with ${signal ?? code}`);
		this.counts.kills++;
		return "killed";
	}

	judged(): Judged {
		return {
			said: [...this.#said.values()].flatMap(({ taken, kind, text }) =>
				taken ? [{ ...taken, kind, text }] : [],
			),
			// `shown` judges what people see.
			places: [],
			done: [],
			chatPart: 4,
			shows: ({ plain }) => plain,
		};
	}

	/** I7, I19: each message that was sent is seen once and in order; what else is seen is of unknown outcome. */
	async shown(store: Store): Promise<{ readonly problems: readonly string[]; readonly seen: number }> {
		const problems: string[] = [];
		const deliveries = await deliveriesOf(store);
		let seen = 0;
		for (const { person, from, chat } of this.#places) {
			await person.sync();
			const texts = person
				.shown(from)
				.map(({ text }) => text)
				.filter((text) => /message \d+/.test(text));
			seen += texts.length;
			const of = deliveries.filter(
				({ destination, body }) => destination.chatId === chat && /message \d+/.test(body.plain),
			);
			const sent = of.filter(({ state }) => state === "sent").map(({ body }) => body.plain);
			const unknown = of.filter(({ state }) => state === "unknown").map(({ body }) => body.plain);
			this.counts.unknown += unknown.length;
			for (const { id, state, reason } of of)
				if (state !== "sent" && state !== "unknown")
					problems.push(`I7: delivery ${id} is ${state} (${reason})`);
			const certain = texts.filter((text) => !unknown.includes(text));
			if (JSON.stringify(certain) !== JSON.stringify(sent))
				problems.push(`I19: ${chat} shows ${certain.join(" | ")}, not ${sent.join(" | ")}`);
			if (new Set(texts).size !== texts.length) problems.push(`${chat} shows something twice`);
		}
		return { problems, seen };
	}

	async close(): Promise<void> {
		for (const { person } of this.#places) await person.leave();
		await this.#proxy.close();
	}

	async #open(n: number): Promise<void> {
		const { server } = this.#options;
		const person = await XmppPerson.connect(server, `ada${n}`);
		const isRoom = n % 2 === 1;
		const room = `room${n}@${server.rooms}`;
		// At least one room, where the bot can be seen.
		const watched = isRoom || n === 0 ? room : null;
		if (watched !== null) await person.join(watched, "ada", { "muc#roomconfig_whois": "anyone" });
		this.#places.push({
			chat: isRoom ? room : person.jid,
			person,
			isRoom,
			from: isRoom ? `${room}/keryx` : this.#bot,
			isBegun: false,
		});
		person.onStanza = (stanza) => {
			if (stanza.name === "presence" && stanza.attrs.from === `${room}/keryx`) this.#isThere = true;
			this.#look();
		};
	}

	#isBegun(): boolean {
		return this.#places.every(({ isBegun }) => isBegun);
	}

	#untaken(): readonly SaidMessage[] {
		return [...this.#said.values()].filter(({ taken }) => !taken);
	}

	#write(): void {
		if (this.#isWriting || !this.#isThere) return;
		this.#isWriting = true;
		const first = this.#places.filter(
			(place) =>
				!place.isBegun && this.#sees(place) && ![...this.#said.values()].some((one) => one.place === place),
		);
		for (const place of first) this.#say(place);
		while (this.#isBegun() && this.#said.size < this.#options.messages && this.#untaken().length < UNTAKEN) {
			this.#say(this.#pick(this.#places));
			if (!this.#isCalm && this.#options.random() < 0.02) {
				this.counts.cuts++;
				this.#proxy.cut();
			}
		}
		this.#isWriting = false;
	}

	/** The bot is there for the first time. */
	#sees({ person, isRoom, from }: Place): boolean {
		return !isRoom || person.heard.some(({ name, attrs }) => name === "presence" && attrs.from === from);
	}

	#say(place: Place): void {
		const part = this.#options.random();
		const number = this.#said.size + 1;
		const kind = part < 0.1 ? "command" : "words";
		const text =
			kind === "command" ? `/status message ${number}` : `${part < 0.4 ? "slow " : ""}message ${number}`;
		this.#said.set(text, { place, text, kind });
		if (place.isRoom) place.person.sayIn(place.chat, `keryx: ${text}`);
		else place.person.say(this.#bot, text);
	}

	#listen(
		child: Child,
		onTaken: () => void,
	): Promise<{ isDrained: boolean; code: number | null; signal: string | null }> {
		const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
			child.once("close", (code, signal) => resolve({ code, signal })),
		);
		const read = async () => {
			let isDrained = false;
			for await (const line of lines(child)) {
				const report = JSON.parse(line) as Report;
				if (report.say === "duplicate") this.counts.duplicates++;
				if (report.say === "quiet") child.stdin.write(`${TOLD.end}\n`);
				if (report.say === "drained") isDrained = true;
				if (report.say === "log") this.logs.push(report.message);
				if (report.say === "seen") this.#seen = report.cursor;
				if (report.say === "coming") this.#coming.set(report.message, report);
				if (report.say === "taken") {
					const { chat, text } = this.#coming.get(report.message) ?? report;
					const said = this.#said.get(text);
					if (said && !said.taken) {
						onTaken();
						said.taken = { chat, id: report.message };
						said.place.isBegun = true;
					}
				}
				this.#look();
			}
			return { isDrained, ...(await closed) };
		};
		return read();
	}

	#pick<Item>(items: readonly Item[]): Item {
		return items[Math.floor(this.#options.random() * items.length)] as Item;
	}
}
