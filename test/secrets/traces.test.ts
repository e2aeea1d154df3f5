// The look for traces can fail: it finds each form wherever it is planted, and nothing where there is nothing.
import { expect, test } from "vitest";
import { createSecrets } from "../../src/secrets/index.ts";
import { formsOf, traceOf } from "./traces.ts";

const SECRET = 'sK-7f/Q+z"9é\\Kd_2026xYw';

test.each(Object.entries(formsOf(SECRET)))(
	"a trace in the form %s is found in bytes and in JSON",
	(_, form) => {
		const noise = Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 7919) % 256));
		expect(traceOf([SECRET], Buffer.concat([noise, Buffer.from(` ${form} `), noise]))).not.toBeNull();
		expect(traceOf([SECRET], JSON.stringify({ a: { b: [`x ${form}`] } }))).not.toBeNull();
	},
);

test("hidden text has none", () => {
	const secrets = createSecrets(new Map([["KEY", SECRET]]));
	const text = secrets.hide(Object.values(formsOf(SECRET)).join(" and "));
	expect(traceOf([SECRET], text)).toBeNull();
	expect(traceOf([SECRET], JSON.stringify({ text }))).toBeNull();
});
