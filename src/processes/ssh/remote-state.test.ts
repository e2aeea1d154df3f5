import { describe, expect, test } from "vitest";
import { exitOfClient, readState } from "./remote-state.ts";
import { TELLS } from "./scripts.ts";

describe("what the other machine tells of a process", () => {
	test("its start and its end, among what the ssh client says", () => {
		const text = `Warning: something\n${TELLS} started 12 12 - pipe:[5] boot 900\n${TELLS} exit code 7\n`;
		expect(readState(text)).toEqual({
			started: {
				identity: { bootId: "boot", pid: 12, startTime: "900" },
				group: 12,
				terminal: null,
				input: "pipe:[5]",
			},
			exit: { code: 7, signal: null },
			failed: null,
			rest: "Warning: something",
		});
	});

	test("half a line is not believed", () => {
		expect(readState(`${TELLS} exit code 1`).exit).toBeNull();
		expect(readState(`${TELLS} exit code 13\n`).exit?.code).toBe(13);
	});

	test("the first word about an end holds", () => {
		expect(readState(`${TELLS} exit signal TERM\n${TELLS} exit code 0\n`).exit).toEqual({
			code: null,
			signal: "SIGTERM",
		});
	});

	test("a word that makes no sense is none", () => {
		for (const line of ["started", "started x 1 - - b 1", "exit", "exit code x", "exit signal", "what"])
			expect(readState(`${TELLS} ${line}\n`)).toMatchObject({ started: null, exit: null, failed: null });
	});

	test("the client's own exit tells the program's, but for its own faults", () => {
		expect(exitOfClient(0)).toEqual({ code: 0, signal: null });
		expect(exitOfClient(128 + 15)).toEqual({ code: null, signal: "SIGTERM" });
		expect(exitOfClient(255)).toBeNull();
		expect(exitOfClient(null)).toBeNull();
	});
});
