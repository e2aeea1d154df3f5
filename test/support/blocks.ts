// Counts how often blocks of code run: the cost of work that is the same on every machine, however busy it is. What regular expressions
// do is not in it. A file of tests that counts has a process of its own (see vitest.config.ts): others would run slower after it.
import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";

/**
 * Call it before the code is loaded: blocks are counted only in code compiled after that, and only in files with such addresses. Answers
 * how to count what some work costs.
 */
export function startCounting(addresses: RegExp): (work: () => unknown) => number {
	// Counts are exact only while nothing is compiled away.
	for (const flag of ["--no-opt", "--no-maglev", "--no-sparkplug"]) setFlagsFromString(flag);
	const session = new Session();
	session.connect();
	session.post("Profiler.enable");
	session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
	const countSinceLast = () => {
		let count = 0;
		session.post("Profiler.takePreciseCoverage", (_, { result }) => {
			for (const { functions } of result.filter(({ url }) => addresses.test(url)))
				for (const { ranges } of functions) for (const range of ranges) count += range.count;
		});
		return count;
	};
	return (work) => {
		countSinceLast();
		work();
		return countSinceLast();
	};
}
