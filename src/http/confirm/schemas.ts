// The confirmations' family on the wire: the one table for the server's routes and answers, OpenAPI, the client, the page and the commands.
// Inputs are not checked with it but read by hand: zod would change the texts and the order of refusals that older clients know.
import { z } from "@hono/zod-openapi";
import { CONFIRMATION_STATUSES, GRANT_SCOPES } from "../../domain/index.ts";

export const status = z.enum(CONFIRMATION_STATUSES);
const seconds = z.number().openapi({ description: "seconds since 1970" });
const iso = z.iso.datetime().openapi({ description: "the same as text" });
const details = z.record(z.string(), z.unknown());
const scope = z.enum(GRANT_SCOPES);

/** A time that is always present, in both forms. */
function moment<Name extends string>(name: Name) {
	return { [name]: seconds, [`${name}_iso`]: iso } as Record<Name, typeof seconds> &
		Record<`${Name}_iso`, typeof iso>;
}

/** A time that may be absent. */
function moments<Name extends string>(name: Name, description = seconds.description ?? "") {
	const [number, text] = [seconds.nullable().openapi({ description }), iso.nullable()];
	return { [name]: number, [`${name}_iso`]: text } as Record<Name, typeof number> &
		Record<`${Name}_iso`, typeof text>;
}

const state = z
	.object({
		id: z.string(),
		action: z.string(),
		description: z.string(),
		details,
		requester: z.string(),
		session_key: z.string(),
		status,
		...moment("created_at"),
		...moments("resolved_at"),
		resolved_by: z.string().openapi({ description: "empty while it is pending" }),
	})
	.openapi("ConfirmationState");
const record = state
	.extend({
		digest: z.string(),
		timeout_seconds: z.int(),
		...moment("expires_at"),
		resolved_label: z.string().nullable(),
		reason: z.string().nullable(),
		details_before: details.nullable(),
		...moments("used_at"),
		...moments("use_expired_at", "when an unused approval expired"),
		asked_by: z.string(),
		conversation: z.string().nullable(),
		told: z.boolean(),
		notices: z.array(z.object({ to: z.string(), state: z.enum(["pending", "sent", "dead"]) })).optional(),
	})
	.openapi("Confirmation");
const asked = z.object({
	id: z.string(),
	action: z.string(),
	status: z.literal("pending"),
	details,
	digest: z.string(),
	timeout_seconds: z.int(),
	...moment("expires_at"),
	message: z.string(),
	told: z.boolean(),
	approve_url: z.string().openapi({ description: "a path of this server" }),
	deny_url: z.string().openapi({ description: "a path of this server" }),
	review_url: z.string().openapi({ description: "a link to the page; without a page, to the record" }),
});
/** The answer to a request that needs no question: granted, or asked before and decided. */
const decided = z.object({
	id: z.string(),
	action: z.string(),
	status: status.exclude(["pending"]),
	digest: z.string(),
	message: z.string(),
});
const resolved = z.object({
	id: z.string(),
	action: z.string(),
	status,
	resolved_by: z.string(),
	...moments("resolved_at"),
	digest: z.string(),
	reason: z.string().optional(),
});
const grant = z
	.object({
		id: z.string(),
		scope,
		action: z.string(),
		pattern: z.string().nullable(),
		asked_by: z.string().nullable(),
		session_key: z.string().nullable(),
		session: z.string().nullable(),
		...moments("until"),
		by: z.string(),
		...moment("created_at"),
		...moments("revoked_at"),
		revoked_by: z.string().nullable(),
	})
	.openapi("Grant");
const entry = z
	.object({
		n: z.int(),
		...moment("at"),
		kind: z.string(),
		confirmation: z.string().nullable(),
		who: z.string(),
		via: z.string(),
		facts: details,
		mac: z.string(),
	})
	.openapi("AuditEntry");
export const flatError = z.object({ error: z.string(), status: status.optional() }).openapi("FlatError");
const settled = z.object({ error: z.string(), status }).openapi("Settled");
const limited = z
	.object({
		error: z.string(),
		remaining: z.int(),
		window_seconds: z.number(),
		retry_after: z.int().openapi({ description: "seconds; the same as the header" }),
	})
	.openapi("Limited");
const limit = z.int().optional().openapi({ description: "1 to 500; anything else is 50" });

export interface ConfirmCall {
	readonly method: "get" | "post" | "delete";
	readonly path: string;
	/** A second path, with the id behind the question mark. */
	readonly also?: string;
	readonly about: string;
	readonly query?: z.ZodObject;
	readonly body?: z.ZodObject;
	/** By status. */
	readonly answers: Readonly<Partial<Record<200 | 201 | 202, z.ZodType>>>;
	/** By status; every other refusal is a flat error. */
	readonly refusals?: Readonly<Partial<Record<409 | 429, z.ZodType>>>;
}

export const confirmCalls = {
	confirmRequest: {
		method: "post",
		path: "/confirm",
		about: "ask a person; 200 if a grant covers it",
		body: z.object({
			action: z.string(),
			description: z.string(),
			details: details.nullish(),
			requester: z.string().nullish(),
			session_key: z.string().nullish(),
			timeout_seconds: z.number().nullish(),
			idempotency_key: z.string().nullish(),
		}),
		answers: { 200: decided, 202: asked },
		refusals: { 409: settled, 429: limited },
	},
	confirmList: {
		method: "get",
		path: "/confirm",
		about: "confirmations, newest first; an agent sees its own requests",
		query: z.object({ status: status.optional(), limit, before: z.string().optional() }),
		answers: {
			200: z.object({ count: z.int(), confirmations: z.array(record), next: z.string().nullable() }),
		},
	},
	confirmRead: {
		method: "get",
		path: "/confirm/{id}",
		about: "one confirmation; with wait, answers when it is no longer pending or after so many seconds",
		query: z.object({ wait: z.number().max(60).optional() }),
		answers: { 200: record },
	},
	confirmApprove: {
		method: "post",
		path: "/confirm/{id}/approve",
		about: "approve, once or with a grant, with the requested or changed arguments",
		body: z.object({
			reason: z.string().nullish(),
			approver: z.string().nullish(),
			grant: z.object({ scope, until: seconds.nullish() }).nullish(),
			edited_details: details.nullish(),
		}),
		answers: { 200: resolved },
		refusals: { 409: settled },
	},
	confirmDeny: {
		method: "post",
		path: "/confirm/{id}/deny",
		about: "deny",
		body: z.object({ reason: z.string().nullish(), denier: z.string().nullish() }),
		answers: { 200: resolved },
		refusals: { 409: settled },
	},
	confirmCancel: {
		method: "post",
		path: "/confirm/{id}/cancel",
		about: "withdraw a request; only the caller that made it",
		answers: { 200: z.object({ id: z.string(), status: z.literal("cancelled") }) },
		refusals: { 409: settled },
	},
	confirmConsume: {
		method: "post",
		path: "/confirm/{id}/consume",
		about: "use an approval, once, for exactly the arguments with that digest; only the caller that asked",
		body: z.object({ digest: z.string() }),
		answers: { 200: record },
		refusals: { 409: settled },
	},
	grantList: {
		method: "get",
		path: "/grants",
		about: "grants, newest first",
		query: z.object({ limit }),
		answers: { 200: z.object({ count: z.int(), grants: z.array(grant) }) },
	},
	grantAdd: {
		method: "post",
		path: "/grants",
		about: "approve from now on; session and conversation need session_key and asked_by",
		body: z.object({
			scope,
			action: z.string(),
			pattern: z.string().nullish(),
			session_key: z.string().nullish(),
			asked_by: z.string().nullish(),
			until: seconds.nullish(),
		}),
		answers: { 201: grant },
	},
	grantRevoke: {
		method: "delete",
		path: "/grants/{id}",
		also: "/grants",
		about: "end a grant; also DELETE /grants?id=",
		answers: { 200: z.object({ id: z.string(), revoked: z.boolean() }) },
	},
	audit: {
		method: "get",
		path: "/audit",
		about: "the latest state of each confirmation, newest first",
		query: z.object({ limit }),
		answers: { 200: z.object({ count: z.int(), entries: z.array(state) }) },
	},
	auditLog: {
		method: "get",
		path: "/audit/log",
		about: "every change and refused attempt, oldest first, each chained to the one before",
		query: z.object({
			limit,
			after: z.int().optional(),
			confirmation: z.string().optional(),
			newest: z.boolean().optional(),
		}),
		answers: { 200: z.object({ count: z.int(), entries: z.array(entry), next: z.int().nullable() }) },
	},
	auditAccept: {
		method: "post",
		path: "/audit/accept",
		about:
			"after a restore: accept the audit as it is although its witness differs; 409 if it does not differ",
		answers: { 200: z.object({ count: z.int() }) },
		refusals: { 409: flatError },
	},
	auditVerify: {
		method: "get",
		path: "/audit/verify",
		about: "check the whole chain and its witness; bad is the first wrong entry",
		answers: {
			200: z.object({
				ok: z.boolean(),
				count: z.int(),
				head: z.string(),
				bad: z.object({ n: z.int(), problem: z.string() }).nullable(),
			}),
		},
	},
} as const satisfies Readonly<Record<string, ConfirmCall>>;

export type ConfirmCallName = keyof typeof confirmCalls;
type Calls = typeof confirmCalls;
type Outputs<Schemas> = {
	readonly [Status in keyof Schemas]: Schemas[Status] extends z.ZodType ? z.output<Schemas[Status]> : never;
};
type AnswersOf<Name extends ConfirmCallName> = Outputs<Calls[Name]["answers"]>;
type RefusalsOf<Name extends ConfirmCallName> = Calls[Name] extends { readonly refusals: infer Refusals }
	? Outputs<Refusals>
	: Record<never, never>;

/** What a call answers if it is not refused. */
export type ConfirmAnswer<Name extends ConfirmCallName> = Name extends ConfirmCallName
	? AnswersOf<Name>[keyof AnswersOf<Name>]
	: never;

/** What the server may return: each status with its body. Other refusals are thrown. */
export type ConfirmReply<Name extends ConfirmCallName> = Name extends ConfirmCallName
	? ReplyIn<AnswersOf<Name> & RefusalsOf<Name>>
	: never;
type ReplyIn<Bodies> = {
	readonly [Status in keyof Bodies]: {
		readonly status: Status;
		readonly body: Bodies[Status];
		readonly headers?: Readonly<Record<string, string>>;
	};
}[keyof Bodies];

export type ConfirmBody<Name extends ConfirmCallName> = Calls[Name] extends {
	readonly body: infer Body extends z.ZodType;
}
	? z.input<Body>
	: undefined;

export type ConfirmQuery<Name extends ConfirmCallName> = Calls[Name] extends {
	readonly query: infer Query extends z.ZodType;
}
	? Readonly<z.input<Query>>
	: Readonly<Record<never, never>>;

/** The arguments of a call by name: in the path, behind the question mark, in the body. */
export type ConfirmInput<Name extends ConfirmCallName> = ConfirmQuery<Name> &
	(Calls[Name]["path"] extends `${string}{id}${string}` ? { readonly id: string } : unknown) &
	(ConfirmBody<Name> extends object ? Readonly<ConfirmBody<Name>> : unknown);

export type WireConfirmationState = z.output<typeof state>;
export type WireConfirmation = z.output<typeof record>;
export type WireAsked = z.output<typeof asked>;
export type WireResolved = z.output<typeof resolved>;
export type WireGrant = z.output<typeof grant>;
export type WireAuditEntry = z.output<typeof entry>;
export type WireGrantScope = z.output<typeof scope>;
