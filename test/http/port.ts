// Confirmations behind a real port, on a store in a real file, with a clock that only the test moves.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configSchema } from "../../src/config/schema.ts";
import {
	type Confirmations,
	confirmationSettings,
	createConfirmations,
} from "../../src/confirmations/index.ts";
import { type Api, createApi, type PortOptions, serveOnPort, serveOnSocket } from "../../src/http/index.ts";
import { createSecrets, openStore, type Store, systemIds, type TokenRole } from "../../src/store/index.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/index.ts";

export const SECRET = "operator-secret-of-these-tests-0123456789";
const AUDIT_KEY = new Uint8Array(32).fill(7);

export interface Answer {
	readonly status: number;
	readonly headers: IncomingHttpHeaders;
	readonly text: string;
	/** Of JSON. */
	readonly body: Readonly<Record<string, unknown>>;
}

export interface Sent {
	readonly bearer?: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** Sent as it is where it is a string, as JSON otherwise. */
	readonly body?: unknown;
}

export interface Ported {
	readonly clock: VirtualClock;
	readonly file: string;
	readonly store: Store;
	readonly api: Api;
	readonly confirmations: Confirmations;
	readonly port: number;
	readonly socketPath: string;
	call(method: string, path: string, sent?: Sent): Promise<Answer>;
	/** The same over the Unix socket. */
	local(method: string, path: string, sent?: Sent): Promise<Answer>;
	/** A new token, by its name. */
	token(
		role: TokenRole,
		more?: { readonly name?: string; readonly session_key?: string; readonly days?: number },
	): Promise<string>;
	/** Asks as an agent, and answers the id. */
	ask(bearer: string, action: string, more?: object): Promise<string>;
	/** Closes the server and the store; with `open` everything is there again. */
	shut(): Promise<void>;
	open(): Promise<void>;
	close(): Promise<void>;
}

export async function onPort(
	config: object = {},
	{
		ratePerMinute = 1_000_000,
		page,
		...options
	}: Partial<PortOptions> & { readonly ratePerMinute?: number; readonly page?: string } = {},
): Promise<Ported> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-port-"));
	const file = join(folder, "keryx.db");
	const socketPath = join(folder, "k.sock");
	const clock = createVirtualClock(Date.UTC(2026, 2, 10, 12));
	const values = configSchema.parse(config);
	const agent = new Agent({ keepAlive: true, maxSockets: 64 });
	let now: {
		readonly store: Store;
		readonly api: Api;
		readonly confirmations: Confirmations;
		readonly port: number;
		shut(): Promise<void>;
	};
	const open = async () => {
		const ids = systemIds(clock);
		const store = await openStore({
			url: `sqlite:${file}`,
			clock,
			ids,
			secrets: createSecrets(new Map([["PASSWORD", "hunter2hunter2"]])),
			auditKey: AUDIT_KEY,
		});
		const confirmations = createConfirmations({
			store,
			clock,
			settings: () => confirmationSettings(values, {}),
		});
		confirmations.start();
		const api = createApi({
			store,
			gateway: null,
			confirmations,
			operatorSecret: SECRET,
			ratePerMinute,
			...(page !== undefined && { page }),
			version: "0.0.0",
			agent: "none",
			startedAt: clock.now(),
			now: clock.now,
			monotonic: clock.monotonic,
		});
		const served = await serveOnPort(api, { host: "127.0.0.1", port: 0, ...options });
		const local = await serveOnSocket(api, socketPath);
		now = {
			store,
			api,
			confirmations,
			port: served.port,
			shut: async () => {
				agent.destroy();
				await Promise.all([served.close(), local.close()]);
				await confirmations.stop();
				await store.close();
			},
		};
	};
	await open();
	const send = (where: object) => (method: string, path: string, sent?: Sent) =>
		exchange({ agent, ...where }, method, path, sent);
	const ported: Ported = {
		clock,
		file,
		socketPath,
		get store() {
			return now.store;
		},
		get api() {
			return now.api;
		},
		get confirmations() {
			return now.confirmations;
		},
		get port() {
			return now.port;
		},
		call: (method, path, sent) => send({ host: "127.0.0.1", port: now.port })(method, path, sent),
		local: (method, path, sent) => exchange({ socketPath }, method, path, sent),
		token: async (role, more = {}) => {
			const body = { name: `t-${randomUUID().slice(0, 8)}`, role, ...more };
			const { status, body: made } = await ported.call("POST", "/api/tokens", { bearer: SECRET, body });
			if (status !== 200) throw new Error(`no token: ${status} ${JSON.stringify(made)}`);
			return made.token as string;
		},
		ask: async (bearer, action, more = {}) => {
			const body = { action, description: "because", ...more };
			const answer = await ported.call("POST", "/confirm", { bearer, body });
			if (answer.status >= 300) throw new Error(`not asked: ${answer.status} ${answer.text}`);
			return answer.body.id as string;
		},
		shut: () => now.shut(),
		open,
		close: async () => {
			await now.shut();
			rmSync(folder, { recursive: true, force: true });
		},
	};
	return ported;
}

/** Both halves of a login, as the page sends them. */
export function loginOf({ headers }: Pick<Answer, "headers">): { cookie: string; "x-keryx-page": string } {
	const [cookie = ""] = headers["set-cookie"]?.[0]?.split(";") ?? [];
	return { cookie, "x-keryx-page": headers.location?.split("#login=")[1] ?? "" };
}

/** One request, as Node sends it: nothing is added or held back as fetch would. */
export function exchange(
	where: object,
	method: string,
	path: string,
	{ bearer, headers = {}, body }: Sent = {},
): Promise<Answer> {
	const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
	return new Promise((resolve, reject) => {
		const sent = request(
			{
				...where,
				method,
				path,
				headers: {
					...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
					...(text !== undefined && {
						...(headers["transfer-encoding"] === undefined && {
							"content-length": String(Buffer.byteLength(text)),
						}),
						...(typeof body !== "string" && { "content-type": "application/json" }),
					}),
					...headers,
				},
			},
			(response) => {
				const chunks: Buffer[] = [];
				response.on("data", (chunk: Buffer) => chunks.push(chunk));
				response.on("error", reject);
				response.on("end", () => {
					const said = Buffer.concat(chunks).toString("utf8");
					resolve({
						status: response.statusCode ?? 0,
						headers: response.headers,
						text: said,
						body: said.startsWith("{") ? (JSON.parse(said) as Record<string, unknown>) : {},
					});
				});
			},
		);
		sent.on("error", reject);
		sent.end(text);
	});
}
