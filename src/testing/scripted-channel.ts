// A channel to a scripted platform. It keeps the promises of every channel: updates are handed in in order and acknowledged only
// after the gateway has committed them (I3), it never retries by itself, and a missing answer is "unknown".
import type { Channel, ChannelHealth, ChannelHost, Clock, Outgoing, SendResult } from "../gateway/index.ts";
import { directLink, type Link, type PlatformRequest } from "./link.ts";
import { type PlatformOptions, ScriptedPlatform, type Update } from "./platform.ts";

export interface ChannelAbilities {
	/** Whether messages can be edited in place (default true); without it nothing is previewed. */
	readonly edit?: boolean;
	/** Whether a delivery can be looked up on the platform (default false). */
	readonly lookup?: boolean;
	/** How many messages are handed in before the first of them is committed (default 1). */
	readonly window?: number;
	/** platform: unacknowledged updates come again. cursor: updates after the stored cursor. */
	readonly readFrom?: "platform" | "cursor";
	/** Pause before reconnecting (default 1000). */
	readonly reconnectMs?: number;
}

/** With `on` the platform outlives the channel; otherwise it gets its own, with the options given here. */
export type ScriptedChannelOptions = ChannelAbilities & { readonly clock: Clock } & (
		| PlatformOptions
		| { readonly on: ScriptedPlatform }
	);

export interface ScriptedChannel extends Channel {
	/** The platform behind it: its users' messages and view. */
	readonly world: ScriptedPlatform;
	/** Loses the connection; it comes back after `reconnectMs`. */
	disconnect(): void;
}

export function createScriptedChannel(options: ScriptedChannelOptions): ScriptedChannel {
	const world = "on" in options ? options.on : new ScriptedPlatform(options);
	const { platform, account } = world;
	const link = directLink(world, options.clock);
	return { ...channelOver(link, { ...options, platform, account }), world, disconnect: () => link.break() };
}

export interface ChannelSettings extends ChannelAbilities {
	readonly platform: string;
	readonly account?: string;
	readonly clock: Clock;
}

export function channelOver(link: Link, settings: ChannelSettings): Channel {
	const { platform, account = "", edit = true, lookup = false } = settings;
	const line = new Line(link, settings);
	return {
		name: account === "" ? platform : `${platform}-${account}`,
		platform,
		account,
		start: (host) => line.start(host),
		stop: () => line.stop(),
		send: (outgoing) => line.deliver({ do: "send", outgoing }),
		...(edit && {
			edit: (receipt: string, outgoing: Outgoing) => line.deliver({ do: "edit", receipt, outgoing }),
		}),
		...(lookup && {
			lookup: async (id: string) => (await line.ask({ do: "lookup", id })) as Awaited<ReturnType<Lookup>>,
		}),
		typing: async (destination) => {
			await line.ask({ do: "typing", destination });
		},
		health: () => line.health(),
	};
}

type Lookup = NonNullable<Channel["lookup"]>;

interface HandedIn {
	readonly offset: number;
	committed: boolean;
}

const UNKNOWN = { kind: "unknown", reason: "the connection broke before the platform answered" } as const;

/** Events of an earlier connection or subscription are recognised by its number, and ignored. */
class Line {
	readonly #link: Link;
	readonly #clock: Clock;
	readonly #window: number;
	readonly #byCursor: boolean;
	readonly #reconnectMs: number;
	#host: ChannelHost | undefined;
	#state: ChannelHealth["state"] = "stopped";
	#detail: string | undefined;
	#aliveAt: number | null = null;
	#connection = 0;
	#subscription = 0;
	#waiting: Update[] = [];
	#handedIn: HandedIn[] = [];
	readonly #accepting = new Set<Promise<void>>();
	#stopping: Promise<void> = Promise.resolve();
	#cancelTimer: () => void = () => {};

	constructor(link: Link, { clock, window = 1, readFrom = "platform", reconnectMs = 1000 }: ChannelSettings) {
		this.#link = link;
		this.#clock = clock;
		this.#byCursor = readFrom === "cursor";
		// A cursor committed ahead of an earlier message would lose that message.
		this.#window = this.#byCursor ? 1 : window;
		this.#reconnectMs = reconnectMs;
	}

	/** Resolves when it is connected, or waits for a retry. */
	async start(host: ChannelHost): Promise<void> {
		await this.#stopping;
		if (this.#state !== "stopped") return;
		this.#host = host;
		this.#state = "starting";
		await this.#connect();
	}

	/** Hands in nothing more; waits for running work, and acknowledges it. */
	stop(): Promise<void> {
		if (this.#state === "stopped") return this.#stopping;
		this.#state = "stopped";
		this.#detail = undefined;
		this.#cancelTimer();
		this.#stopping = Promise.all(this.#accepting).then(() => {
			this.#connection++;
			this.#subscription++;
			this.#link.close();
		});
		return this.#stopping;
	}

	health(): ChannelHealth {
		return {
			state: this.#state,
			aliveAt: this.#aliveAt,
			...(this.#detail !== undefined && { detail: this.#detail }),
		};
	}

	async deliver(request: Extract<PlatformRequest, { do: "send" | "edit" }>): Promise<SendResult> {
		if (this.#state !== "connected") return { kind: "retry", reason: "not connected" };
		return (await this.ask(request)) as SendResult;
	}

	/** Unknown if no answer came. */
	async ask(request: PlatformRequest): Promise<unknown> {
		if (this.#state !== "connected") return UNKNOWN;
		try {
			const answer = await this.#link.ask(request);
			this.#aliveAt = this.#clock.now();
			return answer;
		} catch {
			return UNKNOWN;
		}
	}

	async #connect(): Promise<void> {
		const connection = ++this.#connection;
		const current = () => connection === this.#connection && this.#state !== "stopped";
		const fail = (why: string) => {
			if (current()) this.#reconnectLater(why);
		};
		try {
			await this.#link.open({
				onUpdate: (update, subscription) => this.#receive(update, subscription),
				onBroken: () => fail("the connection broke"),
			});
			if (!current()) return;
			this.#state = "connected";
			this.#detail = undefined;
			this.#aliveAt = this.#clock.now();
			await this.#subscribe();
		} catch (error) {
			fail(`cannot connect: ${error instanceof Error ? error.message : String(error)}`);
		}
	}

	#reconnectLater(why: string): void {
		this.#connection++;
		this.#subscription++;
		this.#state = "degraded";
		this.#detail = why;
		this.#link.close();
		this.#later(() => this.#connect());
	}

	/** Repeats until done or stopped: the cursor cannot be read while the store is unavailable. */
	#later(what: () => Promise<void>): void {
		this.#cancelTimer();
		this.#cancelTimer = this.#clock.after(this.#reconnectMs, () => {
			what().catch(() => {
				if (this.#state !== "stopped") this.#later(what);
			});
		});
	}

	async #subscribe(): Promise<void> {
		const subscription = ++this.#subscription;
		this.#waiting = [];
		this.#handedIn = [];
		const cursor = this.#byCursor ? Number((await this.#host?.cursor()) ?? 0) : null;
		if (subscription !== this.#subscription || this.#state !== "connected") return;
		// Everything before the cursor was committed, though the acknowledgement may be lost.
		if (cursor !== null) this.#link.acknowledge(cursor);
		this.#link.subscribe(cursor, subscription);
	}

	#receive(update: Update, subscription: number): void {
		if (subscription !== this.#subscription) return;
		this.#aliveAt = this.#clock.now();
		this.#waiting.push(update);
		this.#handIn();
	}

	#handIn(): void {
		while (this.#state === "connected" && this.#handedIn.length < this.#window) {
			const update = this.#waiting.shift();
			if (!update) return;
			const entry: HandedIn = { offset: update.offset, committed: false };
			this.#handedIn.push(entry);
			const accepting = this.#accept(update, entry, this.#subscription).finally(() =>
				this.#accepting.delete(accepting),
			);
			this.#accepting.add(accepting);
		}
	}

	async #accept({ offset, inbound }: Update, entry: HandedIn, subscription: number): Promise<void> {
		try {
			await this.#host?.accept(this.#byCursor ? { ...inbound, cursor: String(offset) } : inbound);
			entry.committed = true;
		} catch {
			// Nothing was committed, so the platform must redeliver it and everything after it.
			if (subscription === this.#subscription && this.#state === "connected") {
				this.#subscription++;
				this.#later(() => this.#subscribe());
			}
			return;
		}
		if (subscription !== this.#subscription) return;
		this.#acknowledge();
		this.#handIn();
	}

	/** Up to the first uncommitted message. */
	#acknowledge(): void {
		let last: HandedIn | undefined;
		while (this.#handedIn[0]?.committed) last = this.#handedIn.shift();
		if (last) this.#link.acknowledge(last.offset);
	}
}
