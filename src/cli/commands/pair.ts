// `keryx pair`: strangers who have asked to be let in, by the code that they were sent.
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { readCount, readOneOf } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";

const ROLES = ["owner", "member", "guest"] as const;
const MOST = Number.MAX_SAFE_INTEGER;

export function addPair(program: Command, context: CliContext): void {
	const pair = addGroup(program, "pair", "let people in who have asked for it in a chat");
	addList(pair, context);
	addApprove(pair, context);
	addDeny(pair, context);
}

function addList(parent: Command, context: CliContext): void {
	parent
		.command("list")
		.allowExcessArguments(false)
		.description("who has asked, and who was let in, the newest first; never a code")
		.addHelpText("after", LIST_EXAMPLES)
		.action(() => runList(context));
}

const LIST_EXAMPLES = `
Examples:
  $ keryx pair list
  $ keryx pair list --json

Columns: number, platform, id, name, state (open, approved), role, asked, code holds until.
Exit codes: 0 done, 1 failure, 2 wrong usage.`;

function runList(context: CliContext): Promise<void> {
	return withConnection(context, "read", async ({ client, output }) => {
		const { pairings } = await client.pairings({});
		if (output.json) return output.value({ pairings });
		if (pairings.length === 0)
			return output.note(
				"Nobody has asked. With `pairing: true` under auth.<platform>, strangers who write get a code.",
			);
		output.table(
			["number", "platform", "id", "name", "state", "role", "asked", "until"],
			pairings.map(({ n, platform, id, name, state, role, asked_at, expires_at }) => [
				String(n),
				platform,
				id,
				name ?? "",
				state,
				role ?? "",
				asked_at,
				state === "open" ? expires_at : "",
			]),
			{ elastic: [3] },
		);
	});
}

function addApprove(parent: Command, context: CliContext): void {
	parent
		.command("approve")
		.allowExcessArguments(false)
		.description("let somebody in, who is told so")
		.argument("<platform>", "where they wrote")
		.argument("<code>", "as they were sent it, or the number of `keryx pair list`")
		.option("--role <role>", `what they may do: ${ROLES.join(", ")}`, "member")
		.addHelpText("after", APPROVE_EXAMPLES)
		.action((platform: string, code: string, { role }: { readonly role: string }) =>
			withConnection(context, "change", async ({ client, output }) => {
				const which = refOf(platform, code);
				const done = await client.approvePairing({ ...which, role: readOneOf("--role", role, ROLES) });
				if (output.json) return output.value(done);
				output.line(`${nameOf(done)} on ${done.platform} is let in as ${done.role ?? "member"}.`);
			}),
		);
}

const APPROVE_EXAMPLES = `
Somebody unknown who writes to the bot is sent a code of 8 characters, which holds for an hour. After five wrong codes none is taken
for an hour on that platform.

Examples:
  $ keryx pair approve telegram K7MPQ2XA
  $ keryx pair approve telegram K7MPQ2XA --role guest
  $ keryx pair approve telegram 3

Exit codes: 0 done, 1 failure (wrong code, too late), 2 wrong usage.`;

function addDeny(parent: Command, context: CliContext): void {
	parent
		.command("deny")
		.allowExcessArguments(false)
		.description("refuse a request, or send away somebody who was let in")
		.argument("<platform>", "where they wrote")
		.argument("<code>", "as they were sent it, or the number of `keryx pair list`")
		.addHelpText("after", DENY_EXAMPLES)
		.action((platform: string, code: string) =>
			withConnection(context, "change", async ({ client, output }) => {
				const done = await client.denyPairing(refOf(platform, code));
				if (output.json) return output.value(done);
				output.line(
					done.state === "denied"
						? `The request of ${nameOf(done)} on ${done.platform} is refused. They are told nothing.`
						: `${nameOf(done)} on ${done.platform} may not write here any more.`,
				);
			}),
		);
}

const DENY_EXAMPLES = `
Examples:
  $ keryx pair deny telegram K7MPQ2XA
  $ keryx pair deny telegram 3

Exit codes: 0 done, 1 failure (wrong code, decided before), 2 wrong usage.`;

/** A code has letters in it, or 8 digits: a shorter number is one of the list. */
function refOf(
	platform: string,
	code: string,
): { platform: string; n: number } | { platform: string; code: string } {
	if (/^\d{1,7}$/.test(code)) return { platform, n: readCount("<code>", code, [1, MOST]) };
	if (code.trim() === "")
		throw new KeryxError("usage.invalid", "<code> must not be empty", { field: "code" });
	return { platform, code };
}

function nameOf({ name, id }: { readonly name: string | null; readonly id: string }): string {
	return name === null ? id : `${name} (${id})`;
}
