// Starts a program behind a wall and waits to be killed: `<home> <workspace> <outlives>`. It says what it closed.
import { join } from "node:path";
import { closeInherited, newWall, readMachine, startBehindWall } from "../../src/walls/index.ts";

const [home = "", workspace = "", outlives = "", script = ""] = process.argv.slice(2);
const closed = outlives === "close" ? closeInherited() : [];
process.stdout.write(`${JSON.stringify({ closed })}\n`);
const machine = readMachine();
if (!machine) throw new Error("bubblewrap is not installed");
const { exit } = await startBehindWall(
	{
		wall: newWall({ kind: "view", home, workspace, outlivesStarter: outlives === "outlives" }),
		argv: ["bash", "-c", script],
		cwd: workspace,
		env: { PATH: "/usr/bin:/bin" },
		statusFile: join(home, "status"),
		streams: ["ignore", 1, 2],
	},
	machine,
);
await exit;
