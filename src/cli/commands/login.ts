// `keryx login`: links that log in people with their own role, the list of logins, and logging out.

import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { running, withConnection } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { readOneOf } from "../io/arguments.ts";
import { refuseUnknown } from "../io/group.ts";
import { texts } from "../texts.ts";

const ROLES = ["owner", "member", "guest"] as const;

interface OfferFlags {
	readonly for?: string;
	readonly role: string;
}

export function addLogin(program: Command, context: CliContext): void {
	const login = program
		.command("login")
		.description(texts.login.about)
		.allowExcessArguments()
		.option("--for <person>", texts.login.for)
		.option("--role <role>", texts.login.role(ROLES.join(", ")), "member")
		.addHelpText("after", OFFER_EXAMPLES)
		.action(async (flags: OfferFlags, command: Command) => {
			await refuseUnknown(command);
			await runOffer(context, flags);
		});
	addList(login, context);
	addRevoke(login, context);
}

const OFFER_EXAMPLES = texts.login.help;

async function runOffer(context: CliContext, flags: OfferFlags): Promise<void> {
	if (flags.for === undefined) throw new KeryxError("usage.invalid", texts.login.who);
	const role = readOneOf("--role", flags.role, ROLES);
	const { output } = openConfig(context);
	assertOutside(context);
	const client = await running(context);
	if (!client)
		throw new KeryxError("gateway.stopped", texts.link.notRunning, { hint: texts.link.notRunningHint });
	const { url, path, person } = await client.offerLogin({ person: flags.for, role });
	if (url === null)
		throw new KeryxError("gateway.stopped", texts.link.noPort, { hint: texts.link.noPortHint });
	if (output.json) return output.value({ url, path, person, role });
	output.line(url);
	if (output.isTerminal) output.note(texts.login.open(person, role));
}

function addList(parent: Command, context: CliContext): void {
	parent
		.command("list")
		.allowExcessArguments(false)
		.description(texts.login.list.about)
		.addHelpText("after", LIST_EXAMPLES)
		.action(() =>
			withConnection(context, "read", async ({ client, output }) => {
				const { logins } = await client.logins({});
				if (output.json) return output.value({ logins });
				if (logins.length === 0) return output.note(texts.login.list.none);
				output.table(
					["id", "person", "role", "state", "made", "until"],
					logins.map(({ id, person, role, state, created_at, expires_at }) => [
						id,
						person ?? texts.login.list.operator,
						role,
						state,
						created_at,
						expires_at ?? "",
					]),
					{ elastic: [1] },
				);
			}),
		);
}

const LIST_EXAMPLES = texts.login.list.help;

function addRevoke(parent: Command, context: CliContext): void {
	parent
		.command("revoke")
		.allowExcessArguments(false)
		.description(texts.login.revoke.about)
		.argument("<person or id>", texts.login.revoke.which)
		.addHelpText("after", REVOKE_EXAMPLES)
		.action((which: string) =>
			withConnection(context, "change", async ({ client, output }) => {
				const { logins } = await client.logins({});
				const isId = logins.some(({ id }) => id === which);
				const { person, ended } = await client.revokeLogins(isId ? { id: which } : { person: which });
				if (output.json) return output.value({ person, ended });
				output.line(texts.login.revoke.done(which, ended));
			}),
		);
}

const REVOKE_EXAMPLES = texts.login.revoke.help;
