// The wire format: header length, payload length, JSON header, bytes. Lengths are limited, so that neither side must hold more.

/** Enough for the longest arguments and environment a kernel accepts. */
const MAX_HEADER = 4 * 1024 * 1024;
export const MAX_PAYLOAD = 1024 * 1024;
const PREFIX = 8;

export interface Frame {
	readonly header: Readonly<Record<string, unknown>>;
	readonly payload: Buffer;
}

export function encodeFrame(header: object, payload: Uint8Array = Buffer.alloc(0)): Buffer[] {
	const json = Buffer.from(JSON.stringify(header));
	const prefix = Buffer.allocUnsafe(PREFIX);
	prefix.writeUInt32BE(json.length, 0);
	prefix.writeUInt32BE(payload.length, 4);
	const head = Buffer.concat([prefix, json]);
	return payload.length === 0
		? [head]
		: [head, Buffer.from(payload.buffer, payload.byteOffset, payload.length)];
}

/** Throws on an invalid frame; nothing after it can be understood. */
export class FrameReader {
	readonly #maxHeader: number;
	#chunks: Buffer[] = [];
	#length = 0;
	/** The length of the current frame. */
	#wanted = PREFIX;

	constructor({ maxHeader = MAX_HEADER }: { maxHeader?: number } = {}) {
		this.#maxHeader = maxHeader;
	}

	*read(chunk: Buffer): Generator<Frame> {
		this.#chunks.push(chunk);
		this.#length += chunk.length;
		while (this.#length >= this.#wanted) {
			const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
			const header = all.readUInt32BE(0);
			const payload = all.readUInt32BE(4);
			if (header > this.#maxHeader || payload > MAX_PAYLOAD) throw new Error("a frame is too large");
			const end = PREFIX + header + payload;
			this.#chunks = [all];
			this.#wanted = end;
			if (all.length < end) return;
			this.#chunks = [all.subarray(end)];
			this.#length = all.length - end;
			this.#wanted = PREFIX;
			yield {
				header: parse(all.subarray(PREFIX, PREFIX + header)),
				payload: all.subarray(PREFIX + header, end),
			};
		}
	}
}

function parse(json: Buffer): Readonly<Record<string, unknown>> {
	const value: unknown = JSON.parse(json.toString());
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw new Error("a frame's header is no object");
	return value as Readonly<Record<string, unknown>>;
}
