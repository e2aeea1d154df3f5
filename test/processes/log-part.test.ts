// A known secret is not shown by reading a log in pieces, wherever they begin and end (I12).
import { expect, test } from "vitest";
import { logPart } from "../../src/processes/log/part.ts";
import { createSecrets } from "../../src/secrets/index.ts";

const SECRET = "Zq7-vault-Kx93-ptango";
const FORMS = [SECRET, Buffer.from(SECRET).toString("base64"), Buffer.from(SECRET).toString("hex")];

for (const form of FORMS)
	test(`${form.length} characters of one, in pieces of any length`, async () => {
		const secrets = createSecrets(new Map([["VAULT", SECRET]]));
		const log = Buffer.from(`before ${form} after\n`);
		const read = async (_id: string, { from, limit }: { from: number; limit: number }) => {
			const data = log.subarray(from, from + limit);
			return { from, data, lost: 0, next: from + data.length, size: log.length };
		};
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
