// Every operation of the store, by name. Writes take the context drawn by the caller; reads take their scope.
import { beginBlob, expireBlobs, finishBlob, putBlobChunk } from "./blobs.ts";
import {
	claimDeliveries,
	notify,
	openDelivery,
	recordPreview,
	recoverDeliveries,
	resolveDelivery,
	settleDelivery,
} from "./deliveries.ts";
import { dueSessions, expireSession, finaliseSession } from "./expiry.ts";
import { exportConversations, exportHead, exportPrincipals, exportSessions } from "./export.ts";
import { exportBlob, exportMessages, exportTurns } from "./export-rows.ts";
import { cover, redo, retry, undo } from "./history.ts";
import { importLines } from "./import.ts";
import { accept } from "./inbox.ts";
import { answerCommand, endItems, performCommand } from "./inbox-ends.ts";
import { checkIntegrity } from "./integrity.ts";
import { recordModelCall } from "./model-calls.ts";
import { link } from "./principals.ts";
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
	dueInbox,
	events,
	inboxItem,
	knownIds,
	lastEventAt,
	lastInbound,
	openTurnOf,
	story,
	turn,
	waitingInbox,
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
	suspendSession,
	switchSession,
} from "./session-commands.ts";
import { dueTurns, endTurn, interruptTurns, planInterruptions, resumeTurn, stopTurn } from "./turn-ends.ts";
import { appendMessages, beginTurn, joinTurn, startCall } from "./turns.ts";

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
	settleDelivery,
	resolveDelivery,
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
	setTitle,
	setModelOverride,
	setBusyMode,
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
	rebuildSearch,
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
	dueInbox,
	waitingInbox,
	waitingItems,
	turn,
	openTurnOf,
	dueTurns,
	dueSessions,
	delivery,
	deliveries,
	channelCursor,
	knownIds,
	story,
	lastInbound,
	lastEventAt,
	events,
	exportPrincipals,
	exportConversations,
	exportHead,
	exportSessions,
	exportTurns,
	exportMessages,
	exportBlob,
	retentionState,
	pruneCandidates,
	checkIntegrity,
	search,
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
	link: { uuids: 1 },
	beginBlob: { uuids: 1 },
};
