// A process that has an agent with a program at work, and is killed.
import { createAcpAgent } from "../../src/agents/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { NO_SECRETS } from "../../src/secrets/index.ts";
import { type WallKind, withoutWall } from "../../src/walls/index.ts";
import { inputOf, person } from "./input.ts";
import { walledIn } from "./support.ts";

const [program = "", manner = "", folder = "", wall] = process.argv.slice(2);
const env = { PATH: process.env.PATH ?? "" };
const agent = createAcpAgent({
	command: process.execPath,
	args: ["--disable-warning=ExperimentalWarning", program, manner],
	wallOf: async () => (wall === undefined ? withoutWall(env) : walledIn(folder, wall as WallKind, env)),
	clock: systemClock,
	workspaceOf: () => folder,
	secrets: NO_SECRETS,
});
for await (const event of agent.run(inputOf({ history: [person("wait with a child")] })))
	if (event.type === "text") process.stdout.write(`${event.delta}\n`);
