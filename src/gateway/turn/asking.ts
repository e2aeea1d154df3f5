// Calls that need a human, for one turn. The question and its row are one commit. The outcome comes back as a separate turn, which marks
// the approval as used, commits that, and only then runs the call (I14). Nothing waits in memory, except an agent program that cannot
// continue without its answer.

import type { Permission } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { CallQuestion, Confirmations } from "../../confirmations/index.ts";
import { type Question, questionOf, questionText } from "../../confirmations/index.ts";
import {
	ACTION_ALPHABET,
	actionName,
	approvedCallResult,
	INTERRUPTED_RESULT,
	isAtLeast,
	type Message,
	type NewMessage,
	type Standing,
	type ToolCall,
} from "../../domain/index.ts";
import { type Confirmation, OPERATOR, type Store } from "../../store/index.ts";
import { type Patience, untilWritten } from "../../time/index.ts";
import { type ConfirmationQuestion, OWNER_ONLY, SEND_TO_OTHERS, WIDEN_WALL } from "../../tools/index.ts";
import type { TurnStart } from "./start.ts";

export interface AskingOptions {
	readonly store: Store;
	/** Null: nobody can be asked. */
	readonly confirmations: Confirmations | null;
	readonly mode: Config["approvals"]["mode"];
	readonly start: TurnStart;
	readonly now: () => number;
	/** The role of the people the turn speaks for. A guest cannot answer; the owner can. Only the owner allows a wider wall. */
	readonly standing: Standing;
	/** Facts the store needs when it is asked again. */
	readonly directStore: Store;
	readonly patience: Patience;
}

/** Rows written by asking. */
export interface Waiting {
	readonly confirmation: Confirmation;
	readonly rows: readonly Message[];
	readonly messages: number;
	readonly cap: number;
}

export type Asked =
	/** It needs no human, or is already approved; then it is marked as started. */
	| { readonly kind: "go"; readonly started: boolean }
	| { readonly kind: "waiting"; readonly waiting: Waiting }
	| { readonly kind: "refused"; readonly why: string };

export class Asking {
	readonly #options: AskingOptions;

	constructor(options: AskingOptions) {
		this.#options = options;
	}

	async about(call: ToolCall, question: ConfirmationQuestion | null, index: number): Promise<Asked> {
		const { confirmations, mode, start } = this.#options;
		if (!question || (mode === "off" && !this.#isRight(question.action)))
			return { kind: "go", started: false };
		const refused = (why: string): Asked => ({ kind: "refused", why: `${why} Nothing was done.` });
		if (mode === "readonly")
			return refused(`${question.action} changes something, but Keryx is set to read-only.`);
		if (actionName(question.action) === null)
			return refused(`${call.name} cannot be asked about: its action may contain only ${ACTION_ALPHABET}.`);
		if (!confirmations)
			return refused(
				`${question.action} needs a person's confirmation, but there is no way to ask for one here.`,
			);
		const turn = { id: start.turn, token: start.token };
		// A human is asked once about one call, however often the store has to be asked.
		const asked = await untilWritten(
			() =>
				confirmations.askForCall(this.#question(call, question, "turn"), turn, (id) => ({
					...waitingRow(call, id),
					index,
				})),
			this.#options.patience,
		);
		switch (asked.kind) {
			case "granted":
				return { kind: "go", started: true };
			case "secret":
				return refused(`The arguments contain a known secret. Write ${SECRET} instead.`);
			case "limited":
				return refused(
					`A person was asked about ${question.action} too often. Ask again in ${Math.ceil(asked.retryAfterMs / 60_000)} minutes.`,
				);
			case "waiting":
				return { kind: "waiting", waiting: asked };
		}
	}

	/** This turn's unanswered questions: its reply contains them. */
	async open(): Promise<readonly Question[]> {
		const { store, start, confirmations } = this.#options;
		if (!confirmations) return [];
		const now = this.#options.now();
		const { conversation, turn } = start;
		const open = await store.openConfirmations({ scope: OPERATOR, conversation, now });
		return open.filter((one) => one.turn === turn).map((one) => this.#shown(one, now));
	}

	/** Everything the conversation still waits for. */
	async allOpen(): Promise<readonly { readonly id: string; readonly action: string }[]> {
		const { store, start, confirmations, now } = this.#options;
		if (!confirmations) return [];
		const { conversation } = start;
		const open = await store.openConfirmations({ scope: OPERATOR, conversation, now: now() });
		return open.map(({ id, action }) => ({ id, action }));
	}

	#shown(confirmation: Confirmation, now: number): Question {
		const text = questionText(confirmation, now);
		const answerer = this.#answerer(confirmation.action);
		if (this.#mayAnswer(confirmation.action)) return questionOf(confirmation, { now, answerer, text });
		const isOwnerNotified = confirmation.notices.some(({ state }) => state !== "dead");
		return questionOf(confirmation, {
			now,
			answerer,
			text: `${text}\nOnly the owner can answer${isOwnerNotified ? "" : ", but they could not be told: ask them yourself"}.`,
		});
	}

	#mayAnswer(action: string): boolean {
		return isAtLeast(this.#options.standing, OWNER_ONLY.has(action) ? "owner" : "member");
	}

	/** A matter of rights, not of a dangerous command: turning approvals off gives nobody more rights. */
	#isRight(action: string): boolean {
		return action === WIDEN_WALL || (action === SEND_TO_OTHERS && this.#options.standing !== "owner");
	}

	/** The person the conversation belongs to, as for `/approve`. */
	#answerer(action: string): string | null {
		const { conversationInfo } = this.#options.start;
		return conversationInfo.shared || !this.#mayAnswer(action) ? null : conversationInfo.principal;
	}

	/** Outcomes that started this turn and are not handled yet. */
	outcomes(rows: readonly Message[]): readonly string[] {
		const own = rows.filter((row) => row.turn === this.#options.start.turn && !row.hidden);
		const done = new Set(
			own.flatMap(({ confirmation }) => (confirmation?.as === "result" ? [confirmation.id] : [])),
		);
		return own
			.flatMap(({ confirmation }) => (confirmation?.as === "outcome" ? [confirmation.id] : []))
			.filter((id) => !done.has(id));
	}

	/** Marks an approval as used and commits, or records why nothing runs; null: the outcome's own row says it. */
	async use(
		id: string,
	): Promise<
		| { readonly kind: "run"; readonly call: ToolCall; readonly confirmation: Confirmation }
		| { readonly kind: "row"; readonly row: NewMessage }
		| null
	> {
		const { directStore, patience, start } = this.#options;
		const { turn, token } = start;
		let again = false;
		const used = await untilWritten(() => {
			const asked = directStore.useConfirmation({ turn, token, id, ...(again && { again }) });
			again = true;
			return asked;
		}, patience);
		const { confirmation } = used;
		if (used.kind === "run") {
			const { tool, details } = confirmation;
			return {
				kind: "run",
				call: { id: `confirmation:${id}`, name: tool ?? "", input: details },
				confirmation,
			};
		}
		if (used.kind === "used")
			return { kind: "row", row: approvedCallResult(confirmation, INTERRUPTED_RESULT) };
		if (used.kind === "lapsed")
			return {
				kind: "row",
				row: approvedCallResult(confirmation, "the approval expired before it was used; nothing was done"),
			};
		return null;
	}

	/** For an agent program, which is kept while it waits. Never throws: if asking fails, nobody can be asked. */
	async live(call: ToolCall, question: ConfirmationQuestion, signal: AbortSignal): Promise<Permission> {
		const { confirmations, mode } = this.#options;
		if (signal.aborted) return "cancelled";
		if (mode === "off") return "approved";
		if (mode === "readonly" || !confirmations) return "impossible";
		try {
			return await this.#answerOf(confirmations, call, question, signal);
		} catch {
			return signal.aborted ? "cancelled" : "impossible";
		}
	}

	async #answerOf(
		confirmations: Confirmations,
		call: ToolCall,
		question: ConfirmationQuestion,
		signal: AbortSignal,
	): Promise<Permission> {
		const answer = await confirmations.askLive(this.#question(call, question, "live"), signal);
		switch (answer.status) {
			case "approved":
			case "auto_approved":
				return "id" in answer && (await this.#consumed(answer)) ? "approved" : "cancelled";
			case "denied":
			case "expired":
				return answer.status;
			case "limited":
				return "limited";
			case "secret":
				return "impossible";
			case "pending":
			case "cancelled":
			case "consumed":
				return "cancelled";
		}
	}

	/** Marked as used before the program gets the answer. */
	async #consumed({ id, digest, askedBy }: Confirmation): Promise<boolean> {
		const used = await this.#options.store.consumeConfirmation({ id, digest, by: askedBy, via: "agent" });
		return used.kind === "consumed";
	}

	#question(call: ToolCall, question: ConfirmationQuestion, waiter: "turn" | "live"): CallQuestion {
		const { standing, start } = this.#options;
		const { turn, conversation, conversationInfo, destination } = start;
		const { input } = call;
		const details =
			typeof input === "object" && input !== null && !Array.isArray(input) ? input : { input: input ?? null };
		return {
			...question,
			details: question.details ?? (details as CallQuestion["details"]),
			sessionKey: conversationInfo.key,
			askedBy: `agent:${conversationInfo.profile || "default"}`,
			answerer: this.#answerer(question.action),
			from: { waiter, standing, conversation, turn, call: call.id, tool: call.name, destination },
		};
	}
}

const SECRET = "\u0024{secret:NAME}";

function waitingRow(call: ToolCall, id: string): NewMessage {
	return {
		role: "tool",
		toolCallId: call.id,
		toolName: call.name,
		content: `waiting for confirmation ${id}. A person decides, and you will be told. Do not try to do the same in another way.`,
	};
}
