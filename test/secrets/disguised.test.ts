// I12 for secrets in disguise: written with other white space, invisible characters, marks of markup, escape sequences or other forms of
// letters, which something that Keryx does to a text afterwards takes away again.
import { existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { cleanTitle, inlineUntrusted, terminalText } from "../../src/domain/index.ts";
import { MARKUPS, renderParts } from "../../src/render/index.ts";
import { createSecrets } from "../../src/secrets/index.ts";
import { exportJsonl } from "../../src/store/index.ts";
import { searchText } from "../../src/store/search-text.ts";
import { OPERATOR, Scene, SECOND, SECRET } from "../gateway/support.ts";

/** Whatever is done to texts, here and by who shows them. */
const UNDOING: Readonly<Record<string, (text: string) => string>> = {
	"white space to one space": (text) => text.replace(/\s+/g, " ").trim(),
	"cleaning a title": cleanTitle,
	"text for the search": searchText,
	"text of a terminal": terminalText,
	"no escape sequences": stripVTControlCharacters,
	"one line of a prompt": inlineUntrusted,
	NFC: (text) => text.normalize("NFC"),
	NFKC: (text) => text.normalize("NFKC"),
	"no zero width": (text) => text.replace(/[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, ""),
	"lines joined": (text) => text.replace(/\n[ \t]*/g, ""),
	"lines joined by a space": (text) => text.replace(/\n[ \t]*/g, " "),
	"one layer of JSON": (text) => text.replace(/\\[nrt]/g, " ").replace(/\\(.)/g, "$1"),
	"cut to length": (text) => text.slice(0, 120),
	...Object.fromEntries(
		MARKUPS.map((markup) => [
			`rendering as ${markup}`,
			(text: string) =>
				renderParts(text, { markup, limit: { max: 4096, unit: "utf16" } })
					.map((part) => `${part.text}\n${part.plain}`)
					.join("\n"),
		]),
	),
};

type Disguise = (secret: string, draw: fc.GeneratorValue) => string;
const anyOf = (draw: fc.GeneratorValue, of: readonly string[]) => draw(fc.constantFrom, ...of);
const between = (secret: string, draw: fc.GeneratorValue, of: readonly string[]) =>
	[...secret].map((letter) => letter + (draw(fc.nat, 3) === 0 ? anyOf(draw, of) : "")).join("");
const around = (secret: string, draw: fc.GeneratorValue, of: readonly string[]) => {
	const from = draw(fc.nat, secret.length - 2);
	const to = from + 1 + draw(fc.nat, secret.length - from - 1);
	const mark = anyOf(draw, of);
	return `${secret.slice(0, from)}${mark}${secret.slice(from, to)}${mark}${secret.slice(to)}`;
};
const lettered = (secret: string, draw: fc.GeneratorValue, form: (letter: string) => string) =>
	[...secret].map((letter) => (draw(fc.nat, 2) === 0 ? form(letter) : letter)).join("");

const DISGUISES: Readonly<Record<string, Disguise>> = {
	"other white space": (secret, draw) =>
		secret.replace(/ /g, () =>
			anyOf(draw, [
				"\t",
				"\n",
				"  ",
				" \n",
				"\r\n",
				"\u00a0",
				"\u2003",
				"\v",
				"\u2028",
				" \t\n  ",
				"\\t",
				"\\n",
			]),
		),
	"control characters for spaces": (secret, draw) =>
		secret.replace(/ /g, () => anyOf(draw, ["\u200b", "\u0007", "\u202e", "\u0085", "\u00ad", " \u200b "])),
	"invisible characters": (secret, draw) =>
		between(secret, draw, [
			"\u200b",
			"\u200d",
			"\u00ad",
			"\u2060",
			"\ufeff",
			"\u0000",
			"\u{e0061}",
			"\ufe0f",
		]),
	"line breaks": (secret, draw) => between(secret, draw, ["\n", "\r\n", "\n  ", "\n\t"]),
	"escape sequences": (secret, draw) =>
		between(secret, draw, ["\u001b[31m", "\u001b[0m", "\u009b1m", "\u001b]8;;http://x\u0007", "\u001b[2K"]),
	"marks of Markdown": (secret, draw) => around(secret, draw, ["**", "*", "~~", "`", "***", "__"]),
	"references to characters": (secret, draw) =>
		lettered(secret, draw, (letter) => {
			const code = letter.codePointAt(0) as number;
			return anyOf(draw, [
				`&#${code};`,
				`&#x${code.toString(16)};`,
				`&#X${code.toString(16).toUpperCase()};`,
			]);
		}),
	"wide letters": (secret, draw) =>
		lettered(secret, draw, (letter) =>
			/[!-~]/.test(letter) ? String.fromCharCode(letter.charCodeAt(0) + 0xfee0) : letter,
		),
	"mathematical letters": (secret, draw) =>
		lettered(secret, draw, (letter) =>
			/[a-z]/.test(letter) ? String.fromCodePoint(0x1d41a + letter.charCodeAt(0) - 97) : letter,
		),
	accents: (secret, draw) =>
		lettered(secret, draw, (letter) => (/[a-z]/.test(letter) ? `${letter}\u0301`.normalize("NFC") : letter)),
	"letters and marks apart": (secret) => secret.normalize("NFD"),
	backslashes: (secret) => secret.replace(/[!-/:-@[-`{-~]/g, "\\$&"),
};

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFXYZ0123456789-_.+/=é";
const words = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 3, maxLength: 9 });
/** With single spaces: made of one, several would be another. */
const values = fc
	.array(words, { minLength: 1, maxLength: 4 })
	.map((parts) => parts.join(" "))
	.filter((value) => value.replace(/[^a-z0-9]/gi, "").length >= 6);

/** Whether the secret stands there as somebody would copy it. Marks that markup takes away are no loss to who guesses. */
const holds = (text: string, secret: string) =>
	[secret, secret.normalize("NFKC"), searchText(secret)].some(
		(form) => form.length >= 6 && text.toLowerCase().includes(form.toLowerCase()),
	);

test.each(Object.entries(DISGUISES))("nothing that is done to a hidden text undoes %s", (_, disguise) => {
	const undone = new Set<string>();
	fc.assert(
		fc.property(values, fc.gen(), (secret, draw) => {
			const secrets = createSecrets(new Map([["S", secret]]));
			const text = `it is ${disguise(secret, draw)} today`;
			const hidden = secrets.hide(text);
			for (const [name, undo] of Object.entries(UNDOING)) {
				if (holds(undo(text), secret)) undone.add(name);
				expect([name, holds(undo(hidden), secret)]).toEqual([name, false]);
			}
		}),
		{ numRuns: 20 },
	);
	expect([...undone]).not.toEqual([]);
});

describe("what people and models write in disguise", () => {
	let scene: Scene;
	afterEach(() => scene.end());

	test("is in no row, event, delivery, title, preview, index or export", async () => {
		const written = Object.values(DISGUISES).flatMap((disguise) =>
			fc.sample(
				fc.gen().map((draw) => disguise(SECRET, draw)),
				1,
			),
		);
		scene = await Scene.start({
			durable: true,
			config: { display: { streaming: true } },
			script: { otherwise: [{ chunks: ["you said ", "{{input}}"], chunk_delay_ms: 1500 }] },
		});
		const live: string[] = [];
		scene.gateway.onDelta(({ text }) => live.push(text));
		for (const text of written) {
			await scene.say(`it is ${text} today`);
			await scene.clock.advance(10 * SECOND);
			await scene.say(`/title ${text}`);
		}
		const exported: string[] = [];
		const everything = { scope: OPERATOR, what: { kind: "everything" } } as const;
		for await (const line of exportJsonl(scene.store, everything)) exported.push(line);
		const texts = [
			...scene.world.attempts.map(({ text }) => text),
			...scene.log,
			live.join(""),
			...exported,
			...[scene.path, `${scene.path}-wal`].filter(existsSync).map((path) => readFileSync(path, "latin1")),
		];
		expect(texts.join()).toContain("secret:TEST");
		for (const text of texts) expect(holds(text, SECRET)).toBe(false);
	});
});
