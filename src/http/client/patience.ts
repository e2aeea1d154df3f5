// How long a client waits for a silent Keryx. A call may take as long as it needs: meanwhile Keryx is asked for its health, and is given
// up only if it does not answer that either.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { KeryxError } from "../../errors.ts";
import { type Clock, systemClock } from "../../time/index.ts";

export interface Patience {
	/** Until it is connected. */
	readonly connectMs: number;
	/** How long Keryx may be silent, until and during its answer. */
	readonly silenceMs: number;
	/** The error for a silent Keryx; default: one without a process. */
	readonly givenUp?: (waitedMs: number) => KeryxError;
	readonly clock?: Pick<Clock, "after">;
}

/** Asked within the time it may be silent. */
const LONGEST_PROBE_MS = 5000;

/** Fails the request when its Keryx is given up. Read the answer's body through the returned stream. */
export function watchSilence(
	sent: ClientRequest,
	socketPath: string,
	{ connectMs, silenceMs, givenUp = silent, clock = systemClock }: Patience,
): (response: IncomingMessage) => AsyncIterable<Uint8Array> {
	const probeMs = Math.min(LONGEST_PROBE_MS, silenceMs / 2);
	let response: IncomingMessage | undefined;
	let isOver = false;
	let cancel = (): void => {};
	const end = (): void => {
		isOver = true;
		cancel();
	};
	const wait = (ms: number, then: () => void): void => {
		cancel();
		if (!isOver) cancel = clock.after(ms, then);
	};
	const giveUp = (waitedMs: number): void => {
		end();
		(response ?? sent).destroy(givenUp(waitedMs));
	};
	const alive = (): void => wait(silenceMs - probeMs, probe);
	const probe = (): void => {
		const asked = httpRequest({ socketPath, path: "/health", agent: false }, (answer) => {
			alive();
			answer.on("error", () => {}).resume();
		});
		// The request itself notices a Keryx that is gone.
		asked.on("error", () => {});
		asked.end();
		wait(probeMs, () => {
			asked.destroy();
			giveUp(silenceMs);
		});
	};
	const connecting = Math.min(connectMs, silenceMs);
	wait(connecting, () => giveUp(connecting));
	sent.once("socket", (socket) => {
		if (socket.connecting) socket.once("connect", alive);
		else alive();
	});
	sent.once("close", end);
	return (answer) => {
		response = answer;
		alive();
		return reading(answer, alive, end);
	};
}

async function* reading(
	response: IncomingMessage,
	alive: () => void,
	end: () => void,
): AsyncGenerator<Uint8Array> {
	try {
		for await (const chunk of response) {
			alive();
			yield chunk as Uint8Array;
		}
	} finally {
		end();
	}
}

function silent(waitedMs: number): KeryxError {
	return new KeryxError("gateway.silent", `Keryx has not responded for ${Math.round(waitedMs / 1000)} s`);
}
