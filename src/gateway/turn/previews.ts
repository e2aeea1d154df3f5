// Shows a reply while it is written, on platforms that can edit messages. It is marked as being sent before the first preview leaves, and
// the outcome is recorded however long the store takes (I7). It is shown when nothing else is being sent to its chat (I19); until then it
// waits, and if it still waits at the end of the turn, the outbox sends it.

import type { Platforms } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { renderParts } from "../../render/index.ts";
import { type Destination, isPassing, type NewDelivery, type Store } from "../../store/index.ts";
import { type Clock, untilWritten, within } from "../../time/index.ts";
import type { Channel, Outgoing, SendResult } from "../channel.ts";

/** Platforms count edits towards the same limits as messages. */
const EDIT_EVERY_MS = 1000;
/** How long a platform may take to answer before the outcome is unknown; the turn's end waits for it. */
const SEND_MS = 60_000;
/** Recording ends only when it is written. */
const NEVER = new AbortController().signal;
/** Must be below STOP_MS: the stopped turn stores its end after this. */
const HURRY_MS = 1000;

type State = "unopened" | "sending" | "shown" | "given up";
type Recorded = Parameters<Store["recordPreview"]>[0]["outcome"];

export class Preview {
	readonly #store: Store;
	readonly #channel: Channel;
	readonly #clock: Clock;
	readonly #turn: { readonly id: string; readonly token: number };
	readonly #destination: Destination;
	readonly #platforms: Platforms;
	#state: State = "unopened";
	#receipt = "";
	#wanted = "";
	#shown = "";
	/** Monotonic clock: no edit before the first, no final text before the second. */
	#nextAt = Number.NEGATIVE_INFINITY;
	#notBefore = Number.NEGATIVE_INFINITY;
	#busy: Promise<void> = Promise.resolve();
	readonly #log: (message: string, error: unknown) => void;
	#cancelWait = () => {};
	#isOnItsWay = false;

	constructor(options: {
		readonly store: Store;
		readonly channel: Channel;
		readonly clock: Clock;
		readonly turn: { readonly id: string; readonly token: number };
		readonly destination: Destination;
		readonly platforms: Platforms;
		readonly log: (message: string, error: unknown) => void;
	}) {
		this.#store = options.store;
		this.#channel = options.channel;
		this.#clock = options.clock;
		this.#turn = options.turn;
		this.#destination = options.destination;
		this.#platforms = options.platforms;
		this.#log = options.log;
	}

	/** The id of the previewed delivery: the first part of the reply. */
	get id(): string {
		return `${this.#turn.id}:1`;
	}

	/** The text so far. Sends or edits at most once a second; never throws. */
	show(text: string): void {
		this.#wanted = text;
		if (this.#state === "given up" || this.#state === "sending" || this.#clock.monotonic() < this.#nextAt)
			return;
		this.#nextAt = this.#clock.monotonic() + EDIT_EVERY_MS;
		this.#busy = this.#busy.then(() => this.#push()).catch((error: unknown) => this.#failed(error));
	}

	/**
	 * Resolves when nothing is being sent any more; then the outbox may edit the same message. In a hurry, an unanswered send is not
	 * waited for: it stays marked as being sent until the platform answers or it times out.
	 */
	async settle(hurry: AbortSignal): Promise<void> {
		const quiet = this.#busy.then(() => true);
		const isQuiet = await Promise.race([quiet, this.#outOfTime(hurry)]);
		// A late edit could overwrite the final text.
		if (!isQuiet && this.#state === "shown") this.#notBefore = this.#clock.monotonic() + SEND_MS;
		this.#giveUp();
	}

	/** Shows nothing more. */
	abandon(): void {
		this.#giveUp();
	}

	/** The same when Keryx stops: deliveries waiting behind an unanswered preview are released before the shutdown. */
	async leave(): Promise<void> {
		this.#giveUp();
		if (this.#isOnItsWay)
			await this.#record({ ...STOPPED, unasked: this.#channel.lookup !== undefined }).catch(
				(error: unknown) => this.#failed(error),
			);
	}

	#outOfTime(hurry: AbortSignal): Promise<false> {
		return new Promise((resolve) => {
			const wait = () => void this.#clock.after(HURRY_MS, () => resolve(false));
			if (hurry.aborted) wait();
			else hurry.addEventListener("abort", wait, { once: true });
		});
	}

	/** The reply's deliveries; the previewed one is held back as long as the platform asked. */
	holdBack(deliveries: readonly NewDelivery[]): NewDelivery[] {
		const { id } = this;
		const left = Math.ceil(this.#notBefore - this.#clock.monotonic());
		return deliveries.map((delivery) =>
			delivery.id === id && left > 0 ? { ...delivery, notBefore: this.#clock.now() + left } : delivery,
		);
	}

	#giveUp(): void {
		this.#state = "given up";
		this.#cancelWait();
	}

	#failed(error: unknown): void {
		this.#giveUp();
		// The turn was already ended.
		if (error instanceof KeryxError && error.code === "turn.stale") return;
		this.#log(`the preview of turn ${this.#turn.id} failed`, error);
	}

	async #push(): Promise<void> {
		const body = this.#body();
		if (!body || body.text === this.#shown || this.#state === "given up") return;
		const outgoing = { id: this.id, destination: this.#destination, body, plain: false, openBlob: NO_FILES };
		if (this.#state === "shown") return this.#edit(outgoing);
		if (this.#channel.health().state !== "connected") return this.#wait();
		this.#state = "sending";
		const opened = await this.#open(outgoing);
		switch (opened.kind) {
			case "shown":
				return this.#found(opened.receipt);
			case "uncertain":
				return this.#giveUp();
			case "wait":
				return this.#wait();
			case "send":
				return this.#first(outgoing);
		}
	}

	/** If it fails, the row may still have been opened: undo that, or later deliveries would wait for it. */
	async #open({ id, destination, body }: Outgoing): ReturnType<Store["openDelivery"]> {
		const { id: turn, token } = this.#turn;
		try {
			return await this.#store.openDelivery({
				turn,
				token,
				delivery: { id, kind: "reply", destination, body },
			});
		} catch (error) {
			if (!isStale(error)) await this.#record({ kind: "absent", reason: "it was not sent" });
			throw error;
		}
	}

	/** Asks again even without new text; not before the platform allows it. */
	#wait(notBefore = Number.NEGATIVE_INFINITY): void {
		if (this.#isOver()) return;
		this.#state = "unopened";
		this.#nextAt = Math.max(this.#nextAt, notBefore);
		const ms = Math.max(EDIT_EVERY_MS, Math.ceil(notBefore - this.#clock.monotonic()));
		this.#cancelWait();
		this.#cancelWait = this.#clock.after(ms, () => this.show(this.#wanted));
	}

	/** Sends it, unless the turn has ended meanwhile, and records the outcome. */
	async #first(outgoing: Outgoing): Promise<void> {
		if (this.#isOver()) return this.#record({ kind: "absent", reason: "the turn ended before it was sent" });
		this.#isOnItsWay = true;
		const outcome = await this.#send(outgoing);
		this.#isOnItsWay = false;
		if (outcome.kind === "absent") this.#notBefore = outcome.notBefore ?? Number.NEGATIVE_INFINITY;
		await this.#record(outcome);
		// The outbox asks the platform; then it is known where the preview is.
		if (outcome.kind === "unknown" && outcome.unasked) return this.#wait();
		if (outcome.kind === "absent" && outcome.notBefore !== undefined) return this.#wait(this.#notBefore);
		if (outcome.kind !== "sent") return this.#giveUp();
		this.#found(outcome.receipt);
		this.#shown = outgoing.body.text;
	}

	/** Requested again after each wait: the turn's end does not wait forever. */
	#isOver(): boolean {
		return this.#state === "given up";
	}

	/** Its outcome may stay unknown: the outbox edits the same message again. */
	async #edit(outgoing: Outgoing): Promise<void> {
		const edited = await this.#inTime(async () => this.#channel.edit?.(this.#receipt, outgoing) ?? NO_EDIT);
		if (edited.kind === "sent") this.#shown = outgoing.body.text;
		else if (edited.kind === "retry") {
			this.#nextAt = this.#clock.monotonic() + Math.ceil(edited.afterMs ?? EDIT_EVERY_MS);
			this.#notBefore = this.#nextAt;
		} else this.#giveUp();
	}

	#found(receipt: string): void {
		if (this.#isOver()) return;
		this.#receipt = receipt;
		this.#state = "shown";
		this.#nextAt = Number.NEGATIVE_INFINITY;
	}

	async #send(outgoing: Outgoing): Promise<Recorded> {
		const sent = await this.#inTime(async () => this.#channel.send(outgoing));
		switch (sent.kind) {
			case "sent":
				return sent;
			case "unknown":
				return { ...sent, unasked: this.#channel.lookup !== undefined };
			case "retry":
				return {
					kind: "absent",
					reason: sent.reason,
					notBefore: this.#clock.monotonic() + Math.ceil(sent.afterMs ?? 0),
				};
			case "markup_refused":
			case "missing":
			case "refused":
				// The outbox sends the plain twin, or is refused as well.
				return { kind: "absent", reason: "the platform refused its preview" };
		}
	}

	/** If a channel fails or does not answer, the outcome is unknown. */
	#inTime(ask: () => Promise<SendResult>): Promise<SendResult> {
		const { signal } = new AbortController();
		return within(ask(), { clock: this.#clock, ms: SEND_MS, signal }).catch(channelFailed);
	}

	/** As long as the store is in trouble: until it is written, nobody knows whether the preview was sent. */
	async #record(outcome: Recorded): Promise<void> {
		const { id: turn, token } = this.#turn;
		try {
			await untilWritten(() => this.#store.recordPreview({ turn, token, id: this.id, outcome }), {
				clock: this.#clock,
				signal: NEVER,
				isPassing,
				log: (error) => this.#log(`the result of the preview of turn ${turn} cannot be recorded yet`, error),
			});
		} catch (error) {
			// Already written, and the answer was lost; or nothing to write.
			if (!isStale(error)) throw error;
		}
	}

	/**
	 * Only the first part: the rest follows with the final text. Secrets are hidden once more, because rendering removes marks and
	 * escapes (I12).
	 */
	#body(): { text: string; plain: string } | undefined {
		const { markup, messageLimit } = this.#platforms.traits(this.#destination.platform);
		return this.#store.secrets.hideIn(renderParts(this.#wanted, { markup, limit: messageLimit })[0]);
	}
}

type Unknown = Extract<SendResult, { kind: "unknown" }>;

/** A preview has none. */
const NO_FILES: Outgoing["openBlob"] = (blob) => {
	throw new KeryxError("store.not_found", `there is no file ${blob} in this message`, { field: "blob" });
};

const NO_EDIT: SendResult = { kind: "refused", reason: "messages cannot be edited here" };
const STOPPED: Unknown = { kind: "unknown", reason: "Keryx stopped before the platform answered" };

const STALE: ReadonlySet<string> = new Set(["turn.stale", "delivery.stale", "store.not_found"]);

function isStale(error: unknown): boolean {
	return error instanceof KeryxError && STALE.has(error.code);
}

function channelFailed(error: unknown): Unknown {
	return {
		kind: "unknown",
		reason: `the channel failed: ${error instanceof Error ? error.message : String(error)}`,
	};
}
