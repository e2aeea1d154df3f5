// Random trees, edited by an agent in turns and by a person between them; then a restore of any turn, and its undoing. What is expected
// is worked out from what was on the disk at each checkpoint, by rules that know nothing of git.
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RestoreReport, TakeOutcome } from "../../src/checkpoints/index.ts";
import { type Bench, openBench, treeOf } from "./support.ts";

const LARGEST = 40;
const AT_ONCE = 10;
/** `npm run test:crash` draws new histories each time; `npm test` tells the same ones. */
const RANDOM = process.env.KERYX_RESTORE_RUNS !== undefined;
const RUNS = Number(process.env.KERYX_RESTORE_RUNS ?? 50);

let bench: Bench;
beforeAll(async () => {
	bench = await openBench({ maxFileMb: LARGEST / 1024 / 1024 });
});
afterAll(() => bench.end());

/** Names that stand in each other's way, are excluded, look like options, or are no text. */
const PATHS = [
	...'a|a/b|a/b/c|d/e|d/f|-x|--force|sp ace/ü|new\nline|q"uote\\|:(top)|*|t.tmp|d/u.tmp|.gitignore|nested/g|nested/deep/h'.split(
		"|",
	),
	"\xff\xfe/x",
	"node_modules/m|.env|d/.env.local|x.log|build/o".split("|"),
].flat();

const TEXTS = [
	"",
	"one\n",
	"two\n",
	"1\n2\n3\n",
	"\0\x01binary\xff",
	"x".repeat(LARGEST),
	"y".repeat(LARGEST + 1),
];

type Edit =
	| { readonly kind: "write"; readonly path: string; readonly text: string }
	| { readonly kind: "link"; readonly path: string; readonly to: string }
	| { readonly kind: "remove" | "folder"; readonly path: string }
	| { readonly kind: "mode"; readonly path: string; readonly mode: number }
	| { readonly kind: "rename"; readonly path: string; readonly to: string }
	| { readonly kind: "ignore"; readonly on: boolean }
	| { readonly kind: "repository" };

const path = fc.constantFrom(...PATHS);
const edit: fc.Arbitrary<Edit> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({ kind: fc.constant("write" as const), path, text: fc.constantFrom(...TEXTS) }),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			kind: fc.constantFrom("remove" as const, "folder" as const),
			path,
		}),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constant("mode" as const),
			path,
			mode: fc.constantFrom(0o644, 0o755, 0o600, 0o664, 0o444, 0o711, 0o2750),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant("rename" as const), path, to: path }) },
	{
		weight: 1,
		arbitrary: fc.record({
			kind: fc.constant("link" as const),
			path,
			to: fc.constantFrom("a", "/etc", "..", "nowhere"),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant("ignore" as const), on: fc.boolean() }) },
	{ weight: 1, arbitrary: fc.constant({ kind: "repository" as const }) },
);
const edits = (maxLength: number) => fc.array(edit, { maxLength });

const scenario = fc.record({
	first: edits(12),
	turns: fc.array(fc.record({ agent: edits(5), person: edits(3) }), { minLength: 1, maxLength: 2 }),
	target: fc.nat(1),
	force: fc.boolean(),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

test(
	`of ${RUNS} random histories each restore takes back what is the agent's, keeps and lists what is not, and can be undone exactly`,
	async () => {
		const histories = fc.array(scenario, { minLength: AT_ONCE, maxLength: AT_ONCE });
		await fc.assert(
			fc.asyncProperty(histories, async (together) => {
				await Promise.all(together.map(tell));
			}),
			{ numRuns: RUNS / AT_ONCE, ...(RANDOM ? {} : { seed: 17 }) },
		);
	},
	6000 * RUNS,
);

async function tell({ first, turns, target, force }: Scenario): Promise<void> {
	const folder = bench.workspace();
	const states: State[] = [];
	/** Whether what happened before this state was the agent's. */
	const agents: boolean[] = [];
	const ids: string[] = [];
	const look = async (byAgent: boolean, take: () => Promise<TakeOutcome>): Promise<void> => {
		states.push(stateOf(folder));
		agents.push(byAgent);
		const outcome = await take();
		if (outcome.kind === "failed") throw new Error(outcome.reason);
		ids.push(outcome.id);
	};
	for (const one of first) perform(folder, one);
	for (const [n, { agent, person }] of turns.entries()) {
		const about = { workspace: folder, label: "turn", turn: `${folder} ${n}` };
		await look(false, () => bench.checkpoints.take({ ...about, kind: "before" }));
		for (const one of agent) perform(folder, one);
		await look(true, () => bench.checkpoints.take({ ...about, kind: "after" }));
		for (const one of person) perform(folder, one);
	}
	states.push(stateOf(folder));
	agents.push(false);

	const chosen = (target % turns.length) * 2;
	const report = await bench.checkpoints.restore(folder, ids[chosen] as string, { force });
	const expected = expectation(states, agents, chosen, force);
	const after = stateOf(folder);
	expect(after.all).toEqual(expected.all);
	const { untouched, ...changed } = listed(report);
	expect(changed).toEqual({ put: expected.listed.put, kept: expected.listed.kept });
	expect(untouched).toEqual(expect.arrayContaining([...expected.listed.untouched]));
	// What was not saved and is gone is named, and nothing else.
	const then = [...unsavedAt(states, chosen)];
	for (const path of untouched.filter((one) => !expected.listed.untouched.includes(one))) {
		expect(then.some((one) => one === path || (path.endsWith("/") && one.startsWith(path)))).toBe(true);
		expect(Object.keys(states.at(-1)?.all ?? {})).not.toContain(path);
	}

	const undone = await bench.checkpoints.restore(folder, report.before.id);
	expect(undone.kept).toEqual([]);
	expect(stateOf(folder).all).toEqual(states.at(-1)?.all);
	rmSync(folder, { recursive: true });
}

interface State {
	/** Every file, by path. */
	readonly all: Readonly<Record<string, string>>;
	/** Those that a snapshot holds. */
	readonly saved: ReadonlyMap<string, string>;
	/** Those that it does not, and folders whose files it does not, empty or not. */
	readonly unsaved: ReadonlySet<string>;
	/** Of those, the ones that are too large, by what a snapshot tells their states apart by. */
	readonly large: ReadonlyMap<string, string>;
}

function stateOf(folder: string): State {
	const tree = [...treeOf(folder)];
	const files = tree
		.filter(([, what]) => what !== "folder")
		.map(([path, what]): [string, string] => [
			path,
			what.replace(/^\w+/, (word) => withMode(folder, path, word)),
		])
		.sort();
	const ignoring = files.some(([path, what]) => path === ".gitignore" && what.endsWith("*.tmp\n"));
	const isSaved = ([path]: [string, string]): boolean => {
		if (/(^|\/)(\.git|node_modules|build)\/|(^|\/)\.env|\.log\/?$/.test(path)) return false;
		if (ignoring && path.split("/").some((part) => part.endsWith(".tmp"))) return false;
		return true;
	};
	const isLarge = ([path, what]: [string, string]): boolean =>
		isSaved([path, what]) && !what.startsWith("link ") && what.slice(what.indexOf(" ") + 1).length > LARGEST;
	const large = files.filter(isLarge).map(([path]) => {
		const { size, mtimeNs, ino, mode } = lstatSync(raw(folder, path), { bigint: true });
		return [path, `large ${size} ${mtimeNs} ${ino} ${mode}`] as const;
	});
	const isKept = (file: [string, string]): boolean => isSaved(file) && !isLarge(file);
	const folders = tree.filter(([, what]) => what === "folder");
	return {
		all: Object.fromEntries(files),
		saved: new Map(files.filter(isKept)),
		unsaved: new Set(
			[...files.filter((file) => !isKept(file)), ...folders.filter((one) => !isSaved(one))].map(
				([path]) => path,
			),
		),
		large: new Map(large),
	};
}

function withMode(folder: string, path: string, word: string): string {
	return word === "link" ? word : `${word}-${(lstatSync(raw(folder, path)).mode & 0o7777).toString(8)}`;
}

/** Of a path as its bytes. */
function raw(folder: string, path: string): Buffer {
	return Buffer.from(`${folder}/${path}`, "latin1");
}

interface Listed {
	readonly put: readonly string[];
	readonly kept: readonly string[];
	readonly untouched: readonly string[];
}

function expectation(
	states: readonly State[],
	agents: readonly boolean[],
	chosen: number,
	force: boolean,
): { readonly all: State["all"]; readonly listed: Listed } {
	const target = states[chosen] as State;
	const now = states.at(-1) as State;
	const [unsavedThen, unsavedNow] = [unsavedAt(states, chosen), unsavedAt(states, states.length - 1)];
	const theirs = new Set<string>();
	for (let n = chosen + 1; n < states.length; n++)
		if (!agents[n])
			for (const path of differing(states[n - 1] as State, states[n] as State)) theirs.add(path);

	const all = new Map(Object.entries(now.all));
	const untouched: string[] = [];
	const kept: string[] = [];
	const put: string[] = [];
	const back: string[] = [];
	for (const path of differing(target, now)) {
		const isGrown = now.large.has(path) && target.saved.has(path);
		if (unsavedThen.has(path) || (unsavedNow.has(path) && !isGrown)) untouched.push(path);
		else if (theirs.has(path) && !force) kept.push(path);
		else back.push(path);
	}
	for (const path of back) if (!target.saved.has(path)) all.delete(path);
	for (const path of back) {
		const before = target.saved.get(path);
		if (before === undefined) {
			put.push(path);
			continue;
		}
		all.delete(path);
		const blocked = [...all.keys()].some(
			(other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
		);
		if (blocked) kept.push(path);
		else put.push(path);
		const stays = blocked ? now.all[path] : before;
		if (stays !== undefined) all.set(path, stays);
	}
	return {
		all: Object.fromEntries([...all].sort()),
		listed: { put: put.sort(), kept: kept.sort(), untouched: untouched.sort() },
	};
}

function differing(a: State, b: State): readonly string[] {
	const paths = new Set([a, b].flatMap(({ saved, large }) => [...saved.keys(), ...large.keys()]));
	const at = ({ saved, large }: State, path: string) => saved.get(path) ?? large.get(path);
	return [...paths].filter((path) => at(a, path) !== at(b, path));
}

/** One checkpoint stands for all looks in a row that found the same files: it knows what any of them did not save. */
function unsavedAt(states: readonly State[], at: number): ReadonlySet<string> {
	const isSame = (n: number): boolean => differing(states[n] as State, states[at] as State).length === 0;
	let [from, to] = [at, at];
	while (from > 0 && isSame(from - 1)) from--;
	while (to < states.length - 1 && isSame(to + 1)) to++;
	return new Set(states.slice(from, to + 1).flatMap(({ unsaved }) => [...unsaved]));
}

function listed({ restored, removed, kept, untouched }: RestoreReport): Listed {
	const bytes = (paths: readonly string[]): string[] => paths.map(rawOf).sort();
	return {
		put: bytes([...restored, ...removed]),
		kept: bytes(kept.map(({ path }) => path)),
		untouched: bytes(untouched),
	};
}

/** A path as it is told, as its bytes. */
function rawOf(told: string): string {
	if (!told.startsWith('"')) return Buffer.from(told, "utf8").toString("latin1");
	return told
		.slice(1, -1)
		.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function perform(folder: string, one: Edit): void {
	switch (one.kind) {
		case "write":
			write(folder, one.path, one.text);
			return;
		case "ignore":
			write(folder, ".gitignore", one.on ? "*.tmp\n" : "\n");
			return;
		case "repository":
			makeWay(folder, "nested/.git/HEAD");
			write(folder, "nested/.git/HEAD", "ref: refs/heads/main\n");
			write(folder, "nested/.git/config", "[core]\n");
			mkdirSync(full(folder, "nested/.git/objects"), { recursive: true });
			mkdirSync(full(folder, "nested/.git/refs"), { recursive: true });
			return;
		case "remove":
			if (statOf(folder, one.path)) rmSync(full(folder, one.path), { recursive: true });
			return;
		case "mode":
			if (statOf(folder, one.path)?.isFile()) chmodSync(full(folder, one.path), one.mode);
			return;
		case "folder":
			makeWay(folder, one.path);
			if (!statOf(folder, one.path)) mkdirSync(full(folder, one.path));
			return;
		case "link":
			makeWay(folder, one.path);
			rmSync(full(folder, one.path), { recursive: true, force: true });
			symlinkSync(one.to, full(folder, one.path));
			return;
		case "rename":
			move(folder, one.path, one.to);
			return;
	}
}

function write(folder: string, path: string, text: string): void {
	makeWay(folder, path);
	if (!statOf(folder, path)?.isFile()) rmSync(full(folder, path), { recursive: true, force: true });
	writeFileSync(full(folder, path), text, "latin1");
}

/** Of a file or a link; the content under another name. */
function move(folder: string, from: string, to: string): void {
	const content = treeOf(folder).get(Buffer.from(from, "utf8").toString("latin1"));
	if (content === undefined || content === "folder" || from === to) return;
	rmSync(full(folder, from));
	if (content.startsWith("link ")) perform(folder, { kind: "link", path: to, to: content.slice(5) });
	else write(folder, to, content.slice(content.indexOf(" ") + 1));
}

/** Whatever is no folder, and stands where one is needed, goes: nothing is written through a link. */
function makeWay(folder: string, path: string): void {
	const above = dirname(path);
	if (above === ".") return;
	makeWay(folder, above);
	if (statOf(folder, above)?.isDirectory()) return;
	rmSync(full(folder, above), { force: true });
	mkdirSync(full(folder, above));
}

function statOf(folder: string, path: string) {
	try {
		return lstatSync(full(folder, path), { throwIfNoEntry: false });
	} catch {
		return undefined;
	}
}

/** One name of ours is no text: its letters stand for its bytes. */
function full(folder: string, path: string): Buffer {
	const bytes = path.startsWith("\xff\xfe") ? Buffer.from(path, "latin1") : Buffer.from(path, "utf8");
	return Buffer.concat([Buffer.from(`${folder}/`), bytes]);
}
