// Every operation of the store, by name. Writes take the context drawn by the caller; reads take their scope.
import { auditLog, auditRefusal } from "./audit.ts";
import { beginBlob, expireBlobs, finishBlob, putBlobChunk } from "./blobs.ts";
import {
	beginRestore,
	checkpointFailed,
	checkpoints,
	checkpointWindows,
	dropCheckpoints,
	endRestore,
	openRestores,
	recordCheckpoint,
	restoreUnfinished,
} from "./checkpoints.ts";
import { compress, cover, putOffCompaction } from "./compaction.ts";
import { askForCall, useConfirmation } from "./confirmation-calls.ts";
import {
	cancelConfirmation,
	consumeConfirmation,
	expireConfirmations,
	requestConfirmation,
	resolveConfirmation,
} from "./confirmations.ts";
import {
	claimDeliveries,
	notify,
	recoverDeliveries,
	releaseClaims,
	retimeDeliveries,
	settleDelivery,
} from "./deliveries.ts";
import { recordLookup, resolveDelivery } from "./delivery-outcomes.ts";
import { noteConfig, noteStoreBack } from "./events.ts";
import { dueSessions, expireSession, finaliseSession } from "./expiry.ts";
import { exportConversations, exportHead, exportPrincipals, exportSessions } from "./export.ts";
import { exportBlob, exportMessages, exportTurns } from "./export-rows.ts";
import { exportSmall } from "./export-small.ts";
import { addGrant, grants, revokeGrant, takeGrantsDated } from "./grants.ts";
import { redo, retry, undo, undoTarget } from "./history.ts";
import { importLines } from "./import.ts";
import { accept } from "./inbox.ts";
import { answerCommand, endItems, performCommand, stopTurn } from "./inbox-ends.ts";
import { activePlatforms, insights } from "./insights.ts";
import { checkIntegrity } from "./integrity.ts";
import { recordModelCall } from "./model-calls.ts";
import { openDelivery, recordPreview } from "./previews.ts";
import { link } from "./principals.ts";
import {
	adoptProcess,
	beginProcess,
	dueProcessChecks,
	endProcess,
	forgetProcess,
	oldProcesses,
	process,
	processChecked,
	processes,
	processPolled,
	processPrinted,
	processStarted,
	unfinishedProcesses,
} from "./processes.ts";
import { reachableSessions } from "./reach.ts";
import { deliveriesBeside } from "./read-beside.ts";
import {
	confirmation,
	confirmations,
	confirmationWork,
	dueConfirmationNotices,
	openConfirmations,
	settleConfirmationNotice,
} from "./read-confirmations.ts";
import {
	blob,
	conversation,
	conversations,
	limits,
	message,
	messages,
	session,
	sessions,
	transcript,
} from "./read-conversations.ts";
import {
	channelCursor,
	deliveries,
	delivery,
	events,
	inboxItem,
	knownIds,
	lastEventAt,
	lastInbound,
	openTurnOf,
	speakerFacts,
	story,
	turn,
	unknownDeliveries,
	waitingItems,
} from "./read-work.ts";
import {
	deleteConversation,
	pruneCandidates,
	pruneEvents,
	pruneRefused,
	retentionState,
	retireConversation,
} from "./retention.ts";
import { search } from "./search.ts";
import { rebuildSearch } from "./search-rebuild.ts";
import {
	branchSession,
	continueSession,
	extendSession,
	newSession,
	setBusyMode,
	setModelOverride,
	setTitle,
	setToolProgress,
	suspendSession,
	switchSession,
} from "./session-commands.ts";
import { createToken, revokeToken, tokenByDigest, tokens } from "./tokens.ts";
import {
	dueTurns,
	endTurn,
	interruptTurns,
	planInterruptions,
	resumeTurn,
	runningTurns,
} from "./turn-ends.ts";
import { appendMessages, beginTurn, joinTurn, startCall } from "./turns.ts";
import { turnUsage, usage } from "./usage.ts";
import { acceptAudit, auditStanding, verifyAudit } from "./witness.ts";
import { proveWritable, workload } from "./workload.ts";

export { auditHead } from "./audit.ts";
export { auditStanding, markWitnessed, witnessOf } from "./witness.ts";

export const writes = {
	accept,
	performCommand,
	answerCommand,
	endItems,
	beginTurn,
	joinTurn,
	appendMessages,
	startCall,
	recordModelCall,
	openDelivery,
	recordPreview,
	endTurn,
	stopTurn,
	claimDeliveries,
	releaseClaims,
	settleDelivery,
	resolveDelivery,
	retimeDeliveries,
	recordLookup,
	recoverDeliveries,
	notify,
	interruptTurns,
	planInterruptions,
	resumeTurn,
	newSession,
	continueSession,
	switchSession,
	branchSession,
	extendSession,
	suspendSession,
	undo,
	redo,
	retry,
	cover,
	putOffCompaction,
	compress,
	setTitle,
	setModelOverride,
	setBusyMode,
	setToolProgress,
	expireSession,
	finaliseSession,
	link,
	beginBlob,
	putBlobChunk,
	finishBlob,
	expireBlobs,
	importLines,
	retireConversation,
	deleteConversation,
	pruneEvents,
	pruneRefused,
	noteConfig,
	noteStoreBack,
	rebuildSearch,
	requestConfirmation,
	resolveConfirmation,
	cancelConfirmation,
	consumeConfirmation,
	expireConfirmations,
	settleConfirmationNotice,
	askForCall,
	useConfirmation,
	addGrant,
	revokeGrant,
	takeGrantsDated,
	auditRefusal,
	acceptAudit,
	createToken,
	revokeToken,
	proveWritable,
	beginProcess,
	processStarted,
	adoptProcess,
	endProcess,
	processPolled,
	processPrinted,
	processChecked,
	forgetProcess,
	recordCheckpoint,
	checkpointFailed,
	dropCheckpoints,
	beginRestore,
	endRestore,
	restoreUnfinished,
} as const;

export const reads = {
	conversation,
	conversations,
	session,
	sessions,
	messages,
	message,
	transcript,
	limits,
	blob,
	inboxItem,
	waitingItems,
	turn,
	openTurnOf,
	dueTurns,
	runningTurns,
	dueSessions,
	delivery,
	deliveries,
	deliveriesBeside,
	unknownDeliveries,
	channelCursor,
	knownIds,
	speakerFacts,
	story,
	lastInbound,
	lastEventAt,
	reachableSessions,
	usage,
	turnUsage,
	insights,
	activePlatforms,
	events,
	exportPrincipals,
	exportConversations,
	exportHead,
	exportSessions,
	exportSmall,
	exportTurns,
	exportMessages,
	exportBlob,
	retentionState,
	pruneCandidates,
	checkIntegrity,
	search,
	confirmation,
	confirmations,
	openConfirmations,
	confirmationWork,
	dueConfirmationNotices,
	grants,
	auditLog,
	verifyAudit,
	auditStanding,
	tokenByDigest,
	tokens,
	workload,
	process,
	processes,
	unfinishedProcesses,
	dueProcessChecks,
	oldProcesses,
	checkpoints,
	checkpointWindows,
	openRestores,
	undoTarget,
} as const;

/** What rests on the search of one engine; another refuses it (store.unsupported). */
export const SQLITE_ONLY: ReadonlySet<string> = new Set<keyof typeof reads>(["search"]);

/** How many ids travel with an operation: what it may need at most, with a few spare session ids for redrawing. */
export const DRAWS: {
	readonly [Name in keyof typeof writes]?: { readonly uuids?: number; readonly sessions?: number };
} = {
	accept: { uuids: 2 },
	beginTurn: { uuids: 1, sessions: 4 },
	endTurn: { sessions: 4 },
	claimDeliveries: { uuids: 1 },
	newSession: { sessions: 4 },
	continueSession: { sessions: 4 },
	switchSession: { sessions: 4 },
	branchSession: { sessions: 4 },
	performCommand: { uuids: 2, sessions: 4 },
	undo: { uuids: 1 },
	retry: { uuids: 2 },
	compress: { uuids: 1 },
	link: { uuids: 1 },
	beginBlob: { uuids: 1 },
	resolveConfirmation: { uuids: 1 },
	addGrant: { uuids: 1 },
	createToken: { uuids: 1 },
	beginRestore: { uuids: 1 },
	endRestore: { uuids: 1 },
};
