import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSecrets, NO_SECRETS, withoutNames } from "./index.ts";

const KEY = "sk-Proj/7Qx+aZ9_kM2=é";
const secrets = createSecrets(new Map([["KEY", KEY]]));
const NAMED = "\u0024{secret:KEY}";

describe("a known secret is hidden", () => {
	const bytes = Buffer.from(KEY);
	const base64 = (before: string, after: string) => Buffer.from(before + KEY + after).toString("base64");
	const url = encodeURIComponent(KEY);
	test.each<[string, string]>([
		["as it is", KEY],
		["in upper case", KEY.toUpperCase()],
		["in lower case", KEY.toLowerCase()],
		["in base64", bytes.toString("base64")],
		["in base64 without padding", bytes.toString("base64").replace(/=+$/, "")],
		["in base64 for URLs", bytes.toString("base64url")],
		["in base64 in a URL", encodeURIComponent(bytes.toString("base64"))],
		["in hex", bytes.toString("hex")],
		["in hex in upper case", bytes.toString("hex").toUpperCase()],
		["in a URL", url],
		["in a URL with small digits", url.replace(/%../g, (code) => code.toLowerCase())],
		["in a URL, byte by byte", [...bytes].map((byte) => `%${byte.toString(16)}`).join("")],
		["in a form", new URLSearchParams({ a: KEY }).toString().slice(2)],
		["over two lines", `${KEY.slice(0, 7)}\n${KEY.slice(7)}`],
		["over two lines of another system", `${KEY.slice(0, 7)}\r\n${KEY.slice(7)}`],
		["with a line for each character", [...KEY].join("\n")],
		["over indented lines", `${KEY.slice(0, 7)}\n\t  ${KEY.slice(7)}`],
		["over lines in a string of JSON", `${KEY.slice(0, 7)}\\n${KEY.slice(7)}`],
		["over lines in JSON within JSON", `${KEY.slice(0, 7)}\\\\n${KEY.slice(7)}`],
		["over lines of a shell", `${KEY.slice(0, 7)}\\\n  ${KEY.slice(7)}`],
		["in base64 of lines", bytes.toString("base64").replace(/.{8}(?=.)/g, "$&\n")],
		["in hex of lines", bytes.toString("hex").replace(/.{8}(?=.)/g, "$&\n")],
		["in JSON of ASCII", JSON.stringify(KEY).slice(1, -1).replace("é", "\\u00e9")],
		["in JSON with slashes escaped", JSON.stringify(KEY).slice(1, -1).replace("/", "\\/")],
	])("%s", (_, spelling) => {
		expect(secrets.hide(`before ${spelling} after`)).toBe(`before ${NAMED} after`);
	});

	test("in base64 of a longer text, wherever it begins", () => {
		for (const before of ["", "a", "ab", "abc", "user:"])
			for (const after of ["", "x", "xy", "xyz"]) {
				const hidden = secrets.hide(base64(before, after));
				expect(hidden).toContain(NAMED);
				const rest = hidden.replace(NAMED, "");
				expect(rest.length).toBeLessThanOrEqual(Math.ceil(((before.length + after.length) * 4) / 3) + 6);
			}
	});

	test("in base64 over lines of 76 characters", () => {
		const text = Buffer.from(`${"x".repeat(40)}${KEY}${"y".repeat(100)}`).toString("base64");
		const lines = text.replace(/.{76}/g, "$&\r\n");
		expect(secrets.hide(lines)).toContain(NAMED);
	});

	test("in JSON within JSON, with quotes and line feeds", () => {
		const phrase = createSecrets(new Map([["PHRASE", 'say "open"\nsesame \\o/']]));
		const value = phrase.valueOf("PHRASE") as string;
		let text = value;
		for (const _ of ["as it is", "once", "twice"]) {
			expect(phrase.hide(`<${text}>`)).toBe("<\u0024{secret:PHRASE}>");
			text = JSON.stringify(text).slice(1, -1);
		}
	});

	test("that begins behind a backslash with the letter of a line break", () => {
		const npm = createSecrets(new Map([["NPM", "npm_abcdefgh"]]));
		expect(npm.hide("C:\\npm_abcdefgh")).toBe("C:\\\u0024{secret:NPM}");
	});
});

test("the longest of several is named, and short ones stay", () => {
	const several = createSecrets(
		new Map([
			["A", "secret"],
			["B", "secret-and-more"],
			["C", "no"],
		]),
	);
	expect(several.hide("secret-and-more, Secret, no, $&")).toBe("\u0024{secret:B}, \u0024{secret:A}, no, $&");
});

test("one that overlaps another leaves nothing of either", () => {
	const both = createSecrets(
		new Map([
			["A", "abcdefgh"],
			["B", "efghijklmn"],
		]),
	);
	expect(both.hide("-abcdefghijklmn-")).toBe("-\u0024{secret:B}-");
});

test("hiding again changes nothing, also where a value is part of a name", () => {
	const odd = createSecrets(
		new Map([
			["POSTGRES_PASSWORD", "postgres"],
			["WORD", "secret"],
		]),
	);
	const once = odd.hide("postgres says secret");
	expect(once).toBe("\u0024{secret:POSTGRES_PASSWORD} says \u0024{secret:WORD}");
	expect(odd.hide(once)).toBe(once);
	expect(odd.hideIn({ content: once })).toEqual({ content: once });
});

test("others than the owner see neither value nor name", () => {
	const { forOthers } = secrets;
	expect(forOthers.hide(`a ${KEY} b ${NAMED} c \u0024{secret:OTHER} d \u0024{secret:CU`)).toBe(
		"a ••• b ••• c ••• d •••",
	);
	expect(forOthers.hideIn({ input: { [KEY]: [NAMED] } })).toEqual({ input: { "•••": ["•••"] } });
	const stream = forOthers.stream();
	expect(stream.push(`x ${KEY.slice(0, 5)}`) + stream.push(KEY.slice(5)) + stream.end()).toBe("x •••");
});

test("one that is learnt later is hidden from then on, also in a text that is on its way", () => {
	const live = createSecrets(new Map([["KEY", KEY]]));
	const stream = live.stream();
	const shown = stream.push("it is brand-new-va");
	live.learn(new Map([["NEW", "brand-new-value"]]));
	expect(live.hide("brand-new-value")).toBe("\u0024{secret:NEW}");
	expect(shown + stream.push("lue and brand-new-value") + stream.end()).toBe(
		"it is brand-new-value and \u0024{secret:NEW}",
	);
	live.learn(new Map([["NEW", "another value"]]));
	expect(live.hide("brand-new-value, another value")).toBe("\u0024{secret:NEW}, \u0024{secret:NEW}");
	expect(live.valueOf("NEW")).toBe("another value");
});

describe("in values of any form", () => {
	test("texts, names of fields and bytes are hidden, everything else is the same value", () => {
		const clean = { a: [1, "two", null], b: new Uint8Array([1, 2]) };
		expect(secrets.hideIn(clean)).toBe(clean);
		const input = { [KEY]: [`x${KEY}`, 7, { deep: Buffer.from(`<${KEY}>`) }] };
		expect(secrets.hideIn({ input })).toEqual({
			input: { [NAMED]: [`x${NAMED}`, 7, { deep: new Uint8Array(Buffer.from(`<${"x".repeat(22)}>`)) }] },
		});
		expect(secrets.isIn(input)).toBe(true);
		expect(secrets.isIn({ [NAMED]: NAMED })).toBe(false);
	});

	test("a number that is a secret is hidden, but no count or time of the store's own", () => {
		const pin = createSecrets(new Map([["PIN", "123456789"]]));
		expect(
			pin.hideIn({
				at: 1_234_567_891,
				inbox: [123_456_789],
				toolCalls: [{ input: { pin: 123_456_789 } }],
			}),
		).toEqual({
			at: 1_234_567_891,
			inbox: [123_456_789],
			toolCalls: [{ input: { pin: "\u0024{secret:PIN}" } }],
		});
	});

	test("a short secret breaks no id, kind or setting of the store, and is hidden in every text", () => {
		const weak = createSecrets(
			new Map([
				["A", "session"],
				["B", "abcdef"],
				["C", "Berlin"],
				["D", "telegram"],
				["E", "123456"],
			]),
		);
		const row = {
			turn: "0192abcd-ef12-7000-8000-000000000000",
			grant: { scope: "session" },
			policy: { timezone: "Europe/Berlin" },
			source: { platform: "telegram", chat_id: "91234567", user_name: "91234567" },
			messages: [{ role: "user", content: "session abcdef", toolCallId: "abcdef" }],
			reason: "telegram",
		};
		expect(weak.hideIn(row)).toEqual({
			...row,
			source: { ...row.source, user_name: "9\u0024{secret:E}7" },
			messages: [
				{
					role: "user",
					content: "\u0024{secret:A} \u0024{secret:B}",
					toolCallId: "\u0024{secret:B}",
				},
			],
			reason: "\u0024{secret:D}",
		});
	});

	test("a long secret is hidden in ids and kinds, too", () => {
		expect(secrets.hideIn({ id: KEY, kind: KEY, source: { chat_id: `a${KEY}` } })).toEqual({
			id: NAMED,
			kind: NAMED,
			source: { chat_id: `a${NAMED}` },
		});
	});
});

test("without secrets nothing is touched", () => {
	const value = { text: KEY, bytes: Buffer.from(KEY) };
	expect(NO_SECRETS.hideIn(value)).toBe(value);
});

/** Few letters, so that random texts are full of beginnings, ends and overlaps of the secrets. */
const VALUES = ["ababab", "abaabaabc", "nrnrnr", "a\\nb\nbaa", "bbb aaab", "ab{s}ab"];
const several = createSecrets(new Map(VALUES.map((value, index) => [`S${index}`, value])));
const texts = fc
	.array(
		fc.oneof(
			{ weight: 3, arbitrary: fc.constantFrom(...VALUES) },
			fc.constantFrom(...VALUES.map((value) => value.slice(0, -1))),
			fc.constantFrom(...VALUES.map((value) => Buffer.from(value).toString("base64"))),
			fc.constantFrom(
				"\u0024{secret:S0}",
				"\u0024{secret:",
				"\n  ",
				"\\n",
				"\\",
				"\\\\",
				"\n",
				" ",
				"\r\n\t",
			),
			fc.constantFrom(
				"**",
				"`",
				"\u200b",
				"\u0301",
				"&#97;",
				"&#x62",
				"&",
				"\u001b[1m",
				"\u001b",
				"\u1d43",
				"\u{1d41a}",
				"\ud835",
			),
			fc.string({ unit: fc.constantFrom("a", "b", "n", "r", "\\", "\n", " ", "A"), maxLength: 8 }),
		),
		{ maxLength: 12 },
	)
	.map((parts) => parts.join(""));
const cuts = fc.array(fc.nat({ max: 120 }), { maxLength: 12 });

function pieces(text: string, at: readonly number[]): string[] {
	const bounds = [0, ...at.toSorted((a, b) => a - b), text.length];
	return bounds.slice(1).map((bound, index) => text.slice(bounds[index], bound));
}

test("any cutting of a text gives the same as hiding the whole", () => {
	fc.assert(
		fc.property(texts, cuts, (text, at) => {
			for (const hider of [several, several.forOthers]) {
				const stream = hider.stream();
				const streamed = pieces(text, at).map((piece) => stream.push(piece));
				const whole = stream.push("") + stream.end();
				const joined = streamed.join("") + whole;
				if (hider === several) expect(joined).toBe(hider.hide(text));
				else expect(withoutNames(joined)).toBe(hider.hide(text));
			}
		}),
		{ numRuns: 3000 },
	);
});

test("any cutting of bytes gives the same as hiding them whole, and as many of them", () => {
	fc.assert(
		fc.property(texts, cuts, (text, at) => {
			const stream = several.byteStream();
			const bytes = Buffer.from(text);
			const cut = pieces(bytes.toString("latin1"), at).map((piece) => Buffer.from(piece, "latin1"));
			const joined = Buffer.concat([...cut.map((piece) => stream.push(piece)), stream.end()]);
			expect(joined.toString("latin1")).toBe(Buffer.from(several.hideBytes(bytes)).toString("latin1"));
			expect(joined).toHaveLength(bytes.length);
		}),
		{ numRuns: 2000 },
	);
});

test.each([
	// Work that grows faster than the bytes would not come to an end here.
	["backslashes", "\\", 1_000_000, 4096],
	["secrets that overlap each other", "ab", 200_000, 65_536],
])("a large file of nothing but %s is hidden piece by piece", (_name, unit, length, piece) => {
	const bytes = Buffer.from(`${unit.repeat(length / unit.length)}c`);
	const stream = several.byteStream();
	const hidden: Uint8Array[] = [];
	for (let at = 0; at < bytes.length; at += piece) hidden.push(stream.push(bytes.subarray(at, at + piece)));
	const joined = Buffer.concat([...hidden, stream.end()]);
	expect(joined.equals(Buffer.from(several.hideBytes(bytes)))).toBe(true);
});

test("one whose characters count as several is hidden where nothing else stands", () => {
	const german = createSecrets(
		new Map([
			["STREET", "Straße"],
			["PLACE", "office"],
		]),
	);
	expect(german.hide("Straße")).toBe("\u0024{secret:STREET}");
	expect(german.hide("o\ufb03ce")).toBe("\u0024{secret:PLACE}");
});

test("what is hidden holds no secret any more, and stays as it is", () => {
	fc.assert(
		fc.property(texts, (text) => {
			const hidden = several.hide(text);
			expect(several.hide(hidden)).toBe(hidden);
			const rest = hidden
				.replace(/\$\{secret:S\d\}/g, "|")
				.replace(/[\r\n]/g, "")
				.toLowerCase();
			for (const value of VALUES) expect(rest).not.toContain(value.replace(/\n/g, "").toLowerCase());
		}),
		{ numRuns: 2000 },
	);
});

test("a stream holds back nothing that cannot become a secret", () => {
	const stream = secrets.stream();
	expect(stream.push("Nothing here, ")).toBe("Nothing here, ");
	expect(stream.push("but sk-Pro")).toBe("but ");
	expect(stream.push("mise")).toBe("sk-Promise");
	expect(stream.end()).toBe("");
});
