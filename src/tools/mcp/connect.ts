// Connects: starts the program or opens the address, then runs the official client on it.
import type { ClientOptions } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import { openHttp } from "./http.ts";
import { LoginNeeded } from "./oauth.ts";
import { startStdio } from "./stdio.ts";
import { type Connection, type Line, type ServerParts, START_MS } from "./types.ts";

/** A program silent for this long when asked for its protocol speaks that of 2025. */
const PROBE_MS = 5000;
const DYING_MS = 1000;

export interface ConnectOptions {
	readonly signal: AbortSignal;
	/** Known to speak only the protocol of 2025. */
	readonly isOld: boolean;
	readonly onChange: () => void;
}

export type Connected =
	| { readonly kind: "connected"; readonly connection: Connection }
	/** The program exited when asked for its protocol. */
	| { readonly kind: "old" };

/** Throws why it failed, and leaves nothing behind. */
export async function connect(
	name: string,
	settings: McpServerSettings,
	parts: ServerParts,
	{ signal, isOld, onChange }: ConnectOptions,
): Promise<Connected> {
	const { Client } = await import("@modelcontextprotocol/client");
	const line = await lineTo(name, settings, parts);
	const client = new Client({ name: "keryx", version: parts.version }, clientOptions(onChange));
	let ended: string | null = null;
	void line.over.then((why) => {
		ended = why;
	});
	const aborted = () => line.end("it was stopped");
	signal.addEventListener("abort", aborted, { once: true });
	try {
		await client.connect(line.transport, {
			timeout: START_MS,
			signal,
			...(isOld && { prior: { kind: "legacy" } }),
		});
		return { kind: "connected", connection: { client, line } };
	} catch (error) {
		const isProgram = line.pid !== null;
		if (isProgram) await endOrPause(line, parts);
		const died = ended;
		await client.close().catch(() => undefined);
		await line.close();
		if (isProgram && !isOld && died !== null && !signal.aborted && client.getServerVersion() === undefined)
			return { kind: "old" };
		throw reasonOf(name, died, error);
	} finally {
		signal.removeEventListener("abort", aborted);
	}
}

async function lineTo(name: string, settings: McpServerSettings, parts: ServerParts): Promise<Line> {
	if (settings.command === undefined) return openHttp(name, settings, parts);
	return startStdio({
		name,
		wall: await parts.wallOf(name, settings),
		argv: [settings.command, ...settings.args],
		cwd: parts.folderOf(name),
		clock: parts.clock,
		secrets: parts.secrets,
	});
}

function clientOptions(onChange: () => void): ClientOptions {
	const changes = { autoRefresh: false, onChanged: onChange };
	return {
		versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_MS } },
		listChanged: { tools: changes, prompts: changes, resources: changes },
		// Its schemas are a stranger's: their patterns are not run here. Its answers count only as text.
		jsonSchemaValidator: {
			getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
		},
	};
}

/** A dead program is noticed a moment after its streams end. */
async function endOrPause({ over }: Line, { clock }: ServerParts): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	const cancel = clock.after(DYING_MS, resolve);
	await Promise.race([over, promise]);
	cancel();
}

/** A missing login may be wrapped in the request's error. */
function reasonOf(name: string, died: string | null, error: unknown): Error {
	for (let one = error; one instanceof Error; one = one.cause) {
		if (one instanceof LoginNeeded) return one;
		if (one.name === "UnauthorizedError") return new LoginNeeded(name);
	}
	if (died !== null) return new Error(died);
	const cause = (error as Error).cause;
	const detail = cause instanceof Error ? ` (${cause.message})` : "";
	return new Error(`${(error as Error).message}${detail}`);
}
