// Who a caller is and what they may call: settled before any route. A route decides only what its call does.
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { may } from "../../confirmations/index.ts";
import { KeryxError } from "../../errors.ts";
import { largestBody } from "../attachments.ts";
import { isBridgePath } from "../bridge/bridges.ts";
import type { ApiHost } from "../call.ts";
import type { EndpointName } from "../endpoints.ts";
import type { AppEnvironment } from "../environment.ts";
import { needsProof, needsToken, shownPath } from "../errors.ts";
import type { StrangersHealth } from "../health.ts";
import { isOpenAiPath } from "../openai/index.ts";
import { type Access, cookieName, pageKeyOf, type Visitor } from "./auth.ts";
import { assertDeclaredSize, assertOwnPage, assertSound, type Rates } from "./guards.ts";
import { isForDiagrams } from "./page.ts";
import { isPerson, mayPersonCall } from "./people.ts";

const LONGEST_NOTED = 200;
/** A person's own waiting confirmations. */
const MOST_COUNTED = 100;

/** These need a token or the operator secret even on the socket: the agent's programs may reach the socket. */
export const ASK_FOR_PROOF: ReadonlySet<EndpointName> = new Set([
	"tokens",
	"createToken",
	"revokeToken",
	"linkPrincipals",
	"approvePairing",
	"denyPairing",
	"loginLink",
	"logins",
	"offerLogin",
	"revokeLogins",
	"setModel",
	"setBusy",
	"setTitle",
	"renameConversation",
	"pinConversation",
	"setConversationState",
	"addChannel",
	"testChannel",
	"removeChannel",
	"testMcpServer",
	"addMcpServer",
	"removeMcpServer",
	"listModels",
	"takeModel",
	"settings",
	"previewSettings",
	"changeSettings",
	"settingsHistory",
	"skipSetup",
	"makeBackup",
	"runRetention",
	"restoreArchive",
]);

export function settleVisitor(access: Access, rates: Rates) {
	return async (c: Context<AppEnvironment>, next: () => Promise<void>): Promise<void> => {
		const { entrance } = c.env;
		const { method, path } = c.req;
		if (entrance.kind !== "socket") assertSound(c.req.raw, entrance, method === "GET" && isForDiagrams(path));
		const visitor =
			entrance.kind === "compat" && !isForAnybody(method, path)
				? null
				: await access.visitor(
						{
							authorization: c.req.header("authorization"),
							cookie: entrance.kind === "socket" ? undefined : getCookie(c, cookieName(entrance)),
							pageKey: pageKeyOf(c.req.header("x-keryx-page"), c.req.header("sec-websocket-protocol")),
							via: c.req.header("x-keryx-via"),
						},
						entrance,
					);
		c.set("visitor", visitor);
		// A channel brings messages of many people.
		if (entrance.kind !== "socket" && visitor && visitor.role !== "channel") rates.assert(c, visitor.who);
		if (visitor?.via === "page") assertOwnPage(c.req.raw);
		await next();
	};
}

/** Allowed on the second listener without a token: asking, and reading the outcome. */
function isForAnybody(method: string, path: string): boolean {
	return method === "POST" ? path === "/confirm" : method === "GET" && /^\/confirm\/[^/]+$/.test(path);
}

/** Readers read, operators do everything, agents talk through /v1 alone. Members and guests may call what `people.ts` lists. */
export function assertMayCall(
	host: ApiHost,
	{
		limit,
		rates,
		health,
	}: { readonly limit: number; readonly rates: Rates; readonly health: StrangersHealth },
) {
	return async (c: Context<AppEnvironment>, next: () => Promise<void>): Promise<Response | undefined> => {
		const { method, path } = c.req;
		const { kind } = c.env.entrance;
		const reads = method === "GET" || method === "HEAD";
		const visitor = c.get("visitor");
		if (path === "/health") {
			if (!reads) {
				c.header("allow", "GET");
				throw new KeryxError("http.method", "only GET is supported here");
			}
			if (visitor && isPerson(visitor)) {
				const own = await host.confirmations.list({ status: "pending", limit: MOST_COUNTED }, visitor);
				return c.json({ ...(await health.read()), pending_count: own.length });
			}
			if (kind !== "socket" && (!visitor || visitor.role === "agent" || visitor.role === "channel"))
				return c.json(await health.read());
		}
		if (!visitor) rates.assertStranger(c);
		if (kind !== "socket") assertDeclaredSize(c.req.raw, largestBody(path, limit, host.attachmentLimit));
		if (!visitor) throw needsToken(kind);
		const allowed = visitor.role === "operator" || mayCall(visitor, method, path);
		if (!allowed) await refuse(host, visitor, `${method} ${path}`);
		await next();
		return undefined;
	};
}

/** For everyone except the operator. */
function mayCall(visitor: Visitor, method: string, path: string): boolean {
	if (isPerson(visitor)) return mayPersonCall(visitor, method, path);
	// Not for readers: asking for a bridge's work takes the work away from its program.
	if (visitor.role === "channel" || path.startsWith("/api/bridges/"))
		return isBridgePath(path, visitor.channel);
	if (visitor.role === "agent") return isOpenAiPath(path);
	return method === "GET" || method === "HEAD";
}

export function assertProof(host: ApiHost) {
	return async (c: Context<AppEnvironment>, next: () => Promise<void>): Promise<void> => {
		const visitor = c.get("visitor");
		if (!visitor?.proven) throw needsProof();
		// For people this was settled before: a login is proof.
		if (!isPerson(visitor) && !may(visitor, "tokens"))
			await refuse(host, visitor, `${c.req.method} ${c.req.path}`);
		await next();
	};
}

/** Refused attempts of authenticated callers are audited. */
async function refuse({ confirmations, store }: ApiHost, visitor: Visitor, what: string): Promise<never> {
	// Hidden before it is cut: half of a secret would not be recognised.
	const noted = store.secrets.hide(shownPath(what)).slice(0, LONGEST_NOTED);
	await confirmations.refused(visitor, noted, `its role is ${visitor.role}`);
	throw new KeryxError("http.forbidden", `the role ${visitor.role} is not allowed to do this`);
}
