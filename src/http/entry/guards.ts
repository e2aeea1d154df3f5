// First checks of a request on a port: meant for this server, not from a foreign page, of acceptable size, and within the rate.
import { isIP } from "node:net";
import type { Context } from "hono";
import { KeryxError } from "../../errors.ts";
import type { AppEnvironment } from "../environment.ts";
import type { PortEntrance } from "./auth.ts";

const LONGEST_URL = 8192;
const MOST_CALLERS = 10_000;
const MINUTE_MS = 60_000;

/** Throws for requests that our clients never send. */
export function assertSound(
	request: Request,
	entrance: PortEntrance,
	/** A file for a frame without an origin, to which every server is another site. It is not secret and changes nothing. */
	isForAnySite = false,
): void {
	const { headers, url } = request;
	if (url.length > LONGEST_URL)
		throw new KeryxError("http.url_too_long", `a URL can have at most ${LONGEST_URL} characters`);
	const { publicOrigin } = entrance;
	const host = publicOrigin === undefined ? hostOf(headers.get("host") ?? "") : new URL(publicOrigin);
	// A foreign name that leads here is how a web page reaches a server on its reader's machine (DNS rebinding).
	if (!host || (publicOrigin === undefined && !isOurs(host, entrance)))
		throw new KeryxError("http.host", "the Host header names another server");
	if (headers.get("sec-fetch-site") === "cross-site" && !isNavigation(request) && !isForAnySite)
		throw new KeryxError("http.origin", "another site's page sent this");
	const origin = headers.get("origin");
	const isOwn = publicOrigin === undefined ? isSameOrigin : isExactly;
	if (origin !== null && !isOwn(origin, host) && !isForAnySite)
		throw new KeryxError("http.origin", "another origin's page sent this");
}

/** Browsers send cookies with any page's requests: only our own page may change something, or open a terminal. */
export function assertOwnPage({ headers, method }: Request): void {
	if ((changes(method) || headers.has("upgrade")) && headers.get("origin") === null)
		throw new KeryxError("http.origin", "a change made with the page's cookie must name its origin");
}

/** Checks Content-Length; without one, bytes are counted while reading. */
export function assertDeclaredSize({ headers }: Request, limit: number): void {
	const declared = Number(headers.get("content-length") ?? 0);
	if (declared > limit) throw tooLarge(limit);
}

/** Node's server reads exactly that much. */
export function hasDeclaredSize(headers: Headers): boolean {
	return headers.has("content-length") && !headers.has("transfer-encoding");
}

/** The whole body; null if there is none. */
export async function readBody(request: Request, limit: number): Promise<Uint8Array | null> {
	assertDeclaredSize(request, limit);
	// The server provides none for these methods.
	if (request.method === "GET" || request.method === "HEAD") return null;
	if (hasDeclaredSize(request.headers)) {
		const bytes = new Uint8Array(await request.arrayBuffer());
		return bytes.length === 0 ? null : bytes;
	}
	if (!request.body) return null;
	const chunks: Uint8Array[] = [];
	let size = 0;
	// Left unread, not cancelled: the connection must stay open for the answer.
	for await (const chunk of request.body.values({ preventCancel: true })) {
		size += chunk.length;
		if (size > limit) throw tooLarge(limit);
		chunks.push(chunk);
	}
	return size === 0 ? null : Buffer.concat(chunks);
}

export function tooLarge(limit: number): KeryxError {
	return new KeryxError("http.too_large", `a body can have at most ${limit} bytes`);
}

export function isJson(contentType: string | null | undefined): boolean {
	return contentType?.split(";")[0]?.trim().toLowerCase() === "application/json";
}

/**
 * Requests per caller and minute, as a burst or spread. In memory: a restart resets it. Authenticated callers are counted by name, others
 * by address, and only when refused: strangers share addresses with others.
 */
export class Rates {
	readonly #perMinute: number;
	/** The monotonic clock. */
	readonly #now: () => number;
	readonly #callers = new Map<string, { left: number; at: number }>();
	/** Called for each request that passes. */
	onTaken: (caller: string) => void = () => {};

	constructor(perMinute: number, now: () => number) {
		this.#perMinute = perMinute;
		this.#now = now;
	}

	/** Throws for a caller over the limit, with the waiting time. */
	assert(c: Context<AppEnvironment>, caller: string): void {
		const wait = this.take(caller);
		if (wait === null) return;
		c.header("retry-after", String(wait));
		throw new KeryxError("http.rate", `too many requests; try again in ${wait} s`);
	}

	/** The same for a caller about to be refused. */
	assertStranger(c: Context<AppEnvironment>): void {
		const { entrance } = c.env;
		if (entrance.kind !== "socket") this.assert(c, `@${networkOf(entrance.remote)}`);
	}

	/** Null if it may pass, or the seconds to wait. */
	take(caller: string): number | null {
		const left = this.#left(caller);
		const allowed = left >= 1;
		this.#callers.set(caller, { left: allowed ? left - 1 : left, at: this.#now() });
		if (allowed) this.onTaken(caller);
		return allowed ? null : Math.max(1, Math.ceil(((1 - left) / this.#perMinute) * 60));
	}

	/** Requests that passed elsewhere. Nobody waits for more than two minutes because of them. */
	spend(caller: string, requests: number): void {
		const left = Math.max(-this.#perMinute, this.#left(caller) - requests);
		this.#callers.set(caller, { left, at: this.#now() });
	}

	#left(caller: string): number {
		const now = this.#now();
		const before = this.#callers.get(caller) ?? { left: this.#perMinute, at: now };
		if (!this.#callers.has(caller) && this.#callers.size >= MOST_CALLERS) this.#forgetOldest();
		const gained = (Math.max(0, now - before.at) * this.#perMinute) / MINUTE_MS;
		return Math.min(this.#perMinute, before.left + gained);
	}

	/** After two quiet minutes the allowance is full again. */
	#forgetOldest(): void {
		const since = this.#now() - 2 * MINUTE_MS;
		for (const [caller, { at }] of this.#callers) if (at <= since) this.#callers.delete(caller);
		if (this.#callers.size >= MOST_CALLERS) this.#callers.clear();
	}
}

/** An IPv6 address stands for its whole /64. */
export function networkOf(address: string): string {
	if (isIP(address) !== 6) return address;
	const written = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
	// A mapped IPv4 address is one machine.
	if (written.startsWith("::ffff:")) return address;
	const [head = "", tail] = written.split("::");
	const groups = head === "" ? [] : head.split(":");
	const missing = tail === undefined ? 0 : 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
	return [...groups, ...Array<string>(missing).fill("0"), ...(tail ? tail.split(":") : [])]
		.slice(0, 4)
		.join(":");
}

export function isLoopback(host: string): boolean {
	const name = host.replace(/^\[|\]$/g, "").toLowerCase();
	return (
		name === "localhost" ||
		name.endsWith(".localhost") ||
		name === "::1" ||
		/^127(?:\.\d{1,3}){3}$/.test(name)
	);
}

function changes(method: string): boolean {
	return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

function hostOf(header: string): URL | null {
	if (!/^[\w.:[\]-]+$/.test(header)) return null;
	return URL.canParse(`http://${header}`) ? new URL(`http://${header}`) : null;
}

/** A numeric address cannot be rebound, so if we listen to the network, all of them are ours. */
function isOurs({ hostname, port }: URL, entrance: PortEntrance): boolean {
	if (isLoopback(hostname)) return Number(port || 80) === entrance.port;
	if (isLoopback(entrance.host)) return false;
	return hostname === entrance.host.toLowerCase() || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}

/** Either scheme: a TLS proxy talks to us in plain HTTP. */
function isSameOrigin(origin: string, host: URL): boolean {
	return URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).host === host.host;
}

/** For the public address the scheme is known. */
function isExactly(origin: string, host: URL): boolean {
	return origin === host.origin;
}

/** Someone followed a link: no foreign page can read the answer, and our cookie is not sent. */
function isNavigation({ method, headers }: Request): boolean {
	return (
		method === "GET" &&
		headers.get("sec-fetch-mode") === "navigate" &&
		headers.get("sec-fetch-dest") === "document"
	);
}
