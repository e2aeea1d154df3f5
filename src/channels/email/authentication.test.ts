import { expect, test } from "vitest";
import { mustEnd } from "../../../test/support/ends.ts";
import { proofOf } from "./authentication.ts";

const ADA = "ada@example.org";
const MX = "mx.keryx.test";

function isProven(...headers: readonly string[]): boolean {
	return proofOf(ADA, headers, MX).isProven;
}

test.each([
	`${MX}; dmarc=pass header.from=example.org`,
	`${MX} 1; dmarc=pass (p=reject dis=none) header.from=example.org`,
	`MX.Keryx.Test; spf=none; dmarc = pass header.from="example.org"`,
	`${MX}; dkim=pass header.d=example.org header.s=a; dmarc=none`,
	`${MX}; dkim=fail header.d=evil.test; dkim=pass header.i=@example.org`,
	`${MX}; spf=pass smtp.mailfrom=ada@example.org`,
	`${MX}; spf=pass smtp.mailfrom=example.org`,
	`${MX}; (a; comment; dmarc=fail) dmarc=pass`,
])("proven: %s", (header) => {
	expect(isProven(header)).toBe(true);
});

test.each([
	`${MX}; dmarc=fail header.from=example.org`,
	// What fails as a whole is not saved by a part of it.
	`${MX}; dmarc=fail header.from=example.org; dkim=pass header.d=example.org; spf=pass smtp.mailfrom=example.org`,
	`${MX}; dmarc=pass header.from=evil.test`,
	`${MX}; dkim=pass header.d=evil.test; spf=pass smtp.mailfrom=eve@evil.test`,
	`${MX}; dkim=pass header.d=sub.example.org`,
	`${MX}; dkim=pass header.d=org`,
	`${MX}; dkim=pass header.d=notexample.org`,
	`${MX}; none`,
	`${MX}`,
	"",
	`evil.test; dmarc=pass header.from=example.org`,
	`${MX}.evil.test; dmarc=pass header.from=example.org`,
	`evil.test (${MX};) ; dmarc=pass header.from=example.org`,
	`${MX}; dmarc=fail reason="x; dmarc=pass" header.from=example.org`,
	`${MX}; x=y (dmarc=pass; dkim=pass header.d=example.org)`,
	`${MX}; (unclosed; dmarc=pass`,
])("not proven: %s", (header) => {
	expect(isProven(header)).toBe(false);
});

test("only the topmost header of the configured server counts", () => {
	const pass = `${MX}; dmarc=pass header.from=example.org`;
	const fail = `${MX}; dmarc=fail header.from=example.org`;
	expect(isProven(fail, pass)).toBe(false);
	expect(isProven("other.test; dmarc=fail", pass)).toBe(true);
	expect(isProven()).toBe(false);
	expect(proofOf(ADA, [pass], undefined)).toMatchObject({ isProven: false });
});

test("a domain may be spoken for by the one that it is a part of", () => {
	const header = `${MX}; dkim=pass header.d=example.org`;
	expect(proofOf("ada@mail.example.org", [header], MX).isProven).toBe(true);
});

test.each([
	["quotes", `x; "${'\\"'.repeat(800_000)}`],
	["spaces", `x; a${" ".repeat(1_600_000)}a`],
	["brackets", `x; ${"(".repeat(1_600_000)}`],
])("a long header costs no more than its length: %s", (_, header) => {
	expect(mustEnd(() => isProven(header))).toBe(false);
});
