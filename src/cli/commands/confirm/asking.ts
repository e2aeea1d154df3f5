// Asks the person at the terminal for confirmation.

import { KeryxError } from "../../../errors.ts";
import type { CliContext } from "../../context.ts";
import { texts } from "../../texts.ts";

/** Someone is at the terminal, and can see the question. */
export function canAsk({ stdin, stdout, json }: CliContext): boolean {
	return stdin.isTTY === true && stdout.isTTY === true && !json;
}

/** Throws if they do not say yes; `instead` is what happens then. */
export async function assertYes(
	{ stdin, stdout }: CliContext,
	question: string,
	instead: string,
): Promise<void> {
	stdout.write(`${question} [y/N] `);
	if (/^y(es)?$/i.test((await firstLine(stdin)).trim())) return;
	throw new KeryxError("confirmation.refused", texts.confirm.notYes, { hint: instead });
}

/** The input so far if it ends without a line end. */
async function firstLine(stdin: CliContext["stdin"]): Promise<string> {
	let read = "";
	for await (const part of stdin) {
		read += Buffer.from(part).toString("utf8");
		if (read.includes("\n")) break;
	}
	return read.split("\n")[0] ?? "";
}
