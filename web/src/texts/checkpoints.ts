// All texts of the Checkpoints view, grouped by the file that shows them.

import type { Shown } from "./shown.ts";

export const texts = {
	comparison: {
		comparison: "Comparison",
		allCheckpoints: "All checkpoints",
		restore: "Restore",
		comparedWith: "Compared with",
		now: "now",
		thePreviousOne: "the previous one",
		compareAgain: "Compare again",
		notSaved: "Not saved: ",
		noDifferences: "No differences",
		theFilesAreTheSame: "The files are the same as at this checkpoint.",
		theFilesWereTheSame: "The files were the same at both checkpoints.",
		changedFiles: "Changed files",
		restoreThisFile: "Restore this file",
		notATextFile: "Not a text file",
		theContentsDifferTheyAre:
			"The contents differ. They are saved and can be restored, but cannot be shown here.",
		noChangedLines: "No changed lines",
		onlyTheNameOrThe: "Only the name or the permissions changed, or the file is empty.",
		changesTo: (path: Shown) => `Changes to ${path}`,
		onlyTheFirstPartOf: "Only the first part of the difference is shown. A restore covers all of it.",
		andMore: (others: Shown) => ` and ${others} more`,
	},
	view: {
		checkpoints: "Checkpoints",
		noCheckpoints: "No checkpoints",
		keryxSavesAFolderBefore:
			"Keryx saves a folder before and after the agent changes files in it. Start a conversation, and the checkpoints of its folder appear here.",
		theFolderOfThisConversation: "The folder of this conversation",
		checkpointsAreTurnedOff: "Checkpoints are turned off",
		setCheckpointsEnabledToTrue:
			"Set `checkpoints.enabled` to true to save folders before and after the agent changes them.",
		noCheckpointsOfThisFolder: "No checkpoints of this folder yet",
		keryxSavesBeforeAndAfter: (workspace: Shown) =>
			`Keryx saves \`${workspace}\` before and after the agent changes files in it, and when you take a checkpoint.`,
		thisCheckpointNoLongerExists: "This checkpoint no longer exists",
		keryxKeepsALimitedNumber:
			"Keryx keeps a limited number and removes the oldest first. Choose another one.",
	},
	restoreDialog: {
		theWholeFolder: "the whole folder",
		theRestoreWasUndone: "The restore was undone",
		restored: "Restored",
		restoredFrom: (what: Shown, target: Shown, target2: Shown) =>
			`Restored ${what} from: ${target}, ${target2}.`,
		undoing: "Undoing…",
		undoThisRestore: "Undo this restore",
		done: "Done",
		goBackToThisCheckpoint: "Go back to this checkpoint?",
		restoreThisFile: "Restore this file?",
		back: "Back",
		restoring: "Restoring…",
		restoreNow: "Restore now",
		keryxTakesACheckpointOf: "Keryx takes a checkpoint of the current files first, so you can undo this.",
		previewOfTheRestore: "Preview of the restore",
		restoresFrom: (what: Shown, target: Shown, target2: Shown) =>
			`Restores ${what} from: ${target}, ${target2}`,
		cancel: "Cancel",
		continue: "Continue",
		fileWillBeRestored: "file will be restored",
		filesWillBeRestored: "files will be restored",
		fileWillBeRemoved: "file will be removed",
		filesWillBeRemoved: "files will be removed",
		fileWillBeLeftAlone: "file will be left alone",
		filesWillBeLeftAlone: "files will be left alone",
		nothingWouldChangeTheFiles: "Nothing would change. The files are the same.",
		willBeRestored: "Will be restored",
		willBeRemovedDidNot: "Will be removed (did not exist then)",
		willBeLeftAlone: "Will be left alone",
		changedButNotPartOf: "Changed, but not part of the checkpoint; will be left alone",
		alsoUndoChangesMadeBy: "Also undo changes made by others",
		editsThatPeopleMadeSince:
			"Edits that people made since then disappear from the folder. The new checkpoint keeps them.",
		removed: "Removed",
		kept: "Kept",
		leftAlone: "Left alone",
		theFilesAsTheyWere: (report: Shown) =>
			`The files as they were before this restore are in checkpoint \`${report}\`.`,
		andMore: (paths: Shown) => `and ${paths} more`,
	},
	takeDialog: {
		takeACheckpoint: "Take a checkpoint",
		aSnapshotOfTheFolder: "A snapshot of the folder as it is now. You can compare with it and go back to it.",
		cancel: "Cancel",
		saving: "Saving…",
		save: "Save",
		nameOptional: "Name (optional)",
		nothingHasChangedSinceThe: (unchanged: Shown) =>
			`Nothing has changed since the last checkpoint, ${unchanged}.`,
	},
	timeline: {
		checkpoints: "Checkpoints",
		changed: (files: Shown) => `${files} changed`,
	},
	words: {
		beforeATurn: "Before a turn",
		afterATurn: "After a turn",
		atTheEndOfA: "At the end of a session",
		takenByHand: "Taken by hand",
		atARestore: "At a restore",
		someoneOtherThanTheAgent: "someone other than the agent has changed it since",
		itChangedDuringTheRestore: "it changed during the restore",
		somethingElseThatIsKept: "something else that is kept has this name",
		theOperatingSystemDoesNot: "the operating system does not allow it",
		theCheckpointNoLongerHolds: "the checkpoint no longer holds its contents",
	},
};
