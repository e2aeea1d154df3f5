import { expect, test } from "vitest";
import { BROADCAST_BYTES } from "../../store/index.ts";
import { createVirtualClock } from "../../testing/index.ts";
import { type Delta, Deltas } from "../turn/deltas.ts";
import { TextRelay } from "./text-relay.ts";

const T = { turn: "t", token: 1 };

/** Two gateways, and what passes between them. */
function twoGateways() {
	const clock = createVirtualClock(0);
	const messages: string[] = [];
	const listeners: ((text: string, from: number) => void)[] = [];
	const gateways = [0, 1].map((n) => {
		const deltas = new Deltas();
		const relay = new TextRelay({
			clock,
			deltas,
			cluster: {
				broadcast: (text) => {
					messages.push(text);
					listeners[1 - n]?.(text, n);
				},
				onBroadcast: (listener) => {
					listeners[n] = listener;
					return () => {};
				},
			},
		});
		return { deltas, relay };
	});
	for (const { relay } of gateways) relay.start();
	const [a, b] = gateways as [(typeof gateways)[0], (typeof gateways)[0]];
	return { clock, messages, a: a.deltas, b: b.deltas };
}

function textAt(deltas: Deltas, index = 0): string {
	const partial = deltas.partial("c");
	return partial?.index === index ? partial.text : "";
}

test("text reaches a follower at another gateway, that of before it came too, and nobody else", async () => {
	const { clock, messages, a, b } = twoGateways();
	a.add("c", T, 0, "Nobody follows ");
	expect(messages.filter((text) => text.startsWith("["))).toEqual([]);
	const heard: Delta[] = [];
	const leave = b.listen((delta) => heard.push(delta));
	await clock.advance(100);
	a.add("c", T, 0, "yet, ");
	a.add("c", T, 0, "now.");
	await clock.advance(100);
	expect(heard.map(({ text }) => text).join("")).toBe("Nobody follows yet, now.");
	expect(textAt(b)).toBe("Nobody follows yet, now.");
	a.add("c", T, 1, "Next");
	await clock.advance(100);
	expect(textAt(b, 1)).toBe("Next");
	leave();
	a.add("c", T, 1, " unseen");
	await clock.advance(100);
	expect(textAt(b, 1)).toBe("Next");
	b.endHeard("c", "t");
	expect(b.partial("c")).toBeNull();
	b.hear({ conversation: "c", ...T, index: 2, offset: 0, text: "late" });
	expect(b.partial("c")).toBeNull();
});

test("at most twenty pieces a second of a turn, none too large, whatever the text", async () => {
	const { clock, messages, a, b } = twoGateways();
	b.listen(() => {});
	const text = "\u0001é漢😀".repeat(4000);
	for (let at = 0; at < text.length; at += 10) a.add("c", T, 0, text.slice(at, at + 10));
	await clock.advance(999);
	const pieces = () => messages.filter((message) => message.startsWith("["));
	expect(pieces().length).toBeLessThanOrEqual(20);
	await clock.advance(2000);
	expect(textAt(b)).toBe(text);
	expect(Math.max(...pieces().map((piece) => Buffer.byteLength(piece)))).toBeLessThan(BROADCAST_BYTES);
});

test("a gateway that is gone without a word is not told any more", async () => {
	const { clock, messages, a, b } = twoGateways();
	b.listen(() => {});
	const asked = messages.length;
	await clock.advance(3000);
	expect(messages.slice(asked)).toEqual(['"follow"']);
	const quiet = new Deltas();
	let hear = (_: string, __: number) => {};
	const sent: string[] = [];
	const relay = new TextRelay({
		clock,
		deltas: quiet,
		cluster: {
			broadcast: (text) => sent.push(text),
			onBroadcast: (listener) => {
				hear = listener;
				return () => {};
			},
		},
	});
	relay.start();
	hear('"follow"', 7);
	quiet.add("c", T, 0, "one");
	await clock.advance(10_000);
	const before = sent.length;
	expect(before).toBeGreaterThan(0);
	quiet.add("c", T, 0, "two");
	await clock.advance(100);
	expect(sent.length).toBe(before);
	relay.stop();
	expect(a.partial("c")).toBeNull();
});

test("what waits when a turn ends is told before its end", async () => {
	const { clock, a, b } = twoGateways();
	b.listen(() => {});
	await clock.advance(100);
	a.add("c", T, 0, "The answer is ");
	a.add("c", T, 0, "42, unless it rains. ".repeat(500));
	a.end("c");
	expect(textAt(b)).toBe(`The answer is ${"42, unless it rains. ".repeat(500)}`);
});

test("a turn that another gateway has taken over begins its text again, and the dead one's is void", () => {
	const c = new Deltas();
	const heard: Delta[] = [];
	c.listen((delta) => heard.push(delta));
	c.hear({ conversation: "c", ...T, index: 1, offset: 0, text: "I will delete everything" });
	c.hear({ conversation: "c", turn: "t", token: 2, index: 1, offset: 0, text: "The file was kept" });
	c.hear({ conversation: "c", ...T, index: 1, offset: 24, text: " at once" });
	expect(c.partial("c")).toEqual({ turn: "t", index: 1, text: "The file was kept" });
	expect(heard.at(-1)).toEqual({
		conversation: "c",
		turn: "t",
		index: 1,
		offset: 0,
		text: "The file was kept",
	});
	c.add("c", { turn: "t", token: 3 }, 1, "Nothing");
	c.end("c");
	expect(c.partial("c")).toBeNull();
});
