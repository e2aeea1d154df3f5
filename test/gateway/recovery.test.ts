// What is taken up again: turns that stood still, commands that were accepted or could not be written.
import { afterEach, describe, expect, test } from "vitest";
import { KeryxError } from "../../src/errors.ts";
import { type ConfigInput, MINUTE, OPERATOR, puppet, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

describe("a resumed turn", () => {
	const slow = { otherwise: [{ delay_ms: 10 * SECOND, text: "done with {{input}}" }] };
	const AWAY = /^Keryx was offline since 10 Mar 2026, 12:00 \(UTC\)\. It continues where it stopped\.$/;

	test("says that Keryx was away for over a minute, and since when, and the next answer does not", async () => {
		await start({ durable: true, script: slow });
		const id = await scene.say("go");
		await scene.crash(10 * MINUTE);
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual([expect.stringMatching(AWAY), "done with go"]);
		expect(await scene.disposition(id)).toBe("answered");
		await scene.say("more");
		await scene.clock.advance(MINUTE);
		expect(scene.texts().slice(2)).toEqual(["done with more"]);
	});

	test("says nothing of an interruption that hardly anybody noticed", async () => {
		await start({ durable: true, script: slow });
		await scene.say("go");
		await scene.crash(MINUTE);
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toEqual(["done with go"]);
	});
});

describe("commands", () => {
	const roles: ConfigInput = {
		auth: { telegram: { allow: [], roles: { admin: "owner", reader: "guest" } } },
	};

	test("one that is recovered is carried out with the role that its sender had on the platform", async () => {
		await start({ durable: true, config: roles, engine: failing("performCommand", () => true) });
		for (const [chat, role] of [
			["x", "admin"],
			["y", "reader"],
		] as const)
			await scene.say("/new", { chat, transport: { roles: [role] } });
		expect([scene.texts("x"), scene.texts("y")]).toEqual([[], []]);
		await scene.die();
		await scene.open(scene.clock.now(), { durable: true, config: roles });
		expect(scene.texts("x")).toEqual(["Started a new session."]);
		expect(scene.texts("y")).toEqual([expect.stringContaining("You cannot use /new here.")]);
	});

	for (const write of ["performCommand", "answerCommand"])
		test(`one whose ${write} fails is tried again while Keryx runs, and takes effect once`, async () => {
			let left = 3;
			await start({ engine: failing(write, () => left-- > 0) });
			const id = await scene.say("/new garden");
			expect(scene.texts()).toEqual([]);
			await scene.clock.advance(10 * SECOND);
			expect(scene.texts()).toEqual(["Started a new session."]);
			expect((await scene.sessions(id)).map(({ title }) => title)).toEqual(["garden"]);
			const { command } = await scene.store.inboxItem({ scope: OPERATOR, id: scene.inbox(id) });
			expect(command).toBeNull();
		});

	test("one that meets a fault while it is looked into is carried out a little later, once", async () => {
		let left = 2;
		await start({
			agent: () => puppet(),
			engine: (engine) => ({
				...engine,
				read: (name, args) =>
					name === "confirmation" && left-- > 0
						? Promise.reject(new KeryxError("store.io", "the disk cannot be read"))
						: engine.read(name, args),
			}),
		});
		await scene.say('call danger {"what":"harm"}');
		const id = await scene.say("/approve conversation");
		expect(scene.dangers).toEqual([]);
		await scene.clock.advance(10 * SECOND);
		expect(await scene.disposition(id)).toBe("command");
		expect(scene.dangers).toEqual(["harm"]);
	});

	test("one that cannot be written does not keep Keryx from its end", async () => {
		await start({ engine: failing("performCommand", () => true) });
		await scene.say("/new");
		const stopped = scene.gateway.stop();
		await scene.clock.advance(10 * SECOND);
		await stopped;
		expect(scene.texts()).toEqual([]);
	});
});

/** A store whose write of this name meets a full disk as long as it is told to. */
function failing(write: string, fails: () => boolean): NonNullable<SceneOptions["engine"]> {
	return (engine) => ({
		...engine,
		write: (name, args, drawn) =>
			name === write && fails()
				? Promise.reject(new KeryxError("store.full", "the disk is full"))
				: engine.write(name, args, drawn),
	});
}
