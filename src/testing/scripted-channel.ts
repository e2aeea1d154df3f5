// A channel to a scripted platform. It keeps the promises of every channel: updates are handed in in order and acknowledged only
// after the gateway has committed them (I3), it never retries by itself, and an answer that did not come is "unknown".
import type { Channel, ChannelHealth, ChannelHost, Clock, Outgoing, SendResult } from "../gateway/index.ts";
import { directLink, type Link, type PlatformRequest } from "./link.ts";
import { type PlatformOptions, ScriptedPlatform, type Update } from "./platform.ts";

export interface ChannelAbilities {
	/** Whether messages can be edited in place (default true); without it nothing is previewed. */
	readonly edit?: boolean;
	/** Whether the platform can be asked what became of a delivery (default false). */
	readonly lookup?: boolean;
	/** How many messages are handed in before the first of them is committed (default 1). */
	readonly window?: number;
	/** platform: what it has not been acknowledged comes again. cursor: what follows the cursor that is stored with each message. */
	readonly readFrom?: "platform" | "cursor";
	/** How long it waits before it connects again (default 1000). */
	readonly reconnectMs?: number;
}

/** With `on` the platform outlives the channel; else it gets one of its own, by the options given here. */
export type ScriptedChannelOptions = ChannelAbilities & { readonly clock: Clock } & (
		| PlatformOptions
		| { readonly on: ScriptedPlatform }
	);

export interface ScriptedChannel extends Channel {
	/** The platform behind it: what its users say and see. */
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

/** What belongs to an earlier connection or subscription is recognised by its number, and ignored. */
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
		// A cursor that is committed ahead of an earlier message would lose that one.
		this.#window = this.#byCursor ? 1 : window;
		this.#reconnectMs = reconnectMs;
	}

	/** Resolves when it is connected, or waits to try again. */
	async start(host: ChannelHost): Promise<void> {
		await this.#stopping;
		if (this.#state !== "stopped") return;
		this.#host = host;
		this.#state = "starting";
		await this.#connect();
	}

	/** Hands in nothing more; what has been handed in is waited for, and acknowledged. */
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

	/** Unknown where no answer came. */
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

	/** Again and again, until it is done or stopped: the cursor cannot be read while the store is away. */
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
		// What lies behind the cursor was committed, though the acknowledgement may not have come through.
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
			// Nothing was committed, so the platform must deliver it again, and with it what came after.
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

	/** As far as everything before has been committed too. */
	#acknowledge(): void {
		let last: HandedIn | undefined;
		while (this.#handedIn[0]?.committed) last = this.#handedIn.shift();
		if (last) this.#link.acknowledge(last.offset);
	}
}
