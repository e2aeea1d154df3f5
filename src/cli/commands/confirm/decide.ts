// `keryx confirm approve` and `deny`. An approval is given to exact arguments: they are shown first, and somebody has to say yes to them.
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { ConfirmAnswer, WireConfirmation } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import { assertOutside } from "../../inside.ts";
import { readOneOf, readTime } from "../../io/arguments.ts";
import { readText } from "../../io/read-text.ts";
import { addDbPath, type DbPathFlag, type Reached, withKeeper } from "../confirmd/reach.ts";
import { assertYes, canAsk } from "./asking.ts";
import { ask } from "./calls.ts";
import { confirmationId } from "./find.ts";
import { confirmationOf } from "./show.ts";
import { printArguments, printQuestion } from "./text.ts";

const SCOPES = ["session", "conversation", "always"] as const;

interface DenyFlags extends DbPathFlag {
	readonly reason?: string;
}

interface ApproveFlags extends DenyFlags {
	readonly grant?: string;
	readonly until?: string;
	readonly edit?: string;
	readonly yes?: boolean;
}

/** As the API answers. */
export function addApprove(parent: Command, context: CliContext): void {
	const command = parent
		.command("approve")
		.allowExcessArguments(false)
		.description("say yes to exactly this")
		.argument("<id>", "its id, or the beginning of it")
		.option("--reason <text>", "why; it is kept in the audit")
		.option("--grant <scope>", `say yes to the same action from now on: ${SCOPES.join(", ")}`)
		.option("--until <time>", "how long the grant holds: 30m, 2h, 7d, or an ISO 8601 time")
		.option("--edit <file>", "approve these arguments instead, a JSON object; - reads stdin")
		.option("--yes", "do not ask again; needed where nobody can be asked");
	addDbPath(command)
		.addHelpText("after", APPROVE_EXAMPLES)
		.action((id: string, flags: ApproveFlags) => runApprove(context, id, flags));
}

const APPROVE_EXAMPLES = `
On a terminal it shows the exact arguments and asks. In a script, with --json or with --edit - nobody can be
asked: there --yes is needed.

A grant of scope session holds for the same asker until the conversation's session ends, conversation for the
same asker in the same conversation, always for the same asker everywhere. Some actions are asked about every
time: confirmations.always_confirm.

Examples:
  $ keryx confirm approve 1f3a90bc77aa
  $ keryx confirm approve 1f3 --reason "after the backup" --yes
  $ keryx confirm approve 1f3 --grant conversation --until 2h
  $ keryx confirm approve 1f3 --edit smaller.json

Exit codes: 0 approved, 1 failure (no such confirmation, decided already, its time has passed, you said no),
2 wrong usage.`;

export function addDeny(parent: Command, context: CliContext): void {
	const command = parent
		.command("deny")
		.allowExcessArguments(false)
		.description("say no")
		.argument("<id>", "its id, or the beginning of it")
		.option("--reason <text>", "why; the asker is told");
	addDbPath(command)
		.addHelpText("after", DENY_EXAMPLES)
		.action((id: string, flags: DenyFlags) => runDeny(context, id, flags));
}

const DENY_EXAMPLES = `
Examples:
  $ keryx confirm deny 1f3a90bc77aa
  $ keryx confirm deny 1f3 --reason "use the staging system"

Exit codes: 0 denied, 1 failure (no such confirmation, decided already, its time has passed), 2 wrong usage.`;

async function runApprove(context: CliContext, given: string, flags: ApproveFlags): Promise<void> {
	assertOutside(context);
	const asks = !flags.yes;
	if (asks && (flags.edit === "-" || !canAsk(context)))
		throw new KeryxError("usage.invalid", "--yes must be given where nobody can be asked", {
			hint: "look at it with `keryx confirm show`, then give --yes",
		});
	const grant = readGrant(flags, context.now());
	const edited = flags.edit === undefined ? undefined : await readDetails(flags.edit, context);
	await withKeeper(context, "change", flags, async (reached) => {
		const { client, output } = reached;
		const id = await confirmationId(client, given, "pending");
		const asked = await confirmationOf(client, id);
		if (!output.json) {
			printQuestion(output, asked, context.now());
			if (edited) printArguments(output, "arguments to approve instead", edited);
		}
		// One that is decided already needs no question: the answer below says so.
		if (asks && asked.status === "pending")
			await assertYes(
				context,
				"Approve exactly this?",
				`${id} still waits; \`keryx confirm deny ${id}\` says no`,
			);
		const decided = await ask(client, "confirmApprove", {
			id,
			body: {
				...(flags.reason !== undefined && { reason: flags.reason }),
				...(grant && { grant }),
				...(edited && { edited_details: edited }),
			},
		});
		tell(reached, asked, decided);
	});
}

async function runDeny(context: CliContext, given: string, flags: DenyFlags): Promise<void> {
	assertOutside(context);
	await withKeeper(context, "change", flags, async (reached) => {
		const id = await confirmationId(reached.client, given, "pending");
		const asked = await confirmationOf(reached.client, id);
		const body = flags.reason === undefined ? {} : { reason: flags.reason };
		tell(reached, asked, await ask(reached.client, "confirmDeny", { id, body }));
	});
}

function tell(
	{ output, isRunning }: Reached,
	asked: WireConfirmation,
	decided: ConfirmAnswer<"confirmApprove">,
): void {
	const { id, action, status, resolved_by } = decided;
	if (output.json) output.value(decided);
	else output.line(`${id} (${action}) is ${status} by ${resolved_by}.`);
	if (!isRunning && asked.asked_by.startsWith("agent:"))
		output.note("Keryx does not run: its agent learns of this when it runs again.");
}

interface GrantWish {
	readonly scope: (typeof SCOPES)[number];
	/** Epoch seconds. */
	readonly until?: number;
}

function readGrant({ grant, until }: ApproveFlags, now: number): GrantWish | undefined {
	if (grant === undefined) {
		if (until === undefined) return undefined;
		throw new KeryxError("usage.invalid", "--until says how long a grant holds: give --grant too");
	}
	const scope = readOneOf("--grant", grant, SCOPES);
	if (until === undefined) return { scope };
	const end = readUntil(until, now);
	if (end > now) return { scope, until: end / 1000 };
	throw new KeryxError("argument.invalid", "--until must be a time that is yet to come", {
		field: "--until",
	});
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function readUntil(text: string, now: number): number {
	const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
	if (count !== undefined) return now + Number(count) * UNITS[unit as keyof typeof UNITS];
	return readTime("--until", text);
}

async function readDetails(path: string, context: CliContext): Promise<Readonly<Record<string, unknown>>> {
	const name = path === "-" ? "stdin" : path;
	const details = parse(await readText(path, context), name);
	if (typeof details === "object" && details !== null && !Array.isArray(details))
		return details as Readonly<Record<string, unknown>>;
	throw new KeryxError("input.invalid", `${name} must hold a JSON object: the arguments`, {
		hint: "begin with `details` of `keryx confirm show <id> --json`",
	});
}

function parse(text: string, name: string): unknown {
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw new KeryxError("input.invalid", `${name} is not JSON: ${(cause as Error).message}`, { cause });
	}
}
