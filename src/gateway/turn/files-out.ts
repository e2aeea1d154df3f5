// Files that the agent sends with its answer. They stand in the rows of its turn, so that a turn which goes on after a crash still knows
// them; their deliveries come after the text, in one commit with the end (I7).
import type { Message, Part } from "../../domain/index.ts";
import { renderParts } from "../../render/index.ts";
import type { NewDelivery, OutgoingFile } from "../../store/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
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
		if (!canShow) return toDeliveries(fileSentence(file), posting, outlet);
		return [{ ...posting, body: { ...captionOf(file, destination.platform, outlet), attachments: [file] } }];
	});
}

function toFile(part: Part): OutgoingFile[] {
	if (part.type === "text" || !part.sent) return [];
	const { blob, mediaType, name = "file", sent } = part;
	return [{ blob, name, mediaType, ...sent }];
}

/** What the agent wrote about it, in the platform's markup; a long one is cut to one part. */
function captionOf({ caption = "" }: OutgoingFile, platform: string, { platforms }: Outlet) {
	const { markup, messageLimit: limit } = platforms.traits(platform);
	const [first] = caption === "" ? [] : renderParts(caption, { markup, limit });
	return { text: first?.text ?? "", plain: first?.plain ?? "" };
}
