// The page behind a real nginx with TLS, under a public name, in a real browser: as docs/guides/behind-tls.md sets it up.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { soon } from "../support/soon.ts";
import { type Keryx, openBrowser, openKeryx, type Seat, takeSeat } from "./support.ts";
import { answer, box, message, write } from "./talk.ts";

const NAME = "bot.example.org";
const folder = mkdtempSync(join(tmpdir(), "keryx-tls-"));
const SCRIPT = {
	rules: [
		{ when: "count", steps: [{ chunks: ["one, ", "two, ", "three"], chunk_delay_ms: 100 }] },
		{
			when: "a prompt",
			steps: [
				{
					tools: [
						{
							name: "terminal",
							input: {
								background: true,
								notify: "none",
								pty: true,
								command: 'echo ready; while read -r line; do echo "got <$line>"; done',
							},
						},
					],
				},
				{ text: "started" },
			],
		},
	],
	otherwise: [{ text: "You said: {{input}}" }],
};

let nginx: ChildProcess;
let keryx: Keryx;
let browser: Browser;
let seat: Seat;
let page: Page;
let origin: string;

beforeAll(async () => {
	const port = await freePort();
	origin = `https://${NAME}:${port}`;
	keryx = await openKeryx({
		script: SCRIPT,
		config: { http: { port: 0, public_url: origin, trusted_proxies: ["127.0.0.1"] } },
	});
	makeCertificate();
	nginx = await startNginx(port);
	// The browser trusts the certificate, as it trusts a real one. With one that it only does not complain of, requests were seen to fail
	// now and then (ERR_TOO_MANY_RETRIES).
	browser = await openBrowser([
		`--host-resolver-rules=MAP ${NAME} 127.0.0.1`,
		`--ignore-certificate-errors-spki-list=${keyHash()}`,
	]);
	// What `keryx link` prints names the public address.
	seat = await takeSeat(
		browser,
		{ url: origin, link: () => keryx.link() },
		{ viewport: { width: 1280, height: 800 } },
	);
	({ page } = seat);
});
afterAll(async () => {
	await seat?.leave();
	await browser?.close();
	if (nginx?.exitCode === null) {
		nginx.kill("SIGQUIT");
		await new Promise((resolve) => nginx.once("exit", resolve));
	}
	if (keryx) {
		const { processes } = await keryx.client.processes({});
		await Promise.all(processes.map(({ id }) => keryx.client.killProcess({ id, grace_seconds: 0 })));
		await keryx.close();
	}
	rmSync(folder, { recursive: true, force: true });
});

/** The part of the guide that is for nginx, with this test's files and ports put in. */
function fromGuide(port: number): string {
	const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/behind-tls.md"), "utf8");
	const [, server = ""] = /```nginx\n([\s\S]*?)```/.exec(guide) ?? [];
	return server
		.replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
		.replace("/etc/ssl/bot.example.org.pem", join(folder, "cert.pem"))
		.replace("/etc/ssl/bot.example.org.key", join(folder, "cert.key"))
		.replaceAll("127.0.0.1:7717", `127.0.0.1:${keryxPort()}`);
}

function makeCertificate(): void {
	execFileSync(
		"openssl",
		[
			"req",
			"-x509",
			"-newkey",
			"ec",
			"-pkeyopt",
			"ec_paramgen_curve:prime256v1",
			"-nodes",
			"-days",
			"2",
		].concat(["-subj", `/CN=${NAME}`, "-keyout", join(folder, "cert.key"), "-out", join(folder, "cert.pem")]),
		{ stdio: "ignore" },
	);
}

/** The hash of the certificate's public key, by which the browser knows it. */
function keyHash(): string {
	const { publicKey } = new X509Certificate(readFileSync(join(folder, "cert.pem")));
	return createHash("sha256")
		.update(publicKey.export({ type: "spki", format: "der" }))
		.digest("base64");
}

async function startNginx(port: number): Promise<ChildProcess> {
	for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"]) mkdirSync(join(folder, name));
	const temp = ["body:client_body", "proxy:proxy", "fastcgi:fastcgi", "uwsgi:uwsgi", "scgi:scgi"]
		.map((pair) => pair.split(":"))
		.map(([name, key]) => `${key}_temp_path ${join(folder, name ?? "")};`);
	const user = process.getuid?.() === 0 ? "user root;\n" : "";
	writeFileSync(
		join(folder, "nginx.conf"),
		`${user}daemon off;\nworker_processes 1;\npid ${join(folder, "pid")};\nerror_log ${join(folder, "error.log")};
events {}
http { access_log off; ${temp.join(" ")}
${fromGuide(port)}
}
`,
	);
	const child = spawn("/usr/sbin/nginx", ["-c", join(folder, "nginx.conf"), "-p", folder], { stdio: "pipe" });
	let said = "";
	child.stderr?.on("data", (data) => (said += data));
	for (;;) {
		if (child.exitCode !== null) throw new Error(`nginx did not start: ${said}`);
		if (await answers(port)) return child;
	}
}

function answers(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1", () => {
			socket.destroy();
			resolve(true);
		});
		socket.on("error", () => resolve(false));
	});
}

const keryxPort = () => Number(readPort(keryx));
function readPort({ host }: Keryx): string {
	return new URL(host.localUrl ?? "").port;
}

test("the login link names the public address, and its cookie is sent over TLS only", async () => {
	expect(new URL(keryx.link()).origin).toBe(origin);
	await page.getByRole("button", { name: /^New chat/ }).click();
	await box(page).waitFor();
	const cookies = await seat.context.cookies();
	expect(cookies).toMatchObject([
		{ name: expect.stringMatching(/^__Host-keryx_\d+$/), secure: true, httpOnly: true, sameSite: "Strict" },
	]);
	expect(await page.evaluate("location.origin")).toBe(origin);
});

test("a chat is answered, and shown while it is written", async () => {
	await write(page, "count");
	await answer(page, "one, two, three").waitFor();
	await write(page, "hello");
	await answer(page, "You said: hello").waitFor();
});

test("files are uploaded", async () => {
	// Larger than what nginx takes by itself.
	const buffer = Buffer.alloc(3_000_000, "tulips ");
	await page
		.locator("input[type=file]")
		.setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer }]);
	const uploading = page.getByRole("list", { name: "Files to send" }).getByRole("progressbar");
	await soon(() => uploading.count()).toBe(0);
	await write(page, "look at this");
	await answer(page, "You said: look at this").waitFor();
	await message(page, "look at this").getByText("notes.txt").waitFor();
});

test("a terminal is typed into", async () => {
	await write(page, "a prompt");
	await answer(page, "started").waitFor();
	const { processes } = await keryx.client.processes({ which: "all", limit: 1 });
	await page.goto(`${origin}/processes/${processes[0]?.id}`);
	const screen = page.getByRole("region", { name: "Terminal" });
	const shown = async () => (await screen.locator(".xterm-rows > div").allTextContents()).join("\n");
	await soon(shown).toMatch(/ready/);
	await screen.locator("textarea").focus();
	await page.keyboard.type("hello");
	await page.keyboard.press("Enter");
	await soon(shown).toMatch(/got <hello>/);
});

/** Straight to Keryx's own port, from an address of this machine. */
function ask(
	headers: Readonly<Record<string, string>>,
	from = "127.0.0.1",
	path = "/api/conversations",
): Promise<{ status: number; body: string; cookies: readonly string[] | undefined }> {
	return new Promise((resolve, reject) => {
		const sent = request(
			{ host: "127.0.0.1", port: keryxPort(), path, headers, localAddress: from },
			(answer) => {
				let body = "";
				answer.on("data", (data) => (body += data));
				answer.on("end", () =>
					resolve({ status: answer.statusCode ?? 0, body, cookies: answer.headers["set-cookie"] }),
				);
			},
		);
		sent.on("error", reject);
		sent.end();
	});
}

test("a chat's preview of a login link does not use it up", async () => {
	const { pathname, search } = new URL(keryx.link());
	const preview = await ask({ host: new URL(origin).host }, "127.0.0.1", `${pathname}${search}`);
	expect([preview.status, preview.cookies]).toEqual([200, undefined]);
	expect(preview.body).toContain("Open this link in a browser");
	const other = await browser.newContext();
	const tab = await other.newPage();
	await tab.goto(`${origin}${pathname}${search}`);
	await tab.getByRole("button", { name: /^New chat/ }).waitFor();
	await other.close();
});

test("a login that was revoked is shut out at once, and a member sees nothing of the owner's", async () => {
	const { path } = await keryx.client.offerLogin({ person: "ana", role: "member" });
	const other = await browser.newContext();
	const tab = await other.newPage();
	await tab.goto(`${origin}${path}`);
	await tab.getByText("Keryx is running").waitFor();
	const read = (of: string) =>
		tab.evaluate(
			async ([url = ""]) => {
				const key =
					Object.values(localStorage)
						.join(" ")
						.match(/[\w-]{43}/)?.[0] ?? "";
				return (await fetch(url, { headers: { "x-keryx-page": key } })).status;
			},
			[of],
		);
	const { conversations } = await keryx.client.conversations({ limit: 1 });
	expect(await read("/api/me")).toBe(200);
	expect(await read(`/api/conversations/${conversations[0]?.id}`)).toBe(404);
	expect(await read("/api/logins")).toBe(403);
	await keryx.client.revokeLogins({ person: "ana" });
	expect(await read("/api/me")).toBe(401);
	await tab.getByRole("heading", { name: "You are not logged in" }).waitFor();
	await other.close();
});

test("forwarded headers from elsewhere are ignored", async () => {
	const bearer = readFileSync(join(keryx.home, "operator.secret"), "utf8").trim();
	const authorization = `Bearer ${bearer}`;
	const forwarded = { host: "evil.example", "x-forwarded-host": new URL(origin).host };
	// From the named proxy the header counts; 127.0.0.2 is this machine, too, and no proxy.
	expect((await ask({ ...forwarded, authorization })).status).toBe(200);
	expect((await ask({ ...forwarded, authorization }, "127.0.0.2")).status).toBe(421);
	expect((await ask({ host: "evil.example", authorization })).status).toBe(421);
	const foreign = { host: new URL(origin).host, authorization, origin: "https://evil.example" };
	expect((await ask(foreign)).status).toBe(403);
	// The same name without TLS is another origin.
	expect((await ask({ ...foreign, origin: origin.replace("https", "http") })).status).toBe(403);
	expect((await ask({ ...foreign, origin })).status).toBe(200);
});
