// Runs the calls of one step. "Started" is committed before a call that must not be repeated, so a crash leaves an unknown outcome and
// never a second effect. Whatever a tool does, the result is a row.
import { createHash } from "node:crypto";
import {
	actionName,
	canonicalJson,
	INTERRUPTED_RESULT,
	type Message,
	type NewMessage,
	type ToolCall,
} from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Store } from "../../store/index.ts";
import { Aborted, type Clock, DeadlinePassed, Pauses, signalWithin, within } from "../../time/index.ts";
import {
	type ConfirmationQuestion,
	OWNER_ONLY,
	type PreparedCall,
	type ToolContext,
	type ToolRegistry,
} from "../../tools/index.ts";
import type { Asked, Waiting } from "./asking.ts";
import { storeAttachments } from "./attachments/attachments.ts";

export interface CallOutcome {
	readonly message: NewMessage;
	readonly digest: string;
	readonly failed: boolean;
	/** Blobs that the message refers to and its row must adopt. */
	readonly blobs?: readonly string[];
	readonly endsTurn?: string;
	/** Call it once the message is committed. */
	readonly stored?: () => void;
	/** A human is asked; that row is written, and this message must not be. */
	readonly waiting?: Waiting;
}

/** The same tool with the same arguments, in any key order. */
export function callDigest({ name, input }: ToolCall): string {
	const canonical = canonicalJson(input);
	// Arguments without a canonical form are compared as written.
	const args = canonical.kind === "json" ? canonical.text : JSON.stringify(input);
	return createHash("sha256").update(`${name} ${args}`).digest("hex");
}

/** Calls of a turn's last assistant row without a result. */
export function unansweredCalls(rows: readonly Message[], turn: string): readonly ToolCall[] {
	const own = rows.filter((row) => row.turn === turn && !row.hidden);
	const last = own.findLast((row) => row.role === "assistant");
	const answered = new Set(own.filter((row) => row.role === "tool").map((row) => row.toolCallId));
	return (last?.toolCalls ?? []).filter((call) => !answered.has(call.id));
}

/** After an interruption: a started call that must not be repeated keeps its unknown outcome. */
export function interruptedCall(call: ToolCall): CallOutcome {
	return result(call, INTERRUPTED_RESULT, true);
}

/** The people the turn speaks for may do less than when it began. */
export function revokedCall(call: ToolCall): CallOutcome {
	return result(
		call,
		"Not done: the person this is for has lost rights since you began. Their next message is answered with the rights they have.",
		true,
	);
}

/** A secret was written out: what is stored, shown and run would differ (I12). */
export function literalCall(call: ToolCall): CallOutcome {
	return result(
		call,
		`The arguments contain a known secret, so nothing was done. Write ${SECRET} instead.`,
		true,
	);
}

const SECRET = "\u0024{secret:NAME}";

export interface CallEnvironment {
	readonly store: Store;
	readonly tools: ToolRegistry;
	readonly clock: Clock;
	readonly toolMs: number;
	readonly turn: { readonly id: string; readonly token: number };
	readonly context: Omit<ToolContext, "call" | "approved" | "now" | "signal" | "interrupted">;
	/** Read per call: the signal is replaced after a join. */
	readonly interrupted: () => AbortSignal;
	readonly signal: AbortSignal;
	/** Before a call that changes files. Throws Aborted if the turn is stopped meanwhile. */
	readonly beforeFiles: () => Promise<void>;
	/** Whether the call may run, or who must approve it. */
	readonly ask: (call: ToolCall, question: ConfirmationQuestion | null) => Promise<Asked>;
}

/** Throws Aborted if the turn is stopped meanwhile; the call's late outcome is ignored. */
export async function runCall(call: ToolCall, environment: CallEnvironment): Promise<CallOutcome> {
	const { store, tools, turn } = environment;
	const tool = tools.find(call.name);
	if (!tool)
		return result(
			call,
			`There is no tool named ${call.name}. Tools: ${tools.names.join(", ") || "none"}.`,
			true,
		);
	const prepared = tool.prepare(call.input);
	if ("problem" in prepared)
		return result(call, `The arguments for ${call.name} are not valid:\n${prepared.problem}`, true);
	const question = named(await prepared.question(environment.context));
	const asked = await environment.ask(call, question);
	if (asked.kind === "refused") return result(call, asked.why, true);
	if (asked.kind === "waiting") return { ...result(call, "", false), waiting: asked.waiting };
	// Before "started": after a crash here, the call has not started.
	if (prepared.changesFiles(environment.context)) await environment.beforeFiles();
	refuseStopped(environment.signal);
	if (!tool.repeatable && !asked.started)
		await store.startCall({
			turn: turn.id,
			token: turn.token,
			call: call.id,
			tool: call.name,
			repeatable: false,
		});
	return run(call, prepared, question?.action ?? null, environment);
}

/** With the action as it is stored, and named to the tool once it is approved. One that is no name is refused when it is asked about. */
function named(question: ConfirmationQuestion | null): ConfirmationQuestion | null {
	return question && { ...question, action: actionName(question.action) ?? question.action };
}

/**
 * An approved call; "started" is already committed. Its arguments are those that were shown, or as the approver edited them: what only the
 * owner may allow needs a question of its own (I14).
 */
export async function runApproved(
	call: ToolCall,
	approved: string,
	environment: Omit<CallEnvironment, "ask">,
): Promise<CallOutcome> {
	const prepared = environment.tools.find(call.name)?.prepare(call.input);
	if (!prepared) return result(call, `The tool ${call.name} no longer exists. Nothing was done.`, true);
	if ("problem" in prepared)
		return result(call, `The arguments for ${call.name} are not valid:\n${prepared.problem}`, true);
	const needs = named(await prepared.question(environment.context))?.action ?? null;
	if (needs !== null && needs !== approved && OWNER_ONLY.has(needs))
		return result(
			call,
			`This needs the owner's approval of ${needs}, and ${approved} was approved. Nothing was done. Ask again.`,
			true,
		);
	if (prepared.changesFiles(environment.context)) await environment.beforeFiles();
	return run(call, prepared, approved, environment);
}

async function run(
	call: ToolCall,
	prepared: PreparedCall,
	approved: string | null,
	environment: Omit<CallEnvironment, "ask">,
): Promise<CallOutcome> {
	const { store, clock } = environment;
	await untilHeld(environment);
	const { signal, end } = signalWithin(environment.signal);
	try {
		const running = prepared.run({
			...environment.context,
			call: call.id,
			approved,
			now: clock.now(),
			signal,
			interrupted: environment.interrupted(),
		});
		const { isError, endsTurn, stored, ...answer } = await within(running, {
			clock,
			ms: environment.toolMs,
			signal: environment.signal,
		});
		const { content, blobs } = await storeAttachments(store, answer.content);
		return {
			...result(call, content, isError ?? false),
			...(blobs.length > 0 && { blobs }),
			...(endsTurn !== undefined && { endsTurn }),
			...(stored && { stored }),
		};
	} catch (error) {
		if (error instanceof Aborted || environment.signal.aborted) throw new Aborted();
		if (error instanceof DeadlinePassed)
			return result(
				call,
				`${call.name} took longer than allowed, so Keryx stopped waiting. It may or may not have been done.`,
				true,
			);
		if (error instanceof KeryxError) return result(call, `${error.message} (${error.code})`, true);
		return result(
			call,
			`${call.name} failed: ${error instanceof Error ? error.message : String(error)}`,
			true,
		);
	} finally {
		end();
	}
}

/** No call begins in a stopped turn, and no approval is used. Throws Aborted. */
export function refuseStopped(signal: AbortSignal): void {
	if (signal.aborted) throw new Aborted();
}

/**
 * Another gateway may have taken over, and be about to run the call: then this turn is stopped here. If the lease was only away for a
 * moment, it goes on; nobody has stopped it.
 */
async function untilHeld({
	store,
	clock,
	signal,
}: Pick<CallEnvironment, "store" | "clock" | "signal">): Promise<void> {
	const pauses = new Pauses({ clock, signal });
	while (!signal.aborted && store.cluster?.holdsLease === false) await pauses.next();
	refuseStopped(signal);
}

function result(call: ToolCall, content: NewMessage["content"], isError: boolean): CallOutcome {
	return {
		message: { role: "tool", content, toolCallId: call.id, toolName: call.name, ...(isError && { isError }) },
		digest: callDigest(call),
		failed: isError,
	};
}
