// The pure core: where a message belongs, when a session ends, what people and the agent are told.
// No IO, no ambient clock, no randomness.

export { ACTION_ALPHABET, actionName, foldedAction } from "./action-name.ts";
export { type AddressOptions, addressDigest, isShared, resolveAddress } from "./address.ts";
export { type AliasPair, personId } from "./aliases.ts";
export {
	type BoundaryDecision,
	type BoundaryInput,
	type BoundaryReason,
	decideBoundary,
	isFreshInterruption,
	nextDue,
} from "./boundary.ts";
export { bytesInWords } from "./bytes.ts";
export { type Canonical, canonicalJson } from "./canonical-json.ts";
export {
	type Cover,
	compactionRecord,
	messagesIn,
	rowsCovered,
	rowsToCover,
	SUMMARY_SYSTEM,
	summaryContent,
	summaryWords,
} from "./compaction.ts";
export { type ContextPromptInput, contextPrompt, type HomeChannel } from "./context-prompt.ts";
export { latestDailyBoundary, nextDailyBoundary } from "./daily.ts";
export { describeDuration } from "./duration.ts";
export { coversArguments, grantPatternProblem } from "./grant-pattern.ts";
export { readableKey } from "./key.ts";
export {
	finalLimitText,
	type LimitInfo,
	limitInfo,
	limitNote,
	nearLimitText,
	toWireLimitInfo,
	type WireLimitInfo,
} from "./limits.ts";
export { localDays } from "./local-days.ts";
export type { Content, Message, MetaKind, NewMessage, Part, Range, Role, ToolCall } from "./message.ts";
export { type ModelOverride, sanitizeModelOverride } from "./model-override.ts";
export {
	agentNote,
	type BoundaryCause,
	type BoundaryFacts,
	boundaryNotice,
	type CheckpointOutcome,
	carriesOver,
	carryOver,
	notifiesBoundaries,
} from "./notices.ts";
export { hasPlatformTools } from "./platform-notes.ts";
export {
	createPlatforms,
	type Platforms,
	type PlatformTraits,
	platformTraits,
	registeredPlatforms,
} from "./platforms.ts";
export { type ResetPolicy, resolvePolicy, type SessionReset, sessionResetSchema } from "./policy.ts";
export { profileName } from "./profile.ts";
export { INTERRUPTED_RESULT, type PromptMessage, promptHistory } from "./prompt-history.ts";
export { lastMeasure, type Measure, promptSize, textTokens } from "./prompt-size.ts";
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
export { isSessionId, newSessionId } from "./session-id.ts";
export { describeSource, parseSource, toWireSource, type WireSource } from "./source.ts";
export { readableLength, terminalText } from "./terminal-text.ts";
export { isTimeZone } from "./time-zone.ts";
export { cleanTitle, cutTitle, successorTitle } from "./title.ts";
export {
	type Address,
	CHAT_TYPES,
	type ChatType,
	type ConversationId,
	END_REASONS,
	type EndReason,
	type SessionId,
	type Source,
} from "./types.ts";
export { inlineUntrusted, quoteUntrusted } from "./untrusted.ts";
