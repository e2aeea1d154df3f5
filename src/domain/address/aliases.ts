// Which of several ids known to be one person an address uses.
import { type Spelling, whatsappId, whatsappSpelling } from "./whatsapp.ts";

/** Two ids of one platform that belong to one person. */
export type AliasPair = readonly [string, string];

/** Only these platforms write one person in several ways; elsewhere ids are used unchanged. */
const ALIASED: ReadonlySet<string> = new Set(["whatsapp", "signal"]);

/** The person's id for an address. All connected ids give the same one: the shortest, then the least. */
export function personId(platform: string, id: string, aliases: readonly AliasPair[]): string {
	const form = platform === "whatsapp" ? whatsappId(id) : id;
	if (aliases.length === 0 || !ALIASED.has(platform)) return form;
	const spell = platform === "whatsapp" ? whatsappSpelling : spellAsWritten;
	const known = connected(
		form,
		aliases.map((pair) => pair.map(spell)),
	);
	return known.length === 0 ? form : preferred(known);
}

/** The spellings of every pair that the pairs connect with `form`, directly or through others. */
function connected(form: string, pairs: readonly (readonly Spelling[])[]): readonly Spelling[] {
	const forms = new Set([form]);
	const found: Spelling[] = [];
	let rest = pairs;
	for (;;) {
		const reached = rest.filter((pair) => pair.some((one) => one.forms.some((each) => forms.has(each))));
		if (reached.length === 0) return found;
		rest = rest.filter((pair) => !reached.includes(pair));
		found.push(...reached.flat());
		for (const { forms: more } of reached.flat()) for (const each of more) forms.add(each);
	}
}

function preferred(spellings: readonly Spelling[]): string {
	const best = spellings.reduce((a, b) => (comparePreference(b, a) < 0 ? b : a));
	return best.forms[0];
}

/** Of a phone and a LID with equal digits, the phone comes first. A total order: the order of the pairs must not matter. */
function comparePreference(a: Spelling, b: Spelling): number {
	return compareText(a.bare, b.bare) || compareText(a.forms[0], b.forms[0]);
}

function compareText(a: string, b: string): number {
	if (a.length !== b.length) return a.length - b.length;
	return a < b ? -1 : Number(a > b);
}

function spellAsWritten(id: string): Spelling {
	return { forms: [id], bare: id };
}
