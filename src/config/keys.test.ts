import { expect, test } from "vitest";
import { z } from "zod";
import { keyTree, listKeys } from "./keys.ts";

const schema = z.strictObject({
	server: z.strictObject({ port: z.int().min(1).max(65535).default(7717) }).prefault({}),
	rate: z.number().min(0).nullish(),
	mode: z.enum(["on", "off"]).default("on"),
	rooms: z.record(z.string(), z.strictObject({ names: z.array(z.string()).optional() })).default({}),
	loud: z.boolean().transform((given) => !given),
	trimmed: z.preprocess((text) => text, z.int()),
});

test("the keys are read through defaults, optionals and transforms", () => {
	expect(listKeys(keyTree(schema))).toEqual([
		"server.port",
		"rate",
		"mode",
		"rooms.<name>.names",
		"loud",
		"trimmed",
	]);
});

test("each value says its type and what it may be", () => {
	const tree = keyTree(schema);
	if (tree.kind !== "section") throw new Error("not a section");
	expect(keyTree(schema.shape.server)).toMatchObject({
		keys: new Map([["port", { kind: "value", type: "number", expects: "a whole number from 1 to 65535" }]]),
	});
	expect(tree.keys.get("rate")).toEqual({ kind: "value", type: "number", expects: "a number of at least 0" });
	expect(tree.keys.get("mode")).toEqual({
		kind: "value",
		type: "text",
		expects: "one of on, off",
		choices: ["on", "off"],
	});
	expect(tree.keys.get("loud")).toEqual({ kind: "value", type: "boolean", expects: "true or false" });
	expect(tree.keys.get("trimmed")).toEqual({ kind: "value", type: "number", expects: "a whole number" });
});

test("a map takes any name of its kind but the one that a record would lose", () => {
	const rooms = keyTree(schema.shape.rooms);
	if (rooms.kind !== "map") throw new Error("not a map");
	expect(rooms.refusal("constructor")).toBeUndefined();
	expect(rooms.refusal("__proto__")).toBe("must be another name");
});
