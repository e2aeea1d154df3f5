// What is fetched like a file: names of secrets are hidden in it, and every other byte stays (I12).
import { expect, test } from "vitest";
import { withoutNamesInBytes } from "./secret-names.ts";

const NAME = "\u0024{secret:DB_PASSWORD}";

test.each([
	["UTF-8", Buffer.from(`Zoë ${NAME} ✓`), Buffer.from("Zoë ••• ✓")],
	[
		"Latin-1",
		Buffer.from(`Zo\xEB ${NAME}`, "latin1"),
		Buffer.from([0x5a, 0x6f, 0xeb, 0x20, 0xe2, 0x80, 0xa2, 0xe2, 0x80, 0xa2, 0xe2, 0x80, 0xa2]),
	],
	[
		"bytes of all kinds",
		Buffer.from([0, 0xff, ...Buffer.from(NAME), 0xfe]),
		Buffer.from([0, 0xff, ...Buffer.from("•••"), 0xfe]),
	],
	[
		"no name",
		Buffer.from([0xff, ...Buffer.from("secret: none")]),
		Buffer.from([0xff, ...Buffer.from("secret: none")]),
	],
])("%s", (_, given, shown) => {
	expect(Buffer.from(withoutNamesInBytes(given))).toEqual(shown);
});
