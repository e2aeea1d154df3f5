// The outside of the gateway in a storm on IRC: people on a real server who write in private and in channels, a line that is cut, and what
// kills the gateway. A server without a history keeps nothing: what was on its way when the line or the gateway died may be lost, and
// nothing else may be.
import { createFaultProxy, type FaultProxy } from "../../../src/testing/fault-proxy.ts";
import { IrcPerson } from "../../support/irc-person.ts";
import type { Orders, Report } from "./scene.ts";
import { type Reader, ServerWorld, type ServerWorldOptions } from "./server-world.ts";
import type { Said } from "./verdict.ts";

/** So many messages may be on their way before people write on. */
const UNTAKEN = 8;
const BOT = "keryx";
const LOBBY = "#lobby";

interface IrcWorldOptions extends ServerWorldOptions {
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

export class IrcWorld extends ServerWorld<IrcWorldOptions> {
	readonly #places: Place[] = [];
	readonly #said = new Map<string, SaidMessage>();
	readonly #proxy: FaultProxy;
	#numbers = 0;
	/** Of what was lost, people say as much again. */
	#taken = 0;
	#leaves = 0;
	#isWriting = false;

	private constructor(options: IrcWorldOptions, proxy: FaultProxy) {
		super(options);
		this.#proxy = proxy;
	}

	static async create(options: IrcWorldOptions): Promise<IrcWorld> {
		const world = new IrcWorld(options, await createFaultProxy(`http://127.0.0.1:${options.port}`));
		for (let n = 0; n < options.chats; n++) await world.#open(n);
		return world;
	}

	get isTaken(): boolean {
		return this.#taken >= this.options.messages && this.#untaken().length === 0;
	}

	/** What nobody took: it was on its way when the bot left. */
	get lost(): readonly string[] {
		return [...this.#said.values()].filter(({ taken }) => !taken).map(({ text }) => text);
	}

	/** What was lost though the bot was there all the time. */
	get unexcused(): readonly string[] {
		return [...this.#said.values()]
			.filter(({ taken, isExcused }) => !taken && (this.options.history || !isExcused))
			.map(({ text }) => text);
	}

	async close(): Promise<void> {
		for (const { person } of this.#places) person.leave();
		await this.#proxy.close();
	}

	protected ordersOf(common: Pick<Orders, "path" | "dangers">): Orders {
		const { port, history } = this.options;
		return {
			...common,
			platform: "irc",
			apiRoot: `http://127.0.0.1:${port}`,
			token: history?.password ?? "",
			owner: "nobody",
			members: this.#places.map(({ person }) => this.#idOf(person.nick)),
			irc: {
				port: this.#proxy.port,
				join: [
					LOBBY,
					...new Set(this.#places.map(({ target }) => target).filter((name) => name.startsWith("#"))),
				],
				...(history && { login: history.login }),
			},
		};
	}

	protected said(): readonly Said[] {
		return [...this.#said.values()].flatMap(({ taken, kind, text }) =>
			taken ? [{ ...taken, kind, text }] : [],
		);
	}

	protected async readers(): Promise<readonly Reader[]> {
		for (const { person } of this.#places) await person.sync();
		return this.#places.map(
			({ chat, person, target }): Reader => ({
				name: chat,
				texts: person.lines(BOT, target === BOT ? person.nick : target),
				sees: ({ chatId }) => chatId === chat,
			}),
		);
	}

	protected stateOf(): string {
		const heard = this.#places.reduce((sum, { person }) => sum + person.heard.length, 0);
		return `${this.#numbers} said, ${this.#taken} taken, ${heard} lines heard`;
	}

	async #open(n: number): Promise<void> {
		const { port, history } = this.options;
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
			this.look();
		};
	}

	#idOf(nick: string): string {
		return this.options.history ? nick : `${nick}!~${nick}@127.0.0.1`;
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
		if (!last || this.options.history) return;
		this.#said.delete(last[0]);
		this.counts.repeated++;
	}

	#untaken(): readonly SaidMessage[] {
		return [...this.#said.values()].filter(
			({ taken, isExcused }) => !taken && (this.options.history || !isExcused),
		);
	}

	protected write(): void {
		if (this.#isWriting) return;
		this.#isWriting = true;
		for (let tries = 0; tries < this.#places.length; tries++) {
			const untaken = this.#untaken().length;
			if (this.#taken + untaken >= this.options.messages || untaken >= UNTAKEN) break;
			const place = this.pick(this.#places);
			if (!place.isOpen) continue;
			this.#say(place);
			if (!this.isCalm && this.options.random() < 0.02) {
				this.counts.cuts++;
				this.#proxy.cut();
			}
		}
		this.#isWriting = false;
	}

	#say(place: Place): void {
		const number = ++this.#numbers;
		const words = this.wordsOf(number);
		this.#said.set(words.text, { place, ...words, isExcused: false });
		place.person.say(place.target, place.call + words.text.replace(/^\//, "!"));
	}

	protected onTaken({ text, chat, message }: Extract<Report, { say: "taken" }>): boolean {
		const said = this.#said.get(text);
		if (said && !said.taken) this.#taken++;
		if (said) said.taken = { chat, id: message };
		return true;
	}
}
