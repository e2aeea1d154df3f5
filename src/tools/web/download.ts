// Downloads a page, within limits. A name is looked up once per request, all its addresses are checked, and the connection goes to a
// checked one: no second lookup could answer differently. Redirects are followed one by one, each as a new request. It sends no cookies
// or credentials, uses no proxy and keeps no connection.
import { lookup } from "node:dns/promises";
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Clock } from "../../time/index.ts";
import { allowedPrivately, isPublicAddress } from "../../walls/index.ts";

const MOST_REDIRECTS = 5;

export interface WebLimits {
	/** Bytes of one page, also when decompressed. */
	readonly bytes: number;
	/** In total, including redirects. */
	readonly ms: number;
	/** Names, addresses and ranges of private networks that may be fetched. */
	readonly allowPrivate: readonly string[];
}

export interface HostAddress {
	readonly address: string;
	readonly family: number;
}

export interface DownloadOptions {
	readonly limits: WebLimits;
	readonly clock: Pick<Clock, "after">;
	readonly signal: AbortSignal;
	readonly userAgent: string;
	/** Default: the system's resolver. */
	resolve?(host: string): Promise<readonly HostAddress[]>;
}

export interface Page {
	/** The final address. */
	readonly url: URL;
	readonly status: number;
	readonly contentType: string;
	readonly body: Buffer;
	/** The page is longer than the limit. */
	readonly isCut: boolean;
}

/** Why a page was not fetched, in words for the model. */
export class NotFetched extends Error {}

/** Rejects with NotFetched. */
export async function download(address: string, options: DownloadOptions): Promise<Page> {
	const { clock, limits, signal } = options;
	const stop = new AbortController();
	const cancel = clock.after(limits.ms, () =>
		stop.abort(new NotFetched(`it took longer than ${limits.ms / 1000} seconds`)),
	);
	const ended = AbortSignal.any([signal, stop.signal]);
	try {
		let url = checkedUrl(address);
		for (let redirects = 0; ; redirects++) {
			const response = await request(url, options, ended);
			const { statusCode: status = 0, headers } = response;
			if (status < 300 || status >= 400 || headers.location === undefined) {
				const contentType = headers["content-type"] ?? "";
				return { url, status, contentType, ...(await bodyOf(response, limits.bytes, ended)) };
			}
			response.destroy();
			if (redirects === MOST_REDIRECTS)
				throw new NotFetched(`it was redirected more than ${MOST_REDIRECTS} times`);
			url = checkedUrl(headers.location, url);
		}
	} catch (error) {
		if (stop.signal.aborted) throw stop.signal.reason;
		if (error instanceof NotFetched) throw error;
		throw new NotFetched(`it failed: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
	} finally {
		cancel();
	}
}

function checkedUrl(address: string, base?: URL): URL {
	const shown = base === undefined ? "the address" : `the redirect from ${base.host}`;
	if (!URL.canParse(address, base?.href)) throw new NotFetched(`${shown} is not a valid URL`);
	const url = new URL(address, base);
	if (url.protocol !== "http:" && url.protocol !== "https:")
		throw new NotFetched(`${shown} is ${url.protocol} and only http and https can be fetched`);
	if (url.username !== "" || url.password !== "")
		throw new NotFetched(`${shown} contains a user name or password, which is never sent`);
	url.hash = "";
	return url;
}

/** Resolves with the answer's head. */
async function request(
	url: URL,
	options: DownloadOptions,
	signal: AbortSignal,
): Promise<http.IncomingMessage> {
	const checked = await checkedAddresses(url, options);
	signal.throwIfAborted();
	const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
	const asked = (url.protocol === "https:" ? https : http).request(
		url,
		{
			agent: false,
			headers: {
				"user-agent": options.userAgent,
				accept: "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
				"accept-encoding": "gzip, deflate, br",
			},
			signal,
			// Only a checked address: nothing is looked up here.
			lookup: fixed(checked),
		},
		resolve,
	);
	asked.once("error", reject);
	asked.once("socket", (socket) =>
		socket.once("connect", () => {
			// A host that is an address needs no lookup.
			const { remoteAddress = "" } = socket;
			if (!checked.some(({ address }) => sameAddress(address, remoteAddress)))
				asked.destroy(new NotFetched(`the connection went to ${remoteAddress}, which was not checked`));
		}),
	);
	asked.end();
	return promise;
}

/** Throws if one of its addresses is neither public nor allowed. */
async function checkedAddresses(
	url: URL,
	{ limits, resolve }: DownloadOptions,
): Promise<readonly HostAddress[]> {
	const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
	const version = isIP(host);
	const found = version > 0 ? [{ address: host, family: version }] : await (resolve ?? systemResolve)(host);
	if (found.length === 0) throw new NotFetched(`${host} has no address`);
	const allowed = allowedPrivately(limits.allowPrivate);
	const refused = found.find(({ address }) => !isPublicAddress(address) && !allowed.address(address));
	if (refused && !allowed.name(host))
		throw new NotFetched(
			`${host}${version > 0 ? "" : ` (${refused.address})`} is in a private network. The operator can allow it in the setting web.allow_private`,
		);
	return found;
}

async function systemResolve(host: string): Promise<readonly HostAddress[]> {
	return lookup(host, { all: true });
}

function fixed(addresses: readonly HostAddress[]): LookupFunction {
	return (_, { all }, callback) => {
		const [first] = addresses;
		if (all) callback(null, [...addresses]);
		else callback(null, first?.address ?? "", first?.family);
	};
}

function sameAddress(one: string, other: string): boolean {
	const plain = (address: string) => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
	return (
		plain(one) === plain(other) ||
		(isIP(one) === 6 && isIP(other) === 6 && canonical(one) === canonical(other))
	);
}

function canonical(address: string): string {
	return new URL(`http://[${address}]`).hostname;
}

async function bodyOf(
	response: http.IncomingMessage,
	most: number,
	signal: AbortSignal,
): Promise<Pick<Page, "body" | "isCut">> {
	const pieces: Buffer[] = [];
	let size = 0;
	const unpacked = unpack(response);
	const abort = () => unpacked.destroy(signal.reason as Error);
	signal.addEventListener("abort", abort, { once: true });
	try {
		for await (const piece of unpacked) {
			pieces.push(piece as Buffer);
			size += (piece as Buffer).length;
			if (size > most) break;
		}
	} finally {
		signal.removeEventListener("abort", abort);
		response.destroy();
	}
	return { body: Buffer.concat(pieces).subarray(0, most), isCut: size > most };
}

function unpack(response: http.IncomingMessage): Readable {
	const make = {
		gzip: createGunzip,
		"x-gzip": createGunzip,
		deflate: createInflate,
		br: createBrotliDecompress,
	}[(response.headers["content-encoding"] ?? "").trim().toLowerCase()];
	if (!make) return response;
	const unpacked = make();
	response.once("error", (error) => unpacked.destroy(error));
	return response.pipe(unpacked);
}
