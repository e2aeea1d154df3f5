// The entry file of a store thread.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { WorkerSettings } from "./messages.ts";
import { serveStore } from "./server.ts";

serveStore(parentPort as MessagePort, workerData as WorkerSettings);
