// `keryx pair`, and what `keryx explain` says of a home channel that was set in a chat, with the store alone.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { homeAt } from "../src/app/home.ts";
import type { ConversationId } from "../src/domain/index.ts";
import { codeDigest } from "../src/gateway/index.ts";
import { NO_SECRETS, openStore, type Store, systemClock, systemIds } from "../src/store/index.ts";
import { asJson, call } from "./support/keryx.ts";

let home: string;
beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "keryx-pair-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (...args: readonly string[]) => call(args, { env: { KERYX_HOME: home } });
const SOURCE = { platform: "telegram", chat_id: "9001", user_id: "9001", user_name: "Eve" };

async function inStore(work: (store: Store) => Promise<unknown>): Promise<void> {
	const url = homeAt(home).storeUrl;
	const store = await openStore({
		url,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	await work(store);
	await store.close();
}

test("lists who has asked, and lets them in by their code or sends them away", async () => {
	await inStore((store) =>
		store.accept({
			kind: "person",
			source: SOURCE,
			platformMessage: "m1",
			content: "hi",
			routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: "" },
			as: {
				kind: "refuse",
				reason: "not allowed",
				pairing: { digest: codeDigest("telegram", "K7MPQ2XA"), deliveries: [] },
			},
		}),
	);
	expect((await run("pair", "list")).stdout).toMatch(/^1\ttelegram\t9001\tEve\topen\t/);
	const wrong = await run("pair", "approve", "telegram", "K7MPQ2XB");
	expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("no open request has this code")]);
	const done = await run("pair", "approve", "telegram", "k7mp-q2xa", "--role", "owner");
	expect([done.code, done.stdout]).toEqual([0, "Eve (9001) on telegram is now an owner.\n"]);
	const away = await run("pair", "deny", "telegram", "1");
	expect(away.stdout).toBe("Eve (9001) on telegram can no longer write here.\n");
	expect(asJson(await run("pair", "list", "--json"))).toEqual({ pairings: [] });
	expect((await run("pair", "approve", "telegram", "1", "--role", "king")).code).toBe(2);
});

test("explain --prompt shows the home channel that was set in a chat, over the configuration's", async () => {
	const source = join(home, "source.json");
	writeFileSync(source, JSON.stringify(SOURCE));
	writeFileSync(
		join(home, "config.yaml"),
		"home_channels:\n  telegram:\n    chat_id: old\n    name: Old room\n",
	);
	expect((await run("explain", source, "--prompt")).stdout).toContain("Old room");
	await inStore((store) =>
		store.setHome({
			conversation: "c" as ConversationId,
			platform: "telegram",
			home: { account: "", chatId: "9001", name: "Eve's room" },
			by: null,
		}),
	);
	const { stdout } = await run("explain", source, "--prompt");
	expect(stdout).toContain("Eve's room");
	expect(stdout).not.toContain("Old room");
});
