// The text a human sees of a request. Everything except the frame comes from the requester: it is quoted, capped and in code marks, so that
// no platform finds markup, a mention or a file in it. Arguments are shown whole, or the text says how much is missing.
import { KERYX } from "../called.ts";
import type { Confirmation } from "../store/index.ts";

const LONGEST_DETAILS = 1500;
const LONGEST_LINE = 300;

type Asked = Pick<
	Confirmation,
	"id" | "action" | "description" | "details" | "requester" | "askedBy" | "expiresAt"
>;

/** The question in Markdown, for a chat that understands /approve and /deny. */
export function questionText(confirmation: Asked, now: number): string {
	const { id, action, description, requester, askedBy } = confirmation;
	const asker = askedBy.startsWith("agent:") ? "The agent" : `${inert(requester)} (${inert(askedBy)})`;
	return [
		`${asker} wants to run ${inert(action)} and needs your approval.`,
		`Description: ${inert(description)}`,
		...detailsLines(confirmation),
		`Answer with \`/approve ${id}\` or \`/deny ${id}\`${within(confirmation, now)}. If nobody answers, it is not done.`,
	].join("\n");
}

/** An outgoing question, and what its message becomes when it is settled. */
export interface Question {
	readonly id: string;
	readonly text: string;
	readonly until: number;
	/** Who may answer besides the owner; null: nobody. */
	readonly answerer: string | null;
	readonly ends: Ends;
	/** Without the request's own text. */
	readonly shortEnds: Ends;
}

type Ends = Readonly<Record<keyof typeof ENDS, string>>;

const ENDS = {
	approved: "Approved.",
	denied: "Denied. It was not done.",
	expired: "Nobody answered in time. It was not done.",
	cancelled: "Cancelled. It was not done.",
} as const;

/** `text`: as shown, if longer than the question itself. */
export function questionOf(
	confirmation: Asked,
	{
		now,
		answerer,
		text = questionText(confirmation, now),
	}: { readonly now: number; readonly answerer: string | null; readonly text?: string },
): Question {
	const { id, action, description, expiresAt: until } = confirmation;
	const asked = [inert(action), `Description: ${inert(description)}`, ...detailsLines(confirmation)];
	const over = (before: readonly string[]): Ends => ({
		approved: [...before, ENDS.approved].join("\n"),
		denied: [...before, ENDS.denied].join("\n"),
		expired: [...before, ENDS.expired].join("\n"),
		cancelled: [...before, ENDS.cancelled].join("\n"),
	});
	return { id, text, until, answerer, ends: over(asked), shortEnds: over([inert(action)]) };
}

function detailsLines({ details }: Asked): string[] {
	if (Object.keys(details).length === 0) return [];
	const text = visible(JSON.stringify(details, null, 2));
	const shown = text.length <= LONGEST_DETAILS ? text : text.slice(0, LONGEST_DETAILS).toWellFormed();
	const left = text.length - shown.length;
	return [
		"Arguments:",
		"```",
		shown,
		"```",
		...(left > 0
			? [`${left} more characters are not shown. Read them with \`${KERYX} confirm show\`, or deny.`]
			: []),
	];
}

function within({ expiresAt }: Asked, now: number): string {
	const seconds = Math.max(0, Math.round((expiresAt - now) / 1000));
	return seconds < 120 ? ` within ${seconds} seconds` : ` within ${Math.floor(seconds / 60)} minutes`;
}

/** One line in code marks. */
function inert(text: string): string {
	const line = visible(text).replace(/\s+/g, " ");
	const shown = line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE).toWellFormed()}…`;
	return `\`${shown}\``;
}

/** Contains nothing invisible, and nothing that ends a code mark. */
function visible(text: string): string {
	return text
		.replace(/`/g, "ʼ")
		.replace(/[[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]--[\n\t]]/gv, (c) => escaped(c));
}

function escaped(character: string): string {
	return Array.from(
		{ length: character.length },
		(_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
	).join("");
}
