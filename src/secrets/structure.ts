// Which stored fields are Keryx's own words: ids, kinds, settings. A short secret may be part of one by chance (a password `session`, six
// digits of an id); hiding it there would break the row and protect nothing. Only such chance matches are left in these fields: a longer
// secret is hidden as everywhere. Unlisted fields contain text.

/** A longer secret is nowhere by chance. */
const LONGEST_CHANCE = 11;

/** The role of a text in the store. */
export type TextRole = "text" | "kind" | "id";

/** From a closed list, or from the configuration. */
const KINDS = fields(`
	kind type role state status via waiter decision scope edge backend notify platform account chatType chat_type profile source busy
	within as which show mode timezone notifyExcludePlatforms carryOver toolProgress currency costStatus titleSource openedBy endReason
	finishReason mediaType media_type code field param
`);

/** Created by Keryx or a platform: a chance match is a part of it, never all of it. */
const IDS = fields(`
	id turn token conversation session principal claim digest blobs blob attachments leavesOut data key live previous undo call receipt
	cursor value after before origin origins mergedInto alias sessionKey askedBy by webhooks bootId startTime
	workspace folder cwd commit replaces tree target owner oid path kept emptyThen restore remove restored removed untouched
	platformMessage chatId threadId userId replyTo chat thread participant
	chat_id chat_id_alt parent_chat_id thread_id user_id user_id_alt scope_id guild_id message_id
`);

/** Objects, or lists of them, whose fields are judged one by one. In all others every text counts as text. */
const HOLDERS = fields(`
	scope ref named as outcome outcomes settlement found routing policy cursor source destination messages content covers ranges
	confirmation author turn deliveries delivery body request waiting from notices notice grant change args ifRotated material processes
	confirmations checkpoint window together command identity end archive lines line origins origin addresses aliases modelCalls base
	a b error plan steps now want kept diffs last message usage asked edited speakers
`);

/** Content from models and programs, including field names. */
const FREE = fields("input details detailsBefore reasoning");

/** `holder`: the field that contains it. */
export function roleOf(field: string, holder: string): TextRole {
	// A change is named after its operation; elsewhere a name comes from people.
	if (holder === "change" && field === "name") return "kind";
	return KINDS.has(field) ? "kind" : IDS.has(field) ? "id" : "text";
}

export function isHolder(field: string): boolean {
	return HOLDERS.has(field);
}

export function isFree(field: string): boolean {
	return FREE.has(field);
}

/** Whether a text in this role may stay, if the longest secret found in it has this many characters. */
export function isChance(role: TextRole, text: string, longest: number): boolean {
	if (role === "text" || longest > LONGEST_CHANCE) return false;
	return role === "kind" || longest < text.length;
}

function fields(names: string): ReadonlySet<string> {
	return new Set(names.trim().split(/\s+/));
}
