// Finds the right store of confirmations: Keryx's, or a confirmd's with --db-path. Over the socket if running; otherwise the database is
// opened here.

import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { ConfirmdHost, ConfirmdHostOptions } from "../../../app/confirmd.ts";
import { keryxHome } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { apiTransport, type Client, createClient } from "../../../http/client/index.ts";
import { asOperator, running, withConnection } from "../../connect.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { explained } from "../../inside.ts";
import type { Output } from "../../io/output.ts";
import { texts } from "../../texts.ts";
import { databasePath, socketPathOf } from "./options.ts";

export interface DbPathFlag {
	readonly dbPath?: string;
}

export function addDbPath(command: Command): Command {
	return command.option("--db-path <file>", texts.confirmd.dbPathOption);
}

export interface Reached {
	readonly client: Client;
	readonly output: Output;
	readonly timezone: string;
	/** It is running; otherwise this process answers. */
	readonly isRunning: boolean;
}

/** read: nothing is changed. change: if it is not running, the database is owned meanwhile. */
export async function withKeeper(
	context: CliContext,
	need: "read" | "change",
	{ dbPath }: DbPathFlag,
	use: (reached: Reached) => Promise<void> | void,
): Promise<void> {
	if (dbPath === undefined)
		return withConnection(context, need, async ({ client, config, output, isRemote }) => {
			const { timezone } = config.session_reset;
			try {
				await use({ client, output, timezone, isRunning: isRemote });
			} catch (error) {
				throw namingOther(context, error);
			}
		});
	const { config, output } = openConfig(context);
	const { timezone } = config.values.session_reset;
	const path = databasePath(dbPath, keryxHome(context.env));
	const remote = await running(context, { socketPath: socketPathOf(path), storePath: path });
	const host = remote ? null : await openHere({ context, config, output, dbPath: path, as: need });
	try {
		const client = remote ?? createClient(apiTransport((host as ConfirmdHost).api, asOperator(context)));
		await use({ client, output, timezone, isRunning: remote !== null });
	} catch (error) {
		throw explained(context, error);
	} finally {
		await host?.close();
	}
}

async function openHere(options: ConfirmdHostOptions): Promise<ConfirmdHost> {
	if (options.as === "read" && !existsSync(options.dbPath))
		throw new KeryxError("store.not_found", `there is no database ${options.dbPath}`, {
			field: "--db-path",
			hint: texts.confirmd.noDatabaseHint,
		});
	const { openConfirmd } = await import("../../../app/confirmd.ts");
	return openConfirmd(options);
}

/** If nothing was found: the other one may be meant. */
export function noteOther(context: CliContext, { dbPath }: DbPathFlag, output: Output): void {
	const other = dbPath === undefined ? otherDatabase(context) : null;
	if (other !== null) output.note(texts.confirmd.otherStore(other));
}

function namingOther(context: CliContext, error: unknown): unknown {
	const other = otherDatabase(context);
	if (other === null || !(error instanceof KeryxError) || error.code !== "store.not_found") return error;
	return new KeryxError(error.code, error.message, {
		...(error.field !== undefined && { field: error.field }),
		hint: texts.confirmd.otherStoreHint(error.hint, other),
		cause: error,
	});
}

/** The socket of a confirmd in this home, if there is or was one. */
function otherDatabase({ env }: CliContext): string | null {
	const usual = databasePath(undefined, keryxHome(env));
	return existsSync(usual) ? usual : null;
}
