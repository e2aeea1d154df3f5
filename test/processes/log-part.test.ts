// A known secret is not shown by reading a log in pieces, wherever they begin and end (I12).
import { expect, test } from "vitest";
import { logPart } from "../../src/processes/log/part.ts";
import { logLines } from "../../src/processes/log/reading.ts";
import { createSecrets } from "../../src/secrets/index.ts";

const SECRET = "Zq7-vault-Kx93-ptango";
const FORMS = [SECRET, Buffer.from(SECRET).toString("base64"), Buffer.from(SECRET).toString("hex")];

function readerOf(log: Buffer) {
	return async (_id: string, { from, limit }: { from: number; limit: number }) => {
		const data = log.subarray(from, from + limit);
		return { from, data, lost: 0, next: from + data.length, size: log.length };
	};
}

test("a line without an end that is mostly secrets shows no part of one where it is cut", async () => {
	const long = SECRET.repeat(5);
	const secrets = createSecrets(new Map([["VAULT", long]]));
	for (let shift = 0; shift < long.length; shift += 7) {
		const read = readerOf(Buffer.from(`${"-".repeat(shift)}${`${long} `.repeat(2000)}`));
		const { lines } = await logLines(read, "p", { limit: 5, hide: (text) => secrets.hide(text) });
		expect(lines.join("")).not.toContain(SECRET.slice(0, 8));
	}
});

for (const form of FORMS)
	test(`${form.length} characters of one, in pieces of any length`, async () => {
		const secrets = createSecrets(new Map([["VAULT", SECRET]]));
		const log = Buffer.from(`before ${form} after\n`);
		const read = readerOf(log);
		for (let at = 0; at < log.length; at++)
			for (let limit = 1; at + limit <= log.length; limit++) {
				const hideBytes = (bytes: Uint8Array) => secrets.hideBytes(bytes);
				const { text } = await logPart(read, "p", {
					start: { at },
					limit,
					raw: true,
					ended: true,
					hideBytes,
				});
				const shown = secrets.hide(text);
				const whole = log.subarray(at, at + limit).toString();
				// What is not of it stays as it is.
				for (const word of ["before", "after"]) expect(shown.includes(word)).toBe(whole.includes(word));
				for (let from = 0; from + 4 <= form.length; from++)
					expect(shown, `from ${at}, ${limit} bytes`).not.toContain(form.slice(from, from + 4));
			}
	});
