// Reading server-sent events from bytes, as the standard says: fields by line, a blank line ends a frame, comments are passed over.

export interface SseFrame {
	readonly event: string;
	readonly data: string;
	readonly id?: string;
}

export async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame> {
	const decoder = new TextDecoder();
	let rest = "";
	let lines: string[] = [];
	for await (const chunk of chunks) {
		rest += decoder.decode(chunk, { stream: true });
		const pieces = rest.split(/\r\n|\n|\r(?!$)/);
		rest = pieces.pop() ?? "";
		for (const line of pieces) {
			if (line !== "") {
				lines.push(line);
				continue;
			}
			const frame = frameOf(lines);
			lines = [];
			if (frame) yield frame;
		}
	}
}

/** A frame without data is none: a comment alone, or an id. */
function frameOf(lines: readonly string[]): SseFrame | null {
	let event = "message";
	let id: string | undefined;
	const data: string[] = [];
	for (const line of lines) {
		const colon = line.indexOf(":");
		if (colon === 0) continue;
		const name = colon === -1 ? line : line.slice(0, colon);
		const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
		if (name === "event") event = value;
		else if (name === "data") data.push(value);
		else if (name === "id") id = value;
	}
	if (data.length === 0) return null;
	return { event, data: data.join("\n"), ...(id !== undefined && { id }) };
}
