import { expect, test } from "vitest";
import { titleIn, titleQuestion } from "./title-prompt.ts";

test("the name is the first line of the answer, without what models put around it", () => {
	expect(titleIn("Weekend in Rome")).toBe("Weekend in Rome");
	expect(titleIn('\n\n"Weekend in Rome."\nBecause it is about Rome.')).toBe("Weekend in Rome");
	expect(titleIn("**Title: Weekend in Rome**")).toBe("Weekend in Rome");
	expect(titleIn("# Fixing the build.")).toBe("Fixing the build");
	expect(titleIn("\u201eReise nach Rom\u201c")).toBe("Reise nach Rom");
	expect(titleIn("  \n ")).toBe("");
	expect(titleIn("word ".repeat(40)).length).toBeLessThanOrEqual(60);
});

test("a long exchange is asked about by its beginnings", () => {
	expect(titleQuestion("a".repeat(5000), "b".repeat(5000)).length).toBeLessThan(3200);
});
