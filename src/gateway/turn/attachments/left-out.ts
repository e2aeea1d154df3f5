// Attachments the model no longer reads because its provider refused them: the row that records it, and the notice for the user.
import type { AgentFailure } from "../../../agents/index.ts";
import {
	bytesInWords,
	contentText,
	type Message,
	type NewMessage,
	type Part,
} from "../../../domain/index.ts";
import type { NewDelivery } from "../../../store/index.ts";
import { literal } from "../../commands/words.ts";
import type { Outlet } from "../../outbox/outlet.ts";
import { toDeliveries } from "../../outbox/reply.ts";
import { leftOutSentence } from "../../sentences.ts";
import type { TurnStart } from "../start.ts";

type Attachment = Exclude<Part, { readonly type: "text" }>;

/** One line for each, as shown to the user. */
export function leftOutRow(
	digests: readonly string[],
	failure: AgentFailure,
	rows: readonly Message[],
): NewMessage {
	const line = (digest: string) =>
		`- ${describeAttachment(digest, rows, failure.suspects)}: ${whyOf(failure)}`;
	const content = digests.map(line).join("\n");
	return { role: "meta", kind: "left_out", content, leavesOut: digests };
}

export function isLeftOut({ kind }: NewMessage): boolean {
	return kind === "left_out";
}

/** `rows`: left out by the turn; `others`: also missing from this answer. Sent when the turn ends, however it ends. */
export function leftOutNotice(
	{ turn, destination }: TurnStart,
	rows: readonly NewMessage[],
	others: readonly string[],
	outlet: Outlet,
): NewDelivery[] {
	if (rows.length === 0) return [];
	const lines = rows.map(({ content }) => contentText(content)).join("\n");
	const attachments = rows.flatMap(({ leavesOut = [] }) => leavesOut).length;
	const notice = leftOutSentence({ lines, attachments, others });
	return toDeliveries(
		notice,
		{ id: `${turn}:left-out`, kind: "notice", class: "warning", destination },
		outlet,
	);
}

/** "image cat.png (3.1 MB)" */
export function describeAttachment(
	digest: string,
	rows: readonly Message[],
	suspects: AgentFailure["suspects"] = [],
): string {
	const attachment = rows
		.flatMap(({ content }) => (typeof content === "string" ? [] : content))
		.find((part): part is Attachment => part.type !== "text" && part.blob === digest);
	const { type = "file", name = "", mediaType = "" } = attachment ?? {};
	const bytes = suspects.find((suspect) => suspect.digest === digest)?.bytes;
	const known = literal(name, LONGEST_NAME);
	const facts = [
		known === "" ? literal(mediaType, LONGEST_NAME) : "",
		bytes === undefined ? "" : bytesInWords(bytes),
	];
	const inBrackets = facts.filter((fact) => fact !== "").join(", ");
	return [type, known, inBrackets && `(${inBrackets})`].filter((word) => word !== "").join(" ");
}

const LONGEST_NAME = 100;

function whyOf({ kind }: AgentFailure): string {
	if (kind === "context_too_large") return "too large for the model";
	return kind === "attachment_refused"
		? "the model's provider does not accept it"
		: "the model's provider refused the request that contained it";
}
