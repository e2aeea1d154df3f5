// A thread of the store: its file, since a thread is started from one.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { serveStore, type WorkerSettings } from "./server.ts";

serveStore(parentPort as MessagePort, workerData as WorkerSettings);
