// `keryx token`: credentials for programs and people on the network. Printed once; only the digest is stored.

import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { readCount, readOneOf } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";
import { texts } from "../texts.ts";
import { addDbPath, type DbPathFlag, noteOther, withKeeper } from "./confirmd/reach.ts";

const ROLES = ["operator", "approver", "agent", "reader", "channel"] as const;
const MOST_DAYS = 3650;

interface CreateFlags extends DbPathFlag {
	readonly role: string;
	readonly conversation?: string;
	readonly channel?: string;
	readonly days?: string;
}

export function addToken(program: Command, context: CliContext): void {
	const token = addGroup(program, "token", texts.token.about);
	addCreate(token, context);
	addList(token, context);
	addRevoke(token, context);
}

function addCreate(parent: Command, context: CliContext): void {
	const command = parent
		.command("create")
		.allowExcessArguments(false)
		.description(texts.token.create.about)
		.argument("<name>", texts.token.create.name)
		.requiredOption("--role <role>", texts.token.create.role(ROLES.join(", ")))
		.option("--conversation <key>", texts.token.create.conversation)
		.option("--channel <name>", texts.token.create.channel)
		.option("--days <n>", texts.token.create.days(MOST_DAYS));
	addDbPath(command)
		.addHelpText("after", CREATE_EXAMPLES)
		.action((name: string, flags: CreateFlags) => runCreate(context, name, flags));
}

const CREATE_EXAMPLES = texts.token.create.help;

async function runCreate(context: CliContext, name: string, flags: CreateFlags): Promise<void> {
	const role = readOneOf("--role", flags.role, ROLES);
	const days = flags.days === undefined ? undefined : readCount("--days", flags.days, [1, MOST_DAYS]);
	await withKeeper(context, "change", flags, async ({ client, output }) => {
		const made = await client.createToken({
			name,
			role,
			...(flags.conversation !== undefined && { session_key: flags.conversation }),
			...(flags.channel !== undefined && { channel: flags.channel }),
			...(days !== undefined && { days }),
		});
		if (output.json) return output.value(made);
		output.line(made.token);
		if (output.isTerminal)
			output.note(
				texts.token.create.done(
					name,
					role,
					made.expires_at === null ? "" : texts.token.create.until(made.expires_at),
				),
			);
	});
}

function addList(parent: Command, context: CliContext): void {
	const command = parent.command("list").allowExcessArguments(false).description(texts.token.list.about);
	addDbPath(command)
		.addHelpText("after", LIST_EXAMPLES)
		.action((flags: DbPathFlag) => runList(context, flags));
}

const LIST_EXAMPLES = texts.token.list.help;

function runList(context: CliContext, flags: DbPathFlag): Promise<void> {
	return withKeeper(context, "read", flags, async ({ client, output }) => {
		const { tokens } = await client.tokens({});
		if (output.json) return output.value({ tokens });
		if (tokens.length === 0) {
			output.note(texts.token.list.none);
			return noteOther(context, flags, output);
		}
		output.table(
			["name", "state", "role", "for", "made", "by", "until"],
			tokens.map(({ name, role, session_key, channel, created_at, created_by, expires_at, revoked_at }) => [
				name,
				stateOf({ expires_at, revoked_at }, context.now()),
				role,
				session_key ?? channel ?? "",
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
): "valid" | "expired" | "revoked" {
	if (revoked_at !== null) return "revoked";
	return expires_at !== null && Date.parse(expires_at) <= now ? "expired" : "valid";
}

function addRevoke(parent: Command, context: CliContext): void {
	const command = parent
		.command("revoke")
		.allowExcessArguments(false)
		.description(texts.token.revoke.about)
		.argument("<name>", texts.token.revoke.name);
	addDbPath(command)
		.addHelpText("after", REVOKE_EXAMPLES)
		.action((name: string, flags: DbPathFlag) => runRevoke(context, name, flags));
}

const REVOKE_EXAMPLES = texts.token.revoke.help;

function runRevoke(context: CliContext, name: string, flags: DbPathFlag): Promise<void> {
	return withKeeper(context, "change", flags, async ({ client, output }) => {
		const { revoked } = await client.revokeToken({ name });
		if (!revoked)
			throw new KeryxError("store.not_found", texts.token.revoke.already(name), {
				field: "name",
				hint: texts.nothingToDo,
			});
		if (output.json) return output.value({ name, revoked });
		output.line(texts.token.revoke.done(name));
	});
}
