import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readText } from "./message.ts";
import { serverAddress } from "./options.ts";
import { Positions } from "./positions.ts";
import { isWithin, parseJid } from "./stream/jid.ts";
import { Handled } from "./stream/management.ts";
import { Parser } from "./stream/parser.ts";
import { Scram } from "./stream/scram.ts";
import { allowed, type Element, element, elements, serialize } from "./stream/xml.ts";

const OPEN =
	"<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>";

function parse(...pieces: readonly string[]): Element[] {
	const found: Element[] = [];
	const parser = new Parser({ opened: () => {}, element: (one) => found.push(one), closed: () => {} });
	for (const piece of pieces) parser.feed(piece);
	return found;
}

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const space = fc.constantFrom("jabber:client", "urn:a", "urn:b&c");
const tree: fc.Arbitrary<Element> = fc.letrec<{ tree: Element }>((tie) => ({
	tree: fc
		.tuple(
			name,
			space,
			fc.dictionary(name, fc.string({ unit: "binary" }), { maxKeys: 3 }),
			fc.array(fc.oneof({ depthSize: "small" }, fc.string({ unit: "binary", minLength: 1 }), tie("tree")), {
				maxLength: 4,
			}),
		)
		.map(([tag, ns, attrs, children]) => element(tag, ns, attrs, ...children)),
})).tree;

/** Texts side by side are one, and what XML cannot carry is replaced. */
function asCarried({ name: tag, ns, attrs, children }: Element): Element {
	const carried: (Element | string)[] = [];
	for (const one of children) {
		const last = carried.at(-1);
		if (typeof one === "string" && typeof last === "string") carried[carried.length - 1] = last + one;
		else carried.push(typeof one === "string" ? one : asCarried(one));
	}
	return {
		name: tag,
		ns,
		attrs: Object.fromEntries(Object.entries(attrs).map(([key, value]) => [key, allowed(value)])),
		children: carried.map((one) => (typeof one === "string" ? allowed(one) : one)),
	};
}

describe("the parser", () => {
	test("reads what was written, in pieces of any size", () => {
		fc.assert(
			fc.property(tree, fc.integer({ min: 1, max: 7 }), (one, size) => {
				const text = OPEN + serialize(one, "jabber:client");
				const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
				// Texts may come in several pieces.
				expect(parse(...pieces).map(asCarried)).toEqual([asCarried(one)]);
			}),
		);
	});

	test.each([
		["a document type", "<!DOCTYPE a [<!ENTITY b 'c'>]>"],
		["an entity of its own", "<a>&lol;</a>"],
		["a comment", "<a><!-- b --></a>"],
		["an instruction", "<a><?php b ?></a>"],
		["tags that do not match", "<a><b></a></b>"],
		["an unknown prefix", "<x:a/>"],
		["an attribute twice", "<a b='1' b='2'/>"],
		["a character that does not exist", "<a>&#x110000;</a>"],
		["tags that do not match, too deep", `${"<a>".repeat(200)}</b>`],
		["an element that is too large", `<a>${"x".repeat(2_100_000)}`],
	])("refuses %s", (_, text) => {
		expect(() => parse(OPEN, text)).toThrow("the server sent");
	});

	test("what is too deep is left out, and the next element is whole", () => {
		const [deep, next] = parse(OPEN, `${"<a>".repeat(5000)}x<b/>${"</a>".repeat(5000)}<c>y</c>`);
		let depth = 0;
		for (let at = deep; at; at = elements(at)[0]) depth++;
		expect(depth).toBe(99);
		expect(next).toMatchObject({ name: "c", children: ["y"] });
	});

	test("an attribute called __proto__ is an attribute", () => {
		const [one] = parse(OPEN, "<a __proto__='b'/>");
		expect(Object.getOwnPropertyDescriptor(one?.attrs, "__proto__")?.value).toBe("b");
		expect(Object.getPrototypeOf(one?.attrs)).toBe(Object.prototype);
	});
});

describe("SCRAM", () => {
	// The example of RFC 7677.
	const challenge = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
	const scram = () => new Scram("SCRAM-SHA-256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO");

	test("answers and checks as its document shows", () => {
		const one = scram();
		expect(one.first()).toBe("n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
		expect(one.answer(challenge)).toBe(
			"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
		);
		expect(one.isProvenBy("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")).toBe(true);
		expect(one.isProvenBy("v=AAAA")).toBe(false);
		expect(scram().isProvenBy("v=")).toBe(false);
	});

	test.each([
		["another nonce", "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"],
		["too few rounds", challenge.replace("i=4096", "i=1")],
		["too many rounds", challenge.replace("i=4096", "i=100000000")],
		["an extension", `m=x,${challenge}`],
	])("refuses %s", (_, text) => {
		expect(scram().answer(text)).toBeNull();
	});
});

test("only stanzas without a gap before them count as handled, also in a session that continues", () => {
	const handled = new Handled();
	const [one, two, three] = [handled.receive(), handled.receive(), handled.receive()];
	expect(handled.done(two)).toBe(false);
	expect(handled.upTo).toBe(0);
	expect(handled.done(one)).toBe(true);
	expect(handled.upTo).toBe(2);
	handled.resume(handled.upTo);
	expect(handled.receive()).toBe(three);
	handled.done(three);
	handled.done(three);
	expect(handled.upTo).toBe(3);
});

test("the cursor never passes an uncommitted message, in whatever order they are committed", () => {
	fc.assert(
		fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7, 8], { minLength: 8 }), (order) => {
			const positions = new Positions(JSON.stringify({ a: ["0", 0] }));
			const entries = new Map(
				[1, 2, 3, 4, 5, 6, 7, 8].map((n) => [n, positions.enter("a", { id: String(n), at: n })]),
			);
			const done = new Set<number>();
			for (const n of order) {
				const entry = entries.get(n) ?? null;
				done.add(n);
				const stored = Number(new Positions(positions.cursorWith(entry)).get("a")?.id);
				for (let before = 1; before <= stored; before++) expect(done.has(before)).toBe(true);
				positions.done(entry);
				expect(Number(positions.get("a")?.id)).toBe(stored);
			}
			expect(positions.get("a")?.id).toBe("8");
		}),
	);
	expect(new Positions("no JSON").get("a")).toBeNull();
	expect(new Positions('{"a":[1,2]}').get("a")).toBeNull();
});

test("addresses are compared in one form", () => {
	expect(parseJid("Ada@Example.ORG./Phone 1")).toMatchObject({
		bare: "ada@example.org",
		resource: "Phone 1",
	});
	for (const text of ["", "@b", "a@", "a@b@c", "a b@c", undefined]) expect(parseJid(text)).toBeNull();
	expect([isWithin("rooms.a.org", "a.org"), isWithin("evil-a.org", "a.org")]).toEqual([true, false]);
});

test("a nick counts as a mention only as a word", () => {
	const read = (text: string) => readText(text, { nick: "kery", sender: "ada", commands: new Set() });
	expect(read("KERY: hi")).toEqual({ text: "hi", mentioned: true });
	expect(read("ask kery, then go")).toEqual({ text: "ask kery, then go", mentioned: true });
	for (const text of ["keryx: hi", "xkery", "kery_ hi", "nothing"]) expect(read(text).mentioned).toBe(false);
});

test("a server is found by its domain's records, the next one after each failure", async () => {
	const records = [
		{ name: "b.test", port: 2, priority: 20, weight: 0 },
		{ name: "a.test", port: 1, priority: 10, weight: 0 },
	];
	const asked: string[] = [];
	const find = (tls: "starttls" | "direct", tries: number, host?: string) =>
		serverAddress(
			{ server: { tls, ...(host !== undefined && { host }) } },
			"example.org",
			tries,
			async (record) => {
				asked.push(record);
				return records;
			},
		);
	expect(await find("starttls", 0)).toMatchObject({ host: "a.test", port: 1, domain: "example.org" });
	expect(await find("direct", 1)).toMatchObject({ host: "b.test", port: 2, direct: true });
	expect(asked).toEqual(["_xmpp-client._tcp.example.org", "_xmpps-client._tcp.example.org"]);
	expect(await find("starttls", 0, "c.test")).toMatchObject({ host: "c.test", port: 5222 });
	const none = serverAddress({ server: { tls: "starttls" } }, "example.org", 0, () =>
		Promise.reject(new Error("none")),
	);
	expect(await none).toMatchObject({ host: "example.org", port: 5222 });
});
