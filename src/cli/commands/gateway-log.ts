// `keryx logs gateway`: Keryx's own log, from its files. Nothing needs to run.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { gatewayLogPath } from "../../app/report/journal.ts";
import { keryxHome } from "../../config/index.ts";
import type { CliContext } from "../context.ts";
import { openConfig } from "../context.ts";
import type { Output } from "../io/output.ts";
import { untilStopSignal } from "../io/stop-signal.ts";
import { texts } from "../texts.ts";

const LOOK_MS = 300;
/** Older files are searched for lines, newest first. */
const MOST_FILES = 100;

export async function showGatewayLog(
	context: CliContext,
	{ lines, follow }: { readonly lines: number | null; readonly follow: boolean },
): Promise<void> {
	const { output } = openConfig(context);
	const path = gatewayLogPath(keryxHome(context.env));
	if (!existsSync(path) && !follow) return output.note(texts.gatewayLog.none(path));
	let at = existsSync(path) ? statSync(path) : null;
	const found = await lastLines(path, lines, at?.size ?? 0);
	for (const line of found) print(output, line);
	if (!follow) return;
	const stopSignal = untilStopSignal().then(() => true);
	let position = at?.size ?? 0;
	while (!(await Promise.race([stopSignal, pause()]))) {
		const now = existsSync(path) ? statSync(path) : null;
		if (!now) continue;
		// A new file may reuse the inode number of a removed one.
		if (at && (now.ino !== at.ino || now.size < position)) {
			for (const line of await rotatedLines(path, at.ino, position)) print(output, line);
			position = 0;
		}
		at = now;
		const fresh = await linesOf(path, position, now.size);
		for (const line of fresh) print(output, line);
		// Half a line is read again, whole.
		position += fresh.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
	}
}

function pause(): Promise<false> {
	return new Promise((resolve) => setTimeout(() => resolve(false), LOOK_MS));
}

/** null: every line there is. */
async function lastLines(path: string, most: number | null, size: number): Promise<readonly string[]> {
	let found: string[] = size > 0 ? await linesOf(path, 0, size) : [];
	for (let n = 1; n <= MOST_FILES && (most === null || found.length < most); n++) {
		if (!existsSync(`${path}.${n}`)) break;
		found = [...(await linesOf(`${path}.${n}`, 0)), ...found];
	}
	return most === null ? found : most === 0 ? [] : found.slice(-most);
}

/** The rest of a file that was rotated meanwhile, perhaps several times, and all newer ones. */
async function rotatedLines(path: string, ino: number, position: number): Promise<readonly string[]> {
	const found: string[] = [];
	for (let n = 1; n <= MOST_FILES; n++) {
		const file = statSync(`${path}.${n}`, { throwIfNoEntry: false });
		if (!file) break;
		found.unshift(...(await linesOf(`${path}.${n}`, file.ino === ino ? position : 0)));
		if (file.ino === ino) return found;
	}
	// It is gone by now: only the rest can be shown.
	return found;
}

/** Whole lines from one position to another. */
async function linesOf(path: string, from: number, to?: number): Promise<string[]> {
	if (!existsSync(path) || (to !== undefined && to <= from)) return [];
	const input = createReadStream(path, { start: from, ...(to !== undefined && { end: to - 1 }) });
	const lines: string[] = [];
	for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) lines.push(line);
	const isWhole = (line: string) => line.endsWith("}");
	return lines.filter(isWhole);
}

const OWN: ReadonlySet<string> = new Set(["time", "at", "level", "area", "event", "message"]);

/** Raw for programs, in columns for people. */
function print(output: Output, line: string): void {
	const entry = parsed(line);
	if (output.json || !entry) {
		output.raw(`${line}\n`);
		return;
	}
	const { time, level, event, message } = entry;
	const rest = Object.entries(entry)
		.filter(([name]) => !OWN.has(name))
		.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
	output.line(
		[time, String(level).padEnd(5), event, ...(message === undefined ? [] : [message]), ...rest].join(" "),
	);
}

function parsed(line: string): Readonly<Record<string, unknown>> | null {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}
