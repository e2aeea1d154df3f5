// The files that a conversation's agent works on, and the snapshots of them: what turns, commands and the API do with these goes
// through here. A folder that was there before Keryx has none until its owner asked for one; that it has one is the consent.

import type {
	Checkpoints,
	FileDiff,
	RestoreOptions,
	RestoreReport,
	TakeInput,
	TakeOutcome,
} from "../../checkpoints/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	type Checkpoint,
	type CheckpointWindow,
	type Conversation,
	OPERATOR,
	type Store,
} from "../../store/index.ts";
import { texts } from "../texts.ts";
import type { Workspace, WorkspaceOwner } from "./workspaces.ts";

export interface ConversationFilesOptions {
	readonly store: Store;
	readonly checkpoints: Checkpoints;
	readonly workspaceOf: (owner: WorkspaceOwner) => Workspace;
	/** The machine that a profile's commands run on, where it is another one: files there have no checkpoints. */
	readonly elsewhere?: (profile: string) => string | null;
	readonly log: (message: string, error: unknown) => void;
}

export class ConversationFiles {
	readonly #options: ConversationFilesOptions;

	constructor(options: ConversationFilesOptions) {
		this.#options = options;
	}

	/** Throws workspace.unusable. */
	folderOf(conversation: Conversation): string {
		return this.#workspace(conversation).folder;
	}

	/** Newest first. */
	list(conversation: Conversation): Promise<readonly Checkpoint[]> {
		return this.#options.checkpoints.list(this.folderOf(conversation));
	}

	diff(conversation: Conversation, from: string, to: string): Promise<readonly FileDiff[]> {
		return this.#options.checkpoints.diff(this.folderOf(conversation), from, to);
	}

	restore(conversation: Conversation, id: string, options: RestoreOptions): Promise<RestoreReport> {
		return this.#options.checkpoints.restore(this.folderOf(conversation), id, options);
	}

	/** The stretches of turns and restores in its workspace, oldest first. */
	async windows(listed: readonly Checkpoint[]): Promise<readonly CheckpointWindow[]> {
		const workspace = listed[0]?.workspace;
		if (workspace === undefined) return [];
		return this.#options.store.checkpointWindows({ scope: OPERATOR, workspace });
	}

	/** Because somebody asked for it. Throws checkpoint.consent where that somebody may not be the first. */
	async take(
		conversation: Conversation,
		{ label, mayBeFirst }: { readonly label: string; readonly mayBeFirst: boolean },
	): Promise<TakeOutcome> {
		const workspace = this.#workspace(conversation);
		if (!mayBeFirst && !(await this.#isAgreed(workspace))) throw notAgreed();
		const { id, liveSession: session } = conversation;
		return this.#options.checkpoints.take({
			workspace: workspace.folder,
			label,
			kind: "manual",
			conversation: id,
			...(session !== null && { session }),
		});
	}

	/** By itself, for a turn. Never throws: what became of it is recorded. */
	async takeUnasked(
		conversation: Conversation,
		input: Omit<TakeInput, "workspace" | "conversation"> &
			Required<Pick<TakeInput, "kind" | "session" | "turn">>,
	): Promise<TakeOutcome> {
		const { store, checkpoints, log } = this.#options;
		try {
			const workspace = this.#workspace(conversation);
			if (!(await this.#isAgreed(workspace))) throw notAgreed();
			return await checkpoints.take({ ...input, workspace: workspace.folder, conversation: conversation.id });
		} catch (error) {
			const { message: reason } = error as Error;
			const code = error instanceof KeryxError ? error.code : "checkpoint.failed";
			const { kind, session, turn } = input;
			await store
				.checkpointFailed({ workspace: null, kind, conversation: conversation.id, session, turn, code })
				.catch((unwritten: unknown) => log("a missed checkpoint could not be recorded", unwritten));
			return { kind: "failed", reason, code };
		}
	}

	async #isAgreed({ folder, fixed }: Workspace): Promise<boolean> {
		if (!fixed) return true;
		return (await this.#options.checkpoints.list(folder)).length > 0;
	}

	#workspace({ id: conversation, profile }: Conversation): Workspace {
		const machine = this.#options.elsewhere?.(profile) ?? null;
		if (machine !== null) throw new KeryxError("checkpoint.disabled", texts.checkpoint.elsewhere(machine));
		return this.#options.workspaceOf({ conversation, profile });
	}
}

/** Where this Keryx has none. */
export function withFiles(files: ConversationFiles | null): ConversationFiles {
	if (files) return files;
	throw new KeryxError("checkpoint.disabled", texts.checkpoint.off);
}

function notAgreed(): KeryxError {
	return new KeryxError("checkpoint.consent", texts.checkpoint.notAgreed);
}
