// A human says yes, to exactly that (I14). Everything that decides is a transaction of the store; here a request is put into the
// form that is bound and shown, people are told, and whoever waits is woken.
import { randomBytes } from "node:crypto";
import { foldedAction } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import {
	type AskedForCall,
	type AuditEntry,
	type AuditFilter,
	type AuditStanding,
	type Cancelled,
	type Confirmation,
	type ConfirmationRequest,
	type ConfirmationStatus,
	type Consumed,
	type Destination,
	type Grant,
	type NewMessage,
	noticeId,
	OPERATOR,
	type Requested,
	type ResolveArgs,
	type Resolved,
	type Store,
	type Verified,
	type Woken,
} from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import { type Attempt, type Caller, may, readingScope } from "./callers.ts";
import { canonicalDetails, confirmationDigest, type Details } from "./digest.ts";
import { type Question, questionOf } from "./notices.ts";
import { checkedAction, type DecisionInput, type GrantInput, type RequestInput } from "./read.ts";
import { Waiters } from "./waiters.ts";
import { Watch } from "./watch.ts";
import type { Webhook } from "./webhook.ts";

const HOUR_MS = 3_600_000;

/** Asked for at each use: they may change while Keryx runs. */
export interface ConfirmationSettings {
	readonly alwaysConfirm: readonly string[];
	readonly rateLimit: number;
	readonly globalLimit: number;
	readonly useWithinMinutes: number;
	readonly defaultTimeout: number;
	readonly chats: readonly Destination[];
	readonly webhooks: readonly Webhook[];
	/** Named in the configuration, and known beforehand to be told nothing. */
	readonly unreachable?: readonly string[];
}

export interface ConfirmationsOptions {
	/** Opened with the key of its audit. */
	readonly store: Store;
	readonly clock: Clock;
	readonly settings: () => ConfirmationSettings;
	/** A question as a chat of that platform shows it. */
	readonly render?: (
		question: Question,
		to: { readonly id: string; readonly destination: Destination },
	) => ConfirmationRequest["notices"]["deliveries"];
	/** Whether there is a channel to that chat; left out, there is one to each. */
	readonly reaches?: (destination: Destination) => boolean;
	readonly log?: (message: string, error: unknown) => void;
}

/** A call of Keryx's own agent that needs a human. */
export interface CallQuestion {
	readonly action: string;
	readonly description: string;
	/** Asked about every time: no grant answers, and none comes of the answer. */
	readonly once?: boolean;
	readonly details: Details;
	readonly sessionKey: string;
	readonly askedBy: string;
	/** Who may answer in the conversation beside the owner; null: nobody. */
	readonly answerer: string | null;
	readonly from: NonNullable<ConfirmationRequest["from"]>;
}

export type AskedOutcome = AskedForCall | { readonly kind: "secret" };

export interface Confirmations {
	/** Seconds that a human has, where who asks does not say. */
	readonly defaultTimeout: number;
	/** Watches deadlines and tells webhooks; without it everything else works, later. */
	start(): void;
	stop(): Promise<void>;
	request(input: RequestInput, caller: Caller): Promise<Requested>;
	/** For a turn: the question and the row `waiting for confirmation` are one commit. */
	askForCall(
		question: CallQuestion,
		turn: { readonly id: string; readonly token: number },
		waiting: (id: string) => NewMessage & { readonly index: number },
	): Promise<AskedOutcome>;
	/** For a program that runs and waits. Answers when it is no longer pending, or the signal ends the waiting. */
	askLive(
		question: CallQuestion,
		signal: AbortSignal,
	): Promise<Confirmation | { readonly status: "limited" | "secret" }>;
	/** What `store.resolveConfirmation` takes, after everything that can be refused beforehand; for who commits more with it. */
	resolution(
		id: string,
		decision: "approved" | "denied",
		input: DecisionInput,
		caller: Caller,
	): Promise<ResolveArgs>;
	/** What is left to do after such a commit. */
	afterResolve(resolved: Resolved): void;
	resolve(
		id: string,
		decision: "approved" | "denied",
		input: DecisionInput,
		caller: Caller,
	): Promise<Resolved>;
	/** As the caller may see it. Another's is not found, which is noted under what was attempted. */
	see(id: string, caller: Caller, attempt: Attempt): Promise<Confirmation>;
	cancel(id: string, caller: Caller): Promise<Cancelled>;
	consume(id: string, digest: string, caller: Caller): Promise<Consumed>;
	/** With a wait: answers when it is no longer pending, or so many milliseconds have passed. */
	get(
		id: string,
		caller: Caller,
		wait?: { readonly ms: number; readonly signal: AbortSignal },
	): Promise<Confirmation>;
	list(
		filter: { readonly status?: ConfirmationStatus; readonly before?: string; readonly limit: number },
		caller: Caller,
	): Promise<readonly Confirmation[]>;
	pendingCount(): Promise<number>;
	grants(caller: Caller, limit: number): Promise<readonly Grant[]>;
	addGrant(input: GrantInput, caller: Caller): Promise<Grant>;
	revokeGrant(id: string, caller: Caller): Promise<boolean>;
	auditLog(filter: AuditFilter, caller: Caller): Promise<readonly AuditEntry[]>;
	verifyAudit(caller: Caller): Promise<Verified>;
	/** Takes the audit for right though its witness saw another one: after a restore. Throws audit.sound where there is no reason to. */
	acceptAudit(caller: Caller): Promise<AuditStanding>;
	/** Puts a refused attempt of somebody who was authenticated into the audit. */
	refused(
		caller: Pick<Caller, "who" | "via">,
		attempt: string,
		reason: string,
		confirmation?: string,
	): Promise<void>;
	/** Told of each conversation that has an outcome to look at. */
	onWoken(listener: (woken: Woken) => void): () => void;
}

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
			this.#form({
				...this.#hidden({ ...input, action: checkedAction(input.action) }, caller),
				askedBy: caller.who,
				via: caller.via,
			}),
		);
		if (requested.kind === "pending" || requested.kind === "auto_approved")
			this.#watchOver(requested.confirmation);
		return requested;
	}

	/**
	 * Before it is hashed, so that what is stored, shown and hashed stays one. Whoever is not the owner gets it back as it is: then not
	 * even names are in it.
	 */
	#hidden(input: RequestInput, { role }: Caller): RequestInput {
		const { secrets } = this.#options.store;
		const { action, description, requester, sessionKey } = input;
		const details = JSON.parse(canonicalDetails(input.details)) as Details;
		const hider = role === "operator" ? secrets : secrets.forOthers;
		return {
			...input,
			...hider.hideIn({ action, description, requester, details }),
			...secrets.hideIn({ sessionKey }),
		};
	}

	async askForCall(
		question: CallQuestion,
		turn: { readonly id: string; readonly token: number },
		waiting: (id: string) => NewMessage & { readonly index: number },
	): Promise<AskedOutcome> {
		const { store } = this.#options;
		if (this.#namesSecret(question)) return { kind: "secret" };
		const request = { ...this.#form(this.#ownRequest(question)), from: question.from };
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
		const requested = await this.#options.store.requestConfirmation(this.#form(this.#ownRequest(question)));
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
		// What it is about matters only to who asks for more than yes or no.
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
			...(before && editedDetails && { edited: this.#edited(before, editedDetails) }),
			useWithinMs: this.#settings.useWithinMinutes * 60_000,
		};
	}

	afterResolve(resolved: Resolved): void {
		if (resolved.woken) this.#wake(resolved.woken);
		if (resolved.kind === "resolved") this.#watchOver(resolved.confirmation);
	}

	/** Its deadline, or that of its use, and whoever is to be told. */
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
		const args = await this.resolution(id, decision, input, caller);
		const resolved = await this.#options.store.resolveConfirmation(args).catch(async (error: unknown) => {
			if (error instanceof KeryxError && error.code === "confirmation.refused")
				await this.refused(caller, "resolve", error.message, id);
			throw error;
		});
		this.afterResolve(resolved);
		if (resolved.kind === "settled")
			await this.refused(caller, "resolve", `it was already ${resolved.status}`, id);
		return resolved;
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
		// Where nothing can be written nothing is noted; what was refused stays refused.
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

	/** What was refused because it is another's, used already or decided already is an attempt that the audit knows of. */
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
				await this.refused(caller, attempt, "it does not exist, or belongs to someone else", id);
			throw error;
		}
	}

	#isAlwaysAsked(action: string): boolean {
		const name = foldedAction(action);
		return this.#settings.alwaysConfirm.some((one) => foldedAction(one) === name);
	}

	#assertGrantable(action: string): void {
		if (this.#isAlwaysAsked(action))
			throw new KeryxError(
				"argument.invalid",
				`the action ${action} must be confirmed every time, so it cannot be granted`,
				{
					field: "grant",
					hint: "approve it once; confirmations.always_confirm lists such actions",
				},
			);
	}

	#edited(before: Confirmation, details: Details): { details: Details; digest: string } {
		const canonical = canonicalDetails(details, "edited_details");
		if (this.#options.store.secrets.isIn(details)) throw secretNamed("edited_details");
		const { action, requester, sessionKey } = before;
		const kept = JSON.parse(canonical) as Details;
		return { details: kept, digest: confirmationDigest({ action, details: kept, requester, sessionKey }) };
	}

	#namesSecret({ details, description }: CallQuestion): boolean {
		return this.#options.store.secrets.isIn([details, description]);
	}

	#ownRequest(question: CallQuestion): Asking {
		const { action, description, once, details, sessionKey, askedBy, from, answerer } = question;
		return {
			answerer,
			action,
			description,
			details: JSON.parse(canonicalDetails(details)) as Details,
			requester: "agent",
			sessionKey,
			timeoutSeconds: this.#settings.defaultTimeout,
			askedBy,
			via: "agent",
			from,
			...(once && { once }),
		};
	}

	/** The form that is bound, stored and shown. */
	#form(asked: Asking): ConfirmationRequest {
		const settings = this.#settings;
		const id = randomBytes(6).toString("hex");
		const bound = { ...asked, id, digest: confirmationDigest(asked) };
		const { answerer: _, ...kept } = bound;
		return {
			...kept,
			limits: { perAction: settings.rateLimit, inAll: settings.globalLimit, windowMs: HOUR_MS },
			once: asked.once ?? false,
			grantable: !asked.once && !this.#isAlwaysAsked(asked.action),
			useWithinMs: settings.useWithinMinutes * 60_000,
			notices: {
				deliveries: this.#deliveries(bound),
				webhooks: settings.webhooks.map(({ url }) => url),
				unreachable: [
					...settings.chats
						.filter((chat) => !this.#reaches(chat))
						.map(({ platform, chatId }) => `${platform}:${chatId}`),
					...(settings.unreachable ?? []),
				],
			},
		};
	}

	/** Where a turn asks and ends, the question is its reply; a program that waits has none, so its chat is told. */
	#deliveries(asked: Bound): ConfirmationRequest["notices"]["deliveries"] {
		const { render, clock } = this.#options;
		if (!render) return [];
		const now = clock.now();
		const bound = { ...asked, expiresAt: now + asked.timeoutSeconds * 1000 };
		const own = asked.from?.destination;
		const others = this.#settings.chats.filter(
			(chat) => this.#reaches(chat) && (!own || !isSameChat(chat, own)),
		);
		const receivers = own && asked.from?.waiter === "live" ? [own, ...others] : others;
		return receivers.flatMap((destination, n) => {
			const answerer = destination === own ? (asked.answerer ?? null) : null;
			return render(questionOf(bound, { now, answerer }), { id: noticeId(asked.id, n), destination });
		});
	}

	#reaches(chat: Destination): boolean {
		const { render, reaches = () => true } = this.#options;
		return render !== undefined && reaches(chat);
	}
}

type Asking = RequestInput &
	Pick<ConfirmationRequest, "askedBy" | "via" | "from"> & {
		readonly once?: boolean;
		readonly answerer?: string | null;
	};
type Bound = Asking & { readonly id: string; readonly digest: string };

function isSameChat(a: Destination, b: Destination): boolean {
	return a.platform === b.platform && a.account === b.account && a.chatId === b.chatId;
}

const PLACEHOLDER = "\u0024{secret:NAME}";

function secretNamed(field: string): KeryxError {
	return new KeryxError("argument.invalid", `${field} contains a known secret`, {
		field,
		hint: `write ${PLACEHOLDER} instead`,
	});
}
