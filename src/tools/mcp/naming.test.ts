import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actionName } from "../../domain/index.ts";
import { actionOf, namesOf, serverOf } from "./naming.ts";

const server = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,15}(?:_[a-z0-9-]{1,15})?$/);
const tools = fc.array(
	fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.stringMatching(/^[A-Za-z0-9_-]{1,80}$/)),
	{ maxLength: 30 },
);

describe("names of a server's tools", () => {
	it("fit every provider, are unique, and lead back to server and tool, whatever the server says", () => {
		fc.assert(
			fc.property(server, tools, (name, given) => {
				const names = namesOf(name, given);
				expect([...names.values()].toSorted()).toEqual([...new Set(given)].toSorted());
				for (const [called, tool] of names) {
					expect(called).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
					expect(serverOf(called)).toBe(name);
					expect(namesOf(name, [tool]).get(called), "the same alone").toBe(tool);
				}
			}),
			{ numRuns: 1000 },
		);
	});

	it("stay readable where they can", () => {
		expect([...namesOf("files", ["read_file", "list.all"])]).toEqual([
			["files__read_file", "read_file"],
			[expect.stringMatching(/^files__list_all_[0-9a-f]{8}$/), "list.all"],
		]);
		expect(serverOf("session_search")).toBe(null);
	});

	it("two names are two actions, also where they differ in case alone", () => {
		expect(actionOf("a__Read")).not.toBe(actionOf("a__read"));
		expect(actionOf("a__Read").toLowerCase()).not.toBe(actionOf("a__read"));
		expect(actionName(actionOf("a__Read"))).toBe(actionOf("a__Read"));
	});
});
