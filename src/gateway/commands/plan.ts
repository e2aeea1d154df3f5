// What a command is about to do, decided from its message and the sender's rights, and how its result is said. Nothing is written here.
import { KeryxError } from "../../errors.ts";
import type { EndedRestore } from "../../store/index.ts";
import type { RestoreRequest } from "../files/rewind.ts";
import type { Authorisation } from "../inbox/authorise.ts";
import { assertProof } from "../inbox/proof.ts";
import type { Choice } from "../outbox/question.ts";
import { SENT_AWAY } from "../sentences.ts";
import { texts } from "../texts.ts";
import type { Change, ChangeName } from "./changes.ts";
import { type Command, type CommandContext, type CommandList, type Listing, mayUse } from "./index.ts";

/** A list expires after a day. */
const CHOICES_MS = 86_400_000;

/** A command's plan: change something, restore files, or only answer. */
export type Plan = { readonly name: string } & (
	| { readonly change: Change }
	| { readonly restore: RestoreRequest }
	| { readonly said: string | Listing }
);

export async function planOf(
	{ called, authorisation }: { readonly called: string; readonly authorisation: Authorisation },
	commands: CommandList,
	context: CommandContext,
): Promise<Plan> {
	const command = commands.find(called);
	if (!command) return { name: "unknown", said: commands.noSuch(called) };
	const { name } = command;
	if (authorisation.kind === "refused") return { name, said: SENT_AWAY };
	if (!mayUse(command, context.role)) return { name, said: texts.errors.notForYou(name) };
	try {
		if (command.asksForProof) await assertProof(name, context);
		const restore = (await command.files?.plan(context)) ?? null;
		if (restore !== null) return typeof restore === "string" ? { name, said: restore } : { name, restore };
		const plan = "tell" in command ? await command.tell(context) : await command.plan(context);
		if (typeof plan === "string" || isListing(plan)) return { name, said: plan };
		if (command.setting && !maySet(context)) return { name, said: notTheirs(name, context) };
		const change = { name: (command as Extract<Command, { change: ChangeName }>).change, args: plan.args };
		return { name, change: change as Change };
	} catch (error) {
		return { name, said: refusalOf(error) };
	}
}

function maySet({ role, conversation, principal }: CommandContext): boolean {
	if (role === "owner") return true;
	return !conversation.shared && principal !== null && conversation.principal === principal;
}

function notTheirs(name: string, { conversation }: CommandContext): string {
	return conversation.shared ? texts.errors.ownerOnlyShared(name) : texts.errors.ownerOnly(name);
}

/** A text if nothing was changed; otherwise the command describes its result. */
export async function inWords(
	command: Command | undefined,
	result: unknown,
	context: CommandContext,
): Promise<string> {
	if (isListing(result)) return result.text;
	if (typeof result === "string") return result;
	if (command?.files && isRestored(result)) return command.files.answer(result, context);
	if (!command || !("answer" in command)) throw new TypeError("a result without a command that explains it");
	return command.answer(result as never, context);
}

function isListing(result: unknown): result is Listing {
	return typeof result === "object" && result !== null && "choices" in result;
}

/** Only for the requester: these are their sessions. Two per row, because some platforms show few rows. */
export function choicesOf(result: unknown, { principal, now }: CommandContext): Choice[][] {
	if (principal === null || !isListing(result)) return [];
	const press = { principal, owner: false, until: now + CHOICES_MS };
	const all = result.choices.map((choice) => ({ ...choice, ...press }));
	return Array.from({ length: Math.ceil(all.length / 2) }, (_, row) => all.slice(row * 2, row * 2 + 2));
}

function isRestored(result: unknown): result is EndedRestore {
	return typeof result === "object" && result !== null && "report" in result;
}

export function isStoreTrouble(error: unknown): boolean {
	return error instanceof KeryxError && error.code.startsWith("store.") && !REFUSALS.has(error.code);
}

/** Errors of the request become its answer; store trouble is rethrown. */
export function refusalOf(error: unknown): string {
	if (!(error instanceof KeryxError) || isStoreTrouble(error)) throw error;
	return `${sentence(error.message)} ${sentence(error.hint)}`;
}

const REFUSALS: ReadonlySet<string> = new Set(["store.not_found", "store.unsupported"]);

function sentence(text: string): string {
	const upper = text.charAt(0).toUpperCase() + text.slice(1);
	return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
