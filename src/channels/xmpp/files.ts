// Files: ours are stored on the server's upload service (XEP-0363), those of people are fetched from the addresses they give. Such an
// address may be anything, so only public ones are fetched, and those on the account's own domain; redirects are not followed.
import { lookup } from "node:dns/promises";
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import type { Outgoing, SendResult } from "../../gateway/index.ts";
import { isPublicAddress } from "../../walls/index.ts";
import {
	type Fetched,
	type FileHost,
	fetchInto,
	mediaTypeOf,
	notFetched,
	Unfetched,
} from "../incoming-file.ts";
import { NoAnswer, NotSent, type Transport } from "../transport.ts";
import { isWithin } from "./stream/jid.ts";
import { NS } from "./stream/namespaces.ts";
import { type Session, StanzaError } from "./stream/session.ts";
import { child, type Element, element, elements, textOf } from "./stream/xml.ts";

type OutgoingFile = NonNullable<Outgoing["body"]["attachments"]>[number];

export interface Uploads {
	/** The address of the service. */
	readonly service: string;
	/** Bytes of one file; undefined: not stated. */
	readonly most: number | undefined;
}

/** The server's upload service; null: it has none. */
export async function findUploads(session: Session, domain: string): Promise<Uploads | null> {
	const items = await session.request("get", domain, element("query", NS.items));
	const services = elements(child(items, "query", NS.items) ?? items).flatMap(({ attrs }) => attrs.jid ?? []);
	for (const service of [...services, domain]) {
		const info = await infoOf(session, service);
		if (info?.features.has(NS.upload)) return { service, most: info.uploadLimit };
	}
	return null;
}

export interface Info {
	readonly features: ReadonlySet<string>;
	readonly name: string | undefined;
	readonly uploadLimit: number | undefined;
}

/** The features an address reports (XEP-0030); null: none. */
export async function infoOf(session: Session, of: string | undefined): Promise<Info | null> {
	try {
		const answer = await session.request("get", of, element("query", NS.info));
		const all = elements(child(answer, "query", NS.info) ?? answer);
		const features = all.flatMap(({ name, attrs }) => (name === "feature" ? (attrs.var ?? []) : []));
		const limit = Number(textOf(fieldValue(all, "max-file-size")));
		return {
			features: new Set(features),
			name: all.find(({ name }) => name === "identity")?.attrs.name,
			uploadLimit: limit > 0 ? limit : undefined,
		};
	} catch (error) {
		if (error instanceof StanzaError) return null;
		throw error;
	}
}

function fieldValue(all: readonly Element[], name: string): Element | undefined {
	const field = all
		.filter(({ ns }) => ns === NS.form)
		.flatMap(elements)
		.find(({ attrs }) => attrs.var === name);
	return field && child(field, "value");
}

/** Uploads a file; returns its address, or why that failed. */
export async function upload(
	file: OutgoingFile,
	bytes: AsyncIterable<Uint8Array>,
	{
		session,
		uploads,
		transport,
	}: { readonly session: Session; readonly uploads: Uploads | null; readonly transport: Transport },
): Promise<string | SendResult> {
	const { name, mediaType, size } = file;
	if (!uploads) return { kind: "refused", reason: "the XMPP server stores no files" };
	if (uploads.most !== undefined && size > uploads.most)
		return { kind: "refused", reason: `the XMPP server stores files of at most ${uploads.most} bytes` };
	const request = element("request", NS.upload, {
		filename: name.replace(/[/\\\p{Cc}]/gu, "_"),
		size: String(size),
		"content-type": mediaType,
	});
	try {
		const answer = await session.request("get", uploads.service, request);
		const slot = child(answer, "slot", NS.upload);
		const put = slot && child(slot, "put");
		const [to = "", url = ""] = [put?.attrs.url, slot && child(slot, "get")?.attrs.url];
		if (!/^https?:/.test(to) || !/^https?:/.test(url))
			return { kind: "refused", reason: "the XMPP server gave no address for the file" };
		const { status } = await transport.answer(to, "upload", {
			method: "PUT",
			headers: { ...headersOf(put), "content-type": mediaType, "content-length": String(size) },
			body: Readable.from(bytes, { objectMode: false }),
		});
		if (status === 200 || status === 201 || status === 204) return url;
		const reason = `the XMPP server did not store the file (HTTP status ${status})`;
		return status >= 500 || status === 429 ? { kind: "retry", reason } : { kind: "refused", reason };
	} catch (error) {
		// No message names the file yet: storing it once more is harmless.
		if (error instanceof StanzaError && error.type !== "wait")
			return { kind: "refused", reason: `the XMPP server does not store the file: ${error.message}` };
		if (error instanceof StanzaError || error instanceof NoAnswer || error instanceof NotSent)
			return { kind: "retry", reason: `the file could not be stored: ${error.message}` };
		return { kind: "retry", reason: (error as Error).message };
	}
}

/** Other headers would let the server act in our name elsewhere. */
const PUT_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie", "expires"]);

function headersOf(put: Element | undefined): Record<string, string> {
	return Object.fromEntries(
		elements(put ?? element("put", NS.upload))
			.map((one) => [(one.attrs.name ?? "").toLowerCase(), textOf(one).replace(/[\r\n]/g, "")] as const)
			.filter(([name]) => PUT_HEADERS.has(name)),
	);
}

export interface FileSource extends FileHost {
	/** The account's domain. */
	readonly domain: string;
}

/** A person's file, or a sentence instead of it. */
export async function fetchFile(address: string, from: FileSource): Promise<Fetched> {
	const name = fileName(address);
	try {
		const facts = { name, mediaType: mediaTypeOf(TYPES[name.split(".").at(-1)?.toLowerCase() ?? ""]) };
		return await fetchInto(facts, () => open(address, from), from, {
			reasonOf: (error) => (error as Error).message,
			isFinal: (error) => error instanceof Unfetched,
		});
	} catch (error) {
		if (error instanceof Unfetched) return notFetched(name, error.message);
		throw error;
	}
}

async function open(address: string, { clock, domain, deadlineMs }: FileSource): Promise<Readable> {
	if (!URL.canParse(address)) throw new Unfetched("its address is not valid", true);
	const url = new URL(address);
	if (url.protocol === "aesgcm:") throw new Unfetched("it is encrypted, and Keryx has no keys", true);
	if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
		throw new Unfetched("its address is not valid", true);
	const host = url.hostname.replace(/^\[|\]$/g, "");
	const version = isIP(host);
	const found = version > 0 ? [{ address: host, family: version }] : await lookup(host, { all: true });
	if (!isWithin(host, domain) && !found.every((one) => isPublicAddress(one.address)))
		throw new Unfetched(`${host} is in a private network`, true);
	const fixed: LookupFunction = (_, options, answer) =>
		options.all ? answer(null, found) : answer(null, found[0]?.address ?? "", found[0]?.family ?? 4);
	return new Promise((resolve, reject) => {
		const asked = (url.protocol === "https:" ? https : http).get(url, { agent: false, lookup: fixed });
		const cancel = clock.after(deadlineMs, () => asked.destroy(new Error("it took too long")));
		asked.once("close", cancel);
		asked.once("error", reject);
		asked.once("response", (response) => {
			if (response.statusCode === 200) return resolve(response);
			response.destroy();
			const { statusCode = 0 } = response;
			const reason = `HTTP status ${statusCode}`;
			return reject(statusCode < 500 ? new Unfetched(reason, true) : new Error(reason));
		});
	});
}

function fileName(address: string): string {
	const last = URL.canParse(address) ? (new URL(address).pathname.split("/").at(-1) ?? "") : "";
	try {
		return decodeURIComponent(last).slice(0, 255) || "file";
	} catch {
		return last.slice(0, 255) || "file";
	}
}

const TYPES: Readonly<Record<string, string>> = {
	png: "image/png",
	jpg: "image/jpeg",
	jpeg: "image/jpeg",
	gif: "image/gif",
	webp: "image/webp",
	mp3: "audio/mpeg",
	ogg: "audio/ogg",
	oga: "audio/ogg",
	opus: "audio/ogg",
	m4a: "audio/mp4",
	wav: "audio/wav",
	mp4: "video/mp4",
	webm: "video/webm",
	pdf: "application/pdf",
	txt: "text/plain",
	md: "text/markdown",
	json: "application/json",
	zip: "application/zip",
};
