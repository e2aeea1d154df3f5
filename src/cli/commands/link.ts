// `keryx link`: a login link for a browser; with two ids of platforms, that they are one person, says the operator.
import type { Command } from "commander";
import { nearest } from "../../config/index.ts";
import { registeredPlatforms } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { running, withConnection } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";

export function addLink(program: Command, context: CliContext): void {
	program
		.command("link")
		.allowExcessArguments(false)
		.description("log a browser in; or say that two ids of platforms are one person")
		.argument("[platform:id]", "who is known already")
		.argument("[platform:id]", "the same person elsewhere")
		.addHelpText("after", EXAMPLES)
		.action((first?: string, second?: string) => {
			if (first === undefined) return printLoginLink(context);
			if (second !== undefined) return runLink(context, first, second);
			throw new KeryxError("usage.invalid", "give two ids that are one person, or none for a login link");
		});
}

const EXAMPLES = `
Without ids it prints a link to Keryx's page. The link logs one browser in, once, within ten minutes.

With two ids they are one person. From then on the person may take up sessions of either place in the other (\`/resume\`), unless
routing.resume_scope is conversation. Conversations stay as they are. It cannot be undone.

Examples:
  $ keryx link
  $ keryx link telegram:12345 discord:6789
  $ keryx link signal:+4915112345678 telegram:12345

Exit codes: 0 done, also where they were one person before, 1 failure, 2 wrong usage.`;

async function printLoginLink(context: CliContext): Promise<void> {
	const { output } = openConfig(context);
	assertOutside(context);
	const client = await running(context);
	if (!client)
		throw new KeryxError("gateway.stopped", "no Keryx runs in this home, so there is no page to log in to", {
			hint: "start it: it prints a login link",
		});
	const { url, path } = await client.loginLink({});
	if (url === null)
		throw new KeryxError("gateway.stopped", "the Keryx that runs listens on no port, so it has no page", {
			hint: "start one with `keryx`, or `npm start`",
		});
	if (output.json) return output.value({ url, path });
	output.line(url);
	if (output.isTerminal) output.note("Open it in your browser. It works once, within ten minutes.");
}

async function runLink(context: CliContext, first: string, second: string): Promise<void> {
	const [of, and] = [readPlatformId(first), readPlatformId(second)];
	await withConnection(context, "change", async ({ client, output }) => {
		for (const { platform } of [of, and])
			if (!registeredPlatforms().includes(platform)) output.warn(unknown(platform));
		const { principal, joined } = await client.linkPrincipals({ of, and });
		if (output.json) return output.value({ of, and, principal, joined });
		output.line(
			joined
				? `${first} and ${second} are one person from now on.`
				: `${first} and ${second} were one person before.`,
		);
	});
}

/** The id may hold colons of its own. */
function readPlatformId(text: string): { platform: string; id: string } {
	const [, platform, id] = /^([a-z][a-z0-9_]{1,31}):(\S.{0,199})$/s.exec(text.trim()) ?? [];
	if (platform !== undefined && id !== undefined) return { platform, id };
	throw new KeryxError(
		"argument.invalid",
		`${JSON.stringify(text)} must be a platform and an id with a colon between, such as telegram:12345`,
		{ field: "platform:id" },
	);
}

/** Taken all the same: a platform that Keryx does not bring may have been added. */
function unknown(platform: string): string {
	const near = nearest(platform, [...registeredPlatforms()]);
	return `Keryx brings no platform ${platform}${near ? `; did you mean ${near}?` : ""}`;
}
