// Entries for platforms without a channel do nothing: `config check`, doctor and the start of Keryx say so.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHost } from "../src/app/host.ts";
import { type CliContext, openConfig } from "../src/cli/context.ts";
import { asJson, call } from "./support/keryx.ts";

const CONFIG = `
auth: { telegram: { allow: ["1"] }, local: { allow: ["me"] } }
home_channels: { discord: { chat_id: "2", name: home } }
confirmations:
  notify:
    - { platform: slack, chat_id: C3 }
    - { platform: local, chat_id: me }
    - { platform: web, account: second, chat_id: me }
    - { webhook: "https://example.org/asked", secret_env: NOT_SET }
`;
const WARNINGS = [
	"auth.telegram: there is no channel for telegram; only messages posted by programs arrive from there",
	"confirmations.notify: slack C3 is not notified: there is no channel for slack",
	"confirmations.notify: web me is not notified: there is no channel for web with the account second",
	"home_channels.discord: nothing is sent there: there is no channel for discord",
];

let home: string;
beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "keryx-unreached-"));
	writeFileSync(join(home, "config.yaml"), CONFIG, { mode: 0o600 });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (...args: readonly string[]) => call(args, { env: { KERYX_HOME: home } });

test("config check warns of each, and finds nothing wrong", async () => {
	const checked = await run("config", "check", "--json");
	expect(asJson(checked)).toMatchObject({ ok: true, warnings: WARNINGS });
	expect((await run("config", "check")).stderr).toContain(`keryx: warning: ${WARNINGS[0]}`);
});

test("doctor names each, with what to do", async () => {
	const { ok, checks } = asJson(await run("doctor", "--quick", "--json"));
	expect(ok).toBe(true);
	expect(checks.filter(({ check }: { check: string }) => check === "channels")).toEqual(
		WARNINGS.map((found) => ({
			check: "channels",
			state: "remark",
			found,
			remedy: "remove the entry from config.yaml, or connect a program that posts for that platform",
		})),
	);
});

test("the start warns of each; a command that only reads does not", async () => {
	const lines: string[] = [];
	const context: CliContext = {
		env: { KERYX_HOME: home, KERYX_HTTP_PORT: "0", TZ: "UTC" },
		stdin: Object.assign(Readable.from([]), { isTTY: false }),
		stdout: { write: () => {} },
		stderr: { write: (text: string) => void lines.push(text) },
		now: () => Date.now(),
		json: false,
		exitWith: () => {},
	};
	const { config, output } = openConfig(context);
	await (await openHost({ context, config, output, as: "run", onPorts: true })).close();
	const said = lines.join("");
	for (const warning of WARNINGS) expect(said).toContain(`keryx: warning: ${warning}\n`);
	expect(said).toContain("https://example.org/asked is not notified: NOT_SET is not set");
	expect((await run("sessions", "list")).stderr).not.toContain("warning");
});
