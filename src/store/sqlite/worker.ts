// The entry file of a store thread.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { serveStore, type WorkerSettings } from "./server.ts";

serveStore(parentPort as MessagePort, workerData as WorkerSettings);
