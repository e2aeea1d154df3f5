// Sends server-sent events.
import { toKeryxError } from "../errors.ts";
import { sse } from "./frame.ts";

const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for this many beats is disconnected, and may come back with its cursor. */
const HUNG_BEATS = 4;

export interface StreamOptions {
	/** Called when the reader leaves. */
	readonly left: () => void;
	/** Called when the reader hangs: ends its connection, which then counts as left. */
	readonly cutOff: () => void;
	/** Calls back at each beat, until the returned function is called; default: by the clock. */
	readonly every?: (beat: () => void) => () => void;
}

/** Reads as fast as its reader: a slow one lags. Ends with the pieces, or when its reader leaves. */
export function eventStream(
	pieces: AsyncGenerator<Uint8Array>,
	{ left, cutOff, every = byTheClock }: StreamOptions,
): ReadableStream<Uint8Array> {
	let stop = (): void => {};
	let isOver = false;
	let missed = 0;
	const end = (): void => {
		isOver = true;
		stop();
	};
	return new ReadableStream<Uint8Array>({
		start: (controller) => {
			controller.enqueue(Buffer.from(": following\n\n"));
			stop = every(() => {
				if ((controller.desiredSize ?? 0) > 0) controller.enqueue(BEAT);
				else if (++missed === HUNG_BEATS) cutOff();
			});
		},
		pull: async (controller) => {
			missed = 0;
			const { piece, done } = await next(pieces);
			// Its reader has left meanwhile.
			if (isOver) return;
			if (piece) controller.enqueue(piece);
			if (!done) return;
			end();
			controller.close();
		},
		cancel: async () => {
			end();
			left();
			// If nothing was being read, nobody else would end it.
			await pieces.return(undefined);
		},
	});
}

const BEAT = Buffer.from(": beat\n\n");

function byTheClock(beat: () => void): () => void {
	const beats = setInterval(beat, HEARTBEAT_MS);
	return () => clearInterval(beats);
}

/** A failure is the last frame. */
async function next(
	pieces: AsyncGenerator<Uint8Array>,
): Promise<{ readonly piece: Uint8Array | null; readonly done: boolean }> {
	try {
		const { value, done = false } = await pieces.next();
		return { piece: done ? null : (value as Uint8Array), done };
	} catch (cause) {
		const data = JSON.stringify({ error: toKeryxError(cause).toJSON() });
		return { piece: Buffer.from(sse({ event: "error", data })), done: true };
	}
}
