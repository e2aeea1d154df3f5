// The API as one Hono app, on the socket and on ports: who calls is settled first, then what they may do; routes come from the table of
// endpoints, with the confirmations' own family and the streams beside them, OpenAPI from the same schemas.
import { createRoute, OpenAPIHono, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { may } from "../confirmations/index.ts";
import { KeryxError } from "../errors.ts";
import { assertMayDecide } from "../gateway/index.ts";
import { type Secrets, withoutNames } from "../secrets/index.ts";
import { systemClock } from "../time/index.ts";
import { addAttachments, largestBody } from "./attachments.ts";
import { isBridgePath } from "./bridge/bridges.ts";
import { addBridgeFiles } from "./bridge/files.ts";
import type { ApiHost } from "./call.ts";
import { answerConfirm, isConfirmPath } from "./confirm/confirm.ts";
import { describeConfirm } from "./confirm/docs.ts";
import { addDescription } from "./docs/description.ts";
import type { Endpoint } from "./endpoint.ts";
import { type EndpointName, endpoints } from "./endpoints.ts";
import { Access, cookieName, type Entrance, isSecure, pageKeyOf, type Visitor } from "./entry/auth.ts";
import { addChannelEvents } from "./entry/channel-events.ts";
import { createFront } from "./entry/front.ts";
import {
	assertDeclaredSize,
	assertOwnPage,
	assertSound,
	hasDeclaredSize,
	isJson,
	Rates,
	tooLarge,
} from "./entry/guards.ts";
import { htmlPage } from "./entry/html.ts";
import { acceptsHtml, addPage, isForDiagrams, loadPage } from "./entry/page.ts";
import { isPerson, mayPersonCall } from "./entry/people.ts";
import { prefixedProfile, routedPath } from "./entry/profile-prefix.ts";
import { scopeOf } from "./entry/scope.ts";
import { type App, type AppEnvironment, originOf } from "./environment.ts";
import { needsProof, needsToken, shownPath, statusOf, toKeryxError } from "./errors.ts";
import { Feed } from "./events/feed.ts";
import { addEvents, addTransfer } from "./events/streams.ts";
import { handlers } from "./handlers.ts";
import { StrangersHealth } from "./health.ts";
import { addMcp, challenge } from "./mcp.ts";
import { addObservation } from "./observe/observe.ts";
import { addOpenAi, isOpenAiPath, toOpenAiError } from "./openai/index.ts";
import { error } from "./schemas.ts";
import { addTerminals } from "./terminal/terminals.ts";
import { addWebhooks } from "./webhooks.ts";

const MIB = 1024 * 1024;
const USUAL_RATE = 600;
const SOCKET: Entrance = { kind: "socket" };

/** These ask for a token or the operator secret on the socket, too: a program that the agent runs may reach that. */
const ASK_FOR_PROOF: ReadonlySet<EndpointName> = new Set([
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

export interface Api {
	/** Answers one request; for a server, and for use within the process. `connection` is the server's own, for what is upgraded. */
	fetch(request: Request, entrance?: Entrance, connection?: object): Promise<Response>;
	/** The path of a link that logs a browser in, once, within ten minutes. */
	loginPath(): string;
	/** Ends every stream, so that a server can close. */
	close(): void;
}

export function createApi(host: ApiHost): Api {
	return createApp(host).api;
}

export function createApp(host: ApiHost): { readonly api: Api; readonly app: App } {
	const { bodyLimit: limit = MIB, ratePerMinute = USUAL_RATE } = host;
	const closing = new AbortController();
	const front = createFront(host);
	const feed = new Feed(host.store, host.gateway);
	const access = new Access(host);
	const rates = new Rates(ratePerMinute, host.monotonic ?? systemClock.monotonic);
	const health = new StrangersHealth(host, closing.signal);
	const app: App = new OpenAPIHono<AppEnvironment>({
		getPath: routedPath,
		defaultHook: (result) => {
			if (!result.success) throw invalid(result.error);
		},
	});
	const { secrets } = host.store;
	app.onError((cause, c) => failure(c, toKeryxError(cause), secrets));
	app.notFound((c) =>
		failure(
			c,
			new KeryxError("http.no_route", `there is no ${c.req.method} ${shownPath(c.req.path)}`),
			secrets,
		),
	);
	app.use("*", harmless);
	app.use("*", withoutSecretNames);
	addChannelEvents(app, host, { limit, rates });
	app.use("*", settleVisitor(access, rates));
	const page = host.page === undefined ? null : loadPage(host.page);
	for (const path of ["/confirm", "/confirm/*", "/grants", "/grants/*", "/audit", "/audit/*"])
		app.all(path, (c) => {
			const visitor = c.get("visitor");
			if (!visitor) rates.assertStranger(c);
			return answerConfirm(c, {
				confirmations: host.confirmations,
				bodyLimit: limit,
				visitor,
				entrance: c.env.entrance.kind,
				page: page && pageAddress(c, host),
				get signal() {
					const stay = visitor ? [visitor.stay] : [];
					return AbortSignal.any([c.req.raw.signal, closing.signal, ...stay]);
				},
				assertMayDecide: async (asked, grant) => {
					if (!visitor || !isPerson(visitor)) return;
					const { role, principal } = visitor;
					await assertMayDecide(asked, grant, { role, principal, store: host.store });
				},
			});
		});
	app.get("/login", (c) => login(c, access, rates));
	if (page) addPage(app, page);
	addWebhooks(app, host, { limit, rates });
	addMcp(app, host, rates, (request) => api.fetch(request));
	app.use("*", assertMayCall(host, { limit, rates, health }));
	const limited = limitedTo(limit);
	for (const name of Object.keys(endpoints) as EndpointName[]) {
		const spec: Endpoint = endpoints[name];
		if (ASK_FOR_PROOF.has(name)) app.on(spec.method, colonPath(spec.path), assertProof(host));
		if (spec.body) app.on(spec.method, colonPath(spec.path), limited, requireJson);
		app.openapi(routeOf(name, spec), async (c) => {
			const input = {
				...(c.req.valid("param") as object),
				...(c.req.valid("query") as object),
				...(spec.body ? (c.req.valid("json" as never) as object) : {}),
			};
			const handle = handlers[name] as (input: object, call: object) => Promise<object>;
			// A stranger does not get this far.
			const visitor = c.get("visitor") as Visitor;
			return c.json(
				await handle(input, {
					host,
					feed,
					health,
					access,
					visitor,
					scope: scopeOf(visitor),
					profile: prefixedProfile(c, host),
					// Asking for the request's own signal makes the server put a whole Request together, as long as all else it does.
					get signal() {
						return AbortSignal.any([c.req.raw.signal, closing.signal, visitor.stay]);
					},
				}),
				spec.status as 200,
			);
		});
	}
	app.get("/", (c) => c.text(where(c.get("visitor")?.who ?? "nobody", host.version, page !== null)));
	addEvents(app, feed, closing.signal);
	// A file can name anybody's ids and addresses: taking one in decides who is who.
	app.post("/api/import", assertProof(host));
	addTransfer(app, host, limit);
	addAttachments(app, host);
	addBridgeFiles(app, host);
	addTerminals(app, host, closing.signal);
	addObservation(app, host, closing.signal);
	const checked = (path: string) => app.post(path, limited, requireJson);
	addOpenAi(app, { host, feed, closing: closing.signal, checked });
	describeConfirm(app);
	addDescription(app, host.version);
	const api: Api = {
		// The server looks for what became of an upgrade in the very object that it gave.
		fetch: async (request, entrance = SOCKET, connection = {}) =>
			app.fetch(request, Object.assign(connection, { entrance: front(entrance, request.headers) })),
		loginPath: () => access.loginPath(),
		close: () => closing.abort(),
	};
	return { api, app };
}

/** As the caller reached it; on the socket and the compat port, where Keryx listens. */
function pageAddress(c: Context<AppEnvironment>, { url }: ApiHost): string | null {
	return c.env.entrance.kind === "port" ? originOf(c) : (url?.() ?? null);
}

/** For programs, and where no page was built. */
function where(who: string, version: string, hasPage: boolean): string {
	return [
		`Keryx ${version} is running. You are ${who} here.`,
		"",
		hasPage
			? "/              the page, in a browser"
			: "The page is not built: in a clone of Keryx, `npm start` builds it.",
		"/docs          the API reference",
		"/confirm       confirmations: waiting and decided",
		"/openapi.json  the API as OpenAPI",
		"/ready         whether everything works",
		"/metrics       numbers, for Prometheus",
		"",
	].join("\n");
}

/** Nothing of ours is to be kept, guessed at, framed or run by a browser, but for pages, which say themselves what they need. */
async function harmless(c: Context, next: () => Promise<void>): Promise<void> {
	// Before the answer is made: added to one, they take a third of the time of a small answer.
	c.header("x-content-type-options", "nosniff");
	c.header("referrer-policy", "no-referrer");
	c.header("cache-control", "no-store");
	c.header("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
	await next();
}

/** Names of secrets are the operator's alone: to others one would confirm a guess (I12). */
async function withoutSecretNames(c: Context<AppEnvironment>, next: () => Promise<void>): Promise<void> {
	await next();
	const visitor = c.get("visitor");
	if (!visitor || visitor.role === "operator" || c.get("isNameless") || !c.res.body) return;
	const { status, headers } = c.res;
	const type = headers.get("content-type") ?? "";
	if (/^application\/json\b/.test(type)) {
		const text = await c.res.text();
		c.res = new Response(withoutNames(text), { status, headers });
	} else if (/event-stream|jsonl|markdown|text\/plain/.test(type))
		c.res = new Response(c.res.body.pipeThrough(maskedLines()), { status, headers });
}

/** What is sent piece by piece comes in whole lines, so that no name is cut in two. */
function maskedLines(): TransformStream<Uint8Array, Uint8Array> {
	const decoder = new TextDecoder();
	const encoder = new TextEncoder();
	return new TransformStream({
		transform: (chunk, out) =>
			out.enqueue(encoder.encode(withoutNames(decoder.decode(chunk, { stream: true })))),
		flush: (out) => out.enqueue(encoder.encode(decoder.decode())),
	});
}

function settleVisitor(access: Access, rates: Rates) {
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
		// A channel brings what many people write.
		if (entrance.kind !== "socket" && visitor && visitor.role !== "channel") rates.assert(c, visitor.who);
		if (visitor?.via === "page") assertOwnPage(c.req.raw);
		await next();
	};
}

/** What the second listener takes without a token: to ask, and to hear what came of it. */
function isForAnybody(method: string, path: string): boolean {
	return method === "POST" ? path === "/confirm" : method === "GET" && /^\/confirm\/[^/]+$/.test(path);
}

/** Readers read, operators do everything, agents talk through /v1 alone, and members and guests have a list of their own. */
function assertMayCall(
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

/** Of everybody but the operator. */
function mayCall(visitor: Visitor, method: string, path: string): boolean {
	if (isPerson(visitor)) return mayPersonCall(visitor, method, path);
	// Asking for a bridge's work takes it away from its program: no reading.
	if (visitor.role === "channel" || path.startsWith("/api/bridges/"))
		return isBridgePath(path, visitor.channel);
	if (visitor.role === "agent") return isOpenAiPath(path);
	return method === "GET" || method === "HEAD";
}

function assertProof(host: ApiHost) {
	return async (c: Context<AppEnvironment>, next: () => Promise<void>): Promise<void> => {
		const visitor = c.get("visitor");
		if (!visitor?.proven) throw needsProof();
		// What people may call was settled before: it holds for what asks for proof, too, which a login is.
		if (!isPerson(visitor) && !may(visitor, "tokens"))
			await refuse(host, visitor, `${c.req.method} ${c.req.path}`);
		await next();
	};
}

/** An attempt of somebody who was authenticated is noted. */
async function refuse({ confirmations, store }: ApiHost, visitor: Visitor, what: string): Promise<never> {
	// Hidden before it is cut: half of a secret would not be recognised.
	const noted = store.secrets.hide(shownPath(what)).slice(0, LONGEST_NOTED);
	await confirmations.refused(visitor, noted, `its role is ${visitor.role}`);
	throw new KeryxError("http.forbidden", `the role ${visitor.role} is not allowed to do this`);
}

const LONGEST_NOTED = 200;
/** Of a person's own confirmations that wait. */
const MOST_COUNTED = 100;

async function login(c: Context<AppEnvironment>, access: Access, rates: Rates): Promise<Response> {
	const { entrance } = c.env;
	if (entrance.kind !== "port" || c.req.method !== "GET")
		throw new KeryxError("http.no_route", `there is no ${c.req.method} /login`);
	const done = await access.login(c.req.query("code") ?? "", entrance).catch((error: unknown) => {
		rates.assertStranger(c);
		if (error instanceof KeryxError && error.code === "http.login" && acceptsHtml(c)) return error;
		throw error;
	});
	if (done instanceof KeryxError) return notLoggedIn(c, done);
	const { secret, key, maxAge } = done;
	const secure = isSecure(entrance);
	setCookie(c, cookieName(entrance), secret, {
		maxAge,
		httpOnly: true,
		sameSite: "Strict",
		secure,
		path: "/",
	});
	// Behind the hash, which a browser keeps to itself and the page removes.
	return c.redirect(`/#login=${key}`, 303);
}

function notLoggedIn(c: Context, { message }: KeryxError): Promise<Response> {
	const body = html`<h1>You are not logged in</h1>
<p>No browser was logged in: ${message}.</p>
<p>A login link works once, within ten minutes. Make another one where Keryx runs, and open it in this browser:</p>
<pre>keryx link</pre>
<p>If this browser is logged in already, <a href="/">go on to the page</a>.</p>`;
	return htmlPage(c, { title: "Not logged in: Keryx", body, status: 401 });
}

/** It may repeat what was asked for, and that may be a secret. */
function failure(c: Context<AppEnvironment>, known: KeryxError, secrets: Secrets): Response {
	const status = statusOf(known);
	if (status === 401) c.header("www-authenticate", challenge(c));
	const error = errorOn(c.req.path, known);
	const hidden = secrets.hideIn({ error });
	return c.json(c.get("visitor")?.role === "operator" ? hidden : withoutNamesIn(hidden), status as 500);
}

function withoutNamesIn<Value>(value: Value): Value {
	const text = JSON.stringify(value);
	return text.includes("secret:") ? (JSON.parse(withoutNames(text)) as Value) : value;
}

/** Each family in the form that its clients read. */
function errorOn(path: string, known: KeryxError) {
	if (isConfirmPath(path)) return known.message;
	return isOpenAiPath(path) ? toOpenAiError(known) : known.toJSON();
}

function routeOf(name: EndpointName, { method, path, about, status, params, query, body, answer }: Endpoint) {
	return createRoute({
		operationId: name,
		method,
		path,
		summary: about,
		request: {
			params,
			query,
			...(body && { body: { content: { "application/json": { schema: body } }, required: true } }),
		},
		responses: {
			[status]: { description: about, content: { "application/json": { schema: answer } } },
			default: { description: "what is wrong", content: { "application/json": { schema: error } } },
		},
	});
}

/** A body of a declared size is not counted: the server takes no more than that, and hands it over at once. */
function limitedTo(limit: number) {
	const counted = bodyLimit({
		maxSize: limit,
		onError: () => {
			throw tooLarge(limit);
		},
	});
	return async (c: Context, next: () => Promise<void>): Promise<Response | undefined> => {
		if (!hasDeclaredSize(c.req.raw.headers)) return (await counted(c, next)) ?? undefined;
		assertDeclaredSize(c.req.raw, limit);
		await next();
		return undefined;
	};
}

/** A body of another kind would be passed over in silence. */
async function requireJson(c: Context, next: () => Promise<void>): Promise<void> {
	if (!isJson(c.req.header("content-type")))
		throw new KeryxError("http.not_json", "the body must be sent as application/json");
	await next();
}

function invalid({ issues }: z.core.$ZodError): KeryxError {
	const [issue] = issues;
	const field = issue?.path.join(".") ?? "";
	const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
	return new KeryxError("argument.invalid", field ? `${field}: ${issue?.message}` : `${issue?.message}`, {
		field: field || unknown || "body",
	});
}

function colonPath(path: string): string {
	return path.replace(/\{(\w+)\}/g, ":$1");
}
