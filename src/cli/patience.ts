// Whether Keryx runs in a home, and how long a command waits for it. Loads no schema and no configuration, so that simple commands are
// fast.
import type { Home } from "../app/home.ts";
import { KeryxError } from "../errors.ts";
import { type Patience, readHealth, socketTransport } from "../http/client/index.ts";
import type { Answer } from "../http/index.ts";
import { ownerOf } from "../store/index.ts";
import type { CliContext } from "./context.ts";
import { texts } from "./texts.ts";

/** Where Keryx may listen, and whose store it is. */
export type HomePaths = Pick<Home, "socketPath" | "storePath">;

const CONNECT_MS = 5000;
const SILENCE_MS = 30_000;

/** How long a command waits for the running Keryx; the error names its process. */
export function patienceWith(
	{ timeoutMs }: Pick<CliContext, "timeoutMs">,
	{ storePath }: HomePaths,
): Patience {
	return {
		connectMs: CONNECT_MS,
		silenceMs: timeoutMs?.() ?? SILENCE_MS,
		givenUp: (waitedMs) => {
			const who = ownerIn(storePath);
			return new KeryxError("gateway.silent", texts.connect.silent(who, Math.round(waitedMs / 1000)));
		},
	};
}

function ownerIn(storePath: string): string {
	try {
		const owner = ownerOf(storePath);
		return owner === null ? texts.connect.listening : texts.connect.running(owner);
	} catch {
		// It is for the message only.
		return texts.connect.listening;
	}
}

/** The running Keryx's health; null if none is running. */
export async function healthIn(context: CliContext, home: HomePaths): Promise<Answer<"health"> | null> {
	try {
		return await readHealth(socketTransport(home.socketPath, { patience: patienceWith(context, home) }));
	} catch (error) {
		if (isNobodyThere(error)) return null;
		throw error;
	}
}

/** No socket, a stale one, or a path too long for one. */
export function isNobodyThere(error: unknown): boolean {
	const { code } = error as NodeJS.ErrnoException;
	return ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EINVAL"].includes(code ?? "");
}
