// Outgoing files: each is a delivery with its caption, or a sentence if the chat cannot show files.
import type { Part } from "../../domain/index.ts";
import { renderParts } from "../../render/index.ts";
import type { NewDelivery, OutgoingFile } from "../../store/index.ts";
import { fileSentence } from "../sentences.ts";
import type { Outlet } from "./outlet.ts";
import { type Posting, toDeliveries } from "./reply.ts";

/** The parts that are sent to people; `postingOf` gets the number of each, from 1. */
export function fileDeliveries(
	parts: readonly Part[],
	postingOf: (n: number) => Posting,
	outlet: Outlet,
): NewDelivery[] {
	return parts.flatMap(toFile).flatMap((file, index): NewDelivery[] => {
		const posting = postingOf(index + 1);
		const { id, kind, destination } = posting;
		// Platforms refuse an empty file.
		if (!outlet.shows(destination).attachments || file.size === 0)
			return toDeliveries(fileSentence(file), posting, outlet);
		const { above, caption } = captionOf(file, posting, outlet);
		return [...above, { id, kind, destination, body: { ...caption, attachments: [file] } }];
	});
}

function toFile(part: Part): OutgoingFile[] {
	if (part.type === "text" || !part.sent) return [];
	const { blob, mediaType, name = "file", sent } = part;
	return [{ blob, name, mediaType, ...sent }];
}

const NO_CAPTION = { text: "", plain: "" };

/** The agent's caption in the platform's markup; if it is too long, as messages above the file. */
function captionOf({ caption = "" }: OutgoingFile, posting: Posting, outlet: Outlet) {
	const { destination } = posting;
	const { markup } = outlet.platforms.traits(destination.platform);
	const parts =
		caption === "" ? [] : renderParts(caption, { markup, limit: outlet.captionLimit(destination) });
	const [first = NO_CAPTION] = parts;
	if (parts.length <= 1) return { above: [], caption: { text: first.text, plain: first.plain } };
	return { above: toDeliveries(caption, posting, outlet), caption: NO_CAPTION };
}
