import { describe, expect, test } from "vitest";
import { hasMask } from "./secrets.ts";

describe("*** in a command", () => {
	test.each([
		"rm d/***",
		"cat <<<x; rm ***",
		"echo $((1<<2)); rm ***",
		'echo "$(rm ***)"',
		'echo "$(echo "x" ***)"',
		'echo "a $(b)" *** "c"',
		'echo "`rm ***`"',
		"# don't\nrm ***\n# won't",
		"echo a#b'x' ***",
	])("is a pattern in %s", (command) => expect(hasMask(command)).toBe(true));

	test.each([
		"echo '***'",
		'echo "***"',
		"echo \\*\\*\\*",
		"cat <<EOF\n***\nEOF",
		"cat <<-'X'\n***",
		"true # ***",
		'echo "it\'s ***"',
		"ls ** *",
	])("is none in %s", (command) => expect(hasMask(command)).toBe(false));
});
