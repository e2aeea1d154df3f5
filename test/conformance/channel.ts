// The promises that every channel keeps. A channel that joins Keryx runs this suite over itself, against a platform that can
// be made to misbehave.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseSource } from "../../src/domain/index.ts";
import type { Admission, Channel, ChannelHost, Inbound, Outgoing } from "../../src/gateway/index.ts";
import type { Destination } from "../../src/store/index.ts";
import { noBlobs, quietHost } from "../support/quiet-host.ts";

export interface ChannelUnderTest {
	readonly channel: Channel;
	/** A chat of the platform. */
	readonly destination: Destination;
	/** A user writes in that chat; answers the platform's id of the message. */
	say(text: string): string;
	/** The platform delivers a message once more. */
	redeliver(id: string): void;
	/** The connection is lost. */
	disconnect(): void;
	/** Ids of the messages that the platform has been told were taken, as far as nothing before them is missing. */
	acknowledged(): readonly string[];
	/** What users see in the chat, oldest first. */
	visible(): readonly { readonly receipt: string; readonly text: string }[];
	/** How many requests to send or edit have reached the platform. */
	requests(): number;
	/** What the platform does with the next request; a pause asked for is of `PAUSE_MS`. */
	next(behaviour: "refuse" | "pause" | "markup_refused" | "lose_ack" | "lost"): void;
	/** Lets a little time pass, on the channel's clock. */
	pass(): Promise<void>;
	close(): Promise<void>;
}

export const PAUSE_MS = 30_000;

export function channelConformance(name: string, make: () => Promise<ChannelUnderTest>): void {
	describe(`channel: ${name}`, () => {
		let under: ChannelUnderTest;
		let gateway: FakeGateway;
		beforeEach(async () => {
			under = await make();
			gateway = new FakeGateway();
		});
		afterEach(async () => {
			gateway.release();
			await under.channel.stop();
			await under.close();
		});

		/** Waits for a condition, as long as it takes; the test's own time limit ends it. */
		const eventually = async (condition: () => boolean) => {
			while (!condition()) await under.pass();
		};
		const started = async () => {
			await under.channel.start(gateway.host);
			await eventually(() => under.channel.health().state === "connected");
		};
		/** Time enough for what must not happen. */
		const aWhile = async () => {
			for (let n = 0; n < 100; n++) await under.pass();
		};
		let deliveries = 0;
		const outgoing = (text: string, plain = false): Outgoing => ({
			id: `d${++deliveries}`,
			destination: under.destination,
			body: { text, plain: `plain ${text}` },
			plain,
			openBlob: noBlobs,
		});

		describe("what comes in", () => {
			test("health follows from stopped to connected and back, and a channel can be started again", async () => {
				const { channel } = under;
				expect(channel.health()).toMatchObject({ state: "stopped", aliveAt: null });
				await started();
				expect(channel.health().aliveAt).toEqual(expect.any(Number));
				await channel.stop();
				await channel.stop();
				expect(channel.health().state).toBe("stopped");
				await started();
				under.say("again");
				await eventually(() => gateway.taken.length === 1);
			});

			test("an inbound message names its platform, its account and an id, in a form that the domain reads", async () => {
				await started();
				const id = under.say("hello");
				await eventually(() => gateway.taken.length === 1);
				const [inbound] = gateway.taken as [Inbound];
				expect(inbound).toMatchObject({ platformMessage: id, content: "hello" });
				const source = parseSource(inbound.source);
				expect(source).toMatchObject({ platform: under.channel.platform, account: under.channel.account });
				expect(source.chatId).toBe(under.destination.chatId);
			});

			test("I3: the platform is told of a message only after the gateway has committed it", async () => {
				await started();
				gateway.hold();
				const id = under.say("hello");
				await eventually(() => gateway.asked === 1);
				await aWhile();
				expect(under.acknowledged()).toEqual([]);
				gateway.release();
				await eventually(() => under.acknowledged().length === 1);
				expect(under.acknowledged()).toEqual([id]);
			});

			test("messages are handed in in the order of the platform, each once", async () => {
				await started();
				const texts = Array.from({ length: 20 }, (_, n) => `message ${n}`);
				for (const text of texts) under.say(text);
				await eventually(() => under.acknowledged().length === texts.length);
				expect(gateway.taken.map(({ content }) => content)).toEqual(texts);
			});

			test("I3: a message that was not committed comes again, and what follows it is not acknowledged before it", async () => {
				await started();
				gateway.refusals = 1;
				const ids = [under.say("first"), under.say("second")];
				await eventually(() => gateway.refused === 1);
				expect(under.acknowledged()).toEqual([]);
				await eventually(() => under.acknowledged().length === 2);
				expect(gateway.ids()).toEqual(expect.arrayContaining(ids));
				expect(gateway.ids().lastIndexOf(ids[0] as string)).toBeLessThan(
					gateway.ids().lastIndexOf(ids[1] as string),
				);
			});

			test("I4: what the platform delivers again has the id it had before", async () => {
				await started();
				const id = under.say("hello");
				await eventually(() => gateway.taken.length === 1);
				under.redeliver(id);
				await eventually(() => gateway.taken.length === 2);
				expect(gateway.ids()).toEqual([id, id]);
			});

			test("I3: a message whose commit outlived the connection is not lost, and comes again only with the id it had", async () => {
				await started();
				gateway.hold();
				const id = under.say("hello");
				await eventually(() => gateway.asked === 1);
				under.disconnect();
				gateway.release();
				await eventually(() => under.acknowledged().length === 1);
				expect(new Set(gateway.ids())).toEqual(new Set([id]));
			});

			test("after a lost connection it comes back by itself", async () => {
				await started();
				// Only what has come through shows that the platform knows of the connection, and so can break it.
				under.say("before");
				await eventually(() => under.acknowledged().length === 1);
				under.disconnect();
				under.say("meanwhile");
				await eventually(() => gateway.taken.length === 2);
				expect(under.channel.health().state).toBe("connected");
			});

			test("once stop has resolved nothing more is handed in; the next start brings it", async () => {
				await started();
				await under.channel.stop();
				under.say("late");
				await aWhile();
				expect(gateway.taken).toEqual([]);
				await started();
				await eventually(() => gateway.taken.length === 1);
			});

			test("stop waits for what has been handed in, and the platform is told of it", async () => {
				await started();
				gateway.hold();
				const id = under.say("hello");
				await eventually(() => gateway.asked === 1);
				const stopped = under.channel.stop();
				gateway.release();
				await stopped;
				await eventually(() => under.acknowledged().includes(id));
			});
		});

		describe("what goes out", () => {
			test("a message that was taken is visible once, as it was written, and has a receipt of its own", async () => {
				await started();
				const first = await under.channel.send(outgoing("one"));
				const second = await under.channel.send(outgoing("two"));
				expect([first, second]).toEqual([
					{ kind: "sent", receipt: expect.any(String) },
					{ kind: "sent", receipt: expect.any(String) },
				]);
				expect(under.visible().map(({ text }) => text)).toEqual(["one", "two"]);
				expect(new Set(under.visible().map(({ receipt }) => receipt)).size).toBe(2);
			});

			test("any text arrives unchanged", async () => {
				await started();
				await fc.assert(
					fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (text) => {
						expect(await under.channel.send(outgoing(text))).toMatchObject({ kind: "sent" });
						expect(under.visible().at(-1)?.text).toBe(text);
					}),
					{ numRuns: 30, examples: [["a\nb\r\n\u2028\u2029\u0000"], ['{"kind":"answer"}']] },
				);
			});

			test("a refusal is a refusal: nothing is visible, nothing is tried again", async () => {
				await started();
				under.next("refuse");
				expect(await under.channel.send(outgoing("no"))).toEqual({
					kind: "refused",
					reason: expect.stringMatching(/./),
				});
				await aWhile();
				expect([under.visible(), under.requests()]).toEqual([[], 1]);
			});

			test("a pause that the platform asks for is passed on, and not waited for", async () => {
				await started();
				under.next("pause");
				expect(await under.channel.send(outgoing("slowly"))).toMatchObject({
					kind: "retry",
					afterMs: PAUSE_MS,
				});
				await aWhile();
				expect([under.visible(), under.requests()]).toEqual([[], 1]);
			});

			test("markup that is not understood is said to be so, and the plain twin is taken", async () => {
				await started();
				under.next("markup_refused");
				expect(await under.channel.send(outgoing("<b>"))).toEqual({ kind: "markup_refused" });
				expect(await under.channel.send(outgoing("<b>", true))).toMatchObject({ kind: "sent" });
				expect(under.visible().map(({ text }) => text)).toEqual(["plain <b>"]);
			});

			test("I7: an answer that is lost is unknown, whether the message was taken or not, and it is not sent again", async () => {
				await started();
				under.next("lose_ack");
				const taken = outgoing("taken");
				expect(await under.channel.send(taken)).toMatchObject({ kind: "unknown" });
				under.next("lost");
				const lost = outgoing("lost");
				expect(await under.channel.send(lost)).toMatchObject({ kind: "unknown" });
				await aWhile();
				expect(under.visible().map(({ text }) => text)).toEqual(["taken"]);
				expect(under.requests()).toBe(2);
				const { lookup } = under.channel;
				if (!lookup) return;
				const [shown] = under.visible();
				expect(await lookup(taken.id, taken.destination)).toEqual({ kind: "sent", receipt: shown?.receipt });
				expect(await lookup(lost.id, lost.destination)).toEqual({ kind: "absent" });
			});

			test("without a connection a message is certainly not taken, and the channel says so", async () => {
				expect(await under.channel.send(outgoing("early"))).toMatchObject({ kind: "retry" });
				await started();
				await under.channel.stop();
				expect(await under.channel.send(outgoing("late"))).toMatchObject({ kind: "retry" });
				await under.channel.typing?.(under.destination);
				expect([under.visible(), under.requests()]).toEqual([[], 0]);
			});

			test("an edit changes the message in its place, as often as one likes", async () => {
				const { edit } = under.channel;
				if (!edit) return;
				await started();
				const first = outgoing("draft");
				const sent = await under.channel.send(first);
				await under.channel.send(outgoing("another"));
				const receipt = sent.kind === "sent" ? sent.receipt : "";
				for (const text of ["better", "best", "best"]) {
					const edited = await edit(receipt, { ...first, body: { text, plain: text } });
					expect(edited).toEqual({ kind: "sent", receipt });
				}
				expect(under.visible().map(({ text }) => text)).toEqual(["best", "another"]);
				expect(await edit("no-such-receipt", first)).toMatchObject({ kind: "refused" });
			});
		});
	});
}

/** Takes messages as a gateway would; commits when it is let, and sometimes not. */
class FakeGateway {
	readonly #quiet = quietHost();
	readonly host: ChannelHost = { ...this.#quiet, accept: (inbound) => this.#accept(inbound) };
	readonly taken: Inbound[] = [];
	asked = 0;
	refusals = 0;
	refused = 0;
	#held: Promise<void> = Promise.resolve();
	#release = () => {};

	hold(): void {
		this.#held = new Promise((resolve) => {
			this.#release = resolve;
		});
	}

	release(): void {
		this.#release();
	}

	ids(): string[] {
		return this.taken.map(({ platformMessage }) => platformMessage);
	}

	async #accept(inbound: Inbound): Promise<Admission> {
		this.asked++;
		await this.#held;
		if (this.refusals > 0) {
			this.refusals--;
			this.refused++;
			throw new Error("nothing was committed");
		}
		this.taken.push(inbound);
		return this.#quiet.accept(inbound);
	}
}
