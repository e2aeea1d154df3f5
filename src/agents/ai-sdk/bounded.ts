// Limits a provider's stream. The library holds an event until it is complete, so an endless one would fill the memory: beyond the limit
// the connection is closed, and the failure says why.

const LONGEST_EVENT = 32 * 1024 * 1024;
const LF = 10;
const CR = 13;

/** Identifies this failure. */
export const TOO_LONG = "EventTooLong";

class EventTooLong extends Error {
	override readonly name = TOO_LONG;

	constructor() {
		super(
			`the provider sent an event of more than ${LONGEST_EVENT / 1024 / 1024} MiB, so the connection was closed`,
		);
	}
}

/** Like `fetch`. An event ends with an empty line; a body without any, such as an error's, is one event. */
export const boundedFetch: typeof fetch = async (input, init) => {
	const response = await fetch(input, init);
	if (!response.body) return response;
	const body = response.body.pipeThrough(bounded());
	// The answer's own URL is lost here; nobody needs it.
	return new Response(body, {
		status: response.status,
		statusText: response.statusText,
		headers: response.headers,
	});
};

function bounded(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
	let bytes = 0;
	/** The last two bytes, because an empty line may arrive in two pieces. */
	let tail: Buffer = Buffer.alloc(0);
	return new TransformStream({
		transform: (chunk, controller) => {
			const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
			const end = lastEmptyLine(view, tail);
			bytes = end < 0 ? bytes + view.length : view.length - end;
			tail = view.length > 1 ? Buffer.from(view.subarray(-2)) : Buffer.concat([tail, view]).subarray(-2);
			if (bytes > LONGEST_EVENT) throw new EventTooLong();
			controller.enqueue(chunk);
		},
	});
}

/** Where the last event ends, or -1. */
function lastEmptyLine(chunk: Buffer, before: Buffer): number {
	const ends = [
		chunk.lastIndexOf("\n\n") + 2,
		chunk.lastIndexOf("\n\r\n") + 3,
		chunk.lastIndexOf("\r\r") + 2,
	];
	const end = Math.max(...ends.filter((at, n) => at > (n === 1 ? 2 : 1)), -1);
	if (end >= 0) return end;
	const [first, second] = chunk;
	const last = before.at(-1);
	if (first === LF && (last === LF || (last === CR && before.at(-2) === LF))) return 1;
	if (first === CR && last === CR) return 1;
	return first === CR && second === LF && last === LF ? 2 : -1;
}
