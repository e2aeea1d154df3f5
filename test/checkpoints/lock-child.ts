// Holds the lock of a workspace, named by its one argument, until it is killed. Says so once it has it.
import { Locks } from "../../src/checkpoints/lock.ts";

const [, , file = ""] = process.argv;
await new Locks(() => 0).hold(file, async () => {
	process.stdout.write("held\n");
	// Keeps the process alive.
	process.stdin.resume();
	await new Promise(() => {});
});
