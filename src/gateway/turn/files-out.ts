// Files that the agent sends with its answer. They stand in the rows of its turn, so that a turn which goes on after a crash still knows
// them; their deliveries come after the text, in one commit with the end (I7).
import type { Message, Part } from "../../domain/index.ts";
import { renderParts } from "../../render/index.ts";
import type { NewDelivery, OutgoingFile } from "../../store/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { type Posting, toDeliveries } from "../outbox/reply.ts";
import { fileSentence } from "../sentences.ts";
import type { TurnStart } from "./start.ts";

export function filesOf(
	{ turn, destination }: TurnStart,
	rows: readonly Message[],
	outlet: Outlet,
): NewDelivery[] {
	const parts = rows
		.filter((row) => row.turn === turn && !row.hidden)
		.flatMap(({ content }) => (typeof content === "string" ? [] : content));
	const canShow = outlet.shows(destination).attachments;
	return parts.flatMap(toFile).flatMap((file, n): NewDelivery[] => {
		const posting = { id: `${turn}:file${n + 1}`, kind: "reply", destination } as const;
		// Platforms refuse a file with nothing in it.
		if (!canShow || file.size === 0) return toDeliveries(fileSentence(file), posting, outlet);
		const { above, caption } = captionOf(file, posting, outlet);
		return [...above, { ...posting, body: { ...caption, attachments: [file] } }];
	});
}

function toFile(part: Part): OutgoingFile[] {
	if (part.type === "text" || !part.sent) return [];
	const { blob, mediaType, name = "file", sent } = part;
	return [{ blob, name, mediaType, ...sent }];
}

const NO_CAPTION = { text: "", plain: "" };

/** What the agent wrote about it, in the platform's markup; where it is too long for a caption, as messages above the file. */
function captionOf({ caption = "" }: OutgoingFile, posting: Posting, outlet: Outlet) {
	const { destination } = posting;
	const { markup } = outlet.platforms.traits(destination.platform);
	const parts =
		caption === "" ? [] : renderParts(caption, { markup, limit: outlet.captionLimit(destination) });
	const [first = NO_CAPTION] = parts;
	if (parts.length <= 1) return { above: [], caption: { text: first.text, plain: first.plain } };
	return { above: toDeliveries(caption, posting, outlet), caption: NO_CAPTION };
}
