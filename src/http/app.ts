// The API as one Hono app, on the socket and on ports. Who calls is settled first, then what they may call. Routes and OpenAPI come from the
// table of endpoints; confirmations and streams have their own routes.
import { createRoute, OpenAPIHono, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { KeryxError } from "../errors.ts";
import { assertMayDecide } from "../gateway/index.ts";
import type { Secrets } from "../secrets/index.ts";
import { systemClock } from "../time/index.ts";
import { addAttachments } from "./attachments.ts";
import { addBridgeFiles } from "./bridge/files.ts";
import type { ApiHost } from "./call.ts";
import { answerConfirm, confirmPatterns, isConfirmPath } from "./confirm/confirm.ts";
import { describeConfirm } from "./confirm/docs.ts";
import { addDescription } from "./docs/description.ts";
import type { Endpoint } from "./endpoint.ts";
import { type EndpointName, endpoints } from "./endpoints.ts";
import { ASK_FOR_PROOF, assertMayCall, assertProof, settleVisitor } from "./entry/admit.ts";
import { Access, type Entrance, type Visitor } from "./entry/auth.ts";
import { logInBrowser } from "./entry/browser-login.ts";
import { addChannelEvents } from "./entry/channel-events.ts";
import { createFront } from "./entry/front.ts";
import { assertDeclaredSize, hasDeclaredSize, isJson, Rates, tooLarge } from "./entry/guards.ts";
import { addPage, loadPage } from "./entry/page.ts";
import { isPerson } from "./entry/people.ts";
import { prefixedProfile, routedPath } from "./entry/profile-prefix.ts";
import { scopeOf } from "./entry/scope.ts";
import { namelessJson, withoutNamesIn, withoutSecretNames } from "./entry/secret-names.ts";
import { shareRates } from "./entry/shared-rates.ts";
import { type App, type AppEnvironment, originOf } from "./environment.ts";
import { shownPath, statusOf, toKeryxError } from "./errors.ts";
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

export interface Api {
	/** Answers one request, for a server or within the process. `connection` is the server's, for upgrades. */
	fetch(request: Request, entrance?: Entrance, connection?: object): Promise<Response>;
	/** The path of a link that logs in a browser, once, within ten minutes. */
	loginPath(): string;
	/** The metrics count from here on. Without it they begin with the first request for them. */
	startCounting(): Promise<void>;
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
	shareRates(rates, host.store.cluster, host.after ?? systemClock.after);
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
	for (const path of confirmPatterns())
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
				assertMayDecide:
					visitor && isPerson(visitor)
						? (asked, grant) => {
								const { role, principal } = visitor;
								return assertMayDecide(asked, grant, { role, principal, store: host.store });
							}
						: null,
			});
		});
	app.get("/login", (c) => logInBrowser(c, access, rates));
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
			// Strangers were refused before.
			const visitor = c.get("visitor") as Visitor;
			return namelessJson(
				c,
				await handle(input, {
					host,
					feed,
					health,
					access,
					visitor,
					scope: scopeOf(visitor),
					profile: prefixedProfile(c, host),
					// A getter: the request's own signal makes the server build a whole Request, which takes as long as everything else.
					get signal() {
						return AbortSignal.any([c.req.raw.signal, closing.signal, visitor.stay]);
					},
				}),
				spec.status as 200,
			) as never;
		});
	}
	app.get("/", (c) => c.text(where(c.get("visitor")?.who ?? "nobody", host.version, page !== null)));
	addEvents(app, feed, closing.signal);
	// A file can claim anyone's ids and addresses: an import decides who is who.
	app.post("/api/import", assertProof(host));
	addTransfer(app, host, limit);
	addAttachments(app, host);
	addBridgeFiles(app, host);
	addTerminals(app, host, closing.signal);
	const meter = addObservation(app, host, closing.signal);
	const checked = (path: string) => app.post(path, limited, requireJson);
	addOpenAi(app, { host, feed, closing: closing.signal, checked });
	describeConfirm(app);
	addDescription(app, host.version);
	const api: Api = {
		// The same object: the server looks in it for the result of an upgrade.
		fetch: async (request, entrance = SOCKET, connection = {}) =>
			app.fetch(request, Object.assign(connection, { entrance: front(entrance, request.headers) })),
		loginPath: () => access.loginPath(),
		startCounting: () => meter.start(),
		close: () => closing.abort(),
	};
	return { api, app };
}

/** The address that the caller used. On the socket and the compat port: where Keryx listens. */
function pageAddress(c: Context<AppEnvironment>, { url }: ApiHost): string | null {
	return c.env.entrance.kind === "port" ? originOf(c) : (url?.() ?? null);
}

/** For programs, and if no page was built. */
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

/** A browser must not cache, guess at, frame or run an answer. Pages set their own headers. */
async function harmless(c: Context, next: () => Promise<void>): Promise<void> {
	// Set before the answer is made: adding them later takes a third of the time of a small answer.
	c.header("x-content-type-options", "nosniff");
	c.header("referrer-policy", "no-referrer");
	c.header("cache-control", "no-store");
	c.header("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
	await next();
}

/** Hides secrets: an error may repeat the request, which may hold one. */
function failure(c: Context<AppEnvironment>, known: KeryxError, secrets: Secrets): Response {
	const status = statusOf(known);
	if (status === 401) c.header("www-authenticate", challenge(c));
	const error = errorOn(c.req.path, known);
	const hidden = secrets.hideIn({ error });
	return c.json(c.get("visitor")?.role === "operator" ? hidden : withoutNamesIn(hidden), status as 500);
}

/** Each family of calls in the form that its clients read. */
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

/** A body with a declared size is not counted: the server takes no more than that. */
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

/** A body of another type would be ignored silently. */
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
