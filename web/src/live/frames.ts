// Server-sent events from a body: fields by line, a blank line ends a frame, comments are passed over.

export interface SseFrame {
	readonly event: string;
	readonly data: string;
	readonly id: string | undefined;
}

/** Frames as they come; `onBytes` is told of everything that arrives, heartbeats too. */
export async function* framesOf(
	body: ReadableStream<Uint8Array>,
	onBytes: () => void,
): AsyncGenerator<SseFrame> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let rest = "";
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			onBytes();
			rest += decoder.decode(value, { stream: true });
			const pieces = rest.split("\n\n");
			rest = pieces.pop() ?? "";
			for (const piece of pieces) {
				const frame = frameOf(piece);
				if (frame) yield frame;
			}
		}
	} finally {
		await reader.cancel().catch(() => undefined);
	}
}

function frameOf(piece: string): SseFrame | null {
	let event = "message";
	let id: string | undefined;
	const data: string[] = [];
	for (const line of piece.split("\n")) {
		const colon = line.indexOf(":");
		if (colon <= 0) continue;
		const value = line.slice(colon + 1).replace(/^ /, "");
		const name = line.slice(0, colon);
		if (name === "event") event = value;
		else if (name === "data") data.push(value);
		else if (name === "id") id = value;
	}
	return data.length === 0 ? null : { event, data: data.join("\n"), id };
}
