// `keryx pair`: strangers who asked for access, by their code.

import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { readCount, readOneOf } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";
import { texts } from "../texts.ts";

const ROLES = ["owner", "member", "guest"] as const;
const MOST = Number.MAX_SAFE_INTEGER;

export function addPair(program: Command, context: CliContext): void {
	const pair = addGroup(program, "pair", texts.pair.about);
	addList(pair, context);
	addApprove(pair, context);
	addDeny(pair, context);
}

function addList(parent: Command, context: CliContext): void {
	parent
		.command("list")
		.allowExcessArguments(false)
		.description(texts.pair.list.about)
		.addHelpText("after", LIST_EXAMPLES)
		.action(() => runList(context));
}

const LIST_EXAMPLES = texts.pair.list.help;

function runList(context: CliContext): Promise<void> {
	return withConnection(context, "read", async ({ client, output }) => {
		const { pairings } = await client.pairings({});
		if (output.json) return output.value({ pairings });
		if (pairings.length === 0) return output.note(texts.pair.list.none);
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
		.description(texts.pair.approve.about)
		.argument("<platform>", texts.pair.platform)
		.argument("<code>", texts.pair.code)
		.option("--role <role>", texts.pair.role(ROLES.join(", ")), "member")
		.addHelpText("after", APPROVE_EXAMPLES)
		.action((platform: string, code: string, { role }: { readonly role: string }) =>
			withConnection(context, "change", async ({ client, output }) => {
				const which = refOf(platform, code);
				const done = await client.approvePairing({ ...which, role: readOneOf("--role", role, ROLES) });
				if (output.json) return output.value(done);
				output.line(texts.pair.approve.done(nameOf(done), done.platform, done.role ?? "member"));
			}),
		);
}

const APPROVE_EXAMPLES = texts.pair.approve.help;

function addDeny(parent: Command, context: CliContext): void {
	parent
		.command("deny")
		.allowExcessArguments(false)
		.description(texts.pair.deny.about)
		.argument("<platform>", texts.pair.platform)
		.argument("<code>", texts.pair.code)
		.addHelpText("after", DENY_EXAMPLES)
		.action((platform: string, code: string) =>
			withConnection(context, "change", async ({ client, output }) => {
				const done = await client.denyPairing(refOf(platform, code));
				if (output.json) return output.value(done);
				output.line(
					done.state === "denied"
						? texts.pair.deny.done(nameOf(done), done.platform)
						: texts.pair.deny.removed(nameOf(done), done.platform),
				);
			}),
		);
}

const DENY_EXAMPLES = texts.pair.deny.help;

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
