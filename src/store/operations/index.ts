// All store operations, by name: each is one transaction, a folder per subject.
// Writes take the caller's context; reads take their scope.
// Never here: an engine, or IO.

import { doubtDeliveries, lastBackup, recordBackup } from "./backups.ts";
import { noteChannel } from "./channels.ts";
import { chatGone, chatMoved } from "./chats/changes.ts";
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
import { configChanges, configNotWritten, recordConfigChange } from "./config-changes.ts";
import { auditLog, auditRefusal, auditWallsOff } from "./confirmations/audit.ts";
import { askForCall, useConfirmation } from "./confirmations/calls.ts";
import {
	cancelConfirmation,
	consumeConfirmation,
	expireConfirmations,
	resolveConfirmation,
} from "./confirmations/confirmations.ts";
import { addGrant, grants, revokeGrant, takeGrantsDated } from "./confirmations/grants.ts";
import {
	confirmation,
	confirmations,
	confirmationWork,
	dueConfirmationNotices,
	openConfirmations,
	settleConfirmationNotice,
} from "./confirmations/read.ts";
import { requestConfirmation } from "./confirmations/request.ts";
import { acceptAudit, auditStanding, verifyAudit } from "./confirmations/witness.ts";
import { claimDeliveries, recoverDeliveries, releaseClaims, retimeDeliveries } from "./deliveries/claims.ts";
import { notify } from "./deliveries/deliveries.ts";
import { dropDelivery, recordLookup, resolveDelivery } from "./deliveries/outcomes.ts";
import { openDelivery, recordPreview } from "./deliveries/previews.ts";
import { chatConversations, send, sent, sentByTurn } from "./deliveries/sends.ts";
import { settleDelivery } from "./deliveries/settling.ts";
import { sideDeliveries } from "./deliveries/side-deliveries.ts";
import { noteConfig, noteStoreBack } from "./events.ts";
import { beginFirstRun, firstRun, skipFirstRun } from "./first-run.ts";
import { homeChannels, setHome } from "./homes.ts";
import { amend, react } from "./inbox/amendments.ts";
import { knownMessages, moveCursor } from "./inbox/cursors.ts";
import { answerCommand, endItems, performCommand, stopTurn } from "./inbox/ends.ts";
import { accept } from "./inbox/inbox.ts";
import { buttonAt, pressButton } from "./inbox/presses.ts";
import { activePlatforms, insights, namesOf } from "./insights.ts";
import { checkIntegrity } from "./integrity.ts";
import { liveEvents } from "./live-events.ts";
import {
	adoptItems,
	agreeOnKeys,
	conversationsWithPrograms,
	leaveDuty,
	nodes,
	nodeWithPrograms,
	takeDuty,
} from "./nodes.ts";
import { callerFacts } from "./people/caller.ts";
import { loginByDigest, logins, makeLogin, offerLogin, revokeLogins } from "./people/logins.ts";
import { approvePairing, decidePairing, denyPairing, pairings } from "./people/pairings.ts";
import { link } from "./people/principals.ts";
import { knownIds, speakerFacts } from "./people/speaker-facts.ts";
import { createToken, revokeToken, tokenByDigest, tokens } from "./people/tokens.ts";
import { adoptProcess, beginProcess, processStarted } from "./processes/begin.ts";
import { endProcess, forgetProcess, oldProcesses } from "./processes/end.ts";
import { dueProcessChecks, processChecked, processPolled, processPrinted } from "./processes/progress.ts";
import { process, processes, unfinishedProcesses } from "./processes/read.ts";
import { events, lastEventAt, story } from "./read-events.ts";
import {
	channelCursor,
	deliveries,
	delivery,
	inboxItem,
	lastInbound,
	openTurnOf,
	turn,
	unknownDeliveries,
	waitingItems,
} from "./read-work.ts";
import {
	createJob,
	deleteJobOp as deleteJob,
	job,
	jobs,
	pauseJob,
	resumeJob,
	updateJobOp as updateJob,
} from "./schedules/jobs.ts";
import { manageJob } from "./schedules/manage.ts";
import { runs, unsettledRuns } from "./schedules/read.ts";
import { dueJobs, endRun, fireJob, missRestored, pruneRuns, runJobNow, settleRun } from "./schedules/runs.ts";
import { rebuildSearch } from "./search/rebuild.ts";
import { search } from "./search/search.ts";
import {
	branchSession,
	continueSession,
	extendSession,
	newSession,
	renameConversation,
	setBusyMode,
	setConversationState,
	setModelOverride,
	setTitle,
	setToolProgress,
	switchSession,
} from "./sessions/commands.ts";
import { dueSessions, expireSession, finaliseSession } from "./sessions/expiry.ts";
import { pinConversation } from "./sessions/filing.ts";
import { reachableSessions } from "./sessions/reach.ts";
import {
	blob,
	conversation,
	conversations,
	limits,
	messages,
	session,
	sessions,
	transcript,
	transcriptEnd,
} from "./sessions/read-conversations.ts";
import {
	deleteConversation,
	pruneCandidates,
	pruneEvents,
	pruneRefused,
	retentionState,
	retireConversation,
	touchConversation,
} from "./sessions/retention.ts";
import { beginBlob, expireBlobs, finishBlob, putBlobChunk } from "./transcript/blobs.ts";
import { compress, cover, putOffCompaction } from "./transcript/compaction.ts";
import { redo, retry, undo, undoTarget } from "./transcript/history.ts";
import { exportConversations, exportHead, exportPrincipals, exportSessions } from "./transfer/export.ts";
import { exportBlob, exportMessages, exportTurns } from "./transfer/export-rows.ts";
import { exportSmall } from "./transfer/export-small.ts";
import { importLines } from "./transfer/import.ts";
import { exportJobs } from "./transfer/jobs.ts";
import { endTurn } from "./turns/ends.ts";
import { turnFacts } from "./turns/facts.ts";
import {
	dueTurns,
	interruptTurns,
	planInterruptions,
	resumeTurn,
	runningTurns,
} from "./turns/interruptions.ts";
import { recordModelCall } from "./turns/model-calls.ts";
import { nameByModel } from "./turns/naming.ts";
import { appendMessages, joinTurn, startCall } from "./turns/running.ts";
import { beginTurn } from "./turns/turns.ts";
import { turnUsage, usage } from "./turns/usage.ts";
import { proveWritable, workload } from "./workload.ts";

export { auditHead } from "./confirmations/audit.ts";
export { auditStanding, markWitnessed, verifyAudit, witnessOf } from "./confirmations/witness.ts";

export const writes = {
	accept,
	moveCursor,
	pressButton,
	amend,
	react,
	chatGone,
	chatMoved,
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
	dropDelivery,
	retimeDeliveries,
	recordLookup,
	recoverDeliveries,
	notify,
	send,
	adoptItems,
	agreeOnKeys,
	takeDuty,
	leaveDuty,
	interruptTurns,
	planInterruptions,
	resumeTurn,
	newSession,
	continueSession,
	switchSession,
	branchSession,
	extendSession,
	undo,
	redo,
	retry,
	cover,
	putOffCompaction,
	compress,
	setTitle,
	nameByModel,
	renameConversation,
	pinConversation,
	setConversationState,
	setModelOverride,
	setBusyMode,
	setToolProgress,
	setHome,
	beginFirstRun,
	skipFirstRun,
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
	touchConversation,
	pruneEvents,
	pruneRefused,
	noteConfig,
	recordConfigChange,
	configNotWritten,
	noteChannel,
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
	auditWallsOff,
	acceptAudit,
	createToken,
	revokeToken,
	offerLogin,
	makeLogin,
	revokeLogins,
	approvePairing,
	denyPairing,
	decidePairing,
	proveWritable,
	recordBackup,
	doubtDeliveries,
	missRestored,
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
	createJob,
	manageJob,
	updateJob,
	pauseJob,
	resumeJob,
	deleteJob,
	fireJob,
	runJobNow,
	endRun,
	settleRun,
	pruneRuns,
} as const;

export const reads = {
	conversation,
	conversations,
	session,
	sessions,
	messages,
	transcript,
	transcriptEnd,
	limits,
	blob,
	inboxItem,
	nodes,
	nodeWithPrograms,
	conversationsWithPrograms,
	waitingItems,
	turn,
	openTurnOf,
	dueTurns,
	runningTurns,
	dueSessions,
	delivery,
	deliveries,
	sideDeliveries,
	unknownDeliveries,
	sent,
	sentByTurn,
	chatConversations,
	channelCursor,
	knownMessages,
	knownIds,
	callerFacts,
	speakerFacts,
	turnFacts,
	buttonAt,
	story,
	lastInbound,
	lastEventAt,
	reachableSessions,
	usage,
	turnUsage,
	insights,
	namesOf,
	activePlatforms,
	events,
	liveEvents,
	exportPrincipals,
	exportConversations,
	exportHead,
	exportSessions,
	exportSmall,
	exportTurns,
	exportMessages,
	exportBlob,
	exportJobs,
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
	configChanges,
	tokenByDigest,
	tokens,
	loginByDigest,
	logins,
	homeChannels,
	firstRun,
	pairings,
	workload,
	lastBackup,
	process,
	processes,
	unfinishedProcesses,
	dueProcessChecks,
	oldProcesses,
	checkpoints,
	checkpointWindows,
	openRestores,
	undoTarget,
	job,
	jobs,
	dueJobs,
	runs,
	unsettledRuns,
} as const;
