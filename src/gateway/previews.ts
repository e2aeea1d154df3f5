// Showing a reply while it is written, on platforms that can edit a message in place. The delivery's row is opened before the
// first preview is sent (I7); the outbox gives it its final text.
import { platformTraits } from "../domain/index.ts";
import type { Destination, NewDelivery, Store } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { Channel, Outgoing, SendResult } from "./channel.ts";
import { within } from "./deadline.ts";
import { lookUp } from "./lookup.ts";
import { renderParts } from "./render/index.ts";

/** Platforms count edits against the same limits as messages. */
const EDIT_EVERY_MS = 1000;
/** How long a platform may take to answer before the outcome counts as unknown; the turn's end waits for it. */
const SEND_MS = 60_000;
/** Less than a command waits for the turn that it stops, which writes its end after this. */
const HURRY_MS = 1000;

type State = "unopened" | "sending" | "shown" | "given up";

export class Preview {
	readonly #store: Store;
	readonly #channel: Channel;
	readonly #clock: Clock;
	readonly #turn: { readonly id: string; readonly token: number };
	readonly #destination: Destination;
	#state: State = "unopened";
	#receipt = "";
	#wanted = "";
	#shown = "";
	/** By the monotonic clock: no edit before the one, not the final text before the other. */
	#nextAt = Number.NEGATIVE_INFINITY;
	#notBefore = Number.NEGATIVE_INFINITY;
	#busy: Promise<void> = Promise.resolve();

	constructor(options: {
		readonly store: Store;
		readonly channel: Channel;
		readonly clock: Clock;
		readonly turn: { readonly id: string; readonly token: number };
		readonly destination: Destination;
	}) {
		this.#store = options.store;
		this.#channel = options.channel;
		this.#clock = options.clock;
		this.#turn = options.turn;
		this.#destination = options.destination;
	}

	/** The id of the delivery that is previewed: the first part of the reply. */
	get id(): string {
		return `${this.#turn.id}:1`;
	}

	/** The text so far. Sends or edits at most once a second; never throws. */
	show(text: string): void {
		this.#wanted = text;
		if (this.#state === "given up" || this.#state === "sending" || this.#clock.monotonic() < this.#nextAt)
			return;
		this.#nextAt = this.#clock.monotonic() + EDIT_EVERY_MS;
		this.#busy = this.#busy.then(() => this.#push()).catch(() => this.#giveUp());
	}

	/**
	 * Resolves when nothing is on its way any more; after it the outbox may edit the same message. In a hurry a platform that
	 * does not answer is not waited for: what it was sent is then of unknown outcome.
	 */
	async settle(hurry: AbortSignal): Promise<void> {
		const quiet = this.#busy.then(() => true);
		const isQuiet = await Promise.race([quiet, this.#outOfTime(hurry)]);
		const state = this.#state;
		this.#giveUp();
		if (isQuiet) return;
		if (state === "shown") this.#notBefore = this.#clock.monotonic() + SEND_MS;
		else await this.#record({ kind: "unknown", reason: "the turn ended before the platform answered" });
	}

	/** Shows nothing more. */
	abandon(): void {
		this.#giveUp();
	}

	#outOfTime(hurry: AbortSignal): Promise<false> {
		return new Promise((resolve) => {
			const wait = () => void this.#clock.after(HURRY_MS, () => resolve(false));
			if (hurry.aborted) wait();
			else hurry.addEventListener("abort", wait, { once: true });
		});
	}

	/** The reply's deliveries, the previewed one held back for as long as the platform asked. */
	holdBack(deliveries: readonly NewDelivery[]): NewDelivery[] {
		const { id } = this;
		const left = Math.ceil(this.#notBefore - this.#clock.monotonic());
		return deliveries.map((delivery) =>
			delivery.id === id && left > 0 ? { ...delivery, notBefore: this.#clock.now() + left } : delivery,
		);
	}

	#giveUp(): void {
		this.#state = "given up";
	}

	async #push(): Promise<void> {
		const body = this.#body();
		if (!body || body.text === this.#shown || this.#state === "given up") return;
		const outgoing = { id: this.id, destination: this.#destination, body, plain: false };
		const { id: turn, token } = this.#turn;
		if (this.#state === "shown") return this.#edit(outgoing);
		this.#state = "sending";
		const { state, receipt } = await this.#store.openDelivery({
			turn,
			token,
			delivery: { id: this.id, kind: "reply", destination: this.#destination, body },
		});
		// Of an earlier attempt at this turn: what is visible is edited, never sent a second time.
		if (state === "open" && receipt !== null) return this.#found(receipt);
		if (state !== "open" && state !== "unknown") return this.#giveUp();
		const sent = state === "open" ? await this.#send(outgoing) : await this.#lookUp(EARLIER);
		if (sent.kind === "sent") {
			await this.#record({ kind: "sent", receipt: sent.receipt, body });
			this.#found(sent.receipt);
			if (state === "open") this.#shown = body.text;
			return;
		}
		if (sent.kind === "unknown" || sent.kind === "absent") await this.#record(sent);
		if (sent.kind === "retry") this.#notBefore = this.#clock.monotonic() + Math.ceil(sent.afterMs ?? 0);
		this.#giveUp();
	}

	/** Its outcome may stay unknown: the outbox edits the same message again. */
	async #edit(outgoing: Outgoing): Promise<void> {
		const edit = this.#channel.edit?.(this.#receipt, outgoing);
		const edited = edit && (await this.#inTime(edit));
		if (edited?.kind === "sent") this.#shown = outgoing.body.text;
		else if (edited?.kind === "retry") {
			this.#nextAt = this.#clock.monotonic() + Math.ceil(edited.afterMs ?? EDIT_EVERY_MS);
			this.#notBefore = this.#nextAt;
		} else this.#giveUp();
	}

	#found(receipt: string): void {
		this.#receipt = receipt;
		this.#state = "shown";
		this.#nextAt = Number.NEGATIVE_INFINITY;
	}

	async #send(outgoing: Outgoing): Promise<SendResult | Absent> {
		const sent = await this.#inTime(this.#channel.send(outgoing));
		return sent.kind === "unknown" ? this.#lookUp(sent) : sent;
	}

	/** Where the platform can be asked, what became of it is known after all. */
	async #lookUp(unknown: Unknown): Promise<SendResult | Absent> {
		const asked = { id: this.id, destination: this.#destination };
		const found = await lookUp(this.#channel, asked, this.#clock);
		if (found.kind === "sent") return found;
		return found.kind === "absent" ? { kind: "absent" } : unknown;
	}

	/** A channel that fails or does not answer has left the outcome open. */
	#inTime(answer: Promise<SendResult>): Promise<SendResult> {
		const { signal } = new AbortController();
		return within(answer, { clock: this.#clock, ms: SEND_MS, signal }).catch(channelFailed);
	}

	async #record(outcome: Parameters<Store["recordPreview"]>[0]["outcome"]): Promise<void> {
		const { id: turn, token } = this.#turn;
		await this.#store.recordPreview({ turn, token, id: this.id, outcome });
	}

	/** The first part only: the rest follows when the text is final. */
	#body(): { text: string; plain: string } | undefined {
		const { markup, messageLimit } = platformTraits(this.#destination.platform);
		return renderParts(this.#wanted, { markup, limit: messageLimit })[0];
	}
}

type Unknown = Extract<SendResult, { kind: "unknown" }>;
/** Looked up, and certainly not taken. */
interface Absent {
	readonly kind: "absent";
}

const EARLIER: Unknown = { kind: "unknown", reason: "Keryx died while sending" };

function channelFailed(error: unknown): Unknown {
	return {
		kind: "unknown",
		reason: `the channel failed: ${error instanceof Error ? error.message : String(error)}`,
	};
}
