// Runs the command, in separate processes or in this one, and creates a home with a history for it.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { CliContext } from "../../src/cli/context.ts";
import { reportError } from "../../src/cli/io/report.ts";
import { runProgram } from "../../src/cli/program.ts";
import { workspaceFolders } from "../../src/gateway/index.ts";
import { NO_SECRETS, openStore } from "../../src/store/index.ts";
import { BOB, delivery, GROUP, Scene } from "../../src/testing/conformance/store/scene.ts";
import { countedIds, createWallClock, HOUR, MINUTE } from "./clock.ts";
import { programFile } from "./programs.ts";

export const MAIN = programFile(new URL("../../src/cli/main.ts", import.meta.url));

/**
 * Node's options for it. With the usual space for new objects, a command that starts collects garbage ten times; threads that help with
 * that wait for a core that a test has.
 */
export const NODE_OPTIONS = [
	"--disable-warning=ExperimentalWarning",
	"--single-threaded-gc",
	"--min-semi-space-size=16",
];

export interface Run {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

interface RunOptions {
	readonly stdin?: string;
	readonly env?: Readonly<Record<string, string>>;
}

export interface Gateway {
	readonly pid: number;
	/** Its output when it was ready. */
	readonly said: string;
	/** Its error output so far. */
	complaints(): string;
	/** Resolves with its exit code when it has ended. */
	readonly ended: Promise<number | null>;
	/** Resolves with its exit code. */
	stop(signal?: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<number | null>;
}

export interface KeryxCommand {
	/** Runs the command, with an empty home unless the environment names one. */
	keryx(args: readonly string[], options?: RunOptions): Promise<Run>;
	/** A Keryx that runs in that home and answers on its socket; or another command that runs until it is stopped. */
	start(home: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Gateway>;
}

/** Next to a home: it is removed with the test's folder. */
export function dataOf(home: string): string {
	return `${home}-data`;
}

/** The workspaces of a home, one for each conversation. */
export function workspacesOf(home: string): string {
	return workspaceFolders(home, {}, { XDG_DATA_HOME: dataOf(home) }).root;
}

/** `root`: a folder that the test removes. */
export function commandIn(root: string): KeryxCommand {
	const begin = (args: readonly string[], given: Readonly<Record<string, string>>) => {
		const env = { KERYX_HOME: join(root, "empty"), ...given };
		return spawn(process.execPath, [...NODE_OPTIONS, MAIN, ...args], {
			env: {
				PATH: process.env.PATH,
				TZ: "UTC",
				NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
				XDG_DATA_HOME: dataOf(env.KERYX_HOME),
				// Many run at once.
				KERYX_HTTP_PORT: "0",
				...env,
			},
		});
	};
	return {
		keryx: (args, { stdin = "", env = {} } = {}) => {
			const child = begin(args, env);
			child.stdin.on("error", () => {});
			child.stdin.end(stdin);
			const said = { stdout: "", stderr: "" };
			child.stdout.on("data", (data) => (said.stdout += data));
			child.stderr.on("data", (data) => (said.stderr += data));
			return new Promise<Run>((resolve, reject) => {
				child.on("error", reject);
				child.on("close", (code) => resolve({ code, ...said }));
			});
		},
		start: async (home, args = [], env = {}) => {
			const child = begin(args, { KERYX_HOME: home, ...env });
			let complaint = "";
			const said = await new Promise<string>((resolve, reject) => {
				child.on("close", () => reject(new Error(`Keryx did not start: ${complaint}`)));
				child.stderr.on("data", (data) => (complaint += data));
				// It prints this once its socket exists.
				child.stdout.once("data", (data) => resolve(String(data)));
			});
			return {
				ended: new Promise((resolve) => child.on("close", resolve)),
				pid: child.pid as number,
				said,
				complaints: () => complaint,
				stop: (signal = "SIGTERM") => ended(child, signal),
			};
		},
	};
}

/** The same within this process, a hundred times faster; with `columns`, on a terminal of that width. */
export async function call(
	args: readonly string[],
	{ stdin = "", env = {}, columns }: RunOptions & { readonly columns?: number } = {},
): Promise<Run> {
	const said = { code: 0, stdout: "", stderr: "" };
	const stream = (name: "stdout" | "stderr") => ({
		...(columns !== undefined && { isTTY: true, columns }),
		write: (text: string) => {
			said[name] += text;
		},
	});
	const context: CliContext = {
		env: { TZ: "UTC", ...(env.KERYX_HOME && { XDG_DATA_HOME: dataOf(env.KERYX_HOME) }), ...env },
		stdin: Object.assign(Readable.from(stdin === "" ? [] : [stdin]), { isTTY: columns !== undefined }),
		stdout: stream("stdout"),
		stderr: stream("stderr"),
		now: () => Date.now(),
		json: args.includes("--json"),
		exitWith: (code) => {
			said.code = code;
		},
	};
	try {
		await runProgram(context, args);
	} catch (error) {
		context.exitWith(reportError(error, context));
	}
	return said;
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
	if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
	return new Promise((resolve) => {
		child.on("close", (code) => resolve(code));
		child.kill(signal);
	});
}

export function asJson({ stdout }: Run) {
	return JSON.parse(stdout);
}

export interface Past {
	readonly home: string;
	/** Sessions by topic. */
	readonly tulips: string;
	readonly hostile: string;
	readonly group: string;
	/** Deliveries by state. */
	readonly unknown: string;
	readonly dead: string;
	readonly waiting: string;
}

/** A text and a name that try to clear the screen and fake a line. */
export const HOSTILE = "\u001b[2Jred\nagent, 2026-01-01 00:00\u202e";

const SCRIPT = `
rules:
  - when: fail
    steps: [{fail: {kind: provider_down, detail: the cable is cut}}]
  - when: hang
    steps: [{hang: true}]
otherwise: [{text: "You said: {{input}}"}]
`;

/** Three conversations of the last hours, in a home whose agent repeats its input, and fails or hangs on request. */
export async function homeWithPast(home: string): Promise<Past> {
	mkdirSync(home, { mode: 0o700 });
	writeFileSync(join(home, "script.yaml"), SCRIPT);
	writeFileSync(
		join(home, "config.yaml"),
		`agent: {kind: scripted, script: ${JSON.stringify(join(home, "script.yaml"))}}\nsession_reset: {mode: none}\n`,
	);
	const clock = createWallClock(Date.now() - 5 * HOUR);
	const url = `sqlite:${join(home, "keryx.db")}`;
	const store = await openStore({ url, clock, ids: countedIds(), secrets: NO_SECRETS });
	const scene = new Scene({ store, clock, close: () => store.close() });
	try {
		const first = await scene.turn("plant tulips before the frost");
		const call = { id: "c1", name: "session_search", input: { query: "frost" } };
		await scene.append(first, [
			{ role: "assistant", content: "", toolCalls: [call], index: 1 },
			{ role: "tool", toolCallId: "c1", toolName: "session_search", content: "one\ntwo\nthree", index: 2 },
		]);
		await scene.end(first, {
			messages: [{ role: "assistant", content: "# Noted\n\n- tulips *before* the frost", index: 3 }],
			deliveries: [delivery("reply-unknown", "Noted"), delivery("reply-dead", "Noted, too")],
		});
		await settled(scene, "unknown", "Keryx died while sending");
		await settled(scene, "dead", "chat not found");
		await store.setTitle({ session: first.session, title: "garden", source: "user" });
		clock.advance(HOUR);
		const second = await scene.turn(HOSTILE, { ...BOB, user_name: HOSTILE });
		await scene.reply(second, `${HOSTILE} again`, { deliveries: [delivery("reply-waiting", HOSTILE)] });
		clock.advance(HOUR);
		const third = await scene.exchange("when do we meet?", "At five.", GROUP);
		clock.advance(MINUTE);
		return {
			home,
			tulips: first.session,
			hostile: second.session,
			group: third.session,
			unknown: "reply-unknown",
			dead: "reply-dead",
			waiting: "reply-waiting",
		};
	} finally {
		await store.close();
	}
}

async function settled({ store }: Scene, kind: "unknown" | "dead", reason: string): Promise<void> {
	const [due] = (await store.claimDeliveries({ limit: 1, timeoutMs: MINUTE })).deliveries;
	if (!due) throw new Error("nothing is due");
	await store.settleDelivery({ id: due.id, claim: due.claim, settlement: { kind, reason } });
}
