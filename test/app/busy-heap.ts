// Keeps the newest objects for a while, as messages on their way do, and prints how many MiB the space for new ones became. With
// "limited", as a gateway that has started.
import { setImmediate } from "node:timers/promises";
import { getHeapSpaceStatistics } from "node:v8";
import { limitHeap } from "../../src/app/heap.ts";

if (process.argv[2] === "limited") limitHeap();
let largest = 0;
const kept: object[] = [];
for (let n = 0; n < 3000; n++) {
	kept[n % 1000] = Array.from({ length: 200 }, (_, m) => ({ n, m }));
	await setImmediate();
	const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
	largest = Math.max(largest, space?.space_size ?? 0);
}
process.stdout.write(`${largest / 2 ** 20}\n`);
