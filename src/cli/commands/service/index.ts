// `keryx service`: runs Keryx as a service, at every boot and after failures.
// What is written for each service manager, and the calls to its program.
// Never here: what the service does when it runs.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { openHome } from "../../../app/home.ts";
import { keryxHome } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { ownerOf } from "../../../store/index.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { assertOutside } from "../../inside.ts";
import { readCount } from "../../io/arguments.ts";
import { addGroup } from "../../io/group.ts";
import { texts } from "../../texts.ts";
import type { ServiceFacts } from "./definition.ts";
import { type Manager, managerOf, runAll, runQuietly, runShown, takesSubgroups } from "./manager.ts";

const ENVIRONMENT = "service.env";
const MOST_LINES = 100_000;

export function addService(program: Command, context: CliContext): void {
	const service = addGroup(program, "service", texts.service.about).addHelpText("after", texts.service.help);
	service
		.command("install")
		.allowExcessArguments(false)
		.description(texts.service.install.about)
		.option("--print", texts.service.install.print)
		.option("--no-start", texts.service.install.noStart)
		.action((flags: { readonly print?: boolean; readonly start: boolean }) => installService(context, flags));
	service
		.command("uninstall")
		.allowExcessArguments(false)
		.description(texts.service.uninstall.about)
		.action(() => runUninstall(context));
	service
		.command("status")
		.allowExcessArguments(false)
		.description(texts.service.status.about)
		.action(() => runStatus(context));
	service
		.command("logs")
		.allowExcessArguments(false)
		.description(texts.service.logs.about)
		.option("-n, --lines <n>", texts.service.logs.lines, "100")
		.option("-f, --follow", texts.service.logs.follow)
		.action((flags: { readonly lines: string; readonly follow?: boolean }) => runLogs(context, flags));
}

export async function installService(
	context: CliContext,
	{ print = false, start }: { readonly print?: boolean; readonly start: boolean },
): Promise<void> {
	const { config, output } = openConfig(context);
	const manager = managerOf(context);
	const { path: home, storePath } = openHome(keryxHome(context.env));
	const environmentFile = join(home, ENVIRONMENT);
	const text = manager.text({
		command: commandLine(),
		home,
		environmentFile,
		path: context.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
		drainSeconds: config.values.shutdown.drain_seconds,
		delegates: takesSubgroups(),
	} satisfies ServiceFacts);
	if (print) return output.raw(text);
	assertOutside(context);
	if (start) assertFree(manager, home, storePath);
	if (!existsSync(environmentFile))
		writeFileSync(environmentFile, texts.service.environment, { mode: 0o600 });
	mkdirSync(dirname(manager.file), { recursive: true });
	writeFileSync(manager.file, text);
	if (start) {
		runQuietly(manager.release, context);
		await runAll(manager.start, context);
	}
	if (output.json) return output.value({ file: manager.file, environment: environmentFile, started: start });
	output.line(texts.service.install.done(manager.file));
	output.line(texts.service.install.environment(environmentFile));
	if (manager.name === "systemd") output.line(texts.service.install.linger);
}

/** A Keryx started by hand keeps the store, so the service would fail again and again. */
function assertFree({ name, unit }: Manager, home: string, storePath: string): void {
	const owner = ownerOf(storePath);
	const [, pid] = / pid (\d+) /.exec(owner ?? "") ?? [];
	// launchd does not tell which process is the service.
	if (pid === undefined || name !== "systemd" || isIn(Number(pid), unit)) return;
	throw new KeryxError("store.owned", texts.service.install.running(home, pid), {
		hint: texts.service.install.runningHint,
	});
}

/** By its cgroup, which may be one below the unit's. */
function isIn(pid: number, unit: string): boolean {
	try {
		return `${readFileSync(`/proc/${pid}/cgroup`, "utf8")}/`.replaceAll("\n", "/").includes(`/${unit}/`);
	} catch {
		return false;
	}
}

async function runUninstall(context: CliContext): Promise<void> {
	const { output } = openConfig(context);
	assertOutside(context);
	const { file, release, stop, reload } = managerOf(context);
	if (!existsSync(file)) {
		if (output.json) output.value({ removed: null });
		else output.line(texts.service.uninstall.none);
		return;
	}
	runQuietly(release, context);
	await runAll(stop, context);
	rmSync(file);
	await runAll(reload, context);
	if (output.json) output.value({ removed: file });
	else output.line(texts.service.uninstall.done(file));
}

async function runStatus(context: CliContext): Promise<void> {
	const { output } = openConfig(context);
	const { file, status } = managerOf(context);
	if (!existsSync(file)) {
		output.line(texts.service.uninstall.none);
		context.exitWith(1);
		return;
	}
	context.exitWith((await runShown(status, context)) ?? 1);
}

async function runLogs(
	context: CliContext,
	{ lines, follow = false }: { readonly lines: string; readonly follow?: boolean },
): Promise<void> {
	const count = readCount("--lines", lines, [1, MOST_LINES]);
	const code = await runShown(managerOf(context).logs(count, follow, keryxHome(context.env)), context);
	context.exitWith(code ?? 1);
}

/** Whether installing one is worth asking about. */
export function canBeService(): boolean {
	return !isTemporary() && (process.platform === "linux" || process.platform === "darwin");
}

function isTemporary(): boolean {
	return /[\\/]_npx[\\/]/.test(process.argv[1] ?? "");
}

/** The way this command was started. npx's copy may be gone tomorrow. */
function commandLine(): readonly string[] {
	const [, script = ""] = process.argv;
	if (isTemporary())
		throw new KeryxError("usage.invalid", texts.service.npx, { hint: texts.service.npxHint });
	return [process.execPath, ...process.execArgv, script];
}
