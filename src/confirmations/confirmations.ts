// A human approves exactly that (I14). Every decision is a store transaction; here a request gets its bound and shown form, people are
// notified, and waiting callers are woken.
import { KeryxError } from "../errors.ts";
import {
	type AuditEntry,
	type AuditFilter,
	type AuditStanding,
	type Cancelled,
	type Confirmation,
	type ConfirmationStatus,
	type Consumed,
	type Grant,
	type NewMessage,
	OPERATOR,
	type Requested,
	type ResolveArgs,
	type Resolved,
	type Verified,
	type Woken,
} from "../store/index.ts";
import { type Attempt, type Caller, may, readingScope } from "./callers.ts";
import { editedForm, hiddenInput, isAlwaysAsked, ownRequest, requestForm } from "./form.ts";
import { checkedAction, type DecisionInput, type GrantInput, type RequestInput } from "./read.ts";
import type {
	AskedOutcome,
	CallQuestion,
	ConfirmationSettings,
	Confirmations,
	ConfirmationsOptions,
} from "./types.ts";
import { Waiters } from "./waiters.ts";
import { Watch } from "./watch.ts";

const NOT_FOUND = "it does not exist, or belongs to someone else";

export function createConfirmations(options: ConfirmationsOptions): Confirmations {
	return new StoredConfirmations(options);
}

class StoredConfirmations implements Confirmations {
	readonly #options: ConfirmationsOptions;
	readonly #waiters: Waiters;
	readonly #watch: Watch;
	readonly #listeners = new Set<(woken: Woken) => void>();

	constructor(options: ConfirmationsOptions) {
		this.#options = options;
		const { store, clock } = options;
		this.#waiters = new Waiters({
			store,
			clock,
			read: (id) => store.confirmation({ scope: OPERATOR, id, now: clock.now() }),
		});
		this.#watch = new Watch({
			store,
			clock,
			webhook: (url) => options.settings().webhooks.find((webhook) => webhook.url === url),
			woken: (woken) => this.#wake(woken),
			log: options.log ?? (() => {}),
		});
	}

	start(): void {
		this.#watch.start();
	}

	async stop(): Promise<void> {
		this.#waiters.stop();
		await this.#watch.stop();
	}

	async request(input: RequestInput, caller: Caller): Promise<Requested> {
		await this.#assertMay(caller, "request");
		if (caller.sessionKey !== null && input.sessionKey !== caller.sessionKey) {
			await this.refused(caller, "request", "it named a conversation other than its own");
			throw new KeryxError("confirmation.refused", "this token is bound to another session_key", {
				field: "session_key",
			});
		}
		const { store } = this.#options;
		const requested = await store.requestConfirmation(
			requestForm(this.#options, {
				...hiddenInput(store.secrets, { ...input, action: checkedAction(input.action) }, caller),
				askedBy: caller.who,
				via: caller.via,
			}),
		);
		if (requested.kind === "pending" || requested.kind === "auto_approved")
			this.#watchOver(requested.confirmation);
		return requested;
	}

	async askForCall(
		question: CallQuestion,
		turn: { readonly id: string; readonly token: number },
		waiting: (id: string) => NewMessage & { readonly index: number },
	): Promise<AskedOutcome> {
		const { store } = this.#options;
		if (this.#namesSecret(question)) return { kind: "secret" };
		const request = {
			...requestForm(this.#options, ownRequest(question, this.#settings.defaultTimeout)),
			from: question.from,
		};
		const answer = await store.askForCall({
			turn: turn.id,
			token: turn.token,
			request,
			waiting: waiting(request.id),
		});
		if (answer.kind === "waiting") this.#watchOver(answer.confirmation);
		return answer;
	}

	async askLive(
		question: CallQuestion,
		signal: AbortSignal,
	): Promise<Confirmation | { readonly status: "limited" | "secret" }> {
		if (this.#namesSecret(question)) return { status: "secret" };
		const requested = await this.#options.store.requestConfirmation(
			requestForm(this.#options, ownRequest(question, this.#settings.defaultTimeout)),
		);
		if (requested.kind === "limited" || requested.kind === "conflict") return { status: "limited" };
		const { confirmation } = requested;
		this.#watchOver(confirmation);
		if (confirmation.status !== "pending") return confirmation;
		return await this.#waiters.settled(confirmation, signal);
	}

	async resolution(
		id: string,
		decision: "approved" | "denied",
		{ label, reason, grant, editedDetails }: DecisionInput,
		caller: Caller,
	): Promise<ResolveArgs> {
		await this.#assertMay(caller, "resolve", id);
		const { store, clock } = this.#options;
		// Only grants and edited arguments need the request itself.
		const before =
			grant || editedDetails ? await store.confirmation({ scope: OPERATOR, id, now: clock.now() }) : null;
		if (before && grant) this.#assertGrantable(before.action);
		if (editedDetails && before?.waiter === "live")
			throw new KeryxError("argument.invalid", "a program that is waiting only accepts its own arguments", {
				field: "edited_details",
				hint: "approve or deny it without changes",
			});
		return {
			id,
			decision,
			by: caller.who,
			via: caller.via,
			...(label && { label }),
			...(reason && { reason }),
			...(grant && { grant }),
			...(before && editedDetails && { edited: editedForm(store.secrets, before, editedDetails) }),
			...(caller.speaker && { speaker: caller.speaker }),
			useWithinMs: this.#settings.useWithinMinutes * 60_000,
		};
	}

	afterResolve(resolved: Resolved): void {
		if (resolved.woken) this.#wake(resolved.woken);
		if (resolved.kind === "resolved") this.#watchOver(resolved.confirmation);
	}

	/** Its deadline, or that of its use, and pending notifications. */
	#watchOver({ status, expiresAt, notices }: Confirmation): void {
		const useBy = this.#options.clock.now() + this.#settings.useWithinMinutes * 60_000;
		if (status === "pending" && notices.some(({ state }) => state === "pending")) this.#watch.look();
		else this.#watch.expects(status === "pending" ? expiresAt : useBy);
	}

	async resolve(
		id: string,
		decision: "approved" | "denied",
		input: DecisionInput,
		caller: Caller,
	): Promise<Resolved> {
		await this.#assertMay(caller, "resolve", id);
		const resolved = await this.#decided(id, decision, input, caller).catch(async (error: unknown) => {
			const code = error instanceof KeryxError ? error.code : null;
			if (code === "confirmation.refused")
				await this.refused(caller, "resolve", (error as KeryxError).message, id);
			if (code === "store.not_found") await this.refused(caller, "resolve", NOT_FOUND, id);
			throw error;
		});
		this.afterResolve(resolved);
		if (resolved.kind === "settled")
			await this.refused(caller, "resolve", `it was already ${resolved.status}`, id);
		return resolved;
	}

	async #decided(
		id: string,
		decision: "approved" | "denied",
		input: DecisionInput,
		caller: Caller,
	): Promise<Resolved> {
		return this.#options.store.resolveConfirmation(await this.resolution(id, decision, input, caller));
	}

	get defaultTimeout(): number {
		return this.#settings.defaultTimeout;
	}

	async see(id: string, caller: Caller, attempt: Attempt): Promise<Confirmation> {
		const { store, clock } = this.#options;
		const reading = store.confirmation({ scope: readingScope(caller), id, now: clock.now() });
		return this.#notingRefusals(caller, attempt, id, reading);
	}

	async cancel(id: string, caller: Caller): Promise<Cancelled> {
		await this.#assertMay(caller, "cancel", id);
		const { who: by, via } = caller;
		return this.#notingRefusals(
			caller,
			"cancel",
			id,
			this.#options.store.cancelConfirmation({ id, by, via }),
		);
	}

	async consume(id: string, digest: string, caller: Caller): Promise<Consumed> {
		await this.#assertMay(caller, "consume", id);
		const { who: by, via } = caller;
		return this.#notingRefusals(
			caller,
			"consume",
			id,
			this.#options.store.consumeConfirmation({ id, digest, by, via }),
		);
	}

	async get(
		id: string,
		caller: Caller,
		wait?: { readonly ms: number; readonly signal: AbortSignal },
	): Promise<Confirmation> {
		await this.#assertMay(caller, "read", id);
		const found = await this.see(id, caller, "read");
		if (!wait || wait.ms <= 0 || found.status !== "pending") return found;
		return this.#waiters.settled(found, wait.signal, wait.ms);
	}

	async list(
		filter: { readonly status?: ConfirmationStatus; readonly before?: string; readonly limit: number },
		caller: Caller,
	): Promise<readonly Confirmation[]> {
		await this.#assertMay(caller, "read");
		const { store, clock } = this.#options;
		return store.confirmations({ scope: readingScope(caller), now: clock.now(), ...filter });
	}

	async pendingCount(): Promise<number> {
		const { store, clock } = this.#options;
		return (await store.confirmationWork({ scope: OPERATOR, now: clock.now() })).pending;
	}

	async grants(caller: Caller, limit: number): Promise<readonly Grant[]> {
		await this.#assertMay(caller, "audit");
		return this.#options.store.grants({ scope: OPERATOR, limit });
	}

	async addGrant(input: GrantInput, caller: Caller): Promise<Grant> {
		await this.#assertMay(caller, "grant");
		const action = checkedAction(input.action);
		this.#assertGrantable(action);
		return this.#options.store.addGrant({ ...input, action, by: caller.who, via: caller.via });
	}

	async revokeGrant(id: string, caller: Caller): Promise<boolean> {
		await this.#assertMay(caller, "grant");
		return this.#options.store.revokeGrant({ id, by: caller.who, via: caller.via });
	}

	async auditLog(filter: AuditFilter, caller: Caller): Promise<readonly AuditEntry[]> {
		await this.#assertMay(caller, "audit");
		return this.#options.store.auditLog({ scope: OPERATOR, ...filter });
	}

	async verifyAudit(caller: Caller): Promise<Verified> {
		await this.#assertMay(caller, "audit");
		return this.#options.store.verifyAudit({ scope: OPERATOR });
	}

	async acceptAudit(caller: Caller): Promise<AuditStanding> {
		await this.#assertMay(caller, "accept_audit");
		return this.#options.store.acceptAudit({ by: caller.who, via: caller.via });
	}

	async refused(
		{ who, via }: Pick<Caller, "who" | "via">,
		attempt: string,
		reason: string,
		confirmation?: string,
	): Promise<void> {
		const noting = this.#options.store.auditRefusal({
			who,
			via,
			attempt,
			reason,
			...(confirmation !== undefined && { confirmation: confirmation.slice(0, 64) }),
		});
		// If the store cannot be written, the attempt is not recorded; the refusal stands.
		await noting.catch((error: unknown) => {
			if (!(error instanceof KeryxError) || error.code !== "store.readonly") throw error;
		});
	}

	onWoken(listener: (woken: Woken) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	get #settings(): ConfirmationSettings {
		return this.#options.settings();
	}

	#wake(woken: Woken): void {
		for (const listener of this.#listeners) listener(woken);
	}

	async #assertMay(caller: Caller, attempt: Attempt, confirmation?: string): Promise<void> {
		if (may(caller, attempt)) return;
		await this.refused(caller, attempt, `its role is ${caller.role}`, confirmation);
		throw new KeryxError("confirmation.refused", `the role ${caller.role} is not allowed to do this`);
	}

	/** Refusals for foreign, used or already decided confirmations are audited as attempts. */
	async #notingRefusals<Answer extends object>(
		caller: Caller,
		attempt: string,
		id: string,
		work: Promise<Answer>,
	): Promise<Answer> {
		try {
			const answer = await work;
			if ("kind" in answer && answer.kind === "settled")
				await this.refused(caller, attempt, "it is already decided or used", id);
			if ("kind" in answer && answer.kind === "other_digest")
				await this.refused(caller, attempt, "the arguments differ from the approved ones", id);
			return answer;
		} catch (error) {
			if (error instanceof KeryxError && error.code === "store.not_found")
				await this.refused(caller, attempt, NOT_FOUND, id);
			throw error;
		}
	}

	#assertGrantable(action: string): void {
		if (isAlwaysAsked(this.#settings, action))
			throw new KeryxError(
				"argument.invalid",
				`the action ${action} must be confirmed every time, so it cannot be granted`,
				{
					field: "grant",
					hint: "approve it once; confirmations.always_confirm lists such actions",
				},
			);
	}

	#namesSecret({ details, description }: CallQuestion): boolean {
		return this.#options.store.secrets.isIn([details, description]);
	}
}
