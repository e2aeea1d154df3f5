// The gateway is killed at random moments while its MCP servers start and run: there is never more than one program of a server, and
// nothing is left of the killed one's.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { randomBy } from "../crash/acks.ts";
import { commandIn, type Gateway } from "../support/keryx.ts";
import { SEED } from "../support/seed.ts";
import { ROGUE, running } from "./scene.ts";

const KILLS = Number(process.env.KERYX_CRASH_RUNS ?? 4);
const LONGEST_LIFE_MS = 1500;
const SERVERS = ["one", "two", "crash"];

let root: string;
let gateway: Gateway | undefined;
beforeEach(() => {
	root = mkdtempSync("/var/tmp/keryx-mcp-kills-");
});
afterEach(async () => {
	await gateway?.stop("SIGKILL");
	rmSync(root, { recursive: true, force: true });
});

test(
	`over ${KILLS} kills there is at most one program per server, and none is left over`,
	async () => {
		const home = join(root, "home");
		mkdirSync(home, { mode: 0o700 });
		/** In the arguments of each program: which server of which test it is. */
		const mark = (server: string) => `${root}#${server}`;
		const servers = SERVERS.map((name) => {
			const manner = name === "crash" ? "crash" : "good";
			const args = [ROGUE, manner, mark(name)];
			return `    ${name}: {command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify(args)}}`;
		});
		writeFileSync(join(home, "config.yaml"), `mcp:\n  servers:\n${servers.join("\n")}\n`);
		const command = commandIn(root);
		const counts = () => SERVERS.map((name) => running(mark(name)).length);
		const random = randomBy(SEED);
		let most = 0;
		let seen = 0;
		for (let run = 1; run <= KILLS; run++) {
			gateway = await command.start(home);
			// A random moment is the point here: nothing is waited for.
			await delay(random() * LONGEST_LIFE_MS);
			const now = counts();
			most = Math.max(most, ...now);
			seen += now[0] ?? 0;
			expect(
				now.every((count) => count <= 1),
				`seed ${SEED}, kill ${run}: ${now.join(" ")}`,
			).toBe(true);
			await gateway.stop("SIGKILL");
		}
		gateway = await command.start(home);
		await expect.poll(() => counts().slice(0, 2)).toEqual([1, 1]);
		await gateway.stop();
		await expect.poll(counts, { message: "nothing is left when Keryx has stopped" }).toEqual([0, 0, 0]);
		console.log(
			`mcp: ${KILLS} kills, at most ${most} program per server, ${seen} killed while the first ran`,
		);
	},
	120_000 + KILLS * 20_000,
);
