// A channel whose platform side is a program outside Keryx. It fetches work, does it, reports the outcome, and posts events.
// Nothing here is lost in a restart: unfetched work was certainly not sent, and fetched but unsettled work is unknown (I7).
// Never here: a platform's protocol, or HTTP, which is src/http/bridge.

import { randomUUID } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import type {
	BridgeOutcome,
	BridgeWork,
	Channel,
	ChannelBridge,
	ChannelHealth,
	ChannelHost,
	ChannelTraits,
	Clock,
	Outgoing,
	SendResult,
} from "../../gateway/index.ts";

/** Work that nobody fetches in this time goes back: the gateway decides when to retry. */
const FETCH_MS = 10_000;
/** Shorter than the gateway's own limit, so that it gets the reason. */
const SETTLE_MS = 40_000;
/** A program counts as connected for this long between two requests for work. */
const PAUSE_MS = 10_000;
/** At most this many pieces per answer. */
const MOST_AT_ONCE = 50;

export interface BridgeOptions {
	readonly name: string;
	readonly platform: string;
	readonly account: string;
	readonly traits: ChannelTraits;
	/** Messages through the program may decide confirmations. */
	readonly decides: boolean;
	readonly clock: Clock;
}

export function createBridgeChannel(options: BridgeOptions): Channel {
	const { name, platform, account, traits } = options;
	const line = new BridgeLine(options);
	return {
		name,
		platform,
		account,
		traits,
		bridge: line,
		start: async (host) => line.start(host),
		stop: () => line.stop(),
		health: () => line.health(),
		send: (outgoing) => line.deliver({ do: "send" }, outgoing),
		...(traits.shows.edit && {
			edit: (receipt: string, outgoing: Outgoing) => line.deliver({ do: "edit", receipt }, outgoing),
		}),
		...(traits.shows.typing && { typing: async (destination) => line.typing(destination) }),
		...(traits.shows.lookup && {
			lookup: (id, destination, madeAt) => line.lookup(id, destination, madeAt),
		}),
	} satisfies Channel;
}

type Distributed<Union> = Union extends unknown ? Omit<Union, "work"> : never;
type Lookup = Awaited<ReturnType<NonNullable<Channel["lookup"]>>>;

interface Open {
	readonly work: BridgeWork;
	readonly outgoing: Outgoing | null;
	readonly settle: (outcome: BridgeOutcome) => void;
	/** The program that fetched it, if it said so. */
	program?: string | undefined;
	cancelTimer: () => void;
	readonly late: () => void;
}

class BridgeLine implements ChannelBridge {
	readonly #options: BridgeOptions;
	#host: ChannelHost | null = null;
	/** Not fetched yet, oldest first. */
	#waiting: Open[] = [];
	/** Fetched and not settled, by name. */
	readonly #open = new Map<string, Open>();
	readonly #posting = new Set<Promise<unknown>>();
	/** Programs that wait for work. */
	readonly #takers = new Set<() => void>();
	#aliveAt: number | null = null;
	#askedAt: number | null = null;

	constructor(options: BridgeOptions) {
		this.#options = options;
	}

	start(host: ChannelHost): void {
		this.#host = host;
	}

	/** Accepts nothing more. Posted events are waited for; fetched but unsettled work is unknown. */
	async stop(): Promise<void> {
		this.#host = null;
		this.#aliveAt = null;
		this.#askedAt = null;
		const [waiting, open] = [this.#waiting, [...this.#open.values()]];
		this.#waiting = [];
		this.#open.clear();
		for (const one of waiting) one.settle({ kind: "retry", reason: "the channel was stopped" });
		for (const one of open) one.settle({ kind: "unknown", reason: "the channel was stopped" });
		for (const wake of [...this.#takers]) wake();
		await Promise.allSettled(this.#posting);
	}

	health(): ChannelHealth {
		if (!this.#host) return { state: "stopped", aliveAt: this.#aliveAt };
		if (this.#askedAt === null)
			return { state: "starting", aliveAt: null, detail: "waiting for the bridge program" };
		return this.#isConnected()
			? { state: "connected", aliveAt: this.#aliveAt, provenBy: "the bridge program asked for work" }
			: {
					state: "degraded",
					aliveAt: this.#aliveAt,
					detail: "the bridge program has stopped asking for work",
				};
	}

	deliver(
		what: { readonly do: "send" } | { readonly do: "edit"; readonly receipt: string },
		outgoing: Outgoing,
	): Promise<SendResult> {
		const { id, destination, body, plain } = outgoing;
		const text = plain ? body.plain : body.text;
		return this.#do<SendResult>(
			{
				...what,
				id,
				destination,
				text,
				plain,
				files: body.attachments ?? [],
				buttons: body.buttons ?? [],
			},
			outgoing,
			(outcome) =>
				outcome.kind === "absent"
					? { kind: "unknown", reason: "the bridge program did not report the outcome of a send" }
					: outcome,
		);
	}

	lookup(id: string, destination: Outgoing["destination"], madeAt?: number): Promise<Lookup> {
		return this.#do<Lookup>(
			{ do: "lookup", id, destination, ...(madeAt !== undefined && { madeAt }) },
			null,
			(outcome) =>
				outcome.kind === "sent" || outcome.kind === "absent" ? outcome : ({ kind: "unknown" } as const),
		);
	}

	/** A typing sign that is not fetched in time is dropped. */
	typing(destination: Outgoing["destination"]): void {
		if (this.#isConnected()) void this.#do({ do: "typing", destination }, null, () => undefined);
	}

	async take(signal: AbortSignal, program?: string): Promise<readonly BridgeWork[]> {
		this.#assertRuns();
		if (program !== undefined) this.#takeOver(program);
		this.#isAlive();
		if (this.#waiting.length === 0 && !signal.aborted)
			await new Promise<void>((resolve) => {
				const done = () => {
					this.#takers.delete(done);
					signal.removeEventListener("abort", done);
					resolve();
				};
				this.#takers.add(done);
				signal.addEventListener("abort", done);
			});
		this.#assertRuns();
		this.#isAlive();
		// A program that is gone would take the work along.
		if (signal.aborted) return [];
		const taken = this.#waiting.splice(0, MOST_AT_ONCE);
		for (const one of taken) {
			one.cancelTimer();
			if (one.work.do === "typing") one.settle({ kind: "absent" });
			else {
				one.program = program;
				this.#open.set(one.work.work, one);
				one.cancelTimer = this.#options.clock.after(SETTLE_MS, one.late);
			}
		}
		return taken.map(({ work }) => work);
	}

	settle(work: string, outcome: BridgeOutcome): boolean {
		this.#isAlive();
		return this.#settle(work, outcome);
	}

	openFile(work: string, file: number): AsyncIterable<Uint8Array> | null {
		const open = this.#open.get(work);
		const blob = open?.outgoing?.body.attachments?.[file]?.blob;
		return blob === undefined ? null : (open?.outgoing?.openBlob(blob) ?? null);
	}

	cursor(): Promise<string | null> {
		return this.#assertRuns().cursor();
	}

	commands(): ReturnType<ChannelHost["commands"]> {
		return this.#assertRuns().commands();
	}

	putFile(...args: Parameters<ChannelHost["putBlob"]>): Promise<string> {
		return this.#post((host) => host.putBlob(...args));
	}

	message({ isBot, roles, ...inbound }: Parameters<ChannelBridge["message"]>[0]) {
		const transport = { ...this.#transport(), isBot, roles };
		return this.#post((host) => host.accept({ ...this.#at(inbound), transport }));
	}

	edited(edit: Parameters<ChannelBridge["edited"]>[0]): Promise<void> {
		return this.#post((host) => host.edited(this.#at(edit)));
	}

	deleted(deletion: Parameters<ChannelBridge["deleted"]>[0]): Promise<void> {
		return this.#post((host) => host.deleted(this.#at(deletion)));
	}

	reacted(reaction: Parameters<ChannelBridge["reacted"]>[0]): Promise<void> {
		return this.#post((host) => host.reacted({ ...this.#at(reaction), transport: this.#transport() }));
	}

	pressed(press: Parameters<ChannelBridge["pressed"]>[0]): Promise<{ readonly text: string }> {
		return this.#post((host) => host.pressed({ ...this.#at(press), transport: this.#transport() }));
	}

	gone(chat: Parameters<ChannelBridge["gone"]>[0]): Promise<void> {
		return this.#post((host) => host.gone(this.#at(chat)));
	}

	moved(move: Parameters<ChannelBridge["moved"]>[0]): Promise<void> {
		return this.#post((host) => host.moved(this.#at(move)));
	}

	/** A program only claims who wrote: that proves nothing unless the operator says so (I17). */
	#transport() {
		const { name, decides } = this.#options;
		return decides ? {} : { poster: { who: `bridge:${name}`, via: "api", decides: false } as const };
	}

	#at<Value extends { readonly source: Readonly<Record<string, unknown>> }>(value: Value): Value {
		const { platform, account } = this.#options;
		return { ...value, source: { ...value.source, platform, account } };
	}

	async #post<Result>(write: (host: ChannelHost) => Promise<Result>): Promise<Result> {
		const posting = write(this.#assertRuns());
		this.#posting.add(posting);
		try {
			return await posting;
		} finally {
			this.#posting.delete(posting);
		}
	}

	#do<Result>(
		work: Distributed<BridgeWork>,
		outgoing: Outgoing | null,
		read: (outcome: BridgeOutcome) => Result,
	): Promise<Result> {
		if (!this.#isConnected())
			return Promise.resolve(read({ kind: "retry", reason: "no bridge program is connected" }));
		return new Promise((resolve) => {
			const name = randomUUID();
			const open: Open = {
				work: { ...work, work: name } as BridgeWork,
				outgoing,
				settle: (outcome) => {
					open.cancelTimer();
					resolve(read(outcome));
				},
				late: () =>
					void this.#settle(name, {
						kind: "unknown",
						reason: "the bridge program did not report the outcome",
					}),
				cancelTimer: this.#options.clock.after(FETCH_MS, () => {
					this.#waiting = this.#waiting.filter((one) => one !== open);
					resolve(read({ kind: "retry", reason: "the bridge program did not fetch it" }));
				}),
			};
			this.#waiting.push(open);
			const [taker] = this.#takers;
			taker?.();
		});
	}

	/** The program that fetched work before is gone. */
	#takeOver(program: string): void {
		for (const [work, open] of [...this.#open])
			if (open.program !== program)
				this.#settle(work, { kind: "unknown", reason: "the bridge program was started again" });
	}

	#settle(work: string, outcome: BridgeOutcome): boolean {
		const open = this.#open.get(work);
		this.#open.delete(work);
		open?.settle(outcome);
		return open !== undefined;
	}

	#isConnected(): boolean {
		if (!this.#host || this.#askedAt === null) return false;
		return this.#takers.size > 0 || this.#options.clock.monotonic() - this.#askedAt < PAUSE_MS;
	}

	#isAlive(): void {
		this.#askedAt = this.#options.clock.monotonic();
		this.#aliveAt = this.#options.clock.now();
	}

	#assertRuns(): ChannelHost {
		if (this.#host) return this.#host;
		throw new KeryxError("gateway.stopped", `the channel ${this.#options.name} is not running`);
	}
}
