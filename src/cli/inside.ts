// This command inside a process that Keryx started: it can look, but not decide, because nothing proves that a human runs it (I17).

import { homeAt } from "../app/home.ts";
import { keryxHome } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { startedByKeryx } from "../processes/index.ts";
import { ownerOf } from "../store/index.ts";
import type { CliContext } from "./context.ts";
import { texts } from "./texts.ts";

/** Where it runs, in a few words; null for a person's own terminal. */
export function insideKeryx({ env }: CliContext): string | null {
	const [, pid] = / pid (\d+) /.exec(ownerOf(homeAt(keryxHome(env)).storePath) ?? "") ?? [];
	return startedByKeryx({ env, keryx: pid === undefined ? null : Number(pid) });
}

/** For commands that decide, before anything is shown or asked. */
export function assertOutside(context: CliContext): void {
	const where = insideKeryx(context);
	if (where !== null) throw refusal(where);
}

/** The operator's secret was not sent from there: the error says why. */
export function explained(context: CliContext, error: unknown): unknown {
	if (!(error instanceof KeryxError) || error.code !== "http.unauthenticated") return error;
	const where = insideKeryx(context);
	return where === null ? error : refusal(where);
}

function refusal(where: string): KeryxError {
	return new KeryxError("cli.inside", texts.inside(where));
}
