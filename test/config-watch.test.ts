// config.yaml while Keryx runs: followed however it is written, checked as a whole, the last good one kept.
import {
	mkdirSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmdirSync,
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
	type LoadedConfig,
	listKeys,
	loadConfig,
	watchConfig,
} from "../src/config/index.ts";
import type { Key } from "../src/config/keys.ts";
import { createVirtualClock, type VirtualClock } from "../src/testing/index.ts";

let home: string;
let watch: ConfigWatch | undefined;
let clock: VirtualClock;
let heard: string[];

beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "keryx-watch-"));
	clock = createVirtualClock(0);
	heard = [];
});
afterEach(() => {
	watch?.close();
	rmSync(home, { recursive: true, force: true });
});

const file = (name = "config.yaml") => join(home, name);

/** With what was in force before, and until the file that is there was read. */
async function follow(atStart?: LoadedConfig): Promise<void> {
	watch = watchConfig({
		home,
		env: {},
		onSecrets: () => {},
		clock,
		...(atStart && { atStart }),
		onChange: ({ values }) =>
			heard.push(
				`${values.session_reset.idle_minutes} ${values.approvals.mode} ${values.auth.irc?.allow ?? "nobody"}`,
			),
		onProblem: (problems: readonly ConfigProblem[]) =>
			heard.push(problems.map(describeProblem).join("\n").replaceAll(`${home}/`, "")),
		onHold: (sections) => heard.push(`held: ${sections}`),
	});
	await clock.advance(SECOND);
}

const SECOND = 1000;
/** Changes are looked at together after so long. */
const BURST = 50;

/** Lets time pass once the file system has told of a change: so many timers wait then, the one that looks among them. */
async function afterChange(ms: number, timers = 1): Promise<void> {
	await expect.poll(() => clock.pendingTimers().length, { interval: 1 }).toBeGreaterThanOrEqual(timers);
	await clock.advance(ms);
}

function moveIn(text: string, name = "config.yaml"): void {
	writeFileSync(file(".draft"), text);
	renameSync(file(".draft"), file(name));
}

const idle = (minutes: number) => `session_reset:\n  idle_minutes: ${minutes}\n`;
const GUARDED = "auth: { irc: { allow: [ada] } }\napprovals: { mode: readonly }\n";

describe("watching", () => {
	test("the file is read at first, and again after each change", async () => {
		writeFileSync(file(), idle(10));
		await follow();
		expect(heard).toEqual(["10 manual nobody"]);
		writeFileSync(file(), idle(20));
		await afterChange(BURST + SECOND);
		expect(heard.slice(1)).toEqual(["20 manual nobody"]);
	});

	test("a file that is moved into place, as editors do, counts at once", async () => {
		writeFileSync(file(), idle(10));
		await follow();
		for (const minutes of [20, 30]) {
			moveIn(idle(minutes));
			await afterChange(BURST);
			expect(heard.at(-1)).toBe(`${minutes} manual nobody`);
		}
		expect(heard).toHaveLength(3);
	});

	test("a writer that pauses after each piece is waited for: no part of its file counts", async () => {
		writeFileSync(file(), idle(10) + GUARDED);
		await follow();
		const whole = idle(20) + GUARDED.replace("ada", "bob");
		for (const end of [0, 10, 31, whole.length - 20]) {
			writeFileSync(file(), whole.slice(0, end));
			await afterChange(100, end === 0 ? 1 : 2);
		}
		writeFileSync(file(), whole);
		await afterChange(BURST + SECOND - 1, 2);
		expect(heard).toEqual(["10 readonly ada"]);
		await clock.advance(1);
		expect(heard).toEqual(["10 readonly ada", "20 readonly bob"]);
	});

	test("an empty file never counts, and is told", async () => {
		writeFileSync(file(), idle(10));
		await follow();
		writeFileSync(file(), "");
		await afterChange(BURST + SECOND);
		expect(heard.slice(1)).toEqual(["config.yaml: the file is empty"]);
		moveIn(" \n\n");
		await afterChange(BURST);
		expect(heard).toHaveLength(2);
		await clock.advance(100 * SECOND);
		expect(heard.slice(2)).toEqual(["config.yaml: the file is empty"]);
		moveIn(idle(20));
		await afterChange(BURST);
		expect(heard.at(-1)).toBe("20 manual nobody");
	});

	test("a file that goes leaves the last good one in force, is told, and counts again when it comes back", async () => {
		writeFileSync(file(), idle(10) + GUARDED);
		await follow();
		renameSync(file(), file("away"));
		await afterChange(BURST + SECOND - 1);
		expect(heard).toHaveLength(1);
		await clock.advance(1);
		expect(heard.slice(1)).toEqual(["config.yaml: the file is gone; restart Keryx to use the defaults"]);
		await clock.advance(100 * SECOND);
		renameSync(file("away"), file());
		await afterChange(BURST);
		expect(heard.slice(2)).toEqual(["10 readonly ada"]);
	});

	test("one that goes for a moment, as some editors do it, is no news", async () => {
		writeFileSync(file(), idle(10));
		await follow();
		rmSync(file());
		await afterChange(BURST);
		writeFileSync(file(), idle(20));
		await afterChange(BURST + SECOND, 2);
		expect(heard).toEqual(["10 manual nobody", "20 manual nobody"]);
	});

	test("without a file the defaults hold, until one comes", async () => {
		await follow();
		expect(heard).toEqual(["1440 manual nobody"]);
		writeFileSync(file(), idle(10));
		await afterChange(BURST + SECOND);
		expect(heard.at(-1)).toBe("10 manual nobody");
	});

	test.each(["auth", "approvals"])(
		"the loss of the whole section %s is told, and held for five seconds",
		async (section) => {
			writeFileSync(file(), idle(10) + GUARDED);
			await follow();
			const without = GUARDED.replace(new RegExp(`^${section}.*\n`, "m"), "");
			moveIn(idle(20) + without);
			await afterChange(BURST);
			expect(heard.slice(1)).toEqual([`held: ${section}`]);
			// Whatever else happens in the home changes nothing about that.
			writeFileSync(file("other"), "x");
			await afterChange(5 * SECOND - 1, 2);
			expect(heard).toHaveLength(2);
			await clock.advance(1);
			expect(heard.slice(2)).toEqual([section === "auth" ? "20 readonly nobody" : "20 manual ada"]);
		},
	);

	test("a section that comes back while its loss is held was never lost", async () => {
		writeFileSync(file(), idle(10) + GUARDED);
		await follow();
		moveIn(idle(20));
		await afterChange(BURST);
		expect(heard.slice(1)).toEqual(["held: auth,approvals"]);
		await clock.advance(4 * SECOND);
		moveIn(idle(30) + GUARDED);
		await afterChange(100 * SECOND, 2);
		expect(heard.slice(2)).toEqual(["30 readonly ada"]);
	});

	test("what Keryx was started with counts as before: a loss right after the start is held, too", async () => {
		writeFileSync(file(), idle(10) + GUARDED);
		const atStart = loadConfig({ home, env: {} });
		writeFileSync(file(), idle(20));
		await follow(atStart);
		expect(heard).toEqual(["held: auth,approvals"]);
		rmSync(file());
		await afterChange(100 * SECOND, 2);
		expect(heard.slice(1)).toEqual([expect.stringContaining("the file is gone")]);
	});

	test("a file behind a link is followed when the link is set anew", async () => {
		for (const minutes of [10, 20]) {
			mkdirSync(file(`v${minutes}`));
			writeFileSync(join(file(`v${minutes}`), "config.yaml"), idle(minutes));
		}
		symlinkSync("v10", file("current"));
		symlinkSync("current/config.yaml", file());
		await follow();
		expect(heard).toEqual(["10 manual nobody"]);
		symlinkSync("v20", file("next"));
		renameSync(file("next"), file("current"));
		await afterChange(BURST);
		expect(heard.at(-1)).toBe("20 manual nobody");
	});

	test("a bad one is told with its place, and the next good one is taken", async () => {
		writeFileSync(file(), idle(10));
		await follow();
		moveIn("session_reset:\n  idle_minutes: soon\n");
		await afterChange(BURST);
		expect(heard.at(-1)).toMatch(/^config\.yaml:2:17: session_reset\.idle_minutes must be a whole number/);
		moveIn(idle(20));
		await afterChange(BURST);
		expect(heard.at(-1)).toBe("20 manual nobody");
	});

	test("a folder in its place, or bytes that are no text, are told, and change nothing", async () => {
		writeFileSync(file(), idle(10));
		await follow();
		renameSync(file(), file("away"));
		mkdirSync(file());
		await afterChange(BURST + SECOND);
		expect(heard.at(-1)).toContain("it is a folder");
		rmdirSync(file());
		writeFileSync(file(), Buffer.from([0xff, 0xfe, 0x41]));
		await afterChange(BURST + SECOND);
		expect(heard.at(-1)).toContain("it is not UTF-8 text");
		expect(heard).toHaveLength(3);
	});

	test("what else happens in the home is no change of the configuration", async () => {
		writeFileSync(file(), idle(10));
		await follow();
		for (let n = 0; n < 20; n++) writeFileSync(file(`other-${n}`), "x");
		await afterChange(BURST + 100 * SECOND);
		expect(heard).toEqual(["10 manual nobody"]);
	});

	test("a home that cannot be watched is told, and nothing else happens", async () => {
		rmSync(home, { recursive: true });
		await follow();
		expect(heard[0]).toContain("changes to the configuration are not noticed");
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
		const after = config(
			"agent: { instructions: new }\nhttp: { port: 4712 }\nworkspace: { root: /srv/work }\n",
		);
		const { restart, values } = compareConfig(before, after);
		expect(restart.toSorted()).toEqual(["http.port", "workspace.root"]);
		expect(values).toEqual({ ...before, agent: { ...before.agent, instructions: "new" }, secrets: [] });
	});
});

test("the reference says of each key that is read once, and of no other, that it needs a restart", () => {
	const reference = readFileSync(new URL("../docs/reference/configuration.md", import.meta.url), "utf8");
	const marked = [...reference.matchAll(/^\| `([^`]+)` \|.*\(restart\)/gm)].map(([, key]) => key);
	// A profile's agent and terminal have the keys of those sections, which are listed once.
	const once = readOnce(CONFIG_KEYS).map((key) =>
		key.replace(/^(profiles\.<name>\.(?:agent|terminal))\..*$/, "$1"),
	);
	expect(marked.toSorted()).toEqual([...new Set(once)].toSorted());
	const known = listKeys(CONFIG_KEYS).join("\n");
	expect(marked.every((key) => known.includes(key as string))).toBe(true);
});

function readOnce(key: Key, path: readonly string[] = []): string[] {
	if (key.kind === "value") return key.restart ? [path.join(".")] : [];
	if (key.kind === "map") return readOnce(key.value, [...path, "<name>"]);
	return [...key.keys].flatMap(([name, child]) => readOnce(child, [...path, name]));
}
