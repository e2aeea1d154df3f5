// One connection to a server, from first to last byte: registers, answers pings, checks that it is alive, and sends. Others' messages are
// passed on.
import type { SendResult } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Ended } from "../line.ts";
import { type Flood, Pace } from "../pace.ts";
import { History } from "./history.ts";
import { Registration, type RegistrationOptions } from "./registration.ts";
import { Sending } from "./sending.ts";
import { LineSocket, type ServerAddress } from "./socket.ts";
import { folded, formatLine, type Message, parseLine } from "./wire.ts";

/** How long a server may take to accept Keryx. */
const REGISTER_MS = 30_000;
const ANSWER_MS = 20_000;
/** Shorter than the gateway waits for a channel. */
const SEND_MS = 40_000;
/** How long a goodbye may take. */
const QUIT_MS = 2000;

export interface SessionOptions {
	readonly clock: Clock;
	readonly address: ServerAddress;
	readonly registration: RegistrationOptions;
	readonly flood: Flood;
	/** After this long without a sign of life, the connection is given up. */
	readonly aliveMs: number;
	/** Identifies this connection in receipts and pings. */
	readonly id: string;
	/** The server has accepted Keryx; messages follow. */
	readonly welcomed: (session: Session) => void;
	/** The server's capabilities are known. */
	readonly ready: (session: Session) => void;
	readonly heard: (message: Message, session: Session) => void;
	/** The server has answered. */
	readonly alive: () => void;
}

export interface WhoIs {
	readonly nick: string;
	readonly user: string;
	readonly host: string;
	readonly account?: string;
}

interface Whois {
	found: WhoIs | null;
	account: string | undefined;
	readonly answer: (found: WhoIs | null) => void;
	readonly fail: (error: Error) => void;
}

export class Session {
	readonly #options: SessionOptions;
	readonly #socket: LineSocket;
	readonly #registration: Registration;
	readonly #sending: Sending;
	readonly #whois = new Map<string, Whois[]>();
	readonly #timers = new Set<() => void>();
	readonly pace: Pace;
	readonly history: History;
	readonly ended: Promise<Ended>;
	nick = "";
	/** Our own, as others see it. */
	prefix = "";
	isReady = false;
	#end: (ended: Ended) => void = () => {};
	#isWelcome = false;
	#isPaused = false;
	#heardAt: number;
	#pings = 0;
	/** The server's message before it closed. */
	#error: string | undefined;

	constructor(options: SessionOptions) {
		const { clock, address, registration, flood, id } = options;
		this.#options = options;
		this.#registration = new Registration(registration);
		this.#sending = new Sending(id);
		this.pace = new Pace(clock, flood);
		this.history = new History({ clock, write: (line) => this.write(line) });
		this.#heardAt = clock.monotonic();
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
		this.#socket = new LineSocket(address, {
			opened: () => this.write(...this.#registration.begin()),
			line: (line) => this.#read(line),
			closed: (error) => this.#closed(error),
		});
		this.#after(REGISTER_MS, () => {
			if (!this.isReady) this.destroy("the server did not let Keryx in in time");
		});
	}

	get isOpen(): boolean {
		return this.#socket.isOpen;
	}

	has(capability: string): boolean {
		return this.#registration.capabilities.has(capability);
	}

	get hasHistory(): boolean {
		const can = this.has("draft/chathistory") || this.has("chathistory");
		return can && this.has("batch") && this.has("server-time") && this.has("message-tags");
	}

	get echoes(): boolean {
		return this.has("echo-message");
	}

	/** How many commands one message takes: without echoes, a PING follows it. */
	get perMessage(): number {
		return this.echoes ? 1 : 2;
	}

	get underWay(): number {
		return this.#sending.underWay;
	}

	/** Without waiting, but counted. */
	write(...lines: readonly string[]): boolean {
		this.pace.count(lines.length);
		return this.#socket.write(...lines);
	}

	async send(target: string, text: string): Promise<SendResult> {
		const sent = this.#sending.send({ target, text, echoes: this.echoes }, (...lines) =>
			this.write(...lines),
		);
		const late = new Promise<SendResult>((resolve) => {
			const cancel = this.#after(SEND_MS, () =>
				resolve({ kind: "unknown", reason: "the server did not say whether it arrived" }),
			);
			void sent.then(cancel);
		});
		return Promise.race([sent, late]);
	}

	/** Who is behind a nick now; null: nobody. Rejects if the server does not say. */
	whois(nick: string): Promise<WhoIs | null> {
		const name = folded(nick);
		return new Promise((resolve, reject) => {
			const cancel = this.#after(ANSWER_MS, () => reject(new Error("the server did not say who that is")));
			const asked: Whois = {
				fail: reject,
				found: null,
				account: undefined,
				answer: (found) => {
					cancel();
					resolve(found);
				},
			};
			this.#whois.set(name, [...(this.#whois.get(name) ?? []), asked]);
			if (!this.write(formatLine("WHOIS", [nick]))) reject(new Error("the connection was lost"));
		});
	}

	pause(isPaused: boolean): void {
		this.#isPaused = isPaused;
		this.#socket.pause(isPaused);
	}

	/** Says goodbye; resolves when the connection is closed. */
	async quit(): Promise<void> {
		this.pause(false);
		if (!this.isReady || !this.write(formatLine("QUIT", ["Keryx stops"]))) this.destroy("stopped");
		this.#after(QUIT_MS, () => this.destroy("stopped"));
		await this.ended;
	}

	destroy(reason: string): void {
		this.#socket.destroy(new Error(reason));
	}

	#after(ms: number, callback: () => void): () => void {
		const cancel = this.#options.clock.after(ms, () => {
			this.#timers.delete(cancel);
			callback();
		});
		this.#timers.add(cancel);
		return () => {
			this.#timers.delete(cancel);
			cancel();
		};
	}

	#read(line: string): void {
		const message = parseLine(line);
		if (!message) return;
		const { command, params } = message;
		this.#heardAt = this.#options.clock.monotonic();
		if (this.#isWelcome) this.#options.alive();
		if (command === "PING") this.write(formatLine("PONG", [params.at(-1) ?? ""]));
		else if (command === "ERROR") this.#error = params.at(-1);
		if (command === "PING") return;
		if (!this.#isWelcome) this.#register(message);
		else if (command === "PONG") this.#pong(params.at(-1) ?? "");
		else if (this.#isWhois(message) || this.history.heard(message)) return;
		else {
			if (/^[45]\d\d$|^FAIL$|^263$/.test(command)) this.#sending.refused(message);
			this.#options.heard(message, this);
		}
	}

	/** One of our own messages came back. */
	echoed(target: string, id: string | undefined): void {
		this.#sending.echoed(target, id);
	}

	#register(message: Message): void {
		const step = this.#registration.heard(message);
		if (step.kind === "go") {
			if (step.lines.length > 0) this.write(...step.lines);
			return;
		}
		if (step.kind === "refused") {
			this.#end(step);
			this.destroy(step.reason);
			return;
		}
		this.nick = step.nick;
		this.prefix = step.prefix;
		this.#isWelcome = true;
		this.#options.alive();
		this.#options.welcomed(this);
		// Everything the server says on its own comes before the answer.
		this.write(formatLine("PING", [`${this.#options.id}-ready`]));
		this.#keepAlive();
	}

	#pong(token: string): void {
		if (this.#sending.answered(token) || token !== `${this.#options.id}-ready` || this.isReady) return;
		this.isReady = true;
		this.#options.ready(this);
	}

	/** Asks for a sign of life if there was none for a while. */
	#keepAlive(): void {
		const { clock, aliveMs, id } = this.#options;
		const silent = clock.monotonic() - this.#heardAt;
		if (!this.#isPaused && silent >= aliveMs) {
			this.destroy("the server does not answer");
			return;
		}
		if (silent >= aliveMs / 4) this.write(formatLine("PING", [`${id}-alive-${++this.#pings}`]));
		this.#after(aliveMs / 4, () => this.#keepAlive());
	}

	#isWhois({ command, params }: Message): boolean {
		const [, nick = "", user = "", host = ""] = params;
		const waiting = this.#whois.get(folded(nick));
		const asked = waiting?.[0];
		if (!waiting || !asked) return false;
		if (command === "311") asked.found = { nick, user, host };
		else if (command === "330") asked.account = user;
		else if (command === "318") {
			waiting.shift();
			if (waiting.length === 0) this.#whois.delete(folded(nick));
			const { found, account } = asked;
			asked.answer(found && { ...found, ...(account !== undefined && { account }) });
		} else if (command !== "401" && !/^(?:2|3)\d\d$|^671$/.test(command)) return false;
		return true;
	}

	#closed(error: Error | undefined): void {
		const said = this.#error === undefined ? undefined : `the server closed the connection: ${this.#error}`;
		const reason = said ?? error?.message ?? "the server closed the connection";
		for (const cancel of this.#timers) cancel();
		this.#end({ kind: "lost", reason, wasReady: this.isReady });
		this.#sending.lost(`the connection was lost before the server answered (${reason})`);
		this.history.lost();
		for (const asked of [...this.#whois.values()].flat()) asked.fail(new Error("the connection was lost"));
	}
}
