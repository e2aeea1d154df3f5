// `keryx`: the gateway in this process, until stopped. On a terminal one can talk to it.

import { flushCompileCache } from "node:module";
import { collectGarbage, limitHeap } from "../../app/heap.ts";
import { type Host, openHost } from "../../app/host.ts";
import type { Config } from "../../config/index.ts";
import { apiTransport, createClient } from "../../http/index.ts";
import { systemClock } from "../../time/index.ts";
import { forHandOver, handOver, heldUntilReleased, tidyWhenOld, untilAsked } from "../../update/index.ts";
import { asOperator } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import type { Output } from "../io/output.ts";
import { exitAtNextSignal, untilStopSignal } from "../io/stop-signal.ts";
import { texts } from "../texts.ts";
import { askAtFirstStart } from "./first-start.ts";

export async function runGateway(context: CliContext): Promise<void> {
	const hold = heldUntilReleased();
	// A version on trial has nobody to ask.
	if (hold === null && (await askAtFirstStart(context)) === "served") return;
	const { config, output } = openConfig(context);
	const host = await openHost({ context, config, output, as: "run", onPorts: true, hold });
	limitHeap();
	const freed = systemClock.after(SETTLED_MS, collectGarbage);
	const restart = forHandOver();
	const update = untilAsked(host.home.path);
	const tidying = tidyWhenOld(host.home.path, { clock: systemClock, warn: (text) => output.warn(text) });
	let isLost = false;
	// For a store on a server. A service manager restarts it.
	const lost = host.lost.then(() => {
		isLost = true;
		output.warn(texts.run.lost);
	});
	const isForUpdate = await untilStopped(context, host, config.values, output, { asked: update.asked, lost });
	freed();
	const isClosed = await closedInTime(host, config.values);
	if (!isClosed) output.warn(texts.run.notClosed);
	update.close();
	if (isClosed) await tidying.close();
	if (isForUpdate) handOver(restart);
	if (!isClosed || isLost) process.exit(1);
}

/** What a start leaves behind is garbage by then. */
const SETTLED_MS = 10_000;

/** In addition to the time for running answers. */
const SPARE_MS = 15_000;

/** A clean exit is optional, and must not take forever. */
async function closedInTime(host: Host, { shutdown }: Config): Promise<boolean> {
	const { promise: isLate, resolve } = Promise.withResolvers<boolean>();
	const cancel = systemClock.after(shutdown.drain_seconds * 1000 + SPARE_MS, () => resolve(false));
	return Promise.race([host.close().then(() => true), isLate]).finally(cancel);
}

/** Whether it was stopped for an update. */
async function untilStopped(
	context: CliContext,
	host: Host,
	config: Config,
	output: Output,
	{ asked, lost }: { readonly asked: Promise<void>; readonly lost: Promise<void> },
): Promise<boolean> {
	let isForUpdate = false;
	const askedForUpdate = asked.then(() => {
		isForUpdate = true;
		output.note(texts.run.updating);
	});
	if (process.stdin.isTTY === true && !context.json) {
		tellWhere(host, output);
		// Only a person at a terminal can talk to it.
		const { chat } = await import("./chat.ts");
		const client = createClient(apiTransport(host.api, asOperator(context)));
		const connection = { client, config, output, isRemote: false, close: () => host.close() };
		try {
			const stopSignal = untilStopSignal({ keepsAlive: false });
			const leaving = new AbortController();
			const chatting = chat(context, connection, {}, leaving.signal);
			await Promise.race([chatting, stopSignal, askedForUpdate, lost]);
			// It would keep the process, and the terminal.
			leaving.abort();
			await Promise.allSettled([chatting]);
		} catch (error) {
			exitAtNextSignal();
			await closedInTime(host, config);
			throw error;
		}
		exitAtNextSignal();
		return isForUpdate;
	}
	// A reader may stop it as soon as it says that it runs.
	const stopAsked = untilStopSignal();
	output.line(texts.run.running(host.home.socketPath));
	// If killed, it would leave nothing for the next start.
	flushCompileCache();
	tellWhere(host, output);
	await Promise.race([stopAsked, askedForUpdate, lost]);
	exitAtNextSignal();
	return isForUpdate;
}

/** The link comes last: newcomers look for it. */
function tellWhere({ url, hasPage, api }: Host, output: Output): void {
	if (url === null) return;
	output.note(hasPage ? texts.run.page(url) : texts.run.noPage(url));
	// Readers of a log must not be able to log in.
	if (!output.notesAreSeen) {
		output.note(texts.run.linkHint);
		return;
	}
	output.note(texts.run.link);
	output.note(`${url}${api.loginPath()}`);
}
