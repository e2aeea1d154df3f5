// A question to a human as a message with buttons, if the chat can show them. Each button stands for the command one could type
// (`/approve <id>`), so a press does exactly what that person could write. Typing it always works, too.

import { createHash } from "node:crypto";
import type { Question } from "../../confirmations/index.ts";
import { renderParts } from "../../render/index.ts";
import type { Button, NewButton, NewDelivery, QuestionEnds } from "../../store/index.ts";
import { texts } from "../texts.ts";
import type { Outlet } from "./outlet.ts";
import { type Posting, toDeliveries } from "./reply.ts";

export function questionDeliveries(question: Question, posting: Posting, outlet: Outlet): NewDelivery[] {
	const { id: confirmation, until, answerer: principal } = question;
	const press = { principal, owner: true, until, confirmation };
	const choices = [
		{ label: "Approve", style: "primary", command: `/approve ${confirmation}`, ...press },
		{ label: "Deny", style: "danger", command: `/deny ${confirmation}`, ...press },
	] as const;
	const { answeredByReaction } = outlet.shows(posting.destination);
	const text = answeredByReaction ? `${question.text}\n${BY_REACTION}` : question.text;
	const deliveries = withButtons(toDeliveries(text, posting, outlet), [choices], outlet);
	const last = deliveries.at(-1);
	if (!last?.presses || !outlet.shows(last.destination).edit) return deliveries;
	// Of a long question only the last part changes: the rest stays readable above it.
	const ends = deliveries.length === 1 ? question.ends : question.shortEnds;
	return [...deliveries.slice(0, -1), { ...last, ends: rendered(ends, last, outlet) }];
}

const BY_REACTION = texts.approve.react;

export type Choice = Omit<Button, "id"> & Omit<NewButton, "id">;

/** Rows of buttons below the last part; none if the chat shows no buttons and accepts no reactions. */
export function withButtons(
	deliveries: readonly NewDelivery[],
	rows: readonly (readonly Choice[])[],
	outlet: Outlet,
): NewDelivery[] {
	const last = deliveries.at(-1);
	if (!last || rows.length === 0) return [...deliveries];
	const shows = outlet.shows(last.destination);
	if (!shows.buttons && !shows.answeredByReaction) return [...deliveries];
	const buttons = rows.map((row) =>
		row.map(
			({ label, style, command }): Button => ({
				id: buttonId(last, command),
				label,
				...(style && { style }),
			}),
		),
	);
	const presses = rows
		.flat()
		.map(({ label: _, style: __, ...press }): NewButton => ({ id: buttonId(last, press.command), ...press }));
	const body = shows.buttons ? { ...last.body, buttons } : last.body;
	return [...deliveries.slice(0, -1), { ...last, body, presses }];
}

/** Derived from its context, so that a repeated write is the same row. Knowing it is useless: the presser is checked. */
function buttonId({ id }: NewDelivery, command: string): string {
	return createHash("sha256").update(`${id}\n${command}`).digest("base64url").slice(0, 32);
}

function rendered(ends: Question["ends"], { destination }: NewDelivery, outlet: Outlet): QuestionEnds {
	const { markup, messageLimit: limit } = outlet.platforms.traits(destination.platform);
	const one = (text: string) => {
		const [first = { text, plain: text }] = renderParts(text, { markup, limit });
		return { text: first.text, plain: first.plain };
	};
	const { approved, denied, expired, cancelled } = ends;
	return { approved: one(approved), denied: one(denied), expired: one(expired), cancelled: one(cancelled) };
}
