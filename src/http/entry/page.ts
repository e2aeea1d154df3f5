// The built page. Its files are read once, all of them when the first is asked for: they are of one version, and a gateway whose page nobody
// opens does not hold 3 MB of them. Their addresses are known from the start: a request never names a file on disk. They are not secret, so
// that the page can explain how to log in; all data comes from the API, which authenticates.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import type { Context } from "hono";
import type { App, AppEnvironment } from "../environment.ts";

const TYPES: Readonly<Record<string, string>> = {
	".css": "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".ico": "image/x-icon",
	".js": "text/javascript; charset=utf-8",
	".json": "application/json; charset=utf-8",
	".png": "image/png",
	".svg": "image/svg+xml; charset=utf-8",
	".txt": "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json; charset=utf-8",
	".woff2": "font/woff2",
};
const COMPRESSED_ALREADY = /^(?:font\/|image\/(?:png|x-icon))/;
const WORTH_COMPRESSING = 1024;
const INDEX = "/index.html";
const ASSETS = "/assets/";
const PACKED = ".gz";

/** xterm creates its own style elements: hence unsafe-inline, only for styles. */
const POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self' 'unsafe-inline'",
	"img-src 'self' data: blob:",
	"font-src 'self'",
	"connect-src 'self'",
	"manifest-src 'self'",
	"frame-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join("; ");

/** The frame that draws diagrams: it has no origin, and talks only to the surrounding page. */
const DIAGRAM = "/diagram.html";
const DIAGRAM_POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'unsafe-inline'",
	"img-src data:",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'self'",
	"sandbox allow-scripts",
].join("; ");
/** For a frame without an origin even its own server is foreign. */
const FOR_DIAGRAMS = /^\/diagram\.(?:html|js)$|^\/assets\/mermaid[\w.-]*\.js$/;

export function isForDiagrams(path: string): boolean {
	return FOR_DIAGRAMS.test(path);
}

export interface PageFile {
	readonly bytes: Buffer<ArrayBuffer>;
	readonly type: string;
	readonly etag: string;
	/** Created on first use; null if it would not be shorter. */
	gzipped(): Promise<Buffer<ArrayBuffer> | null>;
}

export type Page = Pick<ReadonlyMap<string, PageFile>, "get">;

/** By address; null if no page was built. */
export function loadPage(folder: string): Page | null {
	if (!existsSync(join(folder, INDEX))) return null;
	const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) =>
		entry.isFile(),
	);
	const byAddress = new Map(
		files.map((entry) => {
			const file = join(entry.parentPath, entry.name);
			const path = `/${relative(folder, file).split(sep).join("/")}`;
			return [path.endsWith(PACKED) ? path.slice(0, -PACKED.length) : path, file];
		}),
	);
	let read: ReadonlyMap<string, PageFile> | undefined;
	const get = (path: string): PageFile | undefined => {
		if (!byAddress.has(path)) return undefined;
		read ??= new Map(
			[...byAddress].map(([name, file]) => [name, file.endsWith(PACKED) ? packedFile(file) : pageFile(file)]),
		);
		return read.get(path);
	};
	return { get };
}

/** Stored compressed, and decompressed for clients that need it. */
function packedFile(file: string): PageFile {
	const bytes = readFileSync(file);
	return {
		get bytes() {
			return gunzipSync(bytes);
		},
		type: typeOf(file.slice(0, -PACKED.length)),
		etag: etagOf(bytes),
		gzipped: () => Promise.resolve(bytes),
	};
}

function typeOf(file: string): string {
	return TYPES[extname(file)] ?? "application/octet-stream";
}

function etagOf(bytes: Buffer): string {
	return `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
}

function pageFile(file: string): PageFile {
	const bytes = readFileSync(file);
	const type = typeOf(file);
	let compressing: Promise<Buffer<ArrayBuffer> | null> | undefined;
	return {
		bytes,
		type,
		etag: etagOf(bytes),
		gzipped: () => (compressing ??= compressed(bytes, type)),
	};
}

async function compressed(bytes: Buffer, type: string): Promise<Buffer<ArrayBuffer> | null> {
	if (COMPRESSED_ALREADY.test(type) || bytes.length < WORTH_COMPRESSING) return null;
	const shorter = await promisify(gzip)(bytes, { level: 9 });
	return shorter.length < bytes.length ? shorter : null;
}

/**
 * Serves the page's files, and its index for any address that is not an API call: the page's router handles the rest. Before
 * authentication.
 */
export function addPage(app: App, page: Page): void {
	let taken: ReadonlySet<string> | undefined;
	app.use("*", async (c, next) => {
		const { method, path } = c.req;
		const isAsked = (method === "GET" || method === "HEAD") && c.env.entrance.kind !== "compat";
		if (!isAsked) return next();
		const file = path === INDEX ? undefined : page.get(path);
		if (file) return answer(c, file, path.startsWith(ASSETS) ? KEPT : ASKED_AGAIN, path);
		taken ??= new Set(app.routes.filter(isRead).map((route) => firstPart(route.path)));
		const isOurs = path === "/" || path === INDEX || !taken.has(firstPart(path));
		if (!isOurs || path.startsWith(ASSETS) || !acceptsHtml(c)) return next();
		const index = page.get(INDEX);
		return index ? answer(c, index, ASKED_AGAIN, INDEX) : next();
	});
}

/** A POST-only address is free for a view: /channels has one. */
function isRead({ method }: { readonly method: string }): boolean {
	return method === "GET" || method === "ALL";
}

/** Their names change with their content. */
const KEPT = "public, max-age=31536000, immutable";
const ASKED_AGAIN = "no-cache";

/** Explicitly accepted: a client that accepts anything is a program. */
export function acceptsHtml(c: Context<AppEnvironment>): boolean {
	return /\btext\/html\b/i.test(c.req.header("accept") ?? "");
}

function firstPart(path: string): string {
	return path.split("/")[1] ?? "";
}

async function answer(
	c: Context<AppEnvironment>,
	file: PageFile,
	caching: string,
	path: string,
): Promise<Response> {
	const headers = {
		etag: file.etag,
		vary: "accept, accept-encoding",
		"cache-control": caching,
		"content-security-policy": path === DIAGRAM ? DIAGRAM_POLICY : POLICY,
		"cross-origin-opener-policy": "same-origin",
		"cross-origin-resource-policy": isForDiagrams(path) ? "cross-origin" : "same-origin",
	};
	if (names(c.req.header("if-none-match"), file.etag)) return c.body(null, 304, headers);
	const shorter = takesGzip(c.req.header("accept-encoding")) ? await file.gzipped() : null;
	return c.body(shorter ?? file.bytes, 200, {
		...headers,
		"content-type": file.type,
		...(shorter && { "content-encoding": "gzip" }),
	});
}

function names(ifNoneMatch: string | undefined, etag: string): boolean {
	return ifNoneMatch?.split(",").some((one) => one.trim() === etag) ?? false;
}

function takesGzip(accepted: string | undefined): boolean {
	return /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i.test(accepted ?? "");
}
