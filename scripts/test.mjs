// `npm test`: sets up what is not current, then runs every check, then the tests. The last line counts both.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { inMemory } from "./memory-folder.mjs";
import { leaveTmp } from "./outside-tmp.mjs";
import { builds, install, root } from "./setup.mjs";
import { prepareTestTools } from "./test-tools.mjs";

/** So many of the files that took longest are named at the end. */
const SLOWEST = 20;

await leaveTmp("test.mjs");
const runtime = await install();
const { node, env } = runtime;
await prepareTestTools();
const bin = (...path) => join(root, "node_modules", ...path);
const report = join(root, ".cache", "vitest.json");
mkdirSync(join(root, ".cache"), { recursive: true });

const checks = [
	// TypeScript's native checker, for every file: a quarter of the compiler's time.
	[
		"types and promises",
		[
			bin("oxlint", "bin", "oxlint"),
			"--type-aware",
			"--type-check",
			"--deny-warnings",
			"src",
			"test",
			"bench",
			"web",
			"vitest.config.ts",
		],
	],
	[
		"format and lint",
		[bin("@biomejs", "biome", "bin", "biome"), "ci", "--colors=off", "--error-on-warnings", "."],
	],
	[
		"layers",
		[
			bin("dependency-cruiser", "bin", "dependency-cruiser.mjs"),
			"--config",
			".dependency-cruiser.mjs",
			"src",
			"web",
		],
	],
	["dead code", [bin("knip", "bin", "knip.js")]],
];

let passed = 0;
let failed = 0;
// The checks read the sources alone, so they need not wait for what is built. The longest begins first.
const [types, ...others] = checks.map((check) => () => runCheck(check));
const waiting = [types, ...builds(runtime), ...others];
await Promise.all(Array.from({ length: availableParallelism() }, workOff));

rmSync(report, { force: true });
const filters = process.argv.slice(2);
const code = await show([
	"--single-threaded-gc",
	bin("vitest", "vitest.mjs"),
	"run",
	"--reporter=default",
	"--reporter=json",
	`--outputFile.json=${report}`,
	...filters,
]);
const counts = readCounts();
passed += counts.passed;
// A run that died before it could report is a failure of its own.
failed += counts.failed || (code === 0 ? 0 : 1);

for (const { seconds, file } of counts.slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function workOff() {
	for (let work = waiting.shift(); work; work = waiting.shift()) await work();
}

async function runCheck([name, args]) {
	const began = Date.now();
	const { code, said } = await capture(args);
	const time = `${((Date.now() - began) / 1000).toFixed(1)} s`;
	console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} (${time})`);
	if (code === 0) passed++;
	else {
		failed++;
		console.log(said.trimEnd());
	}
}

function capture(args) {
	const child = spawn(node, args, {
		cwd: root,
		env: { ...env, NO_COLOR: "1" },
		stdio: ["ignore", "pipe", "pipe"],
	});
	let said = "";
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
	return new Promise((resolve) => child.on("close", (code) => resolve({ code, said })));
}

function show(args) {
	const memory = inMemory([node, ...args], env);
	const [program, ...rest] = memory.command;
	const child = spawn(program, rest, { cwd: root, env: memory.env, stdio: ["ignore", "inherit", "inherit"] });
	return new Promise((resolve) =>
		child.on("close", (code) => {
			memory.close();
			resolve(code);
		}),
	);
}

function readCounts() {
	try {
		const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(
			readFileSync(report, "utf8"),
		);
		const files = testResults.map(({ name, startTime, endTime }) => ({
			file: relative(root, name),
			seconds: (endTime - startTime) / 1000,
		}));
		return {
			passed: numPassedTests,
			failed: numFailedTests || numFailedTestSuites,
			slowest: files.sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST),
		};
	} catch (error) {
		if (error.code !== "ENOENT") throw error;
		return { passed: 0, failed: 1, slowest: [] };
	}
}
