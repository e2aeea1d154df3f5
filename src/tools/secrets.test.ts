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
		"echo 'a <<b'; rm ***",
		'echo "use <<EOF" ; rm ***',
		"# see <<EOF\nrm ***",
		"echo $((1<<x)); rm ***",
		"rm **\\\n*",
		"rm $'\\'' ***",
		"cat <<EOF\nx\nEOF\nrm ***",
		"cat <<A <<'B'\nA\nb\nB\nrm ***",
		'cat <<EOF\n"$(rm ***)\nEOF',
		"cat <<-EOF\nx\n\tEOF\nrm ***",
	])("is a pattern in %s", (command) => expect(hasMask(command)).toBe(true));

	test.each([
		"echo '***'",
		'echo "***"',
		"echo \\*\\*\\*",
		"cat <<EOF\n***\nEOF",
		"cat <<-'X'\n***",
		"cat <<EOF > a; echo b\n# it's ***\nEOF\ntrue",
		"cat <<EOF\n***\n EOF\n***\nEOF",
		"python3 - <<'PY'\nprint('***')\nPY",
		"true # ***",
		'echo "it\'s ***"',
		"ls ** *",
	])("is none in %s", (command) => expect(hasMask(command)).toBe(false));
});
