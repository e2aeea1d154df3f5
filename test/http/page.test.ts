// The page's files, on a port: to anybody, and nothing else to anybody.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onPort, type Ported, SECRET } from "./port.ts";

const INDEX = "<!doctype html><title>Keryx</title><script type=module src=/assets/app-1a2b.js></script>";
const SCRIPT = `export const words = ${JSON.stringify("a page. ".repeat(1000))};`;
const HTML = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" };
const OUTSIDE = "what nobody may read";

let folder: string;
let keryx: Ported;
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), "keryx-page-"));
	const web = join(folder, "web");
	mkdirSync(join(web, "assets"), { recursive: true });
	writeFileSync(join(folder, "outside.txt"), OUTSIDE);
	writeFileSync(join(web, "index.html"), INDEX);
	writeFileSync(join(web, "favicon.svg"), "<svg/>");
	writeFileSync(join(web, "assets", "app-1a2b.js"), SCRIPT);
	writeFileSync(join(web, "assets", "font-3c4d.woff2"), Buffer.alloc(5000, 1));
	symlinkSync(join(folder, "outside.txt"), join(web, "assets", "link.txt"));
	keryx = await onPort({}, { page: web });
});
afterAll(async () => {
	await keryx.close();
	rmSync(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = HTML) => keryx.call("GET", path, { headers });

describe("the page", () => {
	test.each(["/", "/c/0192/s/1", "/confirmations", "/processes", "/checkpoints", "/settings", "/search?q=x"])(
		"is served at %s to a browser that is not logged in",
		async (path) => {
			const answer = await get(path);
			expect(answer).toMatchObject({ status: 200, text: INDEX });
			expect(answer.headers).toMatchObject({
				"content-type": "text/html; charset=utf-8",
				"cache-control": "no-cache",
				"x-content-type-options": "nosniff",
				"referrer-policy": "no-referrer",
			});
		},
	);

	test("may run its own scripts and nothing else, and stands in no frame", async () => {
		const policy = (await get("/")).headers["content-security-policy"] as string;
		const rules = Object.fromEntries(policy.split("; ").map((rule) => rule.split(/ (.*)/s).slice(0, 2)));
		expect(rules).toEqual({
			"default-src": "'none'",
			// Diagrams are drawn in a frame of its own, which has no origin.
			"frame-src": "'self'",
			"script-src": "'self'",
			"style-src": "'self' 'unsafe-inline'",
			"img-src": "'self' data: blob:",
			"font-src": "'self'",
			"connect-src": "'self'",
			"manifest-src": "'self'",
			"base-uri": "'none'",
			"form-action": "'none'",
			"frame-ancestors": "'none'",
		});
	});

	test("keeps its assets for ever, compressed where the browser takes that", async () => {
		const plain = await get("/assets/app-1a2b.js", {});
		expect([plain.text, plain.headers["content-encoding"]]).toEqual([SCRIPT, undefined]);
		expect(plain.headers).toMatchObject({
			"content-type": "text/javascript; charset=utf-8",
			"cache-control": "public, max-age=31536000, immutable",
		});
		const response = await keryx.api.fetch(
			new Request("http://keryx/assets/app-1a2b.js", { headers: { "accept-encoding": "br, gzip;q=0.5" } }),
		);
		expect(response.headers.get("content-encoding")).toBe("gzip");
		expect(gunzipSync(Buffer.from(await response.arrayBuffer())).toString()).toBe(SCRIPT);
		for (const refusing of ["br", "gzip;q=0", "gzip;q=0.0, br", "xgzip"])
			expect(
				(await get("/assets/app-1a2b.js", { "accept-encoding": refusing })).headers,
				refusing,
			).not.toHaveProperty("content-encoding");
		const font = await get("/assets/font-3c4d.woff2", { "accept-encoding": "gzip" });
		expect(font.headers).not.toHaveProperty("content-encoding");
	});

	test("is asked for again, and sent again only where it has changed", async () => {
		const { etag } = (await get("/")).headers;
		const again = await get("/c/1", { ...HTML, "if-none-match": `"other", ${etag}` });
		expect([again.status, again.text]).toEqual([304, ""]);
		expect((await get("/", { ...HTML, "if-none-match": 'W/"other"' })).status).toBe(200);
	});

	test("leaves the API to those who may call it, whatever they accept", async () => {
		for (const path of ["/api/conversations", "/api/nowhere", "/confirm", "/audit", "/metrics", "/events"])
			expect((await get(path)).status, path).toBe(401);
		expect((await get("/", {})).status).toBe(401);
		expect((await get("/nowhere", {})).status).toBe(401);
		const text = await keryx.call("GET", "/", { bearer: SECRET });
		expect(text.text).toContain("You are operator here");
		expect(text.headers["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
		expect((await keryx.call("POST", "/", { headers: HTML })).status).toBe(401);
	});

	test("says nothing on the port for clients without a token, nor to a foreign name", async () => {
		const compat = await keryx.api.fetch(
			new Request("http://127.0.0.1:1/", { headers: { ...HTML, host: "127.0.0.1:1" } }),
			{ kind: "compat", host: "127.0.0.1", port: 1, remote: "127.0.0.1" },
		);
		expect(compat.status).toBe(401);
		expect((await get("/", { ...HTML, host: "evil.example" })).status).toBe(421);
	});
});

describe("no address leads out of the page's folder", () => {
	/** As it is: a client would tidy the path up. */
	function raw(path: string): Promise<string> {
		return new Promise((resolve, reject) => {
			const socket = connect(keryx.port, "127.0.0.1", () =>
				socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${keryx.port}\r\nConnection: close\r\n\r\n`),
			);
			let said = "";
			socket.on("data", (data) => (said += data));
			socket.on("error", reject);
			socket.on("close", () => resolve(said));
		});
	}

	test.each([
		"/assets/../../outside.txt",
		"/assets/../../../../../../etc/passwd",
		"/assets/%2e%2e/%2e%2e/outside.txt",
		"/assets/%2e%2e%2f%2e%2e%2foutside.txt",
		"/assets/%252e%252e%252f%252e%252e%252foutside.txt",
		"/assets/..%5c..%5coutside.txt",
		"/assets/..\\..\\outside.txt",
		"/assets/app-1a2b.js%00.txt",
		"/assets/%00",
		"//etc/passwd",
		"/assets//etc/passwd",
		"/assets/link.txt",
		"/../outside.txt",
		"http://127.0.0.1/../outside.txt",
	])("%s", async (path) => {
		const answer = await raw(path);
		expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
		expect(answer).not.toContain(OUTSIDE);
		expect(answer).not.toContain("root:");
	});

	test("only what was there at the start is served, whatever is asked for", async () => {
		const known = new Set(["/favicon.svg", "/assets/app-1a2b.js", "/assets/font-3c4d.woff2"]);
		const part = fc.constantFrom(
			"app-1a2b.js",
			"assets",
			"..",
			".",
			"",
			"outside.txt",
			"%2e%2e",
			"%2f",
			"\\",
			"%00",
			"web",
		);
		await fc.assert(
			fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
				const request = new Request(`http://127.0.0.1/assets/${parts.join("/")}`, {
					headers: { host: "127.0.0.1" },
				});
				const { pathname } = new URL(request.url);
				const response = await keryx.api.fetch(request, {
					kind: "port",
					host: "127.0.0.1",
					port: 80,
					remote: "",
				});
				const text = await response.text();
				expect(text).not.toContain(OUTSIDE);
				expect(response.status).toBe(known.has(pathname) ? 200 : 401);
			}),
		);
	});
});

describe("without a built page", () => {
	test("whoever may read is told how to build it, and a login that fails is a page all the same", async () => {
		const bare = await onPort({}, { page: join(folder, "nowhere") });
		try {
			expect((await bare.call("GET", "/", { headers: HTML })).status).toBe(401);
			const text = await bare.call("GET", "/", { bearer: SECRET, headers: HTML });
			expect(text.text).toContain("The page is not built: in a clone of Keryx, `npm start` builds it");
			const failed = await bare.call("GET", "/login?code=old", { headers: HTML });
			expect(failed.status).toBe(401);
			expect(failed.headers["content-type"]).toContain("text/html");
			expect(failed.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
			expect(failed.text).toContain("keryx link");
			expect(failed.headers).not.toHaveProperty("set-cookie");
		} finally {
			await bare.close();
		}
	});
});
