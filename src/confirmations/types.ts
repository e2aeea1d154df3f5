// The confirmations' interface and its dependencies.
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

/** Read per call: they may change while Keryx runs. */
export interface ConfirmationSettings {
	readonly alwaysConfirm: readonly string[];
	readonly rateLimit: number;
	readonly globalLimit: number;
	readonly useWithinMinutes: number;
	readonly defaultTimeout: number;
	readonly chats: readonly Destination[];
	readonly webhooks: readonly Webhook[];
	/** Configured, but known in advance to be unreachable. */
	readonly unreachable?: readonly string[];
}

export interface ConfirmationsOptions {
	/** Opened with its audit key. */
	readonly store: Store;
	readonly clock: Clock;
	readonly settings: () => ConfirmationSettings;
	/** The question as shown in a chat of that platform. */
	readonly render?: (
		question: Question,
		to: { readonly id: string; readonly destination: Destination },
	) => ConfirmationRequest["notices"]["deliveries"];
	/** Whether a channel reaches that chat; default: always. */
	readonly reaches?: (destination: Destination) => boolean;
	readonly log?: (message: string, error: unknown) => void;
}

/** A call of Keryx's own agent that needs a human. */
export interface CallQuestion {
	readonly action: string;
	readonly description: string;
	/** Needs approval every time: no grant covers it, and the answer creates none. */
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
	/** Default time for the human, in seconds. */
	readonly defaultTimeout: number;
	/** Watches deadlines and calls webhooks. Without it everything still works, but later. */
	start(): void;
	stop(): Promise<void>;
	request(input: RequestInput, caller: Caller): Promise<Requested>;
	/** For a turn: the question and the row `waiting for confirmation` are one commit. */
	askForCall(
		question: CallQuestion,
		turn: { readonly id: string; readonly token: number },
		waiting: (id: string) => NewMessage & { readonly index: number },
	): Promise<AskedOutcome>;
	/** For a running program that waits. Returns when it is no longer pending, or when the signal aborts. */
	askLive(
		question: CallQuestion,
		signal: AbortSignal,
	): Promise<Confirmation | { readonly status: "limited" | "secret" }>;
	/** The input of `store.resolveConfirmation`, after all checks; for callers who commit more with it. */
	resolution(
		id: string,
		decision: "approved" | "denied",
		input: DecisionInput,
		caller: Caller,
	): Promise<ResolveArgs>;
	/** The work that remains after such a commit. */
	afterResolve(resolved: Resolved): void;
	resolve(
		id: string,
		decision: "approved" | "denied",
		input: DecisionInput,
		caller: Caller,
	): Promise<Resolved>;
	/** As the caller may see it. Foreign ids are not_found, and audited as attempts. */
	see(id: string, caller: Caller, attempt: Attempt): Promise<Confirmation>;
	cancel(id: string, caller: Caller): Promise<Cancelled>;
	consume(id: string, digest: string, caller: Caller): Promise<Consumed>;
	/** With a wait: returns when it is no longer pending, or after this many milliseconds. */
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
	/** Accepts the audit although its witness saw a different one: after a restore. Throws audit.sound if nothing is wrong. */
	acceptAudit(caller: Caller): Promise<AuditStanding>;
	/** Records a refused attempt of an authenticated caller in the audit. */
	refused(
		caller: Pick<Caller, "who" | "via">,
		attempt: string,
		reason: string,
		confirmation?: string,
	): Promise<void>;
	/** Called with each conversation that has a new outcome. */
	onWoken(listener: (woken: Woken) => void): () => void;
}
