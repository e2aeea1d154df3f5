import { availableParallelism, totalmem } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

/**
 * More workers than cores: a third of the time, a test waits for a program, a server or a page that needs no core itself. With four more
 * the whole was hardly faster.
 */
const WAITING = 2;
/** With its browser or server. */
const WORKER_BYTES = 1.5 * 1024 ** 3;

/**
 * What changes this process for good (its user), counts what belongs to it (open files, children, memory), or takes a path out of its
 * environment. Each of these files has a process of its own. All others share one per core and load the sources once, not once per
 * file; for them the rule is: put back what you change.
 */
const APART = [
	"test/acp/**/*.test.ts",
	"test/checkpoints/**/*.test.ts",
	"test/processes/!(frames|log|log-part).test.ts",
	"test/walls/**/*.test.ts",
	"test/gateway/file-walls.test.ts",
	"test/gateway/walls.test.ts",
	"test/keeping/backup.test.ts",
	"test/audit-witness.test.ts",
	"test/processes-crash.test.ts",
	"test/store-replaced.test.ts",
	"src/processes/ssh/family.test.ts",
	"src/**/cost.test.ts",
	"src/walls/{causes,cgroups,launch}.test.ts",
];
const EVERY = ["src/**/*.test.ts", "test/**/*.test.ts"];

const common = {
	// Processes, not threads: tests kill, fork and open stores.
	pool: "forks" as const,
	// Threads that collect garbage together wait for each other; all cores are busy with tests. With more space for new objects,
	// it is collected less often.
	execArgv: ["--single-threaded-gc", "--min-semi-space-size=16"],
	setupFiles: ["test/support/seed.ts", "test/support/kept-threads.ts"],
	testTimeout: 120_000,
	hookTimeout: 120_000,
	// What is waited for comes when it comes. Shorter than the test's own limit, so that a wait in vain ends with what was last seen.
	expect: { poll: { timeout: 100_000 } },
};

// `npm run test:peers` has its own: they need programs that are no part of this package.
const projects = process.env.KERYX_PEERS
	? [{ test: { ...common, name: "peers", include: ["test/peers/**/*.peer.ts"] } }]
	: [
			{ test: { ...common, name: "apart", include: APART } },
			{ test: { ...common, name: "together", isolate: false, include: EVERY, exclude: APART } },
		];

export default defineConfig({
	test: {
		globalSetup: "test/support/global-setup.ts",
		maxWorkers: Math.min(
			availableParallelism() + WAITING,
			Math.max(2, Math.floor(totalmem() / WORKER_BYTES)),
		),
		sequence: { sequencer: LongestFirst },
		projects,
	},
});
