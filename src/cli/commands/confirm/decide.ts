// `keryx confirm approve` and `deny`. An approval is for exact arguments: they are shown first, and a person must agree.

import type { Command } from "commander";
import { GRANT_SCOPES, type GrantScope } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { ConfirmAnswer, WireConfirmation } from "../../../http/index.ts";
import type { CliContext } from "../../context.ts";
import { assertOutside } from "../../inside.ts";
import { readOneOf, readTime } from "../../io/arguments.ts";
import { readText } from "../../io/read-text.ts";
import { texts } from "../../texts.ts";
import { addDbPath, type DbPathFlag, type Reached, withKeeper } from "../confirmd/reach.ts";
import { assertYes, canAsk } from "./asking.ts";
import { ask } from "./calls.ts";
import { confirmationId } from "./find.ts";
import { confirmationOf } from "./show.ts";
import { printArguments, printQuestion } from "./text.ts";

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
		.description(texts.confirm.approve.about)
		.argument("<id>", texts.confirm.id)
		.option("--reason <text>", texts.confirm.approve.reason)
		.option("--grant <scope>", texts.confirm.approve.grant(GRANT_SCOPES.join(", ")))
		.option("--until <time>", texts.confirm.approve.until)
		.option("--edit <file>", texts.confirm.approve.edit)
		.option("--yes", texts.confirm.approve.yes);
	addDbPath(command)
		.addHelpText("after", APPROVE_EXAMPLES)
		.action((id: string, flags: ApproveFlags) => runApprove(context, id, flags));
}

const APPROVE_EXAMPLES = texts.confirm.approve.help;

export function addDeny(parent: Command, context: CliContext): void {
	const command = parent
		.command("deny")
		.allowExcessArguments(false)
		.description(texts.confirm.deny.about)
		.argument("<id>", texts.confirm.id)
		.option("--reason <text>", texts.confirm.deny.reason);
	addDbPath(command)
		.addHelpText("after", DENY_EXAMPLES)
		.action((id: string, flags: DenyFlags) => runDeny(context, id, flags));
}

const DENY_EXAMPLES = texts.confirm.deny.help;

async function runApprove(context: CliContext, given: string, flags: ApproveFlags): Promise<void> {
	assertOutside(context);
	const asks = !flags.yes;
	if (asks && (flags.edit === "-" || !canAsk(context)))
		throw new KeryxError("usage.invalid", texts.confirm.yesRequired, {
			hint: texts.confirm.approve.yesHint,
		});
	const grant = readGrant(flags, context.now());
	const edited = flags.edit === undefined ? undefined : await readDetails(flags.edit, context);
	await withKeeper(context, "change", flags, async (reached) => {
		const { client, output } = reached;
		const id = await confirmationId(client, given, "pending");
		const asked = await confirmationOf(client, id);
		if (!output.json) {
			printQuestion(output, asked, context.now());
			if (edited) printArguments(output, texts.confirm.approve.edited, edited);
		}
		// An already decided one needs no question: the answer below says so.
		if (asks && asked.status === "pending")
			await assertYes(context, texts.confirm.approve.question, texts.confirm.approve.stillWaiting(id, id));
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
	decided: ConfirmAnswer<"confirmApprove" | "confirmDeny">,
): void {
	const { id, action, status, resolved_by } = decided;
	if (output.json) output.value(decided);
	else output.line(texts.confirm.decided(id, action, status, resolved_by));
	if (!isRunning && asked.asked_by.startsWith("agent:")) output.note(texts.confirm.notRunning);
}

interface GrantWish {
	readonly scope: GrantScope;
	/** Epoch seconds. */
	readonly until?: number;
}

function readGrant({ grant, until }: ApproveFlags, now: number): GrantWish | undefined {
	if (grant === undefined) {
		if (until === undefined) return undefined;
		throw new KeryxError("usage.invalid", texts.confirm.approve.untilNeedsGrant);
	}
	const scope = readOneOf("--grant", grant, GRANT_SCOPES);
	if (until === undefined) return { scope };
	const end = readUntil(until, now);
	if (end > now) return { scope, until: end / 1000 };
	throw new KeryxError("argument.invalid", texts.confirm.approve.untilPast, {
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
	throw new KeryxError("input.invalid", texts.confirm.approve.notObject(name), {
		hint: texts.confirm.approve.notObjectHint,
	});
}

function parse(text: string, name: string): unknown {
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw new KeryxError("input.invalid", texts.confirm.approve.notJson(name, (cause as Error).message), {
			cause,
		});
	}
}
