// Processes over the API: seen, read, written to and ended, by those who may.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/soon.ts";
import { type WithProcesses, withProcesses } from "./processes-api.ts";

let here: WithProcesses;
beforeAll(async () => {
	here = await withProcesses();
});
afterAll(() => here.close());

const ended = (id: string) =>
	eventually(async () => {
		const one = await here.keryx.client.process({ id });
		expect(one.ended_at).not.toBeNull();
		return one;
	});

describe("processes", () => {
	test("are listed newest first, page by page, those that run alone unless asked otherwise", async () => {
		const { client } = here.keryx;
		const done = [await here.start("echo one"), await here.start("exit 3")];
		for (const id of done) await ended(id);
		const running = [await here.start("exec sleep 600"), await here.start("exec cat")];
		const shown = await client.processes({});
		expect(shown.processes.map(({ id }) => id).toSorted()).toEqual(running.toSorted());
		expect(shown.processes[0]).toMatchObject({
			state: "running",
			conversation: here.conversation,
			pid: expect.any(Number),
			ended_at: null,
			survivors: [],
			unreachable: false,
			elsewhere: null,
		});
		const seen: string[] = [];
		const starts: string[] = [];
		for (let after: string | undefined; ; ) {
			const page = await client.processes({
				which: "all",
				limit: 3,
				conversation: here.conversation,
				...(after !== undefined && { after }),
			});
			seen.push(...page.processes.map(({ id }) => id));
			starts.push(...page.processes.map(({ started_at }) => started_at));
			if (page.next === null) break;
			after = page.next;
		}
		expect(seen.toSorted()).toEqual([...done, ...running].toSorted());
		expect(starts).toEqual(starts.toSorted().toReversed());
		await expect(client.processes({ conversation: "nobody" })).rejects.toMatchObject({
			code: "store.not_found",
		});
		await expect(client.processes({ after: "x" })).rejects.toMatchObject({ code: "argument.invalid" });
		for (const id of running) await client.killProcess({ id, grace_seconds: 0 });
	});

	test("say how they ended", async () => {
		const failed = await ended(await here.start("exit 3"));
		expect(failed).toMatchObject({ state: "exited", exit_code: 3, signal: null, cause: "exited" });
		await expect(here.keryx.client.process({ id: "proc_000000000000" })).rejects.toMatchObject({
			code: "store.not_found",
		});
	});

	test("show what they printed, by position, without known secrets and without half characters", async () => {
		const { client } = here.keryx;
		const id = await here.start(
			"printf 'a\\033[31mred\\033[0m\\nhunter2''hunter2\\n\\303\\244\\303\\244\\n'",
		);
		await ended(id);
		const all = await client.processLog({ id });
		expect(all).toMatchObject({ from: 0, lost: 0, output: "ared\n\u0024{secret:PASSWORD}\nää\n" });
		expect([all.to, all.size]).toEqual([34, 34]);
		expect((await client.processLog({ id, raw: "true" })).output).toContain("\x1b[31mred");
		expect((await client.processLog({ id, lines: 1 })).output).toBe("ää\n");
		// The limit falls into the first ä, which is the bytes 29 and 30.
		const first = await client.processLog({ id, from: 0, limit: 30, raw: "true" });
		expect([first.to, first.size]).toEqual([29, 34]);
		const rest = await client.processLog({ id, from: first.to });
		expect(rest).toMatchObject({ from: 29, to: 34, output: "ää\n" });
		expect(await client.processLog({ id, from: 99 })).toMatchObject({ output: "" });
	});

	test("take input, until it is ended", async () => {
		const { client } = here.keryx;
		const id = await here.start("exec cat");
		expect(await client.processInput({ id, data: "gr\u00fc\u00df dich\n" })).toMatchObject({ bytes: 12 });
		await eventually(async () => expect((await client.processLog({ id })).output).toBe("grüß dich\n"));
		expect(await client.processInput({ id, data: "bye", end: true })).toMatchObject({ ended: true });
		expect((await ended(id)).exit_code).toBe(0);
		expect((await client.processLog({ id })).output).toBe("grüß dich\nbye");
		await expect(client.processInput({ id, data: "more" })).rejects.toMatchObject({ code: "process.ended" });
	});

	test("are killed with everything they started, and the answer says so", async () => {
		const { client } = here.keryx;
		const id = await here.start("sleep 600 & exec sleep 600");
		const killed = await client.killProcess({ id, signal: "int", grace_seconds: 0.2 });
		expect(killed).toMatchObject({ result: "killed", survivors: [], process: { state: "killed" } });
		expect(await client.killProcess({ id })).toMatchObject({ result: "already_exited" });
		await expect(client.killProcess({ id, signal: "NOSUCH" })).rejects.toMatchObject({
			code: "argument.invalid",
		});
	});

	test("are seen by readers, and touched by operators alone", async () => {
		const id = await here.start("exec cat");
		const [reader, approver, agent] = await Promise.all(
			["reader", "approver", "agent"].map((role) => here.token(`p-${role}`, role)),
		);
		for (const bearer of [reader, approver] as string[]) {
			expect((await here.call("GET", `/api/processes/${id}/log`, { bearer })).status).toBe(200);
			for (const [path, body] of [
				["kill", {}],
				["input", { data: "x" }],
			] as const)
				expect((await here.call("POST", `/api/processes/${id}/${path}`, { bearer, body })).status).toBe(403);
		}
		expect((await here.call("GET", "/api/processes", { bearer: agent as string })).status).toBe(403);
		expect((await here.call("GET", "/api/processes", { bearer: "none" })).status).toBe(401);
		expect(await here.keryx.client.process({ id })).toMatchObject({ state: "running" });
		await here.keryx.client.killProcess({ id });
	});
});
