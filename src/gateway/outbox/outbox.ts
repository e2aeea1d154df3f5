// The outbox: claims due deliveries, sends each through its channel, and settles it with the platform's answer (I7). Nothing is decided
// in memory: retried, unknown and dead deliveries are so in the store, and so is the order (I19). The store hands out one delivery per
// destination, and the next when it is settled.
import type { Config } from "../../config/index.ts";
import { type Delivery, isPassing, OPERATOR, type Store } from "../../store/index.ts";
import {
	Aborted,
	type Clock,
	DeadlinePassed,
	Pauses,
	untilWritten,
	WallHistory,
	wakeAt,
	within,
} from "../../time/index.ts";
import type { Channel, Outgoing, SendResult } from "../channel.ts";
import { fileRefusedSentence } from "../sentences.ts";
import { lookUp } from "./lookup.ts";
import type { Outlet } from "./outlet.ts";
import { toDeliveries } from "./reply.ts";

/** How long a platform may take to answer before the outcome is unknown. */
const SEND_MS = 60_000;
const AT_ONCE = 128;
/** How soon a disconnected channel is checked again: the first time, and at most. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 30_000;
/** How often a platform is asked about a delivery if asking fails; later deliveries wait some seconds for that. */
const MOST_ASKS = 4;
const FIRST_BACKOFF_MS = 1000;
/** Minimum pause, even if the platform asks for none: prevents a tight loop of refusals. */
const SHORTEST_PAUSE_MS = 250;
const LONGEST_BACKOFF_MS = 10 * 60_000;
/** How often a failing store is retried at shutdown. */
const LAST_TRIES = 5;

type Claimed = Delivery & { readonly claim: string };
type Settlement = Parameters<Store["settleDelivery"]>[0]["settlement"];

export interface OutboxOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: () => Config;
	readonly channelOf: (platform: string, account: string) => Channel | undefined;
	readonly channels: () => Iterable<Channel>;
	/** Those that another node on the same store has. */
	readonly elsewhere: () => Iterable<Channel>;
	readonly outlet: Outlet;
	readonly log: (message: string, error: unknown) => void;
}

export class Outbox {
	readonly #options: OutboxOptions;
	readonly #stop = new AbortController();
	readonly #idle: (() => void)[] = [];
	/** Monotonic clock, by platform and account. */
	readonly #downSince = new Map<string, number>();
	/** Until when a delivery tried here is not tried again (monotonic); and the channel, if it only waits for that. */
	readonly #pauses = new Map<string, { readonly until: number; readonly channel?: string }>();
	/** How often in a row asking about a delivery has failed. */
	readonly #asks = new Map<string, number>();
	readonly #wall: WallHistory;
	/** By how much the wall clock was set, as long as waiting deliveries are still dated by the old time. */
	#jumpedBy = 0;
	/** Deliveries being sent or looked up. One may be in it twice briefly: it is claimed again before its last end is known here. */
	readonly #sending = new Set<Claimed>();
	/** A claim failed but may have been written; then nobody sends what it took. */
	#lostClaim = false;
	#pumping = false;
	#again = false;
	#cancel = () => {};

	constructor(options: OutboxOptions) {
		this.#options = options;
		this.#wall = new WallHistory(options.clock);
	}

	/** Something may be due: called after each commit. */
	kick(): void {
		if (this.#stop.signal.aborted) return;
		this.#again = true;
		if (!this.#pumping) void this.#pump();
	}

	/** A channel is back: deliveries that wait only for it are due now. */
	async reachable(channel: ChannelOf): Promise<void> {
		const { store, clock, log } = this.#options;
		const now = clock.now();
		const due = [...this.#pauses]
			.filter(([, pause]) => pause.channel === keyOf(channel))
			.map(([id]) => ({ id, at: now }));
		this.#downSince.delete(keyOf(channel));
		try {
			if (due.length > 0) await store.retimeDeliveries({ due });
		} catch (error) {
			log("messages for a channel are still waiting", error);
		}
		this.kick();
	}

	/** Sends what is due now, then claims nothing more; resolves when all running sends are settled. */
	async stop(): Promise<void> {
		const pauses = new Pauses({ clock: this.#options.clock, signal: this.#stop.signal });
		this.kick();
		await this.#quiet();
		// A claim nobody heard of would be of unknown outcome at the next start.
		for (let tries = 0; this.#lostClaim && tries < LAST_TRIES; tries++) {
			await pauses.next();
			this.kick();
			await this.#quiet();
		}
		this.#stop.abort();
		this.#cancel();
		await this.#quiet();
	}

	async #quiet(): Promise<void> {
		if (this.#sending.size > 0 || this.#pumping)
			await new Promise<void>((resolve) => this.#idle.push(resolve));
	}

	async #pump(): Promise<void> {
		const { store, clock, log } = this.#options;
		this.#pumping = true;
		try {
			while (this.#again && this.#sending.size < AT_ONCE && !this.#stop.signal.aborted) {
				this.#again = false;
				await this.#followWallClock();
				if (this.#lostClaim) await store.releaseClaims({ holding: [...this.#sending].map(({ id }) => id) });
				this.#lostClaim = false;
				const rooms = this.#rooms();
				const { deliveries, nextDueAt } = await store.claimDeliveries({
					limit: AT_ONCE - this.#sending.size,
					timeoutMs: SEND_MS,
					rooms: rooms.map(({ platform, account, free }) => ({ platform, account, free })),
					elsewhere: [...this.#options.elsewhere()].map(({ platform, account }) => ({ platform, account })),
				});
				for (const delivery of deliveries) {
					this.#pauses.delete(delivery.id);
					this.#sending.add(delivery);
					void this.#deliver(delivery);
				}
				if (deliveries.length > 0) this.#again = true;
				else this.#wakeAt(nextDueAt, rooms);
			}
		} catch (error) {
			log("the outbox could not claim deliveries", error);
			this.#lostClaim = true;
			this.#cancel();
			this.#cancel = clock.after(1000, () => this.kick());
		}
		this.#pumping = false;
		this.#ended();
	}

	/** Channels with a limited capacity. */
	#rooms(): readonly ChannelRoom[] {
		return [...this.#options.channels()].flatMap((channel) =>
			channel.room ? [{ platform: channel.platform, account: channel.account, ...channel.room() }] : [],
		);
	}

	#wakeAt(at: number | null, rooms: readonly ChannelRoom[]): void {
		this.#cancel();
		if (at === null) return;
		const { clock } = this.#options;
		const full = rooms.filter(({ free }) => free <= 0);
		if (full.length > 0) {
			this.#cancel = clock.after(Math.min(...full.map(({ afterMs }) => afterMs)), () => this.kick());
			return;
		}
		// Nothing was due just now: do not check again at once, even if it looks due.
		this.#cancel = wakeAt(clock, Math.max(at, clock.now() + SHORTEST_PAUSE_MS), () => this.kick());
	}

	/** Due times are wall-clock times in the store. If the clock was set, each pause keeps its length. */
	async #followWallClock(): Promise<void> {
		const { store, clock } = this.#options;
		this.#jumpedBy += this.#wall.jumped();
		if (this.#jumpedBy === 0) return;
		const left = [...this.#pauses].map(([id, { until }]) => ({ id, ms: until - clock.monotonic() }));
		const now = clock.now();
		await store.retimeDeliveries({
			due: left.map(({ id, ms }) => ({ id, at: now + Math.max(0, Math.ceil(ms)) })),
			// Other pauses are unknown here: one that a clock set back has prolonged is cut short.
			...(this.#jumpedBy < 0 && { latest: now + LONGEST_BACKOFF_MS }),
		});
		this.#jumpedBy = 0;
	}

	async #deliver(delivery: Claimed): Promise<void> {
		const { clock, log } = this.#options;
		try {
			const { id } = delivery;
			const write = await (delivery.state === "unknown" ? this.#ask(delivery) : this.#sendOne(delivery));
			await untilWritten(write, {
				clock,
				signal: this.#stop.signal,
				isPassing,
				log: (error) => log(`delivery ${id} cannot be settled yet`, error),
			});
		} catch (error) {
			// The row stays "sending": the next owner marks it unknown. It is not sent again from here.
			log(`delivery ${delivery.id} could not be settled`, error);
		}
		this.#sending.delete(delivery);
		this.#ended();
		this.kick();
	}

	#ended(): void {
		if (this.#sending.size === 0 && !this.#pumping) for (const resolve of this.#idle.splice(0)) resolve();
	}

	async #sendOne(delivery: Claimed): Promise<() => Promise<void>> {
		const { id, claim } = delivery;
		const settlement = await this.#settlement(delivery);
		return () => this.#options.store.settleDelivery({ id, claim, settlement });
	}

	/**
	 * Deliveries behind one of unknown outcome go when its platform was asked about it, whatever the answer (I19). If asking fails, it is
	 * retried a few times first.
	 */
	async #ask(delivery: Claimed): Promise<() => Promise<void>> {
		const { store, clock, config, channelOf } = this.#options;
		const { id, destination, createdAt } = delivery;
		const channel = channelOf(destination.platform, destination.account);
		const found = await lookUp(channel, delivery, clock);
		const asks = (this.#asks.get(id) ?? 0) + 1;
		this.#asks.delete(id);
		if (found.kind === "failed" && asks >= MOST_ASKS)
			return () => store.recordLookup({ id, found: { kind: "unknown" } });
		if (found.kind !== "unreached" && found.kind !== "failed") return () => store.recordLookup({ id, found });
		const ms =
			found.kind === "failed" ? backoff(id, asks) : lookPause(this.#downMs(channel, destination) ?? 0);
		const tooOld = this.#wall.ageOf(createdAt) + ms > config().outbox.max_age_minutes * 60_000;
		if (tooOld) return () => store.recordLookup({ id, found: { kind: "unknown" } });
		if (found.kind === "failed") this.#asks.set(id, asks);
		this.#pauses.set(id, { until: clock.monotonic() + ms, channel: keyOf(destination) });
		const at = clock.now() + ms;
		return () => store.recordLookup({ id, found: { kind: "unreached", at } });
	}

	async #settlement(delivery: Claimed): Promise<Settlement> {
		const { channelOf } = this.#options;
		const { platform, account } = delivery.destination;
		const channel = channelOf(platform, account);
		// An unreachable platform has refused nothing: waiting for it uses up no attempt.
		const downMs = this.#downMs(channel, delivery.destination);
		if (!channel || downMs !== null) {
			const reason = channel ? `${platform} is not connected` : `there is no channel for ${platform}`;
			const pause = { kind: "retry", afterMs: lookPause(downMs ?? 0), reason } as const;
			return this.#retry(delivery, pause, keyOf(delivery.destination));
		}
		const outgoing: Outgoing = {
			id: delivery.id,
			destination: delivery.destination,
			body: delivery.body,
			plain: false,
			openBlob: (blob) => pieces(this.#options.store, delivery, blob),
		};
		const { edits } = delivery.body;
		if (edits !== undefined && delivery.receipt === null)
			return { kind: "dead", reason: "the message to edit was probably never shown" };
		if (edits !== undefined && !channel.edit)
			return { kind: "dead", reason: `messages on ${platform} cannot be edited` };
		let result = await this.#send(channel, delivery, outgoing);
		if (result.kind === "markup_refused")
			result = await this.#send(channel, delivery, { ...outgoing, plain: true });
		switch (result.kind) {
			case "sent":
				return result;
			case "retry":
				return this.#retry(delivery, result);
			case "markup_refused":
				return { kind: "dead", reason: "the platform refused the text, with and without formatting" };
			case "missing":
				return this.#anew(delivery);
			case "refused":
				await this.#tellOfFiles(delivery, result.reason);
				return { kind: "dead", reason: result.reason };
			case "unknown":
				return { ...result, unasked: channel.lookup !== undefined };
		}
	}

	/** Notifies the person that a file will not come. Runs before settling: if repeated, it is the same notice. */
	async #tellOfFiles({ id, conversation, turn, destination, body }: Delivery, reason: string): Promise<void> {
		const { store, clock, outlet, log } = this.#options;
		const posting = { id: `${id}:refused`, kind: "notice", class: "warning", destination } as const;
		const texts = (body.attachments ?? []).map((file) => fileRefusedSentence(file, reason));
		const deliveries = texts.length === 0 ? [] : toDeliveries(texts.join("\n"), posting, outlet);
		if (deliveries.length === 0) return;
		await untilWritten(() => store.notify({ conversation, ...(turn !== null && { turn }), deliveries }), {
			clock,
			signal: this.#stop.signal,
			isPassing,
			log: (error) => log(`the sender cannot be told yet that ${id} was refused`, error),
		});
	}

	/** Clears its receipt first: the next send is a separate message, which is never sent twice (I7). */
	#anew({ body, receipt }: Delivery): Settlement {
		const reason = "its message no longer exists";
		if (body.edits !== undefined || receipt === null) return { kind: "dead", reason };
		return { kind: "retry", at: this.#options.clock.now(), reason, pause: true, anew: true };
	}

	/** How long the channel has been missing or disconnected; null if it is connected. */
	#downMs(channel: Channel | undefined, destination: ChannelOf): number | null {
		const key = keyOf(destination);
		if (channel?.health().state === "connected") {
			this.#downSince.delete(key);
			return null;
		}
		const now = this.#options.clock.monotonic();
		const since = this.#downSince.get(key) ?? now;
		this.#downSince.set(key, since);
		return now - since;
	}

	/** Editing a known message may be repeated freely; sending may not. */
	async #send(channel: Channel, delivery: Delivery, outgoing: Outgoing): Promise<SendResult> {
		const editing = delivery.receipt !== null && channel.edit !== undefined;
		try {
			const answer = editing ? channel.edit?.(delivery.receipt as string, outgoing) : channel.send(outgoing);
			// Not the stop signal: running sends are waited for, or their outcome would be unknown.
			const signal = new AbortController().signal;
			const result = await within(answer as Promise<SendResult>, {
				clock: this.#options.clock,
				ms: SEND_MS,
				signal,
			});
			return editing && result.kind === "unknown" ? { kind: "retry", reason: result.reason } : result;
		} catch (error) {
			const reason =
				error instanceof DeadlinePassed || error instanceof Aborted
					? "the platform did not answer in time"
					: `the channel failed: ${error instanceof Error ? error.message : String(error)}`;
			return editing ? { kind: "retry", reason } : { kind: "unknown", reason };
		}
	}

	/** Retries until there were too many attempts or it would be too old. A requested pause is not a failure and uses up no attempt. */
	#retry(
		delivery: Delivery,
		{ afterMs, reason }: Extract<SendResult, { kind: "retry" }>,
		channel?: string,
	): Settlement {
		const { clock, config } = this.#options;
		const pause = afterMs !== undefined;
		// Platforms ask for fractions of a second; the store counts whole milliseconds.
		const asked = afterMs ?? backoff(delivery.id, delivery.attempts);
		const ms = Math.max(SHORTEST_PAUSE_MS, Math.ceil(asked));
		const tooOld = this.#wall.ageOf(delivery.createdAt) + ms > config().outbox.max_age_minutes * 60_000;
		const tooOften = !pause && delivery.attempts >= config().outbox.max_attempts;
		if (tooOld || tooOften)
			return { kind: "dead", reason: `${tooOld ? "too old" : "too many attempts"}: ${reason}` };
		this.#pauses.set(delivery.id, {
			until: clock.monotonic() + ms,
			...(channel !== undefined && { channel }),
		});
		return { kind: "retry", at: clock.now() + ms, reason, pause };
	}
}

type ChannelRoom = ChannelOf & ReturnType<NonNullable<Channel["room"]>>;

type ChannelOf = Pick<Channel, "platform" | "account">;

function keyOf({ platform, account }: ChannelOf): string {
	return `${platform} ${account}`;
}

/** The bytes of a file of the delivery's conversation, in pieces. */
async function* pieces(store: Store, { conversation }: Delivery, digest: string): AsyncIterable<Uint8Array> {
	const bytes = await store.blob({ scope: OPERATOR, conversation, digest });
	for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

const PIECE = 256 * 1024;

/** How soon to check again a channel that has been disconnected for this long. */
function lookPause(downMs: number): number {
	return Math.ceil(Math.min(LAST_LOOK_MS, FIRST_LOOK_MS + downMs / 2));
}

/** Doubling, with a jitter of up to half derived from the delivery, so that many do not come back at once. */
function backoff(id: string, attempts: number): number {
	const base = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempts - 1));
	let hash = attempts;
	for (const unit of id) hash = (hash * 31 + (unit.codePointAt(0) ?? 0)) % 1_000_003;
	return Math.round(base * (1 + hash / 2_000_006));
}
