// Processes on this machine, held by the host of a home.
import { KeryxError } from "../errors.ts";
import { LocalHosts } from "./hosts.ts";
import { forgetProcess, giveUpProcess, inspect, killSurvivors, removeProcess } from "./inspect.ts";
import { lostBytes, readLog } from "./log/files.ts";
import type { ProcessMachine } from "./machine.ts";

/**
 * `home`: Keryx's. `name`: labels its processes; absent if no other Keryx knows of them. `idleMs`: how long an idle host stays.
 * `answerMs`: how long one has to answer.
 */
export function localMachine(
	home: string,
	{
		name = "local",
		...options
	}: { readonly name?: string; readonly idleMs?: number; readonly answerMs?: number } = {},
): ProcessMachine {
	return {
		name,
		connect: () => LocalHosts.connect({ home, ...options }),
		find: () => LocalHosts.find({ home, ...options }),
		inspect: (ids) => inspect(home, ids),
		read: (id, { from, limit }) =>
			readLog({ home, id, from, limit }).catch(
				orElse("process.unknown", { from, data: Buffer.alloc(0), lost: 0, next: from, size: 0 }),
			),
		lost: (id) => lostBytes(home, id),
		giveUp: (id, backend) => giveUpProcess(home, id, backend instanceof LocalHosts ? backend.hostPid : null),
		killLost: ({ id }, options) =>
			killSurvivors(home, id, options).catch(
				orElse("process.unknown", { result: "already_exited" as const, survivors: [] }),
			),
		forget: (id) => forgetProcess(home, id).catch(orElse("process.unknown", undefined)),
		remove: (id) => removeProcess(home, id).catch(orElse("process.unknown", undefined)),
	};
}

function orElse<Value>(code: KeryxError["code"], value: Value): (error: unknown) => Value {
	return (error) => {
		if (error instanceof KeryxError && error.code === code) return value;
		throw error;
	};
}
