// A conversation's files and their checkpoints, for turns, commands and the API. A folder that existed before Keryx has no checkpoints
// until its owner asks for one: the first checkpoint is the owner's consent.

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
	/** The other machine that runs a profile's commands, if any: files there have no checkpoints. */
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

	/** The ranges of turns and restores in its workspace, oldest first. */
	async windows(listed: readonly Checkpoint[]): Promise<readonly CheckpointWindow[]> {
		const workspace = listed[0]?.workspace;
		if (workspace === undefined) return [];
		return this.#options.store.checkpointWindows({ scope: OPERATOR, workspace });
	}

	/** Taken on request. Throws checkpoint.consent if the requester may not take the first one. */
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

	/** Taken automatically, for a turn. Never throws: the outcome is recorded. */
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

/** Used if checkpoints are off. */
export function withFiles(files: ConversationFiles | null): ConversationFiles {
	if (files) return files;
	throw new KeryxError("checkpoint.disabled", texts.checkpoint.off);
}

function notAgreed(): KeryxError {
	return new KeryxError("checkpoint.consent", texts.checkpoint.notAgreed);
}
