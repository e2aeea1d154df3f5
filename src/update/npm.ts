// Runs the user's npm, which knows the registry it is set up for.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Environment } from "../config/index.ts";
import { KeryxError } from "../errors.ts";

const NPM_MS = 600_000;

/** What npm prints. Throws `code` with what npm complained of; `what`: what is being fetched. */
export async function npm(
	words: readonly string[],
	env: Environment,
	{ code: problem, what }: { readonly code: "update.fetch" | "channel.packages"; readonly what: string },
): Promise<string> {
	const { npm_execpath: script } = env;
	const [program, first] = script?.endsWith("npm-cli.js") ? [process.execPath, [script]] : ["npm", []];
	try {
		const options = { env: { ...env }, timeout: NPM_MS, maxBuffer: 64e6 };
		return (await promisify(execFile)(program, [...first, ...words], options)).stdout;
	} catch (cause) {
		const { code, stderr = "" } = cause as { readonly code?: unknown; readonly stderr?: string };
		if (code === "ENOENT")
			throw new KeryxError(problem, `there is no npm on the PATH, which fetches ${what}`, {
				hint: "install npm, or add its folder to the PATH",
				cause,
			});
		const lines = stderr.split("\n").filter((line) => /^npm (error|ERR!)/.test(line));
		const why = lines
			.slice(0, 3)
			.map((line) => line.replace(/^npm (error|ERR!)\s*/, ""))
			.join("; ");
		throw new KeryxError(problem, `npm could not fetch ${what}: ${why || stderr.trim()}`, { cause });
	}
}
