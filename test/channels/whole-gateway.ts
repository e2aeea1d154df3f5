// A real gateway on channels, with a store in memory.
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { createGateway, type Gateway, type GatewayOptions, systemClock } from "../../src/gateway/index.ts";
import { NO_SECRETS, type Store, systemIds } from "../../src/store/index.ts";
import { openSqlite } from "../../src/store/sqlite/engine.ts";
import { storeOn } from "../../src/store/store.ts";
import { createTools } from "../../src/tools/index.ts";
import { AUDIT_KEY, puppet } from "../gateway/support.ts";

export async function memoryStore(clock = systemClock): Promise<Store> {
	const engine = await openSqlite({
		path: ":memory:",
		startedAt: clock.now(),
		access: "own",
		auditKey: AUDIT_KEY,
	});
	return storeOn(engine, { clock, ids: systemIds(clock), secrets: NO_SECRETS });
}

type Given = Pick<GatewayOptions, "store" | "channels" | "config"> & Partial<GatewayOptions>;

/** Not started. Without more, it has a puppet as its agent and no tools. */
export function gatewayOn(given: Given): Gateway {
	return createGateway({
		agent: puppet(),
		tools: createTools([]),
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
		log: () => {},
		...given,
	});
}

/** The same agent; `shown` gets everything that it is given. */
export function watching(agent: StepAgent, shown: StepInput[]): StepAgent {
	return {
		...agent,
		step: (input) => {
			shown.push(input);
			return agent.step(input);
		},
	};
}
