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
import { cover, redo, retry, undo } from "./history.ts";
import { accept } from "./inbox.ts";
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
	openTurnOf,
	principalOf,
	turn,
	waitingInbox,
} from "./read-work.ts";
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
	turn,
	openTurnOf,
	dueTurns,
	dueSessions,
	delivery,
	deliveries,
	channelCursor,
	principalOf,
	events,
} as const;

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
	undo: { uuids: 1 },
	retry: { uuids: 2 },
	link: { uuids: 1 },
	beginBlob: { uuids: 1 },
};
