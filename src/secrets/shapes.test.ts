import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSecrets } from "./index.ts";
import { MaskingStream, maskShapes } from "./shapes.ts";

const secrets = createSecrets(new Map([["KEY", "sk-known-0123456789abcdefgh"]]), { maskShapes: true });
const LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2rS5tU8".repeat(2);
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${LETTERS}\n${LETTERS}=\n-----END RSA PRIVATE KEY-----`;
/** Made here, so that no scanner takes this file for a leak. */
const CREDENTIALS: readonly (readonly [kind: string, written: string])[] = [
	["private key", PEM],
	["private key", PEM.replaceAll("\n", "\\n").replaceAll(" RSA", "")],
	["AWS key", `AKIA${LETTERS.slice(0, 16).toUpperCase()}`],
	["provider key", `sk-${LETTERS.slice(0, 40)}`],
	["provider key", `sk-ant-api03-${LETTERS.slice(0, 40)}`],
	["Stripe key", `sk_live_${LETTERS.slice(0, 24)}`],
	["Google key", `AIza${LETTERS.slice(0, 35)}`],
	["GitHub token", `ghp_${LETTERS.slice(0, 36)}`],
	["GitHub token", `github_pat_${LETTERS.slice(0, 30)}`],
	["GitLab token", `glpat-${LETTERS.slice(0, 20)}`],
	["npm token", `npm_${LETTERS.slice(0, 36)}`],
	["Hugging Face token", `hf_${LETTERS.slice(0, 34)}`],
	["Slack token", `xoxb-${LETTERS.slice(0, 24)}`],
	["signed token", `eyJ${LETTERS.slice(0, 20)}.eyJ${LETTERS.slice(0, 30)}.${LETTERS.slice(0, 43)}`],
];

describe("what looks like a credential is masked, by its kind", () => {
	test.each(CREDENTIALS)("%s", (kind, written) => {
		const masked = `it is "[masked ${kind}]", so`;
		expect(secrets.hide(`it is "${written}", so`)).toBe(masked);
		expect(secrets.hide(masked)).toBe(masked);
		expect(secrets.hideIn({ content: [{ type: "text", text: written }] })).toEqual({
			content: [{ type: "text", text: `[masked ${kind}]` }],
		});
		expect(secrets.forOthers.hide(written)).toBe(`[masked ${kind}]`);
	});

	test("in whatever pieces it comes, as if it had come whole", () => {
		const parts = fc.array(
			fc.oneof(
				fc.constantFrom(...CREDENTIALS.map(([, written]) => written)),
				fc.constantFrom("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", LETTERS, "in a word"),
				fc.constantFrom(
					" and ",
					"\n",
					"task-",
					".",
					"-----",
					"sk-known-0123456789abcdefgh",
					"eyJ",
					"sk-learn ",
				),
			),
			{ maxLength: 6 },
		);
		const between = fc.constantFrom(" ", "", "\n");
		fc.assert(
			fc.property(
				parts,
				fc.array(fc.nat({ max: 400 }), { maxLength: 10 }),
				between,
				(written, at, between) => {
					const text = written.join(between);
					const stream = secrets.stream();
					const bounds = [0, ...at.toSorted((a, b) => a - b), text.length];
					const shown = bounds.slice(1).map((bound, index) => stream.push(text.slice(bounds[index], bound)));
					expect(shown.join("") + stream.end()).toBe(secrets.hide(text));
				},
			),
			{ numRuns: 300 },
		);
	});
});

test("a named secret is shown by its name, whatever it looks like", () => {
	expect(secrets.hide("sk-known-0123456789abcdefgh")).toBe("\u0024{secret:KEY}");
});

test("what is no credential stays: words, ids, digests, public keys, versions", () => {
	for (const text of [
		"sk-learn-estimators-and-their-pages, task-force_one, risk-free",
		"0192abcd-ef12-7000-8000-000000000000 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"npm_config_nodedir xoxo pk_test eyJ AKIA",
	])
		expect(secrets.hide(text)).toBe(text);
});

test("what is said about private keys stays, and what stands behind one that was cut off", () => {
	const first = "-----BEGIN PRIVATE KEY-----";
	const last = "-----END PRIVATE KEY-----";
	for (const text of [
		`A PEM file begins with ${first} as its first line. Then comes step two, and the rest of the answer.`,
		`if (!pem.includes("${first}") || !pem.includes("${last}")) throw new Error("not a key");\nconst rest = 1;`,
		`const pem = "${first}\\n" + body + "\\n${last}";`,
		`${first}\n...\n${last}`,
		`grep -rl "${first}" . # ${"and so on ".repeat(60)} ${LETTERS}`,
	])
		expect(secrets.hide(text)).toBe(text);
	expect(secrets.hide(`see: ${first}\n${LETTERS}\n${LETTERS}\nab12=\n\nDo not send this to anybody.`)).toBe(
		"see: [masked private key]\n\nDo not send this to anybody.",
	);
	expect(secrets.hide(`${first}\nProc-Type: 4,ENCRYPTED\n\n${LETTERS}`)).toBe("[masked private key]");
});

test("what a call is made with stays the same bytes, and ids stay ids", () => {
	const [, key] = CREDENTIALS[3] as (typeof CREDENTIALS)[number];
	const call = { id: key, toolCalls: [{ input: { token: key } }], details: { [key]: key } };
	expect(secrets.hideIn(call)).toEqual(call);
	expect(secrets.isIn({ input: key })).toBe(false);
	expect(createSecrets().hide(key)).toBe(key);
});

// Work that grows faster than the text would not come to an end here.
test.each([
	"sk-",
	"xoxb-",
	"eyJ-",
	"eyJaaaaaaaa.",
	"-----BEGIN PRIVATE KEY-----\n",
	"-----BEGIN ",
	"-----END ",
	"A",
	"a-",
])("a long text of nothing but %j is read once", (unit) => {
	const text = `${unit.repeat(Math.floor(2_000_000 / unit.length))} `;
	const stream = new MaskingStream();
	expect(stream.push(text) + stream.end()).toBe(maskShapes(text));
});

test.each(["-----", "sk-", "eyJ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN A ", "hunter2-secre"])(
	"a long answer of %j in small pieces is not read again with each of them",
	(unit) => {
		const text = `${unit.repeat(Math.floor(800_000 / unit.length))} `;
		const stream = new MaskingStream();
		let shown = "";
		for (let at = 0; at < text.length; at += 4) shown += stream.push(text.slice(at, at + 4));
		expect(shown + stream.end()).toBe(maskShapes(text));
	},
);
