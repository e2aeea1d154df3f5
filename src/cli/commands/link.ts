// `keryx link`: a login link for a browser; with two platform ids, links them to one person.

import type { Command } from "commander";
import { nearest } from "../../config/index.ts";
import { registeredPlatforms } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { running, withConnection } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { texts } from "../texts.ts";

export function addLink(program: Command, context: CliContext): void {
	program
		.command("link")
		.allowExcessArguments(false)
		.description(texts.link.about)
		.argument("[platform:id]", texts.link.of)
		.argument("[platform:id]", texts.link.and)
		.addHelpText("after", EXAMPLES)
		.action((first?: string, second?: string) => {
			if (first === undefined) return printLoginLink(context);
			if (second !== undefined) return runLink(context, first, second);
			throw new KeryxError("usage.invalid", texts.link.two);
		});
}

const EXAMPLES = texts.link.help;

async function printLoginLink(context: CliContext): Promise<void> {
	const { output } = openConfig(context);
	assertOutside(context);
	const client = await running(context);
	if (!client)
		throw new KeryxError("gateway.stopped", texts.link.notRunning, {
			hint: texts.link.notRunningHint,
		});
	const { url, path } = await client.loginLink({});
	if (url === null)
		throw new KeryxError("gateway.stopped", texts.link.noPort, {
			hint: texts.link.noPortHint,
		});
	if (output.json) return output.value({ url, path });
	output.line(url);
	if (output.isTerminal) output.note(texts.link.open);
}

async function runLink(context: CliContext, first: string, second: string): Promise<void> {
	const [of, and] = [readPlatformId(first), readPlatformId(second)];
	await withConnection(context, "change", async ({ client, output }) => {
		for (const { platform } of [of, and])
			if (!registeredPlatforms().includes(platform)) output.warn(unknown(platform));
		const { principal, joined } = await client.linkPrincipals({ of, and });
		if (output.json) return output.value({ of, and, principal, joined });
		output.line(joined ? texts.link.done(first, second) : texts.link.already(first, second));
	});
}

/** The id may contain colons. */
function readPlatformId(text: string): { platform: string; id: string } {
	const [, platform, id] = /^([a-z][a-z0-9_]{1,31}):(\S.{0,199})$/s.exec(text.trim()) ?? [];
	if (platform !== undefined && id !== undefined) return { platform, id };
	throw new KeryxError("argument.invalid", texts.link.invalid(JSON.stringify(text)), {
		field: "platform:id",
	});
}

/** Taken all the same: a platform that Keryx does not bring may have been added. */
function unknown(platform: string): string {
	const near = nearest(platform, [...registeredPlatforms()]);
	return texts.link.unknownPlatform(platform, near ? texts.didYouMean(near) : "");
}
