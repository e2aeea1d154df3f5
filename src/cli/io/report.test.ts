import { expect, test } from "vitest";
import { KeryxError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { reportError } from "./report.ts";

function report(error: unknown, { json = false, env = {} } = {}) {
	const written = { stdout: "", stderr: "" };
	const context: CliContext = {
		env,
		stdin: (async function* () {})(),
		stdout: { write: (text) => (written.stdout += text) },
		stderr: { write: (text) => (written.stderr += text) },
		now: () => 0,
		json,
		exitWith: () => {},
	};
	return { code: reportError(error, context), ...written };
}

test("an error of the catalogue is its message and its remedy, and exit code 2", () => {
	expect(report(new KeryxError("source.invalid", "platform must be given", { hint: "give it" }))).toEqual({
		code: 2,
		stdout: "",
		stderr: "keryx: platform must be given\nwhat to do: give it\n",
	});
});

test("an error that nobody expected is its message without a stack, and exit code 1", () => {
	const { code, stderr } = report(new TypeError("x is not a function"));
	expect(code).toBe(1);
	expect(stderr).toMatch(/^keryx: x is not a function\nwhat to do: .*KERYX_DEBUG=1/);
	expect(stderr).not.toContain("    at ");
});

test("a failure that is not the input's fault has exit code 1", () => {
	expect(report(new KeryxError("store.full", "the disk is full")).code).toBe(1);
});

test("KERYX_DEBUG adds the stack", () => {
	const { stderr } = report(new TypeError("x is not a function"), { env: { KERYX_DEBUG: "1" } });
	expect(stderr).toContain("TypeError: x is not a function\n    at ");
});

test("with --json it is an object on stdout", () => {
	const { code, stdout, stderr } = report("thrown text", { json: true });
	expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
	expect(JSON.parse(stdout)).toEqual({
		error: { code: "internal", message: "thrown text", hint: expect.any(String) },
	});
});

test("a message cannot write to the terminal", () => {
	expect(report(new Error("a\u001b[2Jb")).stderr).toContain("keryx: a\\u001b[2Jb\n");
});
