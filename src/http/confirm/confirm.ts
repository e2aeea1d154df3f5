// The calls of confirmations: /confirm, /grants, /audit. Their errors are flat, and their checks have a fixed order, which clients of the
// earlier daemon rely on: 413, 401, 403 by role, 405, 404, 415, 400, then the confirmation's own.
import type { Context } from "hono";
import {
	type Attempt,
	type Confirmations,
	may,
	neededText,
	readDecision,
	readGrant,
	readObject,
	readRequest,
} from "../../confirmations/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Confirmation, ConfirmationStatus, GrantScope, Requested } from "../../store/index.ts";
import type { Entrance, Visitor } from "../entry/auth.ts";
import { isJson, readBody } from "../entry/guards.ts";
import { namelessJson } from "../entry/secret-names.ts";
import type { AppEnvironment } from "../environment.ts";
import { needsProof, needsToken, shownPath } from "../errors.ts";
import {
	type ConfirmCall,
	type ConfirmCallName,
	type ConfirmReply,
	confirmCalls,
	status as statuses,
} from "./schemas.ts";
import {
	stateOf,
	toWireAudit,
	toWireConfirmation,
	toWireGrant,
	toWirePending,
	toWireResolved,
} from "./wire.ts";

const LONGEST_WAIT_S = 60;
export interface ConfirmContext {
	readonly confirmations: Confirmations;
	readonly bodyLimit: number;
	/** The caller; null for a stranger. */
	readonly visitor: Visitor | null;
	readonly entrance: Entrance["kind"];
	/** The page's address; null if there is none. */
	readonly page: string | null;
	readonly signal: AbortSignal;
	/** Throws if the caller may read a confirmation, but not decide it this way. Null: they may decide every one. */
	readonly assertMayDecide: ((asked: Confirmation, grant: GrantScope | null) => Promise<void>) | null;
}

interface Call extends Pick<ConfirmContext, "assertMayDecide"> {
	readonly confirmations: Confirmations;
	readonly visitor: Visitor;
	/** From the path, if it has one. */
	readonly id: string;
	readonly query: URLSearchParams;
	/** Undefined if there is none. */
	readonly body: unknown;
	readonly page: string | null;
	readonly signal: AbortSignal;
}

interface Handler<Name extends ConfirmCallName = ConfirmCallName> {
	readonly attempt: Attempt;
	/** The socket's permission is not enough: the agent's programs may reach it, too. */
	readonly asksForProof?: true;
	handle(call: Call): Promise<ConfirmReply<Name>>;
}

/** Whether a path belongs to this family, whose errors are flat. */
export function isConfirmPath(path: string): boolean {
	return ROOTS.has(path.split("/", 2).join("/"));
}

/** For the server's router: everything at and below the first words of the table's paths. */
export function confirmPatterns(): readonly string[] {
	return [...ROOTS].flatMap((root) => [root, `${root}/*`]);
}

export async function answerConfirm(c: Context<AppEnvironment>, context: ConfirmContext): Promise<Response> {
	const { confirmations, visitor } = context;
	const bytes = await readBody(c.req.raw, context.bodyLimit);
	if (!visitor) throw needsToken(context.entrance);
	const found = routeOf(c.req.path);
	const name = c.req.method === "HEAD" ? "GET" : c.req.method;
	const method = found?.methods.get(name);
	if (found) await assertRole(found, method, context, visitor);
	if (!found) throw new KeryxError("http.no_route", `there is no ${shownPath(c.req.path)}`);
	if (!method) {
		const allow = [...found.methods.keys()].join(", ");
		c.header("allow", allow);
		throw new KeryxError("http.method", `only ${allow} is supported here`);
	}
	const { handle, attempt } = method;
	const answer = async () =>
		handle({
			confirmations,
			visitor,
			id: found.id,
			query: queryOf(c.req.url),
			body: name === "POST" ? parsed(bytes, c.req.header("content-type")) : undefined,
			page: context.page,
			// Created only when a call waits.
			get signal() {
				return context.signal;
			},
			assertMayDecide: context.assertMayDecide,
		});
	const reply = await answer().catch(async (error: unknown) => {
		// A confirmation that does not exist is not found, whatever else is wrong with the request.
		if (found.id !== "" && name === "POST" && isInvalid(error))
			await confirmations.see(found.id, visitor, attempt);
		throw error;
	});
	return namelessJson(c, reply.body, reply.status, reply.headers);
}

function isInvalid(error: unknown): boolean {
	return error instanceof KeryxError && (error.code === "http.not_json" || error.code === "argument.invalid");
}

function queryOf(url: string): URLSearchParams {
	const at = url.indexOf("?");
	return at === -1 ? NO_QUERY : new URL(url).searchParams;
}

const NO_QUERY = new URLSearchParams();

/** Refusals of authenticated callers are recorded. */
async function assertRole(
	{ methods, id }: Found,
	method: Handler | undefined,
	{ confirmations }: ConfirmContext,
	visitor: Visitor,
): Promise<void> {
	const attempts = (method ? [method] : [...methods.values()]).map(({ attempt }) => attempt);
	if (!attempts.some((attempt) => may(visitor, attempt))) {
		await confirmations.refused(
			visitor,
			attempts[0] ?? "read",
			`its role is ${visitor.role}`,
			id === "" ? undefined : id,
		);
		throw new KeryxError("http.forbidden", `the role ${visitor.role} is not allowed to do this`);
	}
	if (!visitor.proven && method?.asksForProof) throw needsProof();
}

interface Found {
	readonly methods: Methods;
	readonly id: string;
}

function routeOf(path: string): Found | null {
	const given = path.split("/");
	const isThis = (part: string, index: number) => (part === ID ? given[index] !== "" : given[index] === part);
	for (const { parts, methods } of ROUTES)
		if (parts.length === given.length && parts.every(isThis))
			return { methods, id: decoded(given[parts.indexOf(ID)] ?? "") };
	return null;
}

const ID = "{id}";
const resolving = { attempt: "resolve", asksForProof: true } as const;
const granting = { attempt: "grant", asksForProof: true } as const;
const HANDLERS: { readonly [Name in ConfirmCallName]: Handler<Name> } = {
	confirmRequest: { attempt: "request", handle: submit },
	confirmList: { attempt: "read", handle: list },
	confirmRead: { attempt: "read", handle: show },
	confirmApprove: { ...resolving, handle: (call) => resolve(call, "approved") },
	confirmDeny: { ...resolving, handle: (call) => resolve(call, "denied") },
	confirmCancel: { attempt: "cancel", handle: cancel },
	confirmConsume: { attempt: "consume", handle: consume },
	grantList: { attempt: "audit", asksForProof: true, handle: grants },
	grantAdd: { ...granting, handle: addGrant },
	grantRevoke: { ...granting, handle: revokeGrant },
	audit: { attempt: "audit", handle: audit },
	auditLog: { attempt: "audit", handle: auditLog },
	auditVerify: { attempt: "audit", handle: verifyAudit },
	auditAccept: { attempt: "accept_audit", asksForProof: true, handle: acceptAudit },
};

/** By method, in the order in which a refusal lists them. */
type Methods = ReadonlyMap<string, Handler>;

/** A path of the table, in parts. */
interface Route {
	readonly parts: readonly string[];
	readonly methods: Methods;
}

const ROUTES = routes();
const ROOTS: ReadonlySet<string> = new Set(ROUTES.map(({ parts }) => parts.slice(0, 2).join("/")));

function routes(): readonly Route[] {
	const found = new Map<string, Map<string, Handler>>();
	for (const method of ["get", "post", "delete"])
		for (const [name, handler] of Object.entries(HANDLERS)) {
			const call: ConfirmCall = confirmCalls[name as ConfirmCallName];
			if (call.method !== method) continue;
			for (const path of new Set([call.path, call.also ?? call.path]))
				found.set(path, (found.get(path) ?? new Map<string, Handler>()).set(method.toUpperCase(), handler));
		}
	return [...found].map(([path, methods]) => ({ parts: path.split("/"), methods }));
}

async function submit({ confirmations, visitor, body, page }: Call): Promise<ConfirmReply<"confirmRequest">> {
	const requested = await confirmations.request(readRequest(body, confirmations.defaultTimeout), visitor);
	if (requested.kind === "limited") return limited(requested);
	if (requested.kind === "conflict")
		return {
			status: 409,
			body: { error: "this idempotency_key was used for another request", status: requested.status },
		};
	const { confirmation } = requested;
	const { id, action, status, digest } = confirmation;
	if (status === "pending") return { status: 202, body: toWirePending(confirmation, page) };
	const message =
		requested.kind === "auto_approved"
			? "A person has already granted this. Use it with consume."
			: `This was already requested, and is ${status}.`;
	return { status: 200, body: { id, action, status, digest, message } };
}

function limited({
	remaining,
	windowMs,
	retryAfterMs,
}: Extract<Requested, { kind: "limited" }>): ConfirmReply<"confirmRequest"> {
	const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
	return {
		status: 429,
		body: {
			error: "too many requests within the hour, for this action or in total",
			remaining,
			window_seconds: windowMs / 1000,
			retry_after: seconds,
		},
		headers: { "retry-after": String(seconds) },
	};
}

async function resolve(
	{ confirmations, visitor, id, body, assertMayDecide }: Call,
	decision: "approved" | "denied",
): Promise<ConfirmReply<"confirmApprove" | "confirmDeny">> {
	const input = readDecision(body, decision);
	if (assertMayDecide)
		await assertMayDecide(await confirmations.see(id, visitor, "resolve"), input.grant?.scope ?? null);
	const resolved = await confirmations.resolve(id, decision, input, visitor);
	if (resolved.kind === "settled") return settled(resolved.status);
	return { status: 200, body: toWireResolved(resolved.confirmation) };
}

async function cancel({ confirmations, visitor, id, body }: Call): Promise<ConfirmReply<"confirmCancel">> {
	if (body !== undefined) readObject(body, "the body");
	const cancelled = await confirmations.cancel(id, visitor);
	if (cancelled.kind === "settled") return settled(cancelled.status);
	return { status: 200, body: { id, status: "cancelled" } };
}

async function consume({ confirmations, visitor, id, body }: Call): Promise<ConfirmReply<"confirmConsume">> {
	const digest = neededText(readObject(body, "the body"), "digest", 200);
	const consumed = await confirmations.consume(id, digest, visitor);
	if (consumed.kind === "settled") return settled(consumed.status);
	if (consumed.kind === "other_digest")
		return {
			status: 409,
			body: { error: "the approved arguments are different from these", status: consumed.status },
		};
	return { status: 200, body: toWireConfirmation(consumed.confirmation, { full: false }) };
}

function settled(status: ConfirmationStatus) {
	return { status: 409 as const, body: { error: `it is already ${status}`, status } };
}

async function show(call: Call): Promise<ConfirmReply<"confirmRead">> {
	const { confirmations, visitor, id, query } = call;
	const ms = waitOf(query.get("wait"));
	const confirmation = await confirmations.get(id, visitor, ms > 0 ? { ms, signal: call.signal } : undefined);
	return { status: 200, body: toWireConfirmation(confirmation, { full: seesNotices(visitor) }) };
}

function waitOf(text: string | null): number {
	if (text === null || text === "") return 0;
	const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : NaN;
	if (Number.isNaN(seconds))
		throw new KeryxError("argument.invalid", `wait must be seconds, 0 to ${LONGEST_WAIT_S}`, {
			field: "wait",
		});
	return Math.min(seconds, LONGEST_WAIT_S) * 1000;
}

async function list({ confirmations, visitor, query }: Call): Promise<ConfirmReply<"confirmList">> {
	const limit = limitOf(query.get("limit"));
	const status = query.get("status") || undefined;
	const before = query.get("before") || undefined;
	if (status !== undefined && !isStatus(status))
		throw new KeryxError("argument.invalid", `status must be one of ${statuses.options.join(", ")}`, {
			field: "status",
		});
	const found = await confirmations.list(
		{
			limit: limit + 1,
			...(status !== undefined && { status }),
			...(before !== undefined && { before }),
		},
		visitor,
	);
	const page = found.slice(0, limit);
	const full = seesNotices(visitor);
	return {
		status: 200,
		body: {
			count: page.length,
			confirmations: page.map((one) => toWireConfirmation(one, { full })),
			next: found.length > limit ? (page.at(-1)?.id ?? null) : null,
		},
	};
}

/** Not shown to the requester: who was notified. */
function seesNotices({ role }: Visitor): boolean {
	return role !== "agent" && role !== "member" && role !== "guest";
}

function isStatus(text: string): text is ConfirmationStatus {
	return statuses.safeParse(text).success;
}

async function grants({ confirmations, visitor, query }: Call): Promise<ConfirmReply<"grantList">> {
	const found = await confirmations.grants(visitor, limitOf(query.get("limit")));
	return {
		status: 200,
		body: { count: found.length, grants: found.map(toWireGrant) },
	};
}

async function addGrant({ confirmations, visitor, body }: Call): Promise<ConfirmReply<"grantAdd">> {
	return { status: 201, body: toWireGrant(await confirmations.addGrant(readGrant(body), visitor)) };
}

async function revokeGrant({
	confirmations,
	visitor,
	id: named,
	query,
}: Call): Promise<ConfirmReply<"grantRevoke">> {
	const id = named || query.get("id");
	if (!id) throw new KeryxError("argument.invalid", "id is required: DELETE /grants?id=", { field: "id" });
	return {
		status: 200,
		body: {
			id,
			revoked: await confirmations.revokeGrant(id, visitor),
		},
	};
}

async function audit({ confirmations, visitor, query }: Call): Promise<ConfirmReply<"audit">> {
	const entries = await confirmations.list({ limit: limitOf(query.get("limit")) }, visitor);
	return {
		status: 200,
		body: { count: entries.length, entries: entries.map(stateOf) },
	};
}

async function auditLog({ confirmations, visitor, query }: Call): Promise<ConfirmReply<"auditLog">> {
	const limit = limitOf(query.get("limit"));
	const confirmation = query.get("confirmation") || undefined;
	const after = query.get("after");
	const entries = await confirmations.auditLog(
		{
			limit,
			...(confirmation !== undefined && { confirmation }),
			...(after !== null && /^\d{1,15}$/.test(after) && { after: Number(after) }),
			...(query.get("newest") === "true" && { newest: true }),
		},
		visitor,
	);
	const reader = visitor.role === "operator" ? "operator" : "others";
	const next = entries.length === limit && confirmation === undefined ? (entries.at(-1)?.n ?? null) : null;
	return {
		status: 200,
		body: {
			count: entries.length,
			entries: entries.map((entry) => toWireAudit(entry, reader)),
			next,
		},
	};
}

async function verifyAudit({ confirmations, visitor }: Call): Promise<ConfirmReply<"auditVerify">> {
	const { count, head, bad } = await confirmations.verifyAudit(visitor);
	return { status: 200, body: { ok: bad === null, count, head, bad } };
}

async function acceptAudit({ confirmations, visitor, body }: Call): Promise<ConfirmReply<"auditAccept">> {
	if (body !== undefined) readObject(body, "the body");
	const { count } = await confirmations.acceptAudit(visitor);
	return { status: 200, body: { count } };
}

/** Whole numbers are clamped; anything else is the default, as older clients expect. */
function limitOf(text: string | null): number {
	return text !== null && /^-?\d+$/.test(text) ? Math.min(500, Math.max(1, Number(text))) : 50;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function parsed(bytes: Uint8Array | null, contentType: string | undefined): unknown {
	if (bytes === null) return undefined;
	if (!isJson(contentType))
		throw new KeryxError("http.not_json", "the body must be sent as application/json");
	try {
		return JSON.parse(UTF8.decode(bytes));
	} catch {
		throw new KeryxError("argument.invalid", "the body is not JSON in UTF-8", { field: "body" });
	}
}

/** An invalid encoding stands for itself: no id has it. */
function decoded(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment;
	}
}
