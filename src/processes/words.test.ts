import { expect, test } from "vitest";
import { endInWords } from "./words.ts";

test("a death by signal behind a wall is told by its code and its name", () => {
	const end = { status: "exited", exitCode: 143, signal: "SIGTERM", cause: "exited by itself" } as const;
	expect(endInWords(end)).toBe("exited with code 143 (SIGTERM)");
	expect(endInWords({ ...end, exitCode: null })).toBe("was ended by SIGTERM");
	expect(endInWords({ ...end, signal: null, exitCode: 0 })).toBe("exited with code 0");
});
