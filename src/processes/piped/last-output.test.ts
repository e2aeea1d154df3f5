import { expect, test } from "vitest";
import { NO_SECRETS } from "../../secrets/index.ts";
import { LastOutput } from "./last-output.ts";

function lastOf(printed: string): string {
	const output = new LastOutput(NO_SECRETS);
	output.add(Buffer.from(printed));
	return output.end();
}

test("of a program that died of an error, the error is shown, not where it was thrown", () => {
	const node = [
		"listening soon",
		"node:internal/modules/cjs/loader:1568",
		"  throw err;",
		"  ^",
		"",
		"Error: Cannot find module '/srv/server.js'",
		"    at Module._resolveFilename (node:internal/modules/cjs/loader:1564:15)",
		"    at node:internal/main/run_main_module:33:47 {",
		"  code: 'MODULE_NOT_FOUND',",
		"  requireStack: []",
		"}",
		"",
		"Node.js v24.21.0",
		"",
	].join("\n");
	expect(lastOf(node)).toBe(
		"Error: Cannot find module '/srv/server.js' / code: 'MODULE_NOT_FOUND', / requireStack: []",
	);
	const python =
		"Traceback (most recent call last):\n  File \"s.py\", line 1, in <module>\nKeyError: 'TOKEN'\n";
	expect(lastOf(python)).toBe("KeyError: 'TOKEN'");
});

test("without an error, the last three lines are shown, without colours", () => {
	expect(lastOf("one\ntwo\n\u001b[31mthree\u001b[0m\n\nfour\n")).toBe("two / three / four");
	expect(lastOf("")).toBe("");
});

test("of a long error its beginning is shown, of other long output its end", () => {
	expect(lastOf(`Error: no\n${"x".repeat(1000)}`)).toMatch(/^Error: no \/ x+$/);
	expect(lastOf(`${"x".repeat(1000)}end`)).toMatch(/^x{397}end$/);
});
