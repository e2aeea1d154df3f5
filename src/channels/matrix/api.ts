// Matrix's client-server API: one request, one answer. Nothing is retried here, and errors never contain the token.
import { NoAnswer, type Request, type Transport } from "../transport.ts";

/** The server answered, and refused. */
export class MatrixError extends Error {
	readonly status: number;
	/** `M_FORBIDDEN` and the like; empty if the server named none. */
	readonly code: string;
	/** How long the server asks to wait. */
	readonly retryAfterMs: number | undefined;
	/** Its whole answer. */
	readonly answer: Readonly<Record<string, unknown>>;

	constructor(
		status: number,
		answer: Readonly<Record<string, unknown>>,
		retryAfterMs: number | undefined = undefined,
	) {
		const { errcode, error } = answer;
		const code = typeof errcode === "string" ? errcode : "";
		super(typeof error === "string" && error !== "" ? error : code || `HTTP status ${status}`);
		this.status = status;
		this.code = code;
		this.retryAfterMs = retryAfterMs;
		this.answer = answer;
	}
}

/** A request's kind, for its deadline and for aborting it. */
export const KIND = { sync: "sync", read: "read", write: "write", upload: "upload", file: "file" } as const;

type Kind = (typeof KIND)[keyof typeof KIND];
type Query = Readonly<Record<string, string | number | undefined>>;

export interface ApiOptions {
	/** Without a slash at its end. */
	readonly homeserver: string;
	/** Absent before a login. */
	readonly token?: string;
	readonly transport: Transport;
}

export class Api {
	readonly #options: ApiOptions;

	constructor(options: ApiOptions) {
		this.#options = options;
	}

	get(path: string, query: Query = {}, kind: Kind = KIND.read): Promise<unknown> {
		return this.#call("GET", path, { query, kind });
	}

	put(path: string, body: unknown): Promise<unknown> {
		return this.#call("PUT", path, { json: body, kind: KIND.write });
	}

	post(path: string, body: unknown): Promise<unknown> {
		return this.#call("POST", path, { json: body, kind: KIND.write });
	}

	/** Returns the file's `mxc:` address. */
	async upload(name: string, mediaType: string, bytes: Request["body"], size?: number): Promise<string> {
		const answer = await this.#call("POST", "/_matrix/media/v3/upload", {
			query: { filename: name },
			kind: KIND.upload,
			raw: { body: bytes ?? null, mediaType, ...(size !== undefined && { size }) },
		});
		const uri = (answer as { readonly content_uri?: unknown }).content_uri;
		if (typeof uri !== "string" || !uri.startsWith("mxc://"))
			throw new NoAnswer("the server did not say where it put the file");
		return uri;
	}

	/** The bytes of an uploaded file. */
	download(server: string, media: string, ms: number): AsyncIterable<Uint8Array> {
		const { homeserver, transport } = this.#options;
		const address = path`/_matrix/client/v1/media/download/${server}/${media}`;
		return transport.download(`${homeserver}${address}`, ms, this.#authorization());
	}

	async #call(
		method: string,
		address: string,
		{
			query = {},
			kind,
			json,
			raw,
		}: {
			readonly query?: Query;
			readonly kind: Kind;
			readonly json?: unknown;
			readonly raw?: {
				readonly body: NonNullable<Request["body"]> | null;
				readonly mediaType: string;
				readonly size?: number;
			};
		},
	): Promise<unknown> {
		const { homeserver, transport } = this.#options;
		const url = new URL(`${homeserver}${address}`);
		for (const [name, value] of Object.entries(query))
			if (value !== undefined) url.searchParams.set(name, String(value));
		const body = raw ? raw.body : json === undefined ? null : JSON.stringify(json);
		const length = raw ? raw.size : typeof body === "string" ? Buffer.byteLength(body) : undefined;
		const answer = await transport.answer(url, kind, {
			method,
			headers: {
				...this.#authorization(),
				...(body !== null && { "content-type": raw?.mediaType ?? "application/json" }),
				...(length !== undefined && { "content-length": String(length) }),
			},
			body,
		});
		const value = parsed(answer.body.toString());
		// From a machine in between, which does not say what the server did.
		if (value === null) throw new NoAnswer(`HTTP status ${answer.status} without an answer from the server`);
		if (answer.status >= 200 && answer.status < 300) return value;
		throw new MatrixError(answer.status, value, pauseOf(value, answer.headers["retry-after"]));
	}

	/** Node would refuse a token that is not a valid header, with the token in the error. */
	#authorization(): Record<string, string> {
		const { token } = this.#options;
		if (token === undefined) return {};
		return { authorization: `Bearer ${/^[\x21-\x7e]+$/.test(token) ? token : "invalid"}` };
	}
}

/** Ids may contain anything: each is one segment. */
export function path(texts: TemplateStringsArray, ...ids: readonly string[]): string {
	return texts.reduce((whole, text, n) => `${whole}${encodeURIComponent(ids[n - 1] ?? "")}${text}`);
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}

function pauseOf(answer: Readonly<Record<string, unknown>>, header: string | undefined): number | undefined {
	if (typeof answer.retry_after_ms === "number") return Math.max(0, answer.retry_after_ms);
	const seconds = Number(header);
	return header !== undefined && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
