// The promises of every store, on any engine: run this suite over yours. Uses only the public interface.
import { describe } from "vitest";
import { approvalConformance } from "./store/approvals.ts";
import { blobConformance } from "./store/blobs.ts";
import { boundaryConformance } from "./store/boundaries.ts";
import { commandConformance } from "./store/commands.ts";
import { confirmationConformance } from "./store/confirmations.ts";
import { deliveryConformance } from "./store/deliveries.ts";
import { filingConformance, filingSearchConformance } from "./store/filing.ts";
import { historyConformance } from "./store/history.ts";
import { inboxConformance } from "./store/inbox.ts";
import { interruptionConformance } from "./store/interruptions.ts";
import { keepingConformance, searchConformance } from "./store/keeping.ts";
import { processConformance } from "./store/processes.ts";
import { readConformance } from "./store/reads.ts";
import { repeatConformance } from "./store/repeats.ts";
import { type Open, teller } from "./store/scene.ts";
import { scheduleConformance } from "./store/schedules.ts";
import { sendConformance } from "./store/sends.ts";
import { sessionConformance } from "./store/sessions.ts";
import { sideDeliveriesConformance } from "./store/side-deliveries.ts";
import { turnConformance } from "./store/turns.ts";

export type { Open, Opened } from "./store/scene.ts";

export interface ConformanceOptions {
	/** Whether `open` answers with `reopen`. A store that ends with its owner interrupts no turn, and suspends no session. */
	readonly reopens?: boolean;
	/** Whether the engine supports search; otherwise it must refuse it. */
	readonly searches?: boolean;
	/** Whether several stores can be open at once; then the tests run concurrently. */
	readonly apart?: boolean;
}

export function storeConformance(
	name: string,
	open: Open,
	{ reopens = true, searches = true, apart = false }: ConformanceOptions = {},
): void {
	const tell = teller(open);
	describe(`the store on ${name}`, { concurrent: apart }, () => {
		describe("inbox", () => inboxConformance(tell));
		describe("turns", () => turnConformance(tell));
		describe("boundaries", () => boundaryConformance(tell));
		describe("sessions", () => sessionConformance(tell));
		describe("conversations as a whole", () => filingConformance(tell));
		describe("history", () => historyConformance(tell));
		describe("deliveries", () => deliveryConformance(tell));
		describe("beside the transcript", () => sideDeliveriesConformance(tell));
		describe("sends", () => sendConformance(tell));
		describe("blobs", () => blobConformance(tell));
		describe("reads", () => readConformance(tell));
		describe("commands", () => commandConformance(tell));
		describe("confirmations", () => confirmationConformance(tell));
		describe("approved calls", () => approvalConformance(tell));
		describe("processes", () => processConformance(tell));
		describe("jobs", () => scheduleConformance(tell));
		describe("answers that were lost", () => repeatConformance(tell));
		describe("keeping", () => keepingConformance(tell));
		if (searches) describe("search", () => searchConformance(tell));
		if (searches) describe("search in what was deleted", () => filingSearchConformance(tell));
		if (reopens) describe("interruptions", () => interruptionConformance(tell));
	});
}
