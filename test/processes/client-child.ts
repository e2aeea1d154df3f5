// A client that starts processes and is killed while they run. It says what it has started, and never ends by itself.
import { connectHost, type SpawnRequest } from "../../src/processes/index.ts";

const [home = "", requests = "[]"] = process.argv.slice(2);
const client = await connectHost({ home, start: true, idleMs: 300 });
for (const request of JSON.parse(requests) as SpawnRequest[]) await client.spawn(request);
process.stdout.write(`${client.hostPid}\n`);
setInterval(() => {}, 1000);
