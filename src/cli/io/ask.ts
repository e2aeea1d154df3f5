// Asks a person at this terminal. Ctrl-C ends the command, as everywhere; Ctrl-D is an empty answer.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

export interface Asker {
	/** Returns the line; an empty one is the default. */
	ask(question: string, usual?: string): Promise<string>;
	/** The same without showing what is typed. */
	askSecretly(question: string): Promise<string>;
	close(): void;
}

/** The exit code that shells use for Ctrl-C. */
const INTERRUPTED = 130;

export function openAsker(): Asker {
	let isHidden = false;
	const output = new Writable({
		write: (chunk, _encoding, done) => {
			if (!isHidden) process.stdout.write(chunk);
			done();
		},
	});
	const lines = createInterface({ input: process.stdin, output, terminal: true });
	const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
	lines.on("SIGINT", () => {
		process.stdout.write("\n");
		process.exit(INTERRUPTED);
	});
	const read = async (question: string): Promise<string> =>
		(await Promise.race([lines.question(question), closed])).trim();
	return {
		ask: async (question, usual = "") =>
			(await read(`${question}${usual === "" ? "" : ` [${usual}]`}: `)) || usual,
		askSecretly: async (question) => {
			process.stdout.write(`${question}: `);
			isHidden = true;
			try {
				return await read("");
			} finally {
				isHidden = false;
				process.stdout.write("\n");
			}
		},
		close: () => lines.close(),
	};
}
