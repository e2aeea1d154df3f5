// One node's membership: keeps its lease and connection, monitors the others, and passes on hints. Hints are sent outside transactions,
// batched, and may be lost: periodic checks cover that.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { KeryxError } from "../../errors.ts";
import type { Cluster } from "../engine.ts";
import type { ServerSettings } from "./address.ts";
import type { Connection } from "./connection.ts";
import { toKeryxError } from "./faults.ts";
import { join, rejoin } from "./joining.ts";
import { LOOK_MS, UNLOCKED_MS } from "./names.ts";
import { bury, leave, nodeLost, renew, seenNodes } from "./nodes.ts";
import { Sealing, sharedKey } from "./sealing.ts";

/** The longest pause before the next attempt to reach the server. */
const RETRY_MS = 1000;
/** How long hints are gathered. */
const GATHER_MS = 10;
/** The most hints that may be on their way to the server. */
const MOST_SENDING = 100;
/** A smaller difference between two clocks is left alone. */
const DRIFT_MS = 50;
/** The lease counts as expired this long before it does. */
const MARGIN_MS = 500;
/** The others give up a node without a connection soon after this. */
const FENCED_MS = UNLOCKED_MS - MARGIN_MS;

export interface MembershipOptions {
	readonly name: string | undefined;
	readonly startedAt: number;
	readonly nodes: "one" | "many";
	readonly leaseMs: number;
	readonly heartbeatMs: number;
	/** This machine's clock. */
	readonly now: () => number;
	readonly auditKey: Uint8Array | null;
}

interface MembershipListener {
	trouble(trouble: KeryxError | null): void;
	committedElsewhere(): void;
}

export class Membership implements Cluster {
	readonly epoch: number;
	readonly #settings: ServerSettings;
	readonly #options: MembershipOptions;
	readonly #channel: string;
	readonly #sealing: Sealing;
	readonly #ending = new AbortController();
	readonly #elsewhere = new Set<() => void>();
	readonly #dead = new Set<() => void>();
	readonly #lease = new Set<(holds: boolean) => void>();
	readonly #broadcastListeners = new Set<(text: string, from: number) => void>();
	/** Hints that the server has not received yet. */
	#sending = 0;
	#listener: MembershipListener = { trouble: () => {}, committedElsewhere: () => {} };
	#connection: Connection | null;
	/** Monotonic, from before the renewal was sent. */
	#renewedAt: number;
	/** When this process was last seen to run (monotonic). */
	#ranAt = performance.now();
	/** When it was last found to have stood still: it may have been given up meanwhile, until a later renewal. */
	#stoodStillAt = Number.NEGATIVE_INFINITY;
	/** Since when there is no connection (monotonic). */
	#lostAt = Number.POSITIVE_INFINITY;
	/** When the connection was made again, by the monotonic clock. */
	#rejoinedAt = Number.NEGATIVE_INFINITY;
	#held = true;
	/** How far the server's clock is ahead of this machine's. */
	#aheadMs = 0;
	/** Others alive at the last check. */
	#others: ReadonlySet<number> = new Set();
	/** Ends the pause before the next beat. */
	#hurry = () => {};
	/** Since when a node's lock is seen to be free (monotonic). */
	readonly #unlockedSince = new Map<number, number>();
	#gathering = false;
	#keeping: Promise<void> = Promise.resolve();
	#watch: NodeJS.Timeout | undefined;

	private constructor(
		settings: ServerSettings,
		options: MembershipOptions,
		{ epoch, connection, key }: Awaited<ReturnType<typeof join>>,
		renewedAt: number,
	) {
		this.#settings = settings;
		this.#options = options;
		this.epoch = epoch;
		this.#connection = connection;
		this.#sealing = new Sealing(sharedKey(key, options.auditKey), epoch, () => Math.round(this.now()));
		this.#renewedAt = renewedAt;
		this.#channel = `keryx_${createHash("sha256").update(settings.schema).digest("hex").slice(0, 16)}`;
	}

	static async join(settings: ServerSettings, options: MembershipOptions): Promise<Membership> {
		const before = performance.now();
		const joined = await join(settings, options);
		const membership = new Membership(settings, options, joined, before);
		try {
			await membership.#renew(joined.connection);
			await membership.#listen(joined.connection);
			// Dead ones are buried first: a start takes over their work.
			await membership.#look(joined.connection);
			while (membership.#unlockedSince.size > 0) {
				await pause(LOOK_MS);
				await membership.#look(joined.connection);
			}
		} catch (error) {
			await joined.connection.close();
			throw error;
		}
		return membership;
	}

	start(listener: MembershipListener): void {
		this.#listener = listener;
		this.#keeping = this.#keep();
		this.#ranAt = performance.now();
		this.#watch = setInterval(() => this.#tick(), Math.min(1000, this.#options.leaseMs / 10));
		this.#watch.unref();
	}

	/** Whether there may be others. */
	get isShared(): boolean {
		return this.#options.nodes === "many";
	}

	get hasOthers(): boolean {
		return this.#others.size > 0;
	}

	now(): number {
		return this.#options.now() + this.#aheadMs;
	}

	/** Without a connection the others give this node up before its lease has expired. */
	get holdsLease(): boolean {
		return this.#isRenewed && !this.#isFenced;
	}

	get #isFenced(): boolean {
		const now = performance.now();
		// A connection that ended while the process stood still is not known to be lost yet.
		const stoodStill = this.#renewedAt < this.#stoodStillAt || now - this.#ranAt >= FENCED_MS;
		return stoodStill || now - this.#lostAt >= FENCED_MS;
	}

	get #isRenewed(): boolean {
		return performance.now() - this.#renewedAt < this.#options.leaseMs - MARGIN_MS;
	}

	onCommitElsewhere(listener: () => void): () => void {
		this.#elsewhere.add(listener);
		return () => this.#elsewhere.delete(listener);
	}

	onNodeDead(listener: () => void): () => void {
		this.#dead.add(listener);
		return () => this.#dead.delete(listener);
	}

	onLease(listener: (holds: boolean) => void): () => void {
		this.#lease.add(listener);
		return () => this.#lease.delete(listener);
	}

	/** Dropped if the server cannot keep up: receivers may miss hints. */
	broadcast(text: string): void {
		const connection = this.#connection;
		if (!connection || connection.isLost || this.#others.size === 0 || this.#sending >= MOST_SENDING) return;
		this.#sending++;
		void this.#notify(connection, `told ${text}`)
			.catch(() => {})
			.finally(() => this.#sending--);
	}

	onBroadcast(listener: (text: string, from: number) => void): () => void {
		this.#broadcastListeners.add(listener);
		return () => this.#broadcastListeners.delete(listener);
	}

	/** Something was committed here: others get a hint. */
	committed(): void {
		if (this.#others.size === 0 || this.#gathering) return;
		this.#gathering = true;
		setTimeout(() => {
			this.#gathering = false;
			void this.#hint();
		}, GATHER_MS).unref();
	}

	async leave(): Promise<void> {
		this.#ending.abort();
		clearInterval(this.#watch);
		await this.#keeping;
		const connection = this.#connection;
		this.#connection = null;
		if (!connection) return;
		await leave(connection, this.epoch).catch(() => {});
		await this.#notify(connection, "nodes").catch(() => {});
		await connection.close();
	}

	#tick(): void {
		const now = performance.now();
		if (now - this.#ranAt >= FENCED_MS) {
			this.#stoodStillAt = now;
			this.#hurry();
		}
		this.#ranAt = now;
		this.#checkLease();
	}

	async #keep(): Promise<void> {
		const { heartbeatMs } = this.#options;
		const { signal } = this.#ending;
		while (!signal.aborted) {
			const ms = !this.#connection ? RETRY_MS : this.#unlockedSince.size > 0 ? LOOK_MS : heartbeatMs;
			await this.#pause(ms);
			if (signal.aborted) return;
			try {
				await this.#beat();
				this.#listener.trouble(null);
			} catch (error) {
				const known = toKeryxError(error);
				this.#connection?.drop();
				this.#connection = null;
				this.#listener.trouble(known);
				if (known.code === "store.owner_lost") return;
			}
		}
	}

	/** Until it is due, a node joins or leaves, or the membership ends. */
	async #pause(ms: number): Promise<void> {
		const hurry = new AbortController();
		this.#hurry = () => hurry.abort();
		this.#ending.signal.addEventListener("abort", this.#hurry, { once: true });
		await pause(ms, null, { signal: hurry.signal }).catch(() => {});
		this.#ending.signal.removeEventListener("abort", this.#hurry);
	}

	async #beat(): Promise<void> {
		const before = performance.now();
		let wasFenced: boolean;
		if (this.#connection && !this.#connection.isLost) {
			await this.#renew(this.#connection);
			wasFenced = this.#isFenced;
		} else {
			const connection = await rejoin(this.#settings, this.epoch, this.#options);
			this.#connection = connection;
			this.#rejoinedAt = before;
			wasFenced = this.#isFenced;
			this.#lostAt = Number.POSITIVE_INFINITY;
			await this.#listen(connection);
		}
		this.#renewedAt = before;
		// Work refused meanwhile is searched for, even if the lease was not lost.
		if (wasFenced && this.#held) for (const listener of this.#lease) listener(true);
		this.#checkLease();
		await this.#look(this.#connection);
		// Covers hints that were lost.
		if (this.#others.size > 0) this.#hear();
	}

	async #renew(connection: Connection): Promise<void> {
		const { leaseMs, now } = this.#options;
		const before = now();
		const server = await renew(connection, this.epoch, leaseMs);
		if (server === null) throw nodeLost();
		const after = now();
		const aheadMs = server - (before + after) / 2;
		// The answer came at any moment between the two.
		const isKnown = Math.abs(aheadMs - this.#aheadMs) <= (after - before) / 2 + DRIFT_MS;
		if (!isKnown) this.#aheadMs = Math.round(aheadMs);
	}

	/** Buries dead nodes. */
	async #look(connection: Connection): Promise<void> {
		const nodes = (await seenNodes(connection, this.#settings)).filter(({ epoch }) => epoch !== this.epoch);
		const now = performance.now();
		// If the server was away for longer than a lease, all leases have expired: living nodes renew theirs in a moment.
		const isBack = now - this.#rejoinedAt < UNLOCKED_MS;
		const expired = isBack ? [] : nodes.filter((node) => node.expired).map(({ epoch }) => epoch);
		const crashed: number[] = [];
		for (const { epoch, held } of nodes) {
			if (held) this.#unlockedSince.delete(epoch);
			else if (!this.#unlockedSince.has(epoch)) this.#unlockedSince.set(epoch, now);
			// After an outage of the server, a living node may need longer than this one to come back.
			const since = Math.max(this.#unlockedSince.get(epoch) ?? now, this.#rejoinedAt + UNLOCKED_MS);
			const unlockedMs = now - since;
			// An exclusive node has the store's lock: every other node is dead.
			if (!this.isShared || unlockedMs > UNLOCKED_MS) crashed.push(epoch);
		}
		const dead = new Set([
			...(expired.length > 0 ? await bury(connection, this.#settings, expired, { anyway: false }) : []),
			...(crashed.length > 0 ? await bury(connection, this.#settings, crashed, { anyway: true }) : []),
		]);
		const living = new Set(nodes.map(({ epoch }) => epoch).filter((epoch) => !dead.has(epoch)));
		// Some were buried by another node, or have left.
		const gone = dead.size > 0 || [...this.#others].some((epoch) => !living.has(epoch));
		const came = [...living].some((epoch) => !this.#others.has(epoch));
		this.#others = living;
		for (const epoch of this.#unlockedSince.keys()) if (!living.has(epoch)) this.#unlockedSince.delete(epoch);
		if (dead.size > 0 || came) await this.#notify(connection, "nodes");
		if (gone) for (const listener of this.#dead) listener();
	}

	/** Turns are given up with the lease, not with a connection that may be back in a moment. */
	#checkLease(): void {
		const holds = this.#isRenewed;
		if (holds === this.#held) return;
		this.#held = holds;
		for (const listener of this.#lease) listener(holds);
	}

	async #listen(connection: Connection): Promise<void> {
		connection.onLost(() => this.#lose(connection));
		connection.onNotification((payload) => {
			const heard = this.#sealing.open(payload);
			if (!heard) return;
			const [, what, text = ""] = /^(\w+) ?(.*)$/s.exec(heard.text) ?? [];
			if (what === "nodes") this.#hurry();
			else if (what === "told") for (const listener of this.#broadcastListeners) listener(text, heard.from);
			else this.#hear();
		});
		await connection.exec(`LISTEN ${this.#channel}`);
	}

	/** At once: the others see its lock free, and wait only a moment. */
	#lose(connection: Connection): void {
		if (connection !== this.#connection) return;
		this.#lostAt = performance.now();
		this.#hurry();
	}

	#hear(): void {
		this.#listener.committedElsewhere();
		for (const listener of this.#elsewhere) listener();
	}

	async #hint(): Promise<void> {
		const connection = this.#connection;
		// A lost hint is noticed by the next beat, and its content by the others' next check.
		if (connection && !connection.isLost) await this.#notify(connection, "commit").catch(() => {});
	}

	async #notify(connection: Connection, what: "commit" | "nodes" | `told ${string}`): Promise<void> {
		await connection.exec("SELECT pg_notify($1, $2)", [this.#channel, this.#sealing.seal(what)]);
	}
}
