// Checks that the lines of an export are complete and in order: a truncated or wrongly joined file is detected before its last part is
// used. Looks only at the lines, never at a store.
import type { ClosingLine, ExportLine } from "./transfer-format.ts";
import { invalidLine } from "./transfer-line.ts";

type Inside = Exclude<ExportLine, { type: "keryx_export" | "principal" | "conversation" | "job" | "end" }>;
type Counts = Record<Exclude<Inside["type"], "blob_chunk" | "conversation_end">, number>;

export class TransferOrder {
	#state: "start" | "outside" | "inside" | "ended" = "start";
	#conversation = "";
	#principals = 0;
	#conversations = 0;
	#jobs = 0;
	#counts: Counts = none();
	/** Bytes of the previous blob still to come. */
	#missing = 0;
	#digest = "";

	get isBetweenConversations(): boolean {
		return this.#state !== "inside";
	}

	/** Throws import.invalid for a line that may not come here. */
	take(line: ExportLine, number: number): void {
		if (this.#state === "start" && line.type !== "keryx_export")
			throw invalidLine(number, "an export from Keryx starts with a line of type keryx_export", {
				field: "type",
			});
		if (this.#state === "ended")
			throw invalidLine(number, "nothing may follow the line of type end", { field: "type" });
		if (this.#missing > 0 && line.type !== "blob_chunk")
			throw invalidLine(number, "the rest of the blob before is missing", { field: "type" });
		if (this.#state !== stateFor(line))
			throw invalidLine(number, `type: ${line.type} may not come here`, { field: "type" });
		switch (line.type) {
			case "keryx_export":
				this.#state = "outside";
				return;
			case "principal":
				this.#principals++;
				return;
			case "job":
				this.#jobs++;
				return;
			case "conversation":
				this.#state = "inside";
				this.#conversation = line.id;
				this.#counts = none();
				return;
			case "end":
				assertCount(line.principals, this.#principals, "principals", number);
				assertCount(line.conversations, this.#conversations, "conversations", number);
				assertCount(line.jobs ?? 0, this.#jobs, "jobs", number);
				this.#state = "ended";
				return;
			case "session":
			case "turn":
			case "hidden":
			case "blob":
			case "blob_chunk":
			case "message":
			case "conversation_end":
				this.#takeInside(line, number);
		}
	}

	/** Throws import.invalid if the export stops before its end. */
	finish(number: number): void {
		if (this.#state !== "ended")
			throw invalidLine(number, "the export ends too early: it was cut off", { field: "type" });
	}

	#takeInside(line: Inside, number: number): void {
		if (line.conversation !== this.#conversation)
			throw invalidLine(number, `conversation: must be ${this.#conversation}, which is not closed yet`, {
				field: "conversation",
			});
		if (line.type === "conversation_end") {
			this.#close(line, number);
			return;
		}
		if (line.type === "blob_chunk") {
			const bytes = Buffer.byteLength(line.data, "base64");
			if (line.digest !== this.#digest || bytes > this.#missing)
				throw invalidLine(number, "digest: is not that of the blob before, or it has too many bytes", {
					field: "digest",
				});
			this.#missing -= bytes;
			return;
		}
		if (line.type === "blob") {
			this.#missing = line.size;
			this.#digest = line.digest;
		}
		this.#counts[line.type]++;
	}

	#close(line: ClosingLine, number: number): void {
		assertCount(line.sessions, this.#counts.session, "sessions", number);
		assertCount(line.turns, this.#counts.turn, "turns", number);
		assertCount(line.hidden, this.#counts.hidden, "hidden", number);
		assertCount(line.blobs, this.#counts.blob, "blobs", number);
		assertCount(line.messages, this.#counts.message, "messages", number);
		this.#state = "outside";
		this.#conversations++;
	}
}

function stateFor({ type }: ExportLine): "start" | "outside" | "inside" {
	if (type === "keryx_export") return "start";
	return type === "principal" || type === "conversation" || type === "job" || type === "end"
		? "outside"
		: "inside";
}

function none(): Counts {
	return { session: 0, turn: 0, hidden: 0, blob: 0, message: 0 };
}

function assertCount(said: number, seen: number, field: string, number: number): void {
	if (said !== seen)
		throw invalidLine(number, `${field}: says ${said}, but ${seen} came before it: lines are missing`, {
			field,
		});
}
