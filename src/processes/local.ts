// Processes on this machine, held by the host of a home.
import { KeryxError } from "../errors.ts";
import { connectHost } from "./connect.ts";
import { forgetProcess, inspect, killSurvivors, removeProcess } from "./inspect.ts";
import { readLog } from "./log-files.ts";
import type { ProcessPlace } from "./place.ts";

/** `home`: Keryx's. `idleMs`: how long a host stays that has nothing to do. */
export function localPlace(home: string, { idleMs }: { readonly idleMs?: number } = {}): ProcessPlace {
	return {
		name: "local",
		connect: () => connectHost({ home, start: true, ...(idleMs !== undefined && { idleMs }) }),
		find: () => connectHost({ home }).catch(orElse("process.host_gone", null)),
		inspect: (ids) => inspect(home, ids),
		read: (id, { from, limit }) =>
			readLog({ home, id, from, limit }).catch(
				orElse("process.unknown", { from, data: Buffer.alloc(0), lost: 0, next: from, size: 0 }),
			),
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
