// The outside of the gateway in a storm on IRC: people on a real server who write in private and in channels, a line that is cut, and what
// kills the gateway. A server without a history keeps nothing: what was on its way when the line or the gateway died may be lost, and
// nothing else may be.
import type { Delivery, Store } from "../../../src/store/index.ts";
import { createFaultProxy, type FaultProxy } from "../../../src/testing/fault-proxy.ts";
import { type Child, lines, type Workbench } from "../../crash/support.ts";
import { IrcPerson } from "../../support/irc-person.ts";
import { type Orders, type Report, TOLD } from "./scene.ts";
import type { Judged } from "./verdict.ts";

/** So many messages may be on their way before people write on. */
const UNTAKEN = 8;
const BOT = "keryx";
const LOBBY = "#lobby";

export interface IrcWorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
	readonly port: number;
	/** The server keeps what is said, so nothing may be lost; and the people and the bot have accounts. */
	readonly history?: {
		readonly login: string;
		readonly password: string;
		/** What a person's client says first. */
		readonly begin: (nick: string) => readonly string[];
	};
}

interface Place {
	/** As the gateway names it. */
	readonly chat: string;
	readonly person: IrcPerson;
	/** Where the person writes. */
	readonly target: string;
	/** How the bot is called there. */
	readonly call: string;
	/** The bot is there, as far as the person can see. */
	isOpen: boolean;
	/** How often they saw the bot leave. */
	leaves: number;
}

interface SaidMessage {
	readonly place: Place;
	readonly text: string;
	readonly kind: "words" | "command";
	/** The bot has left since, so it may never have read it. */
	isExcused: boolean;
	taken?: { readonly chat: string; readonly id: string };
}

export class IrcWorld {
	readonly counts = { kills: 0, cuts: 0, duplicates: 0, repeated: 0 };
	readonly logs: string[] = [];
	readonly path: string;
	readonly #options: IrcWorldOptions;
	readonly #places: Place[] = [];
	readonly #said = new Map<string, SaidMessage>();
	readonly #proxy: FaultProxy;
	#numbers = 0;
	/** Of what was lost, people say as much again. */
	#taken = 0;
	#calm = false;
	#leaves = 0;
	#look: () => void = () => {};

	private constructor(options: IrcWorldOptions, proxy: FaultProxy) {
		this.#options = options;
		this.#proxy = proxy;
		this.path = options.bench.file("storm.db");
	}

	static async create(options: IrcWorldOptions): Promise<IrcWorld> {
		const world = new IrcWorld(options, await createFaultProxy(`http://127.0.0.1:${options.port}`));
		for (let n = 0; n < options.chats; n++) await world.#open(n);
		return world;
	}

	get isTaken(): boolean {
		return this.#taken >= this.#options.messages && this.#untaken().length === 0;
	}

	/** What nobody took: it was on its way when the bot left. */
	get lost(): readonly string[] {
		return [...this.#said.values()].filter(({ taken }) => !taken).map(({ text }) => text);
	}

	/** What was lost though the bot was there all the time. */
	get unexcused(): readonly string[] {
		return [...this.#said.values()]
			.filter(({ taken, isExcused }) => !taken && (this.#options.history || !isExcused))
			.map(({ text }) => text);
	}

	calm(): void {
		this.#calm = true;
	}

	/** One life of the gateway: killed after so many messages, or left to work everything off. */
	async live(messages: number | null): Promise<"killed" | "drained"> {
		const { bench, port, history } = this.#options;
		const orders: Orders = {
			platform: "irc",
			path: this.path,
			apiRoot: `http://127.0.0.1:${port}`,
			token: history?.password ?? "",
			owner: "nobody",
			members: this.#places.map(({ person }) => this.#idOf(person.nick)),
			dangers: bench.file("dangers"),
			irc: {
				port: this.#proxy.port,
				join: [
					LOBBY,
					...new Set(this.#places.map(({ target }) => target).filter((name) => name.startsWith("#"))),
				],
				...(history && { login: history.login }),
			},
		};
		const child = bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		let left = messages ?? Number.POSITIVE_INFINITY;
		let isTold = false;
		this.#look = () => {
			this.#write();
			if (left <= 0 || (messages !== null && this.isTaken)) child.kill("SIGKILL");
			if (isTold || messages !== null || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${TOLD.drain}\n`);
		};
		const ending = this.#listen(child, () => left--);
		const { isDrained, signal, code } = await ending;
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
			// A reader of IRC sees no receipts: `shown` judges what they see.
			places: [],
			done: [],
			chatPart: 4,
			shows: ({ plain }) => plain,
		};
	}

	/** I7, I19: each line that was sent is seen once and in order; what else is seen is of unknown outcome. */
	async shown(store: Store): Promise<{ readonly problems: readonly string[]; readonly seen: number }> {
		const problems: string[] = [];
		const deliveries = await deliveriesOf(store);
		let seen = 0;
		for (const place of this.#places) {
			await place.person.sync();
			const texts = place.person
				.lines(BOT, place.target === BOT ? place.person.nick : place.target)
				.filter((text) => /message \d+/.test(text));
			seen += texts.length;
			const of = deliveries.filter(
				({ destination, body }) => destination.chatId === place.chat && /message \d+/.test(body.plain),
			);
			const sent = of.filter(({ state }) => state === "sent").map(({ body }) => body.plain);
			const open = of.filter(({ state }) => state === "unknown").map(({ body }) => body.plain);
			for (const { id, state, reason } of of)
				if (state !== "sent" && state !== "unknown")
					problems.push(`I7: delivery ${id} is ${state} (${reason})`);
			const certain = texts.filter((text) => !open.includes(text));
			if (JSON.stringify(certain) !== JSON.stringify(sent))
				problems.push(`I19: ${place.chat} shows ${certain.join(" | ")}, not ${sent.join(" | ")}`);
			if (new Set(texts).size !== texts.length) problems.push(`${place.chat} shows something twice`);
		}
		return { problems, seen };
	}

	async close(): Promise<void> {
		for (const { person } of this.#places) person.leave();
		await this.#proxy.close();
	}

	async #open(n: number): Promise<void> {
		const { port, history } = this.#options;
		const nick = `ada${n}`;
		const person = await IrcPerson.connect({ port, nick, ...(history && { begin: history.begin(nick) }) });
		const isRoom = n % 2 === 1;
		const target = isRoom ? `#room${n}` : BOT;
		await person.join(LOBBY);
		if (isRoom) await person.join(target);
		const where = isRoom ? target : LOBBY;
		const chat = isRoom ? target : this.#idOf(nick);
		const place: Place = { chat, person, target, call: isRoom ? `${BOT}: ` : "", isOpen: false, leaves: 0 };
		this.#places.push(place);
		person.onMessage = ({ command, nick: who, params, tags }) => {
			if (tags.has("batch")) return;
			const isBack = command === "JOIN" && who === BOT && params[0] === where;
			// It may have had another nick for a moment.
			if (isBack || (command === "NICK" && params[0] === BOT)) place.isOpen = place.leaves === this.#leaves;
			if ((command === "QUIT" || command === "NICK") && who === BOT) this.#left(place);
			if (command === "401" && params[1] === BOT) this.#repeat(place);
			this.#look();
		};
	}

	#idOf(nick: string): string {
		return this.#options.history ? nick : `${nick}!~${nick}@127.0.0.1`;
	}

	/** Whoever sees it first tells everybody. */
	#left(place: Place): void {
		place.leaves++;
		if (place.leaves <= this.#leaves) return;
		this.#leaves = place.leaves;
		for (const one of this.#places) one.isOpen = false;
		for (const said of this.#said.values()) said.isExcused = true;
	}

	/** The server says that nobody is there: what was written last was not heard, and is written again. */
	#repeat(place: Place): void {
		place.isOpen = false;
		const last = [...this.#said].findLast(([, said]) => said.place === place && !said.taken);
		if (!last || this.#options.history) return;
		this.#said.delete(last[0]);
		this.counts.repeated++;
	}

	#untaken(): readonly SaidMessage[] {
		return [...this.#said.values()].filter(
			({ taken, isExcused }) => !taken && (this.#options.history || !isExcused),
		);
	}

	#isWriting = false;
	#write(): void {
		if (this.#isWriting) return;
		this.#isWriting = true;
		for (let tries = 0; tries < this.#places.length; tries++) {
			const untaken = this.#untaken().length;
			if (this.#taken + untaken >= this.#options.messages || untaken >= UNTAKEN) break;
			const place = this.#pick(this.#places);
			if (!place.isOpen) continue;
			this.#say(place);
			if (!this.#calm && this.#options.random() < 0.02) {
				this.counts.cuts++;
				this.#proxy.cut();
			}
		}
		this.#isWriting = false;
	}

	#say(place: Place): void {
		const number = ++this.#numbers;
		const part = this.#options.random();
		const kind = part < 0.1 ? "command" : "words";
		const text =
			kind === "command" ? `/status message ${number}` : `${part < 0.4 ? "slow " : ""}message ${number}`;
		const said: SaidMessage = { place, text, kind, isExcused: false };
		this.#said.set(text, said);
		place.person.say(place.target, place.call + text.replace(/^\//, "!"));
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
				if (report.say === "taken") {
					onTaken();
					const said = this.#said.get(report.text);
					if (said && !said.taken) this.#taken++;
					if (said) said.taken = { chat: report.chat, id: report.message };
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

/** Of every turn, in the order in which they were made. */
export async function deliveriesOf(store: Store): Promise<readonly Delivery[]> {
	const scope = { kind: "operator" } as const;
	const found: Delivery[] = [];
	for (let cursor = ""; ; ) {
		const page = await store.events({ scope, after: cursor, limit: 1000 });
		if (page.kind === "resync") throw new Error("events are missing");
		if (page.events.length === 0) return found.toSorted((a, b) => a.n - b.n);
		cursor = page.cursor;
		for (const { type, turn } of page.events)
			if (type === "turn.begun") found.push(...(await store.turn({ scope, id: turn as string })).deliveries);
	}
}
