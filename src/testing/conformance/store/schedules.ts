// Jobs and their runs: each scheduled instant once, two ends each, visible only to their owner.
import { expect } from "vitest";
import type { Standing } from "../../../domain/index.ts";
import type { NewJob } from "../../../store/index.ts";
import { MINUTE } from "../clock.ts";
import { sampleJob } from "./sample-job.ts";
import { OPERATOR, type Scene, type Tell } from "./scene.ts";

const HOUR = 60 * MINUTE;

const create = (scene: Scene, given: Partial<NewJob> = {}) =>
	scene.store.createJob({ job: sampleJob(given), most: 3 });
const fire = (scene: Scene, job: string, due: number) =>
	scene.store.fireJob({ job, due, since: 0, mostMissed: 100 });
const end = (scene: Scene, job: string, at: number, state: "answered" | "failed" = "answered") =>
	scene.store.endRun({ job, at, state, reason: null, via: "none", deliveryReason: null, disableAfter: 2 });
const states = async (scene: Scene, job: string) =>
	(await scene.store.runs({ scope: OPERATOR, job, limit: 100 })).map(({ state, reason }) => [state, reason]);

export function scheduleConformance(tell: Tell): void {
	tell("a due instant is fired once, and the next is computed from it", async (scene) => {
		const { id, dueAt } = await create(scene);
		const due = dueAt as number;
		expect((await scene.store.dueJobs({ scope: OPERATOR, now: due - 1, limit: 9 })).jobs).toEqual([]);
		scene.clock.advance(HOUR + 5000);
		const { jobs, nextAt } = await scene.store.dueJobs({ scope: OPERATOR, now: scene.clock.now(), limit: 9 });
		expect([jobs.map((job) => job.id), nextAt]).toEqual([[id], due]);
		expect((await fire(scene, id, due)).run).toBe(due);
		expect((await fire(scene, id, due)).run).toBeNull();
		const after = await scene.store.job({ scope: OPERATOR, id });
		expect([after.dueAt, after.openRun]).toEqual([due + HOUR, due]);
		const [work] = await scene.store.unsettledRuns({ scope: OPERATOR, limit: 9 });
		expect([work?.run.scheduledAt, work?.disposition?.kind]).toEqual([due, "command"]);
		expect(await end(scene, id, due)).toBe(true);
		expect(await end(scene, id, due)).toBe(false);
		expect(await scene.store.unsettledRuns({ scope: OPERATOR, limit: 9 })).toEqual([]);
		expect(await states(scene, id)).toEqual([["answered", null]]);
	});

	tell("missed instants are rows with a reason, and a job runs once at a time", async (scene) => {
		const { id, dueAt } = await create(scene);
		scene.clock.advance(3 * HOUR + 5000);
		const due = dueAt as number;
		expect(await fire(scene, id, due)).toMatchObject({ run: due + 2 * HOUR, missed: 2 });
		scene.clock.advance(HOUR);
		expect((await fire(scene, id, due + 3 * HOUR)).run).toBeNull();
		await expect(scene.store.runJobNow({ scope: OPERATOR, id })).rejects.toMatchObject({
			code: "schedule.busy",
		});
		await end(scene, id, due + 2 * HOUR);
		expect((await fire(scene, id, due + 3 * HOUR)).run).toBe(due + 3 * HOUR);
		expect(await states(scene, id)).toEqual([
			["open", null],
			["answered", null],
			["missed", "superseded"],
			["missed", "superseded"],
		]);
	});

	tell("a prompt waits in a conversation made for the job, which is its owner's", async (scene) => {
		const { id, dueAt } = await create(scene, { task: { kind: "prompt", text: "hello" } });
		scene.clock.advance(HOUR);
		const { woken } = await fire(scene, id, dueAt as number);
		const conversation = await scene.store.conversation({
			scope: OPERATOR,
			ref: { id: woken?.conversation as never },
		});
		expect([conversation.platform, conversation.shared]).toEqual(["schedule", false]);
		const item = await scene.store.inboxItem({ scope: OPERATOR, id: woken?.inbox as number });
		expect([item.kind, item.disposition]).toEqual(["schedule", null]);
	});

	tell("failures in a row pause a job; resumed, it begins anew", async (scene) => {
		const { id, dueAt } = await create(scene);
		for (let n = 0; n < 2; n++) {
			scene.clock.advance(HOUR);
			await fire(scene, id, (dueAt as number) + n * HOUR);
			await end(scene, id, (dueAt as number) + n * HOUR, "failed");
		}
		const paused = await scene.store.job({ scope: OPERATOR, id });
		expect([paused.state, paused.pausedBecause, paused.dueAt]).toEqual(["paused", "failures", null]);
		const resumed = await scene.store.resumeJob({ scope: OPERATOR, id });
		expect([resumed.state, resumed.failures, resumed.dueAt]).toEqual(["active", 0, scene.clock.now() + HOUR]);
	});

	tell("somebody else's job is not found, and there are only so many", async (scene) => {
		const ada = { principal: "p1", role: "member", platform: "telegram" } as const;
		const { id } = await create(scene, { owner: ada });
		const own = { kind: "owner", principal: "p1", role: "member" } as const;
		const other = { kind: "owner", principal: "p2", role: "member" } as const;
		expect((await scene.store.jobs({ scope: own, limit: 9 })).jobs.map((job) => job.id)).toEqual([id]);
		expect((await scene.store.jobs({ scope: other, limit: 9 })).jobs).toEqual([]);
		for (const change of ["pauseJob", "resumeJob", "deleteJob", "runJobNow"] as const)
			await expect(scene.store[change]({ scope: other, id })).rejects.toMatchObject({
				code: "store.not_found",
			});
		await create(scene, { owner: ada });
		await create(scene, { owner: ada });
		await expect(create(scene, { owner: ada })).rejects.toMatchObject({ code: "schedule.limit" });
		await scene.store.deleteJob({ scope: own, id });
		await expect(scene.store.job({ scope: OPERATOR, id })).rejects.toMatchObject({ code: "store.not_found" });
	});

	tell("I18: a job that was made with a higher role is seen, not changed and not run", async (scene) => {
		const { id, name } = await create(scene, {
			owner: { principal: "p1", role: "owner", platform: "telegram" },
		});
		const as = (role: Standing) => ({ kind: "owner", principal: "p1", role }) as const;
		expect((await scene.store.job({ scope: as("member"), id })).name).toBe(name);
		for (const role of ["none", "guest", "member"] as const) {
			const scope = as(role);
			for (const change of [
				scene.store.updateJob({ scope, id, changes: { name: "mine" } }),
				scene.store.pauseJob({ scope, id }),
				scene.store.resumeJob({ scope, id }),
				scene.store.runJobNow({ scope, id }),
				scene.store.deleteJob({ scope, id }),
			])
				await expect(change).rejects.toMatchObject({ code: "schedule.role" });
		}
		expect(await scene.store.job({ scope: OPERATOR, id })).toMatchObject({
			name,
			state: "active",
			openRun: null,
		});
		await scene.store.pauseJob({ scope: as("owner"), id });
	});
}
