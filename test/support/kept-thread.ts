// The code of a kept thread (kept-threads.ts): it serves the stores it is given, one after another.
import { lstatSync, writeFileSync } from "node:fs";
import { type MessagePort, parentPort } from "node:worker_threads";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { createPrivately } from "../../src/store/sqlite/files.ts";
import type { WorkerSettings } from "../../src/store/sqlite/messages.ts";
import { serveStore } from "../../src/store/sqlite/server.ts";
import type { Work } from "./kept-threads.ts";

const parent = parentPort as MessagePort;
let empty: Buffer | undefined;

parent.on("message", ({ port, settings }: Work) => {
	port.once("close", () => parent.postMessage("free"));
	if (settings.role === "writer") beginWithSchema(settings);
	serveStore(port, settings);
});

/** Creating the schema takes 22 ms, copying it one. The store itself reports anything that prevents a new file. */
function beginWithSchema({ path }: WorkerSettings): void {
	empty ??= emptyStore();
	try {
		if (lstatSync(path, { throwIfNoEntry: false })) return;
		createPrivately(path);
	} catch {
		return;
	}
	writeFileSync(path, empty);
}

function emptyStore(): Buffer {
	const { db } = Connection.inMemory();
	const bytes = db.serialize();
	db.close();
	return bytes;
}
