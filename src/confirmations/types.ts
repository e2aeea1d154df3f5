// What confirmations offer, and what they are made with.
import type {
	AskedForCall,
	AuditEntry,
	AuditFilter,
	AuditStanding,
	Cancelled,
	Confirmation,
	ConfirmationRequest,
	ConfirmationStatus,
	Consumed,
	Destination,
	Grant,
	NewMessage,
	Requested,
	ResolveArgs,
	Resolved,
	Store,
	Verified,
	Woken,
} from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { Attempt, Caller } from "./callers.ts";
import type { Details } from "./digest.ts";
import type { Question } from "./notices.ts";
import type { DecisionInput, GrantInput, RequestInput } from "./read.ts";
import type { Webhook } from "./webhook.ts";

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
	/** Who may answer in the conversation besides the owner; null: nobody. */
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
	/** Records a refused attempt of an authenticated caller in the audit. */
	refused(
		caller: Pick<Caller, "who" | "via">,
		attempt: string,
		reason: string,
		confirmation?: string,
	): Promise<void>;
	/** Told of each conversation that has an outcome to look at. */
	onWoken(listener: (woken: Woken) => void): () => void;
}
