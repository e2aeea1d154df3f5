// Loaded before a program that is measured: at its end it tells the CPU time that it took, in microseconds, in a file.
import { writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

// Threads load it, too; what the process took includes them.
if (isMainThread)
	process.on("exit", () => {
		const { user, system } = process.cpuUsage();
		writeFileSync(process.env.KERYX_BENCH_USAGE, String(user + system));
	});
