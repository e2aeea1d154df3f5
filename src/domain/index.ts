// The pure core: where a message belongs, when a session ends, and the notices for people and the agent.
// Functions of facts, by subject: address, session, prompt, text.
// Never here: IO, an ambient clock, randomness.

export { ACTION_ALPHABET, actionName, foldedAction } from "./action-name.ts";
export { type AddressOptions, addressDigest, isShared, resolveAddress } from "./address/address.ts";
export { type AliasPair, personId } from "./address/aliases.ts";
export { readableKey } from "./address/key.ts";
export { pageSource, pageUser } from "./address/page-people.ts";
export {
	type BuiltInChannel,
	builtInPlatforms,
	createPlatforms,
	isBuiltInChannel,
	isKnownByKeryx,
	isOwnPlatform,
	isPlatformName,
	OWN_PLATFORMS,
	type OwnPlatform,
	type Platforms,
	type PlatformTraits,
	platformTraits,
	registeredPlatforms,
	SCHEDULE_PLATFORM,
	SMALLEST_MESSAGE_LIMIT,
} from "./address/platforms.ts";
export { profileName } from "./address/profile.ts";
export { describeSource, parseSource, toWireSource, type WireSource } from "./address/source.ts";
export {
	parseTarget,
	type Target,
	targetText,
	type WrittenTarget,
} from "./address/target.ts";
export { coversArguments, grantPatternProblem } from "./grant-pattern.ts";
export { conversationId, isConversationId, sessionId } from "./ids.ts";
export {
	type Content,
	contentText,
	type Message,
	type NewMessage,
	type Part,
	type Quote,
	type Range,
	type Role,
	type RowKind,
	type SentFile,
	type SentFrom,
	type ToolCall,
} from "./message.ts";
export { type Amendment, amendmentLine } from "./prompt/added-lines.ts";
export { approvedCallResult } from "./prompt/approved-call.ts";
export {
	type Cover,
	compactionRecord,
	messagesIn,
	rowsCovered,
	rowsToCover,
	SUMMARY_SYSTEM,
	summaryContent,
	summaryWords,
} from "./prompt/compaction.ts";
export { type ContextPromptInput, contextPrompt, type HomeChannel } from "./prompt/context-prompt.ts";
export { type ModelOverride, sanitizeModelOverride } from "./prompt/model-override.ts";
export { hasPlatformTools } from "./prompt/platform-notes.ts";
export { INTERRUPTED_RESULT, type PromptMessage, promptHistory } from "./prompt/prompt-history.ts";
export { lastMeasure, type Measure, promptSize, promptSizeAtMost, textTokens } from "./prompt/prompt-size.ts";
export { TITLE_SYSTEM, titleIn, titleQuestion } from "./prompt/title-prompt.ts";
export {
	distinctSpeakers,
	isAtLeast,
	leastStanding,
	lesser,
	mayJoin,
	type PersonRole,
	type Speaker,
	type Standing,
	soleSpeaker,
} from "./rights.ts";
export { isEveryHour, mixesDays } from "./schedule/cron.ts";
export {
	type CatchUp,
	type DueJob,
	type MissedBecause,
	planDue,
} from "./schedule/due.ts";
export { firstInstant, instantAfter, instantsAfter, nextInstant } from "./schedule/next.ts";
export { checkTiming, type Timing, type When, wallTime } from "./schedule/when.ts";
export { instantOf, localTime, nextZoneChange } from "./schedule/zone.ts";
export {
	type BoundaryDecision,
	type BoundaryInput,
	type BoundaryReason,
	decideBoundary,
	isFreshInterruption,
	nextDue,
} from "./session/boundary.ts";
export { conversationName, isNamedByTopic } from "./session/conversation-name.ts";
export { latestDailyBoundary, nextDailyBoundary } from "./session/daily.ts";
export {
	finalLimitText,
	type LimitInfo,
	limitInfo,
	limitNote,
	nearLimitText,
	toWireLimitInfo,
	type WireLimitInfo,
} from "./session/limits.ts";
export { localDays } from "./session/local-days.ts";
export {
	agentNote,
	type BoundaryCause,
	type BoundaryFacts,
	boundaryNotice,
	type CheckpointOutcome,
	carriesOver,
	carryOver,
	notifiesBoundaries,
} from "./session/notices.ts";
export { CARRY_OVERS, RESET_MODES, type ResetMode, type ResetPolicy } from "./session/policy.ts";
export { isSessionId, newSessionId, sessionIdAfter } from "./session/session-id.ts";
export { isTimeZone } from "./session/time-zone.ts";
export { cleanTitle, cutTitle, successorTitle } from "./session/title.ts";
export { bytesInWords, counted } from "./text/bytes.ts";
export { type Canonical, canonicalJson } from "./text/canonical-json.ts";
export { firstOf, lastOf, nameAround } from "./text/cut.ts";
export { describeDuration } from "./text/duration.ts";
export { type Destination, type HostRule, isHostAllowed, readHostRule } from "./text/host-rule.ts";
export { parseModelName } from "./text/model-name.ts";
export { SECRET_NAME, secretNamesIn, type TextRange } from "./text/secret-name.ts";
export { readableLength, terminalText } from "./text/terminal-text.ts";
export { cleanUntrusted, inlineUntrusted, quoteUntrusted, visibleUntrusted } from "./text/untrusted.ts";
export {
	type Address,
	CHAT_TYPES,
	type ChatType,
	CONFIRMATION_STATUSES,
	type ConfirmationStatus,
	type ConversationId,
	END_REASONS,
	type EndReason,
	GRANT_SCOPES,
	type GrantScope,
	type SessionId,
	type Source,
} from "./types.ts";
