// `retention.days` in a running Keryx: old conversations become archives and come back from them, while everything else goes on.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, expect, test } from "vitest";
import { createKeryx } from "../../src/app/index.ts";
import { createScriptedAgent, createVirtualClock } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { asJson, call, dataOf } from "../support/keryx.ts";
import { exported } from "../support/scene-store.ts";
import { until } from "../support/until.ts";

const OPERATOR = { kind: "operator" } as const;
const DAY = 86_400_000;
/** More with KERYX_RETENTION_CONVERSATIONS. */
const OLD = Number(process.env.KERYX_RETENTION_CONVERSATIONS ?? 20);
const root = mkdtempSync(join(tmpdir(), "keryx-retention-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const agent = createScriptedAgent({ script: { otherwise: [{ text: "answer" }] }, clock: systemClock });
const source = (chat: string) => ({
	platform: "web",
	chat_type: "dm" as const,
	chat_id: chat,
	user_id: chat,
});

test(`${OLD} old conversations are archived and deleted while Keryx answers, and one comes back as it was`, async () => {
	const home = join(root, "home");
	const env = { HOME: root, XDG_DATA_HOME: dataOf(home), TZ: "UTC" };
	const clock = createVirtualClock(Date.parse("2026-03-10T12:00:00Z"));
	const keryx = await createKeryx({
		home,
		env,
		clock,
		config: { gateway: { batch_ms: 0 }, retention: { days: 30 } },
		agent,
		report: { warn: (text) => console.error(text), note: () => {} },
	});
	await keryx.start();
	const reached = (holds: () => Promise<boolean>) => until(holds, () => clock.advance(10));
	const talk = async (chat: string, text: string) => {
		const { id } = await keryx.client.send({
			text,
			client_message_id: `${chat}-${text}`,
			source: source(chat),
		});
		return id;
	};
	const count = async () => (await keryx.store.conversations({ scope: OPERATOR, limit: 200 })).length;
	const AT_ONCE = 50;
	let last = 0;
	for (let n = 0; n < OLD; n += AT_ONCE)
		last = Math.max(
			...(await Promise.all(
				Array.from({ length: Math.min(AT_ONCE, OLD - n) }, (_, i) => talk(`old-${n + i}`, "hello")),
			)),
		);
	await reached(async () => (await keryx.store.workload({ scope: OPERATOR })).turns === 0);
	await reached(
		async () => (await keryx.store.inboxItem({ scope: OPERATOR, id: last })).disposition !== null,
	);
	const [one] = await keryx.store.conversations({ scope: OPERATOR, limit: 1 });
	const conversation = one?.id ?? expect.fail("there is none");
	const { count: early } = await keryx.client.retentionPlan({ days: 1 });
	expect(early).toBe(0);

	clock.jump(31 * DAY);
	await talk("young", "good morning");
	await reached(async () => (await keryx.store.workload({ scope: OPERATOR })).turns === 0);
	const delay = monitorEventLoopDelay({ resolution: 5 });
	delay.enable();
	const archives = join(home, "archives", "2026-04");
	const files = () =>
		existsSync(archives) ? readdirSync(archives).filter((name) => name.endsWith(".jsonl")) : [];
	// The watcher ends the sessions first, and comes back when they are finalised.
	let answered = 0;
	// Not by the files: reading the names of 100,000 takes longer than what is measured.
	for (let n = 0; (await count()) > 1; n++) {
		await clock.advance(30_000);
		const id = await talk("young", `still there? ${n}`);
		await reached(async () => (await keryx.store.inboxItem({ scope: OPERATOR, id })).disposition !== null);
		answered++;
	}
	delay.disable();
	console.log(
		`${OLD} archived; ${answered} messages answered meanwhile; loop delay p99 ${Math.round(delay.percentile(99) / 1e6)} ms`,
	);
	expect(files()).toHaveLength(OLD);
	expect(statSync(join(archives, files()[0] ?? "")).mode & 0o777).toBe(0o600);
	expect((await keryx.store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);

	const { archives: listed } = await keryx.client.archives({ limit: 1 });
	expect(listed).toHaveLength(1);
	const shown = await keryx.client.archive({ archive: conversation });
	expect(shown.messages.map(({ role, text }) => [role, text])).toEqual([
		["user", expect.stringContaining("hello")],
		["assistant", "answer"],
	]);
	const before = files().find((name) => name.startsWith(conversation)) ?? "";
	expect(await keryx.client.restoreArchive({ archive: conversation })).toEqual({ conversation, messages: 2 });
	// Equal to the archive, but for when it was last used: otherwise the next round would take it again.
	const lines = readFileSync(join(archives, before), "utf8").split("\n");
	const restored = await exported(keryx.store, { kind: "conversation", id: conversation });
	const without = (line: string) => {
		const { lastActivityAt: _used, origin: _from, ...rest } = JSON.parse(line);
		return rest.type === "conversation" || rest.origin ? rest : { ...rest, lastActivityAt: _used };
	};
	expect(restored.map((line) => without(line))).toEqual(
		lines.filter((line) => line !== "").map((line) => without(line)),
	);
	expect((await keryx.client.retentionPlan()).count).toBe(0);
	await keryx.stop();

	// The same from the command line, with the file altered.
	const path = join(archives, files().find((name) => !name.startsWith(conversation)) ?? "");
	const [other = ""] = path.split("/").at(-1)?.split(".") ?? [];
	const shell = { KERYX_HOME: home };
	expect((await call(["archive", "list"], { env: shell })).stdout).toContain(other);
	writeFileSync(path, readFileSync(path, "utf8").replace("answer", "forged"));
	const refused = await call(["archive", "restore", other], { env: shell });
	expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("was altered")]);
	const plan = await call(["archive", "run", "--dry-run"], { env: shell });
	expect([plan.code, plan.stderr]).toEqual([2, expect.stringContaining("retention.days is 0")]);
	const none = asJson(
		await call(["archive", "run", "--dry-run", "--days", "36500", "--json"], { env: shell }),
	);
	expect(none.count).toBe(0);
});
