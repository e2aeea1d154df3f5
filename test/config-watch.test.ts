// config.yaml while Keryx runs: followed however it is written, checked as a whole, the last good one kept.
import {
	mkdirSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
	CONFIG_KEYS,
	type ConfigProblem,
	type ConfigWatch,
	compareConfig,
	describeProblem,
	listKeys,
	loadConfig,
	watchConfig,
} from "../src/config/index.ts";
import type { Key } from "../src/config/keys.ts";

let home: string;
let watch: ConfigWatch | undefined;
let heard: string[];
let changed: () => void;

beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "keryx-watch-"));
	heard = [];
	changed = () => {};
});
afterEach(() => {
	watch?.close();
	rmSync(home, { recursive: true, force: true });
});

const file = (name = "config.yaml") => join(home, name);

function follow(): void {
	const hear = (what: string) => {
		heard.push(what);
		changed();
	};
	watch = watchConfig({
		home,
		env: {},
		onSecrets: () => {},
		onChange: ({ values }) => hear(`${values.session_reset.idle_minutes}`),
		onProblem: (problems: readonly ConfigProblem[]) =>
			hear(problems.map(describeProblem).join("\n").replaceAll(`${home}/`, "")),
	});
}

/** Resolves with what was heard last, when so much has been heard. */
async function nth(count: number): Promise<string> {
	while (heard.length < count)
		await new Promise<void>((resolve) => {
			changed = resolve;
		});
	return heard.at(-1) as string;
}

const idle = (minutes: number) => `session_reset:\n  idle_minutes: ${minutes}\n`;

describe("watching", () => {
	test("the file is read at first, and again after each change, also one by an editor that renames", async () => {
		writeFileSync(file(), idle(10));
		follow();
		expect(await nth(1)).toBe("10");
		writeFileSync(file(), idle(20));
		expect(await nth(2)).toBe("20");
		for (const minutes of [30, 40]) {
			writeFileSync(file(".config.yaml.swp"), idle(minutes));
			renameSync(file(".config.yaml.swp"), file());
			expect(await nth(minutes / 10)).toBe(String(minutes));
		}
	});

	test("a file that comes, goes and comes back is followed; without one the defaults hold", async () => {
		follow();
		expect(await nth(1)).toBe("1440");
		writeFileSync(file(), idle(10));
		expect(await nth(2)).toBe("10");
		rmSync(file());
		expect(await nth(3)).toBe("1440");
		writeFileSync(file(), idle(20));
		expect(await nth(4)).toBe("20");
	});

	test("a file behind a link is followed when the link is set anew", async () => {
		for (const minutes of [10, 20]) {
			mkdirSync(file(`v${minutes}`));
			writeFileSync(join(file(`v${minutes}`), "config.yaml"), idle(minutes));
		}
		symlinkSync("v10", file("current"));
		symlinkSync("current/config.yaml", file());
		follow();
		expect(await nth(1)).toBe("10");
		symlinkSync("v20", file("next"));
		renameSync(file("next"), file("current"));
		expect(await nth(2)).toBe("20");
	});

	test("a bad one is told with its place, and the next good one is taken", async () => {
		writeFileSync(file(), idle(10));
		follow();
		await nth(1);
		writeFileSync(file(), "session_reset:\n  idle_minutes: soon\n");
		expect(await nth(2)).toMatch(/^config\.yaml:2:17: session_reset\.idle_minutes must be a whole number/);
		writeFileSync(file(), idle(20));
		expect(await nth(3)).toBe("20");
	});

	test("what else happens in the home is no change of the configuration", async () => {
		writeFileSync(file(), idle(10));
		follow();
		await nth(1);
		for (let n = 0; n < 20; n++) writeFileSync(file(`other-${n}`), "x");
		writeFileSync(file(), idle(20));
		expect(await nth(2)).toBe("20");
		expect(heard).toEqual(["10", "20"]);
	});

	test("a home that cannot be watched is told, and nothing else happens", async () => {
		rmSync(home, { recursive: true });
		follow();
		expect(heard[0]).toContain("changes of the configuration are not seen");
	});
});

describe("comparing", () => {
	const config = (yaml: string) => {
		writeFileSync(file(), yaml);
		return loadConfig({ home, env: {} }).values;
	};

	test("names of the user's choice are compared too, whether they come or go", () => {
		const before = config("auth:\n  telegram: { allow: [a] }\n  irc: { allow_all: true }\n");
		const after = config("auth:\n  telegram: { allow: [b] }\n  slack: { allow_all: true }\n");
		const { keys } = compareConfig(before, after);
		expect(keys).toContain("auth.telegram.allow");
		expect(keys.filter((key) => key.startsWith("auth.irc"))).toContain("auth.irc.allow_all");
		expect(keys.filter((key) => key.startsWith("auth.slack"))).toContain("auth.slack.allow_all");
		expect(keys.some((key) => key === "auth.telegram.groups")).toBe(false);
	});

	test("what is read once keeps its old value, set or not set", () => {
		const before = config("agent: { instructions: old }\nsecrets: [A_KEY]\n");
		const after = config("agent: { kind: scripted, script: a.yaml, instructions: new }\n");
		const { restart, values } = compareConfig(before, after);
		expect(restart).toEqual(["agent.kind", "agent.script", "secrets"]);
		expect(values).toEqual({ ...before, agent: { ...before.agent, instructions: "new" } });
	});
});

test("the reference says of each key that is read once, and of no other, that it needs a restart", () => {
	const reference = readFileSync(new URL("../docs/reference/configuration.md", import.meta.url), "utf8");
	const marked = [...reference.matchAll(/^\| `([^`]+)` \|.*\(restart\)/gm)].map(([, key]) => key);
	// A profile's agent has the keys of the agent, which are listed once.
	const once = readOnce(CONFIG_KEYS).map((key) => key.replace(/^(profiles\.<name>\.agent)\..*$/, "$1"));
	expect(marked.toSorted()).toEqual([...new Set(once)].toSorted());
	const known = listKeys(CONFIG_KEYS).join("\n");
	expect(marked.every((key) => known.includes(key as string))).toBe(true);
});

function readOnce(key: Key, path: readonly string[] = []): string[] {
	if (key.kind === "value") return key.restart ? [path.join(".")] : [];
	if (key.kind === "map") return readOnce(key.value, [...path, "<name>"]);
	return [...key.keys].flatMap(([name, child]) => readOnce(child, [...path, name]));
}
