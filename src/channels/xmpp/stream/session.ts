// One connection to a server, from first to last byte: logs in, counts stanzas, answers and asks, and checks that it is alive. Messages and
// presence are passed on.
import type { Clock } from "../../../time/index.ts";
import type { Ended } from "../../line.ts";
import { Login, type LoginOptions } from "./login.ts";
import { Handled, isStanza, type Management } from "./management.ts";
import { NS } from "./namespaces.ts";
import { type ServerAddress, XmlSocket } from "./socket.ts";
import { child, type Element, element, elements, textOf } from "./xml.ts";

/** How long a server may take to let Keryx in. */
const LOGIN_MS = 30_000;
const ANSWER_MS = 30_000;
/** How long a goodbye may take. */
const QUIT_MS = 2000;

export interface SessionOptions {
	readonly clock: Clock;
	readonly address: ServerAddress;
	readonly login: Omit<LoginOptions, "previous">;
	/** Continued if the server still has it. */
	readonly previous: Management | null;
	/** After this long without a sign of life, the connection is given up. */
	readonly aliveMs: number;
	/** Distinguishes this connection's requests. */
	readonly id: string;
	/** Logged in, with a new session. `formerlyHandled`: our stanzas in the former one, if the server knew. */
	readonly bound: (session: Session, formerlyHandled: number | undefined) => void;
	/** The former session continues; the server has handled so many of our stanzas. */
	readonly resumed: (session: Session, handled: number) => void;
	/** A message or presence. `done` when it is committed, or needs no commit. */
	readonly stanza: (stanza: Element, done: () => void, session: Session) => void;
	/** The server has handled so many of our stanzas. */
	readonly acked: (handled: number) => void;
	/** The server has answered. */
	readonly alive: () => void;
}

/** A server's refusal of a request or a message. */
export class StanzaError extends Error {
	readonly type: string;
	readonly condition: string;

	constructor(stanza: Element) {
		const error = child(stanza, "error");
		const found = error && elements(error).find(({ ns, name }) => ns === NS.stanzas && name !== "text");
		const condition = found?.name ?? "undefined-condition";
		super(textOf(error && child(error, "text", NS.stanzas)) || condition);
		this.condition = condition;
		this.type = error?.attrs.type ?? "cancel";
	}
}

interface Asked {
	readonly to: string;
	readonly answer: (answer: Element) => void;
	readonly fail: (error: Error) => void;
}

export class Session {
	readonly #options: SessionOptions;
	readonly #socket: XmlSocket;
	readonly #login: Login;
	readonly #asked = new Map<string, Asked>();
	readonly #timers = new Set<() => void>();
	readonly ended: Promise<Ended>;
	/** Null until logged in, and on servers without it. */
	management: Management | null = null;
	jid = "";
	/** Names the stanza being passed on; the same when it is repeated. Null: the server repeats none. */
	heardAs: string | null = null;
	isReady = false;
	#end: (ended: Ended) => void = () => {};
	#isLoggedIn = false;
	#isPaused = false;
	#heardAt: number;
	#requests = 0;
	/** How much of the previous session was acknowledged. */
	readonly #acknowledged: number;
	#isAckDue = false;
	/** The server's reason for closing. */
	#error: Ended | undefined;

	constructor(options: SessionOptions) {
		const { clock, address, login, previous } = options;
		this.#options = options;
		this.#heardAt = clock.monotonic();
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
		this.#acknowledged = previous?.handled.upTo ?? 0;
		const canResume = previous?.id !== undefined && previous.id !== null;
		this.#login = new Login(
			{
				...login,
				...(canResume && { previous: { id: previous.id, committed: this.#acknowledged } }),
			},
			address.direct,
		);
		this.#socket = new XmlSocket(address, {
			element: (heard) => this.#read(heard),
			closed: (error) => this.#closed(error),
		});
		this.after(LOGIN_MS, () => {
			if (!this.#isLoggedIn) this.destroy("the server did not let Keryx in in time");
		});
	}

	get isOpen(): boolean {
		return this.#socket.isOpen;
	}

	/** Whether the connection is encrypted. */
	get isSecure(): boolean {
		return this.#socket.isSecure;
	}

	/** The number of the last stanza, 0 if they are not counted; null: nothing was written. */
	write(...stanzas: readonly Element[]): number | null {
		const { management } = this;
		const more = management && stanzas.some(({ name }) => name === "message") ? [ASK] : [];
		if (!this.#socket.write(...stanzas, ...more)) return null;
		if (!management) return 0;
		management.sent += stanzas.length;
		return management.sent;
	}

	/** Rejects with StanzaError if it is refused, with another error if there is no answer. */
	request(type: "get" | "set", to: string | undefined, payload: Element): Promise<Element> {
		const id = `${this.#options.id}-${++this.#requests}`;
		return new Promise((resolve, reject) => {
			const cancel = this.after(ANSWER_MS, () => {
				this.#asked.delete(id);
				reject(new Error("the server did not answer in time"));
			});
			this.#asked.set(id, {
				to: to ?? "",
				answer: (answer) => {
					cancel();
					if (answer.attrs.type === "error") reject(new StanzaError(answer));
					else resolve(answer);
				},
				fail: reject,
			});
			if (this.write(element("iq", NS.client, { type, to, id }, payload)) === null) {
				this.#asked.delete(id);
				reject(new Error("the connection was lost"));
			}
		});
	}

	/** Resolves when the server has handled everything before. Any answer will do. */
	async ping(): Promise<void> {
		try {
			await this.request("get", this.#options.address.domain, element("ping", NS.ping));
		} catch (error) {
			if (!(error instanceof StanzaError)) throw error;
		}
	}

	pause(isPaused: boolean): void {
		this.#isPaused = isPaused;
		this.#socket.pause(isPaused);
	}

	/** Says goodbye; resolves when the connection is closed. The session on the server ends with it. */
	async quit(): Promise<void> {
		this.pause(false);
		if (this.#isLoggedIn && this.isOpen) {
			this.#acknowledge();
			this.#socket.write(element("presence", NS.client, { type: "unavailable" }));
			this.#socket.end();
			this.after(QUIT_MS, () => this.destroy("stopped"));
		} else this.destroy("stopped");
		this.management = null;
		await this.ended;
	}

	destroy(reason: string): void {
		this.#socket.destroy(new Error(reason));
	}

	after(ms: number, callback: () => void): () => void {
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

	#read(heard: Element): void {
		this.#heardAt = this.#options.clock.monotonic();
		if (this.#isLoggedIn) this.#options.alive();
		if (heard.ns === NS.stream && heard.name === "error") this.#streamError(heard);
		else if (!this.#isLoggedIn) this.#logIn(heard);
		else if (heard.ns === NS.management) this.#manage(heard);
		else if (isStanza(heard)) this.#stanza(heard);
	}

	#logIn(heard: Element): void {
		const { previous, resumed, bound } = this.#options;
		const step = this.#login.heard(heard);
		switch (step.kind) {
			case "go":
				this.#socket.write(...step.elements);
				return;
			case "secure":
				this.#socket.secure();
				return;
			case "restart":
				this.#socket.restart();
				return;
			case "refused":
				this.#end(step);
				this.destroy(step.reason);
				return;
			case "lost":
				this.destroy(step.reason);
				return;
			case "resumed":
				if (!previous) return;
				this.management = previous;
				this.jid = previous.jid;
				previous.handled.resume(this.#acknowledged);
				previous.sent = step.handled;
				this.#begin();
				resumed(this, step.handled);
				return;
			case "bound": {
				const { jid, management } = step;
				this.jid = jid;
				if (management) {
					const { id: name } = this.#options;
					this.management = { id: management.id, jid, name, handled: new Handled(), sent: 0 };
				}
				this.#begin();
				bound(this, step.formerlyHandled);
			}
		}
	}

	#begin(): void {
		this.#isLoggedIn = true;
		this.#options.alive();
		this.#keepAlive();
	}

	#manage(heard: Element): void {
		if (heard.name === "r") this.#acknowledge();
		else if (heard.name === "a") this.#options.acked(Number(heard.attrs.h));
	}

	#stanza(stanza: Element): void {
		const { management } = this;
		const number = management?.handled.receive() ?? 0;
		const done = () => {
			if (management?.handled.done(number) && this.management === management) this.#acknowledgeSoon();
		};
		if (stanza.name !== "iq") {
			this.heardAs = management && `${management.name}-${number}`;
			this.#options.stanza(stanza, done, this);
			return;
		}
		this.#answered(stanza);
		done();
	}

	/** Once for everything that is committed at the same time. */
	#acknowledgeSoon(): void {
		if (this.#isAckDue) return;
		this.#isAckDue = true;
		setImmediate(() => {
			this.#isAckDue = false;
			this.#acknowledge();
		});
	}

	/** Only what is committed (I3). */
	#acknowledge(): void {
		const { management } = this;
		if (management) this.#socket.write(element("a", NS.management, { h: String(management.handled.upTo) }));
	}

	#answered(iq: Element): void {
		const { type, id = "", from = "" } = iq.attrs;
		if (type === "get" || type === "set") {
			this.write(this.#replyTo(iq));
			return;
		}
		const asked = this.#asked.get(id);
		// Only from the queried address: others could guess the id.
		const isTheirs = asked && (asked.to === from || (asked.to === "" && isOwn(from, this.jid)));
		if (!asked || !isTheirs) return;
		this.#asked.delete(id);
		asked.answer(iq);
	}

	#replyTo(iq: Element): Element {
		const { id, from } = iq.attrs;
		const [asked] = elements(iq);
		const reply = (type: string, ...children: readonly Element[]) =>
			element("iq", NS.client, { type, id, to: from }, ...children);
		if (iq.attrs.type === "get" && asked?.ns === NS.ping) return reply("result");
		if (iq.attrs.type === "get" && asked?.ns === NS.info)
			return reply("result", element("query", NS.info, {}, ...ABOUT));
		const condition = element("service-unavailable", NS.stanzas);
		return reply("error", element("error", NS.client, { type: "cancel" }, condition));
	}

	#streamError(error: Element): void {
		const condition =
			elements(error).find(({ ns, name }) => ns === NS.streams && name !== "text")?.name ?? "";
		const said = textOf(child(error, "text", NS.streams)) || condition;
		if (condition === "conflict")
			this.#error = {
				kind: "refused",
				reason: `another program has logged in as ${this.jid}`,
				remedy: "stop it, or give Keryx an account of its own",
			};
		else if (condition === "host-unknown")
			this.#error = {
				kind: "refused",
				reason: `the server does not know the domain ${this.#options.address.domain}`,
				remedy: "check xmpp.jid and xmpp.server",
			};
		else
			this.#error = {
				kind: "lost",
				reason: `the server closed the connection: ${said}`,
				wasReady: this.isReady,
			};
		// After such an error the session is over.
		this.management = null;
		this.destroy(said);
	}

	/** Asks for a sign of life if there was none for a while. */
	#keepAlive(): void {
		const { clock, aliveMs } = this.#options;
		const silent = clock.monotonic() - this.#heardAt;
		if (!this.#isPaused && silent >= aliveMs) {
			this.destroy("the server does not answer");
			return;
		}
		if (silent >= aliveMs / 4) void this.ping().catch(() => {});
		this.after(aliveMs / 4, () => this.#keepAlive());
	}

	#closed(error: Error | undefined): void {
		const reason = error?.message ?? "the server closed the connection";
		for (const cancel of this.#timers) cancel();
		this.#end(this.#error ?? { kind: "lost", reason, wasReady: this.isReady });
		for (const { fail } of this.#asked.values()) fail(new Error("the connection was lost"));
		this.#asked.clear();
	}
}

const ASK = element("r", NS.management);
/** What others may learn about this program. */
const ABOUT: readonly Element[] = [
	element("identity", NS.info, { category: "client", type: "bot", name: "Keryx" }),
	...[NS.info, NS.ping, NS.muc, NS.correct, NS.reply, NS.reactions, NS.states, NS.outOfBand, NS.retract].map(
		(feature) => element("feature", NS.info, { var: feature }),
	),
];

/** An answer about our own account comes from nobody, or from us. */
function isOwn(from: string, jid: string): boolean {
	return from === "" || from === jid || from === jid.split("/", 1)[0];
}
