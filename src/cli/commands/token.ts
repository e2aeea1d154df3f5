// `keryx token`: what programs and people that come over the network show. One is printed once; only its digest is kept.
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { readCount, readOneOf } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";
import { addDbPath, type DbPathFlag, noteOther, withKeeper } from "./confirmd/reach.ts";

const ROLES = ["operator", "approver", "agent", "reader"] as const;
const MOST_DAYS = 3650;

interface CreateFlags extends DbPathFlag {
	readonly role: string;
	readonly conversation?: string;
	readonly days?: string;
}

export function addToken(program: Command, context: CliContext): void {
	const token = addGroup(program, "token", "tokens for programs and people that use the API");
	addCreate(token, context);
	addList(token, context);
	addRevoke(token, context);
}

function addCreate(parent: Command, context: CliContext): void {
	const command = parent
		.command("create")
		.allowExcessArguments(false)
		.description("make a token; it is printed this once")
		.argument("<name>", "its own for ever: the audit names its holder by it")
		.requiredOption("--role <role>", `what its holder may do: ${ROLES.join(", ")}`)
		.option("--conversation <key>", "the one conversation that its holder may name")
		.option("--days <n>", `how long it holds, 1 to ${MOST_DAYS}; for ever if not given`);
	addDbPath(command)
		.addHelpText("after", CREATE_EXAMPLES)
		.action((name: string, flags: CreateFlags) => runCreate(context, name, flags));
}

const CREATE_EXAMPLES = `
  operator   everything, tokens too
  approver   a human who answers confirmations
  agent      a program that asks; it never answers
  reader     looks, and changes nothing

When piped, stdout holds the token and nothing else.

Examples:
  $ keryx token create ci --role agent --days 90
  $ keryx token create ann-phone --role approver
  $ keryx token create shop --role agent --conversation agent:main:telegram:dm:42
  $ keryx token create ci --role agent > ci.token

Exit codes: 0 done, 1 failure (the name is or was taken), 2 wrong usage.`;

async function runCreate(context: CliContext, name: string, flags: CreateFlags): Promise<void> {
	const role = readOneOf("--role", flags.role, ROLES);
	const days = flags.days === undefined ? undefined : readCount("--days", flags.days, [1, MOST_DAYS]);
	await withKeeper(context, "change", flags, async ({ client, output }) => {
		const made = await client.createToken({
			name,
			role,
			...(flags.conversation !== undefined && { session_key: flags.conversation }),
			...(days !== undefined && { days }),
		});
		if (output.json) return output.value(made);
		output.line(made.token);
		if (output.isTerminal)
			output.note(
				`That is the token ${name}, of role ${role}${made.expires_at === null ? "" : `, until ${made.expires_at}`}. It is not shown again: send it as "Authorization: Bearer <token>".`,
			);
	});
}

function addList(parent: Command, context: CliContext): void {
	const command = parent
		.command("list")
		.allowExcessArguments(false)
		.description("the tokens there are and were, oldest first; never a token itself");
	addDbPath(command)
		.addHelpText("after", LIST_EXAMPLES)
		.action((flags: DbPathFlag) => runList(context, flags));
}

const LIST_EXAMPLES = `
Examples:
  $ keryx token list
  $ keryx token list --json

Columns: name, state (holds, over, revoked), role, conversation, made, by, until.
Exit codes: 0 done, 1 failure, 2 wrong usage.`;

function runList(context: CliContext, flags: DbPathFlag): Promise<void> {
	return withKeeper(context, "read", flags, async ({ client, output }) => {
		const { tokens } = await client.tokens({});
		if (output.json) return output.value({ tokens });
		if (tokens.length === 0) {
			output.note("There is no token: `keryx token create` makes one.");
			return noteOther(context, flags, output);
		}
		output.table(
			["name", "state", "role", "conversation", "made", "by", "until"],
			tokens.map(({ name, role, session_key, created_at, created_by, expires_at, revoked_at }) => [
				name,
				stateOf({ expires_at, revoked_at }, context.now()),
				role,
				session_key ?? "",
				created_at,
				created_by,
				expires_at ?? "",
			]),
			{ elastic: [3] },
		);
	});
}

function stateOf(
	{ expires_at, revoked_at }: { expires_at: string | null; revoked_at: string | null },
	now: number,
): "holds" | "over" | "revoked" {
	if (revoked_at !== null) return "revoked";
	return expires_at !== null && Date.parse(expires_at) <= now ? "over" : "holds";
}

function addRevoke(parent: Command, context: CliContext): void {
	const command = parent
		.command("revoke")
		.allowExcessArguments(false)
		.description("end a token at once")
		.argument("<name>", "its name");
	addDbPath(command)
		.addHelpText("after", REVOKE_EXAMPLES)
		.action((name: string, flags: DbPathFlag) => runRevoke(context, name, flags));
}

const REVOKE_EXAMPLES = `
What its holder asked for stays; its name cannot be given again.

Examples:
  $ keryx token revoke ci

Exit codes: 0 done, 1 failure (no such token, or revoked before), 2 wrong usage.`;

function runRevoke(context: CliContext, name: string, flags: DbPathFlag): Promise<void> {
	return withKeeper(context, "change", flags, async ({ client, output }) => {
		const { revoked } = await client.revokeToken({ name });
		if (!revoked)
			throw new KeryxError("store.not_found", `the token ${name} was revoked before`, {
				field: "name",
				hint: "there is nothing left to do",
			});
		if (output.json) return output.value({ name, revoked });
		output.line(`The token ${name} is revoked: whoever shows it is refused from now on.`);
	});
}
