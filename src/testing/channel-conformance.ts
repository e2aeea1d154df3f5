// The promises that every channel keeps. A channel that joins Keryx runs this suite over itself, against a platform that can be made to
// misbehave. It needs no particular test runner: `describe` and `test` are given, failures are assertion errors.
import assert from "node:assert/strict";
import { type Part, parseSource } from "../domain/index.ts";
import type { Channel, Inbound, Outgoing } from "../gateway/index.ts";
import type { Destination } from "../store/index.ts";
import { TakingHost } from "./taking-host.ts";

/** A Keryx message as a user sees it. */
export interface SeenMessage {
	readonly receipt: string;
	readonly text: string;
	readonly file?: { readonly name: string; readonly bytes: Uint8Array };
	/** The ids of its buttons, in order. */
	readonly buttons?: readonly string[];
}

type Behaviour = "refuse" | "pause" | "markup_refused" | "lose_ack" | "lost";

/** A channel and the platform behind it. Leave out what the platform does not have. */
export interface ChannelPeer {
	readonly channel: Channel;
	/** A chat of the platform. */
	readonly destination: Destination;
	/** A user writes in that chat; returns the platform's id of the message. */
	say(text: string): string;
	/** A user changes a message. */
	edit?(id: string, text: string): void;
	/** A user sends a file with a few words; returns the id of the message. */
	sendFile?(text: string, name: string, bytes: Uint8Array): string;
	/** A user sends several files as one; returns the ids of the messages. */
	sendAlbum?(files: readonly { readonly name: string; readonly bytes: Uint8Array }[]): readonly string[];
	/** A user presses a button; resolves with the text they see. */
	press?(receipt: string, button: string): Promise<string>;
	/** The platform delivers a message once more. Absent: it never does. */
	redeliver?(id: string): void;
	/** The connection is lost. */
	disconnect(): void;
	/** Refuses all connections until undone. */
	refuseConnections?(): Promise<() => Promise<void>>;
	/** Ids of the messages acknowledged to the platform, up to the first gap. */
	acknowledged(): readonly string[];
	/** Keryx's messages in the chat as users see them, oldest first. */
	visible(): readonly SeenMessage[];
	/** How many requests to send or edit have reached the platform. */
	requests(): number;
	/** How the platform answers the next request; a requested pause lasts `PAUSE_MS`. */
	next(behaviour: Behaviour): void;
	/** Faults that the platform never has. */
	readonly never?: readonly Behaviour[];
	/** The token or password is refused from now on. */
	revoke?(): void;
	/** More texts to send, in addition to the usual ones. */
	readonly texts?: readonly string[];
	/** How a text looks on the platform; default: as written. */
	shownAs?(text: string): string;
	/** Lets a little time pass, on the channel's clock. */
	pass(): Promise<void>;
	close(): Promise<void>;
}

/** As in vitest and node:test. */
export interface TestRunner {
	readonly describe: (name: string, body: () => void) => unknown;
	readonly test: (name: string, body: () => Promise<void>) => unknown;
}

export const PAUSE_MS = 30_000;

/** Texts that a careless channel damages. */
const TEXTS: readonly string[] = [
	"hello",
	"a\nb",
	"two  spaces, a \t tab",
	'{"kind":"answer"}',
	"<b>not bold</b> &amp; &lt;",
	"*_`~[]()#+-=|{}.!\\",
	"@everyone /help https://example.org",
	"👩‍👩‍👧‍👦 ünïcödé 漢字 \u200b",
	"%20 %s \\n \\u0041",
];
/** Or the platform's maximum. */
const LONG = 1000;

export function testChannel(
	name: string,
	createPeer: () => Promise<ChannelPeer>,
	{ describe, test }: TestRunner,
): void {
	/** Each test has its own peer, which is closed after it. */
	const check = (title: string, body: (scene: Scene) => Promise<void>) =>
		test(title, async () => {
			const scene = new Scene(await createPeer());
			try {
				await body(scene);
			} finally {
				await scene.end();
			}
		});

	describe(`channel: ${name}`, () => {
		describe("what comes in", () => {
			check(
				"health follows from stopped to connected and back, and a channel can be started again",
				async (scene) => {
					const { peer, host } = scene;
					const { state, aliveAt } = peer.channel.health();
					assert.deepEqual({ state, aliveAt }, { state: "stopped", aliveAt: null });
					await scene.started();
					assert.equal(typeof peer.channel.health().aliveAt, "number");
					await peer.channel.stop();
					await peer.channel.stop();
					assert.equal(peer.channel.health().state, "stopped");
					await scene.started();
					peer.say("again");
					await scene.eventually(() => host.taken.length === 1);
				},
			);

			check(
				"an inbound message names its platform, its account and an id, in a form that the domain reads",
				async (scene) => {
					const { peer, host } = scene;
					await scene.started();
					const id = peer.say("hello");
					await scene.eventually(() => host.taken.length === 1);
					const [inbound] = host.taken as [Inbound];
					assert.deepEqual([inbound.platformMessage, inbound.content], [id, "hello"]);
					const { platform, account, chatId } = parseSource(inbound.source);
					assert.deepEqual([platform, account], [peer.channel.platform, peer.channel.account]);
					assert.equal(chatId, peer.destination.chatId);
				},
			);

			check(
				"I3: the platform is told of a message only after the gateway has committed it",
				async (scene) => {
					const { peer, host } = scene;
					await scene.started();
					host.hold();
					const id = peer.say("hello");
					await scene.eventually(() => host.asked === 1);
					await scene.aWhile();
					assert.deepEqual(peer.acknowledged(), []);
					host.release();
					await scene.eventually(() => peer.acknowledged().length === 1);
					assert.deepEqual(peer.acknowledged(), [id]);
				},
			);

			check("messages are handed in in the order of the platform, each once", async (scene) => {
				const { peer, host } = scene;
				await scene.started();
				const texts = Array.from({ length: 20 }, (_, n) => `message ${n}`);
				for (const text of texts) peer.say(text);
				await scene.eventually(() => peer.acknowledged().length === texts.length);
				assert.deepEqual(
					host.taken.map(({ content }) => content),
					texts,
				);
			});

			check(
				"I3: a message that was not committed comes again, and what follows it is not acknowledged before it",
				async (scene) => {
					const { peer, host } = scene;
					await scene.started();
					host.refusals = 1;
					const ids = [peer.say("first"), peer.say("second")];
					await scene.eventually(() => host.refused === 1);
					assert.deepEqual(peer.acknowledged(), []);
					await scene.eventually(() => peer.acknowledged().length === 2);
					const [first, second] = ids.map((id) => host.ids().lastIndexOf(id)) as [number, number];
					assert.ok(first >= 0 && first < second, `handed in as ${host.ids().join(", ")}`);
				},
			);

			check("I4: what the platform delivers again has the id it had before", async (scene) => {
				const { peer, host } = scene;
				if (!peer.redeliver) return;
				await scene.started();
				const id = peer.say("hello");
				await scene.eventually(() => host.taken.length === 1);
				peer.redeliver(id);
				await scene.eventually(() => host.taken.length === 2);
				assert.deepEqual(host.ids(), [id, id]);
			});

			check(
				"I3: a message whose commit outlived the connection is not lost, and comes again only with the id it had",
				async (scene) => {
					const { peer, host } = scene;
					await scene.started();
					host.hold();
					const id = peer.say("hello");
					await scene.eventually(() => host.asked === 1);
					peer.disconnect();
					host.release();
					await scene.eventually(() => peer.acknowledged().length === 1);
					assert.deepEqual(new Set(host.ids()), new Set([id]));
				},
			);

			check("after a lost connection it comes back by itself", async (scene) => {
				const { peer, host } = scene;
				await scene.started();
				// Only received data proves that the platform has the connection, and so can break it.
				peer.say("before");
				await scene.eventually(() => peer.acknowledged().length === 1);
				peer.disconnect();
				peer.say("meanwhile");
				await scene.eventually(() => host.taken.length === 2);
				await scene.eventually(() => peer.channel.health().state === "connected");
			});

			check("once stop has resolved nothing more is handed in; the next start brings it", async (scene) => {
				const { peer, host } = scene;
				await scene.started();
				await peer.channel.stop();
				peer.say("late");
				await scene.aWhile();
				assert.deepEqual(host.taken, []);
				await scene.started();
				await scene.eventually(() => host.taken.length === 1);
			});

			check("stop waits for what has been handed in, and the platform is told of it", async (scene) => {
				const { peer, host } = scene;
				await scene.started();
				host.hold();
				const id = peer.say("hello");
				await scene.eventually(() => host.asked === 1);
				const stopped = peer.channel.stop();
				host.release();
				await stopped;
				await scene.eventually(() => peer.acknowledged().includes(id));
			});

			check("a changed message is an edit of the one it was, and no message", async (scene) => {
				const { peer, host } = scene;
				if (!peer.edit) return;
				await scene.started();
				const id = peer.say("/status");
				peer.edit(id, "/help");
				peer.say("next");
				await scene.eventually(() => host.taken.length === 2);
				assert.deepEqual(
					host.edits.map(({ platformMessage, content }) => [platformMessage, content]),
					[[id, "/help"]],
				);
			});

			check(
				"a file is stored byte for byte before its message is handed in, and its words stay",
				async (scene) => {
					const { peer, host } = scene;
					if (!peer.sendFile) return;
					await scene.started();
					peer.sendFile("look at this", "notes.bin", BYTES);
					await scene.eventually(() => host.taken.length === 1);
					const { content, blobs = [] } = host.taken[0] as Inbound;
					const [words, file] = content as readonly Part[];
					assert.deepEqual(words, { type: "text", text: "look at this" });
					assert.ok(file && "blob" in file && file.name === "notes.bin");
					assert.deepEqual(blobs, [file.blob]);
					assert.deepEqual(host.blobs.get(file.blob), Buffer.from(BYTES));
				},
			);

			check(
				"a file that is too large becomes words that say so, and the message is not lost",
				async (scene) => {
					const { peer, host } = scene;
					if (!peer.sendFile) return;
					host.blobLimit = 100;
					await scene.started();
					peer.sendFile("look at this", "notes.bin", BYTES);
					await scene.eventually(() => host.taken.length === 1);
					const { content, blobs = [] } = host.taken[0] as Inbound;
					const text = (content as readonly Part[])
						.map((part) => ("text" in part ? part.text : "?"))
						.join(" ");
					assert.match(text, /look at this .*notes\.bin/s);
					assert.deepEqual(blobs, []);
				},
			);

			check("files that were sent as one have one album", async (scene) => {
				const { peer, host } = scene;
				if (!peer.sendAlbum) return;
				await scene.started();
				const files = ["one.bin", "two.bin", "three.bin"].map((file) => ({ name: file, bytes: BYTES }));
				const ids = peer.sendAlbum(files);
				await scene.eventually(() => host.taken.length === ids.length);
				const albums = new Set(host.taken.map(({ album }) => album));
				assert.equal(albums.size, 1);
				assert.ok(!albums.has(undefined));
			});

			check("a refused token is said with its remedy, and no message is taken with it", async (scene) => {
				const { peer } = scene;
				if (!peer.revoke) return;
				await scene.started();
				peer.revoke();
				await peer.channel.send(scene.outgoing("hello"));
				await scene.eventually(() => peer.channel.health().state === "needs_attention");
				assert.match(peer.channel.health().detail ?? "", /token|password|key/);
				assert.equal((await peer.channel.send(scene.outgoing("hello"))).kind, "retry");
				assert.deepEqual(peer.visible(), []);
			});
		});

		describe("what goes out", () => {
			check(
				"a message that was taken is visible once, as it was written, and has a receipt of its own",
				async (scene) => {
					const { peer } = scene;
					await scene.started();
					for (const text of ["one", "two"]) {
						const { kind } = await peer.channel.send(scene.outgoing(text));
						assert.equal(kind, "sent");
					}
					assert.deepEqual(scene.texts(), ["one", "two"]);
					assert.equal(new Set(peer.visible().map(({ receipt }) => receipt)).size, 2);
				},
			);

			check("any text arrives unchanged", async (scene) => {
				const { peer } = scene;
				await scene.started();
				const long = "x".repeat(Math.min(LONG, peer.channel.traits?.messageLimit.max ?? LONG));
				for (const text of [...TEXTS, long, ...(peer.texts ?? [])]) {
					const { kind } = await peer.channel.send(scene.outgoing(text, true));
					assert.equal(kind, "sent", text);
					assert.equal(peer.visible().at(-1)?.text, peer.shownAs?.(text) ?? text);
				}
			});

			check("the longest text is taken whole, and one that is longer is refused, not cut", async (scene) => {
				const { peer } = scene;
				const { messageLimit } = peer.channel.traits ?? {};
				if (!messageLimit) return;
				await scene.started();
				const longest = "x".repeat(messageLimit.max);
				assert.equal((await peer.channel.send(scene.outgoing(longest, true))).kind, "sent");
				assert.equal(peer.visible().at(-1)?.text, longest);
				assert.equal((await peer.channel.send(scene.outgoing(`${longest}x`, true))).kind, "refused");
				assert.equal(peer.visible().length, 1);
			});

			check("a refusal is a refusal: nothing is visible, nothing is tried again", async (scene) => {
				const { peer } = scene;
				await scene.started();
				peer.next("refuse");
				const result = await peer.channel.send(scene.outgoing("no"));
				assert.ok(result.kind === "refused" && result.reason !== "", JSON.stringify(result));
				await scene.aWhile();
				assert.deepEqual([peer.visible(), peer.requests()], [[], 1]);
			});

			check("a pause that the platform asks for is passed on, and not waited for", async (scene) => {
				const { peer } = scene;
				if (peer.never?.includes("pause")) return;
				await scene.started();
				peer.next("pause");
				const result = await peer.channel.send(scene.outgoing("slowly"));
				assert.ok(result.kind === "retry" && result.afterMs === PAUSE_MS, JSON.stringify(result));
				await scene.aWhile();
				assert.deepEqual([peer.visible(), peer.requests()], [[], 1]);
			});

			check("markup that is not understood is said to be so, and the plain twin is taken", async (scene) => {
				const { peer } = scene;
				if (peer.never?.includes("markup_refused")) return;
				await scene.started();
				peer.next("markup_refused");
				assert.deepEqual(await peer.channel.send(scene.outgoing("bold")), { kind: "markup_refused" });
				assert.equal((await peer.channel.send(scene.outgoing("bold", true))).kind, "sent");
				assert.deepEqual(scene.texts(), ["bold"]);
			});

			check(
				"I7: an answer that is lost is unknown, whether the message was taken or not, and it is not sent again",
				async (scene) => {
					const { peer } = scene;
					await scene.started();
					peer.next("lose_ack");
					const taken = scene.outgoing("taken");
					assert.equal((await peer.channel.send(taken)).kind, "unknown");
					peer.next("lost");
					const lost = scene.outgoing("lost");
					assert.equal((await peer.channel.send(lost)).kind, "unknown");
					await scene.aWhile();
					assert.deepEqual(scene.texts(), ["taken"]);
					assert.equal(peer.requests(), 2);
					const { lookup } = peer.channel;
					if (!lookup) return;
					const { receipt } = peer.visible()[0] as SeenMessage;
					assert.deepEqual(await lookup(taken.id, taken.destination), { kind: "sent", receipt });
					assert.deepEqual(await lookup(lost.id, lost.destination), { kind: "absent" });
				},
			);

			check("I7: where nobody can connect, a message is certainly not taken", async (scene) => {
				const { peer } = scene;
				if (!peer.refuseConnections) return;
				await scene.started();
				const undo = await peer.refuseConnections();
				assert.equal((await peer.channel.send(scene.outgoing("early"))).kind, "retry");
				await undo();
				await scene.eventually(() => peer.channel.health().state === "connected");
				assert.equal((await peer.channel.send(scene.outgoing("now"))).kind, "sent");
				assert.deepEqual(scene.texts(), ["now"]);
			});

			check(
				"without a connection a message is certainly not taken, and the channel says so",
				async (scene) => {
					const { peer } = scene;
					assert.equal((await peer.channel.send(scene.outgoing("early"))).kind, "retry");
					await scene.started();
					await peer.channel.stop();
					assert.equal((await peer.channel.send(scene.outgoing("late"))).kind, "retry");
					await peer.channel.typing?.(peer.destination);
					assert.deepEqual([peer.visible(), peer.requests()], [[], 0]);
				},
			);

			check("an edit changes the message in its place, as often as one likes", async (scene) => {
				const { peer } = scene;
				const { edit } = peer.channel;
				if (!edit) return;
				await scene.started();
				const first = scene.outgoing("draft");
				const sent = await peer.channel.send(first);
				await peer.channel.send(scene.outgoing("another"));
				const receipt = sent.kind === "sent" ? sent.receipt : "";
				for (const text of ["better", "best", "best"])
					assert.deepEqual(await edit(receipt, { ...first, body: { text, plain: text } }), {
						kind: "sent",
						receipt,
					});
				assert.deepEqual(scene.texts(), ["best", "another"]);
				assert.equal((await edit("no-such-receipt", first)).kind, "refused");
			});

			check("files go out byte for byte, with what is said of them", async (scene) => {
				const { peer } = scene;
				if (!peer.channel.traits?.shows.attachments) return;
				await scene.started();
				const files = ["one.bin", "two.bin"].map((file) => ({
					blob: file,
					name: file,
					mediaType: "application/octet-stream",
					size: BYTES.length,
				}));
				for (const attachments of [files.slice(0, 1), files]) {
					const body = { text: "here", plain: "here", attachments };
					const { kind } = await peer.channel.send({ ...scene.outgoing(""), body });
					assert.equal(kind, "sent");
				}
				const seen = peer.visible();
				assert.deepEqual(
					seen.map(({ text, file }) => [text, file?.name]),
					[
						["here", "one.bin"],
						["here", "one.bin"],
						["", "two.bin"],
					],
				);
				for (const { file } of seen) assert.deepEqual(Buffer.from(file?.bytes ?? []), Buffer.from(BYTES));
			});

			check(
				"buttons are shown, a press is committed and answered, and an edit without them takes them away",
				async (scene) => {
					const { peer, host } = scene;
					const { press } = peer;
					const { edit } = peer.channel;
					if (!peer.channel.traits?.shows.buttons || !press) return;
					await scene.started();
					const asked = scene.outgoing("sure?");
					const rows = [
						[
							{ id: "yes-1", label: "Yes" },
							{ id: "no-1", label: "No" },
						],
					];
					const sent = await peer.channel.send({ ...asked, body: { ...asked.body, buttons: rows } });
					const receipt = sent.kind === "sent" ? sent.receipt : "";
					assert.deepEqual(peer.visible()[0]?.buttons, ["yes-1", "no-1"]);
					assert.equal(await press(receipt, "yes-1"), "pressed yes-1");
					assert.deepEqual(
						host.presses.map(({ button }) => button),
						["yes-1"],
					);
					await edit?.(receipt, asked);
					if (edit) assert.deepEqual(peer.visible()[0]?.buttons, []);
				},
			);
		});
	});
}

const BYTES = Uint8Array.from({ length: 70_000 }, (_, n) => (n * 31 + (n >> 8)) % 256);

class Scene {
	readonly peer: ChannelPeer;
	readonly host = new TakingHost();
	#deliveries = 0;

	constructor(peer: ChannelPeer) {
		this.peer = peer;
	}

	/** Waits for a condition, as long as it takes; the test's own time limit ends it. */
	async eventually(condition: () => boolean): Promise<void> {
		while (!condition()) await this.peer.pass();
	}

	async started(): Promise<void> {
		await this.peer.channel.start(this.host);
		await this.eventually(() => this.peer.channel.health().state === "connected");
	}

	/** Long enough to see that something does not happen. */
	async aWhile(): Promise<void> {
		for (let n = 0; n < 100; n++) await this.peer.pass();
	}

	outgoing(text: string, plain = false): Outgoing {
		return {
			id: `d${++this.#deliveries}`,
			destination: this.peer.destination,
			body: { text, plain: text },
			plain,
			openBlob: async function* () {
				yield BYTES.subarray(0, 1000);
				yield BYTES.subarray(1000);
			},
		};
	}

	texts(): string[] {
		return this.peer.visible().map(({ text }) => text);
	}

	async end(): Promise<void> {
		this.host.release();
		await this.peer.channel.stop();
		await this.peer.close();
	}
}
