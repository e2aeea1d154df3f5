// Runs the user's npm, which knows the registry it is set up for.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Environment } from "../config/index.ts";
import { KeryxError } from "../errors.ts";

const NPM_MS = 600_000;

/** npm's messages when the registry or the network is the problem. */
const OF_REGISTRY =
	/^(E[45]\d\d|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ENOTFOUND|ENOTCACHED|ETIMEDOUT|ETARGET|ERR_SOCKET_TIMEOUT|.*CERT\w*)$/;

export interface Fetching {
	/** The error's code. */
	readonly code: "update.fetch" | "channel.packages";
	/** What is fetched, for messages. */
	readonly what: string;
	/** The package file that is installed, if it is one. */
	readonly file?: string;
}

/** npm's output. Throws an error that quotes it. */
export async function npm(
	words: readonly string[],
	env: Environment,
	{ code: problem, what, file }: Fetching,
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
		const lines = stderr
			.split("\n")
			.filter((line) => /^npm (error|ERR!)/.test(line))
			.map((line) => line.replace(/^npm (error|ERR!)\s*/, ""));
		const why = lines.slice(0, 3).join("; ") || stderr.trim();
		const hint = hintOf(/^code (\S+)$/.exec(lines[0] ?? "")?.[1] ?? "", file);
		throw new KeryxError(problem, `npm could not fetch ${what}: ${why}`, {
			...(hint !== null && { hint }),
			cause,
		});
	}
}

/** Null: the usual one, which is about the registry. */
function hintOf(code: string, file: string | undefined): string | null {
	if (code === "ENOSPC")
		return "free up space on the disks of Keryx's home and of npm's cache, then try again";
	if (file === undefined || OF_REGISTRY.test(code)) return null;
	return `${file} may be cut short or altered: get it again, and compare its checksum`;
}
