// The tables. Invariants are enforced by constraints where possible: I2 one_live_session, I14 confirmations_steps, confirmations_bound
// and confirmations_resolver, I3 inbox_disposed_once, I4 inbox_once, I5 one_turn, I6 messages_immutable, dense seq by UNIQUE (session,
// seq). Work rows (turns, inbox, deliveries) name their conversation without a foreign key: checking it when a conversation is deleted
// would read the whole table, or cost every message another index entry. checkIntegrity finds strays. Text of people and models is only
// in columns named body or *_body, each row with the id of its sealing key (null: none).

/** Written once for both engines: {serial}, {ever} (never reused), {int}, {bytes} and {strict} are replaced per engine. */
const TABLES_1 = `
CREATE TABLE settings (
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
) {strict};

CREATE TABLE principals (
	id TEXT PRIMARY KEY,
	created_at {int} NOT NULL,
	merged_into TEXT REFERENCES principals (id)
) {strict};
CREATE INDEX principals_merged ON principals (merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE aliases (
	platform TEXT NOT NULL,
	alias TEXT NOT NULL,
	principal TEXT NOT NULL REFERENCES principals (id),
	created_at {int} NOT NULL,
	PRIMARY KEY (platform, alias)
) {strict};
CREATE INDEX aliases_principal ON aliases (principal, platform, alias);

CREATE TABLE conversations (
	id TEXT PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	platform TEXT NOT NULL,
	profile TEXT NOT NULL,
	chat_type TEXT NOT NULL,
	principal TEXT REFERENCES principals (id),
	shared {int} NOT NULL CHECK (shared IN (0, 1)),
	model_override TEXT,
	busy TEXT CHECK (busy IN ('queue', 'interrupt', 'steer')),
	message_count {int} NOT NULL DEFAULT 0,
	created_at {int} NOT NULL,
	last_activity_at {int} NOT NULL,
	token {int} NOT NULL DEFAULT 0,
	interruptions {int} NOT NULL DEFAULT 0,
	failing_call TEXT,
	failing_count {int} NOT NULL DEFAULT 0,
	source_body TEXT NOT NULL,
	preview_body TEXT NOT NULL,
	body_key {int},
	origin TEXT,
	origin_id TEXT,
	UNIQUE (origin, origin_id)
) {strict};
CREATE INDEX conversations_activity ON conversations (last_activity_at, id);
CREATE INDEX conversations_principal ON conversations (principal) WHERE principal IS NOT NULL;

CREATE TABLE addresses (
	digest TEXT PRIMARY KEY,
	conversation TEXT NOT NULL REFERENCES conversations (id),
	profile TEXT NOT NULL,
	platform TEXT NOT NULL,
	account TEXT NOT NULL,
	scope TEXT NOT NULL,
	chat_type TEXT NOT NULL,
	chat TEXT NOT NULL,
	thread TEXT NOT NULL,
	participant TEXT NOT NULL
) {strict};
CREATE INDEX addresses_conversation ON addresses (conversation);

CREATE TABLE sessions (
	key {serial},
	id TEXT NOT NULL UNIQUE,
	conversation TEXT NOT NULL REFERENCES conversations (id),
	base_session {int} REFERENCES sessions (key),
	base_seq {int},
	base_kind TEXT CHECK (base_kind IN ('continue', 'branch')),
	previous_session {int},
	opened_by TEXT NOT NULL,
	started_at {int} NOT NULL,
	last_activity_at {int} NOT NULL,
	had_activity {int} NOT NULL DEFAULT 0,
	ended_at {int},
	end_reason TEXT CHECK (end_reason IN ('suspended', 'idle', 'daily', 'message_limit', 'resume_expired', 'user_new', 'user_switch', 'retention')),
	suspended_at {int},
	resume_pending_since {int},
	notice_pending {int} NOT NULL DEFAULT 0,
	finalised {int} NOT NULL DEFAULT 0,
	cap {int} NOT NULL,
	messages {int} NOT NULL DEFAULT 0,
	tool_calls {int} NOT NULL DEFAULT 0,
	tool_errors {int} NOT NULL DEFAULT 0,
	input_tokens {int} NOT NULL DEFAULT 0,
	output_tokens {int} NOT NULL DEFAULT 0,
	last_prompt_tokens {int} NOT NULL DEFAULT 0,
	cost_micros {int} NOT NULL DEFAULT 0,
	cost_status TEXT NOT NULL DEFAULT 'none' CHECK (cost_status IN ('none', 'known', 'partial', 'unknown')),
	title_digest TEXT,
	title_source TEXT CHECK (title_source IN ('derived', 'model', 'user')),
	title_body TEXT,
	context_body TEXT NOT NULL,
	body_key {int},
	due_at {int},
	claim TEXT,
	origin TEXT,
	origin_id TEXT,
	UNIQUE (origin, origin_id),
	UNIQUE (conversation, title_digest),
	CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
	CHECK ((base_session IS NULL) = (base_seq IS NULL))
) {strict};
CREATE UNIQUE INDEX one_live_session ON sessions (conversation) WHERE ended_at IS NULL;
CREATE INDEX sessions_conversation ON sessions (conversation, key);
CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sessions_base ON sessions (base_session) WHERE base_session IS NOT NULL;

CREATE TABLE turns (
	id TEXT PRIMARY KEY,
	conversation TEXT NOT NULL,
	session {int} NOT NULL REFERENCES sessions (key),
	principal TEXT,
	epoch {int} NOT NULL,
	token {int} NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('running', 'interrupted', 'completed', 'failed', 'stopped', 'expired')),
	detail TEXT,
	attempts {int} NOT NULL DEFAULT 1,
	planned {int} NOT NULL DEFAULT 0,
	destination TEXT NOT NULL,
	started_at {int} NOT NULL,
	interrupted_at {int},
	ended_at {int},
	due_at {int},
	claim TEXT
) {strict};
CREATE UNIQUE INDEX one_turn ON turns (conversation) WHERE state IN ('running', 'interrupted');
CREATE INDEX turns_due ON turns (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX turns_session ON turns (session);

CREATE TABLE calls (
	turn TEXT NOT NULL REFERENCES turns (id),
	call TEXT NOT NULL,
	tool TEXT NOT NULL,
	repeatable {int} NOT NULL,
	started_at {int} NOT NULL,
	PRIMARY KEY (turn, call)
) {strict};

CREATE TABLE messages (
	id {int} PRIMARY KEY,
	session {int} NOT NULL REFERENCES sessions (key),
	seq {int} NOT NULL CHECK (seq >= 1),
	role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool', 'meta')),
	kind TEXT,
	turn TEXT REFERENCES turns (id),
	turn_index {int},
	tool_call TEXT,
	tool_name TEXT,
	is_error {int} NOT NULL DEFAULT 0,
	counted {int} NOT NULL,
	author TEXT,
	created_at {int} NOT NULL,
	body TEXT NOT NULL,
	body_key {int},
	origin TEXT,
	origin_id TEXT,
	UNIQUE (session, seq)
) {strict};
CREATE UNIQUE INDEX messages_turn ON messages (turn, turn_index) WHERE turn IS NOT NULL;
CREATE UNIQUE INDEX messages_origin ON messages (origin, origin_id) WHERE origin IS NOT NULL;

CREATE TABLE hidden_ranges (
	id {serial},
	session {int} NOT NULL REFERENCES sessions (key),
	from_seq {int} NOT NULL,
	to_seq {int} NOT NULL,
	counted {int} NOT NULL,
	undo TEXT NOT NULL,
	live {int} NOT NULL REFERENCES sessions (key),
	live_seq {int} NOT NULL,
	by_whom TEXT NOT NULL CHECK (by_whom IN ('undo', 'retry')),
	at {int} NOT NULL,
	undone_at {int}
) {strict};
CREATE INDEX hidden_ranges_session ON hidden_ranges (session);
CREATE INDEX hidden_ranges_live ON hidden_ranges (live);
CREATE INDEX hidden_ranges_undo ON hidden_ranges (undo);

CREATE TABLE blobs (
	id TEXT PRIMARY KEY,
	conversation TEXT REFERENCES conversations (id),
	digest TEXT NOT NULL,
	media_type TEXT NOT NULL,
	size {int} NOT NULL,
	complete {int} NOT NULL DEFAULT 0,
	created_at {int} NOT NULL,
	due_at {int}
) {strict};
CREATE UNIQUE INDEX blobs_once ON blobs (conversation, digest) WHERE conversation IS NOT NULL;
CREATE INDEX blobs_due ON blobs (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE blob_chunks (
	blob TEXT NOT NULL REFERENCES blobs (id),
	n {int} NOT NULL,
	body {bytes} NOT NULL,
	body_key {int},
	PRIMARY KEY (blob, n)
) {strict};

CREATE TABLE inbox (
	id {ever},
	kind TEXT NOT NULL CHECK (kind IN ('person', 'confirmation', 'process', 'schedule')),
	platform TEXT NOT NULL,
	account TEXT NOT NULL,
	chat TEXT NOT NULL,
	platform_message TEXT NOT NULL,
	conversation TEXT,
	principal TEXT,
	accepted_at {int} NOT NULL,
	turn TEXT REFERENCES turns (id),
	message {int},
	disposition TEXT CHECK (disposition IN ('answered', 'merged', 'command', 'observed', 'refused', 'dropped_by_user', 'stopped', 'expired', 'failed')),
	disposition_detail TEXT,
	disposed_at {int},
	body TEXT,
	body_key {int},
	due_at {int},
	claim TEXT,
	CHECK ((disposition IS NULL) = (disposed_at IS NULL))
) {strict};
CREATE UNIQUE INDEX inbox_once ON inbox (platform, account, chat, platform_message);
CREATE INDEX inbox_due ON inbox (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX inbox_waiting ON inbox (conversation, id) WHERE due_at IS NOT NULL;
CREATE INDEX inbox_unseen ON inbox (conversation, id) WHERE disposition = 'observed' AND body IS NOT NULL;
CREATE INDEX inbox_turn ON inbox (turn) WHERE turn IS NOT NULL;
CREATE INDEX inbox_aside ON inbox (conversation) WHERE turn IS NULL AND due_at IS NULL AND conversation IS NOT NULL;
CREATE INDEX inbox_refused ON inbox (disposed_at) WHERE disposition = 'refused';

CREATE TABLE channel_cursors (
	platform TEXT NOT NULL,
	account TEXT NOT NULL,
	value TEXT NOT NULL,
	updated_at {int} NOT NULL,
	PRIMARY KEY (platform, account)
) {strict};

CREATE TABLE model_calls (
	turn TEXT NOT NULL REFERENCES turns (id),
	n {int} NOT NULL,
	principal TEXT,
	profile TEXT NOT NULL,
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	input_tokens {int} NOT NULL,
	output_tokens {int} NOT NULL,
	cost_micros {int},
	currency TEXT NOT NULL,
	status TEXT NOT NULL,
	ended_at {int} NOT NULL,
	PRIMARY KEY (turn, n)
) {strict};

CREATE TABLE deliveries (
	n {serial},
	id TEXT NOT NULL UNIQUE,
	conversation TEXT NOT NULL,
	turn TEXT REFERENCES turns (id),
	kind TEXT NOT NULL CHECK (kind IN ('reply', 'notice', 'command')),
	state TEXT NOT NULL CHECK (state IN ('open', 'pending', 'sending', 'sent', 'unknown', 'dead')),
	platform TEXT NOT NULL,
	account TEXT NOT NULL,
	destination TEXT NOT NULL,
	receipt TEXT,
	reason TEXT,
	attempts {int} NOT NULL DEFAULT 0,
	created_at {int} NOT NULL,
	settled_at {int},
	body TEXT NOT NULL,
	body_key {int},
	due_at {int},
	claim TEXT
) {strict};
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_waiting ON deliveries (conversation, n) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_turn ON deliveries (turn) WHERE turn IS NOT NULL;
CREATE INDEX deliveries_aside ON deliveries (conversation) WHERE turn IS NULL;
CREATE INDEX deliveries_unknown ON deliveries (n) WHERE state IN ('unknown', 'dead');

CREATE TABLE events (
	id {ever},
	at {int} NOT NULL,
	type TEXT NOT NULL,
	conversation TEXT,
	session TEXT,
	turn TEXT,
	subject TEXT,
	facts TEXT
) {strict};
CREATE INDEX events_conversation ON events (conversation, id);
`;

const TRIGGERS_1 = {
	sqlite: `
CREATE TRIGGER messages_immutable BEFORE UPDATE ON messages BEGIN
	SELECT RAISE(ABORT, 'a message is immutable');
END;
CREATE TRIGGER inbox_disposed_once BEFORE UPDATE OF disposition, disposition_detail, disposed_at ON inbox
WHEN OLD.disposition IS NOT NULL BEGIN
	SELECT RAISE(ABORT, 'a disposition is set once');
END;
CREATE VIRTUAL TABLE search USING fts5 (
	tags, text, content='', contentless_delete=1, prefix='1 2 3',
	tokenize="unicode61 remove_diacritics 2 categories 'L* N* M* Co So'"
);
`,
	postgres: `
CREATE FUNCTION messages_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a message is immutable'; END $$;
CREATE TRIGGER messages_immutable BEFORE UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION messages_immutable();
CREATE FUNCTION inbox_disposed_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a disposition is set once'; END $$;
CREATE TRIGGER inbox_disposed_once BEFORE UPDATE OF disposition, disposition_detail, disposed_at ON inbox
FOR EACH ROW WHEN (OLD.disposition IS NOT NULL) EXECUTE FUNCTION inbox_disposed_once();
CREATE TABLE search (rowid BIGINT PRIMARY KEY, tags TEXT NOT NULL, text TEXT NOT NULL);
`,
};

/** What a person wants to see of running tools in one conversation. */
const TABLES_2 = `
ALTER TABLE conversations ADD COLUMN tool_progress TEXT CHECK (tool_progress IN ('all', 'new', 'off'));
`;

/** A turn's purpose, and the prompt size for the next compaction attempt (tokens; null: whenever it is due). */
const TABLES_3 = `
ALTER TABLE turns ADD COLUMN purpose TEXT NOT NULL DEFAULT 'answer' CHECK (purpose IN ('answer', 'compaction'));
ALTER TABLE sessions ADD COLUMN compact_after {int};
`;

/**
 * Confirmations (I14): a trigger enforces the steps, so that no code path decides or uses one twice. The audit is append-only by trigger
 * too; its entries and head are chained by codes made with a key outside the store.
 */
const TABLES_4 = `
CREATE TABLE tokens (
	name TEXT PRIMARY KEY,
	digest TEXT NOT NULL UNIQUE,
	role TEXT NOT NULL CHECK (role IN ('operator', 'approver', 'agent', 'reader')),
	principal TEXT NOT NULL REFERENCES principals (id),
	session_key TEXT,
	created_at {int} NOT NULL,
	created_by TEXT NOT NULL,
	expires_at {int},
	revoked_at {int}
) {strict};

CREATE TABLE confirmations (
	n {serial},
	id TEXT NOT NULL UNIQUE,
	action TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'cancelled', 'consumed', 'auto_approved')),
	digest TEXT NOT NULL,
	asked_by TEXT NOT NULL,
	session_key TEXT NOT NULL,
	waiter TEXT NOT NULL CHECK (waiter IN ('program', 'turn', 'live')),
	conversation TEXT,
	turn TEXT,
	call TEXT,
	tool TEXT,
	destination TEXT,
	idempotency_key TEXT,
	timeout_seconds {int} NOT NULL,
	created_at {int} NOT NULL,
	expires_at {int} NOT NULL,
	slot_at {int},
	resolved_at {int},
	resolved_by TEXT,
	use_by {int},
	used_at {int},
	body TEXT NOT NULL,
	decision_body TEXT,
	body_key {int},
	due_at {int},
	claim TEXT,
	CHECK ((resolved_at IS NULL) = (status = 'pending')),
	CHECK ((used_at IS NULL) = (status <> 'consumed'))
) {strict};
CREATE UNIQUE INDEX confirmations_once ON confirmations (asked_by, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX confirmations_due ON confirmations (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX confirmations_conversation ON confirmations (conversation, n) WHERE conversation IS NOT NULL;
CREATE INDEX confirmations_open ON confirmations (conversation) WHERE due_at IS NOT NULL AND conversation IS NOT NULL;
CREATE INDEX confirmations_status ON confirmations (status, n);
CREATE INDEX confirmations_slots ON confirmations (asked_by, action, slot_at) WHERE slot_at IS NOT NULL;
CREATE INDEX confirmations_all_slots ON confirmations (slot_at) WHERE slot_at IS NOT NULL;

CREATE TABLE confirmation_notices (
	confirmation TEXT NOT NULL REFERENCES confirmations (id),
	target TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'dead')),
	attempts {int} NOT NULL DEFAULT 0,
	reason TEXT,
	due_at {int},
	PRIMARY KEY (confirmation, target)
) {strict};
CREATE INDEX confirmation_notices_due ON confirmation_notices (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE grants (
	id TEXT PRIMARY KEY,
	scope TEXT NOT NULL CHECK (scope IN ('session', 'conversation', 'always')),
	action TEXT NOT NULL,
	pattern_body TEXT,
	body_key {int},
	asked_by TEXT,
	session_key TEXT,
	session TEXT,
	until {int},
	created_at {int} NOT NULL,
	created_by TEXT NOT NULL,
	revoked_at {int},
	revoked_by TEXT,
	CHECK (scope = 'always' OR (asked_by IS NOT NULL AND session_key IS NOT NULL))
) {strict};
CREATE INDEX grants_action ON grants (action) WHERE revoked_at IS NULL;

CREATE TABLE audit (
	n {int} PRIMARY KEY,
	at {int} NOT NULL,
	kind TEXT NOT NULL,
	confirmation TEXT,
	who TEXT NOT NULL,
	via TEXT NOT NULL CHECK (via IN ('page', 'chat', 'api', 'cli', 'agent', 'system')),
	body TEXT NOT NULL,
	body_key {int},
	mac TEXT NOT NULL
) {strict};
CREATE INDEX audit_confirmation ON audit (confirmation) WHERE confirmation IS NOT NULL;
CREATE INDEX audit_refusals ON audit (who, at) WHERE kind = 'refused';

CREATE TABLE audit_head (
	one {int} PRIMARY KEY CHECK (one = 1),
	count {int} NOT NULL,
	last TEXT NOT NULL,
	mac TEXT NOT NULL
) {strict};
`;

/** Programs the agent started. A row exists before its program, and ends once (I3, for what it tells the conversation). */
const TABLES_5 = `
CREATE TABLE processes (
	n {serial},
	id TEXT NOT NULL UNIQUE,
	conversation TEXT NOT NULL,
	principal TEXT,
	turn TEXT,
	backend TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('starting', 'running', 'exited', 'killed', 'lost', 'failed_start')),
	background {int} NOT NULL,
	pty {int} NOT NULL,
	notify TEXT NOT NULL CHECK (notify IN ('none', 'result', 'all', 'error')),
	check_ms {int},
	identity TEXT,
	exit_code {int},
	signal TEXT,
	cause TEXT,
	polled_to {int} NOT NULL DEFAULT 0,
	checked_to {int} NOT NULL DEFAULT 0,
	log_bytes {int},
	log_lost {int},
	destination TEXT NOT NULL,
	started_at {int} NOT NULL,
	printed_at {int} NOT NULL,
	ended_at {int},
	body TEXT NOT NULL,
	body_key {int},
	due_at {int},
	claim TEXT,
	CHECK ((status IN ('starting', 'running')) = (due_at IS NOT NULL)),
	CHECK ((ended_at IS NULL) = (due_at IS NOT NULL))
) {strict};
CREATE INDEX processes_conversation ON processes (conversation, n);
CREATE INDEX processes_due ON processes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX processes_ended ON processes (ended_at) WHERE due_at IS NULL;
`;

/**
 * Snapshots of workspaces, whose files are in separate repositories. A window is one turn's range from its first snapshot to its last:
 * changes within are the agent's. A restore is recorded before the first file is touched, and has an end.
 */
const TABLES_6 = `
CREATE TABLE checkpoints (
	n {ever},
	id TEXT NOT NULL UNIQUE,
	workspace TEXT NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN ('before', 'after', 'rotation', 'manual', 'restore')),
	conversation TEXT,
	session TEXT,
	turn TEXT,
	git_commit TEXT NOT NULL,
	tree TEXT NOT NULL,
	total {int} NOT NULL,
	files {int},
	insertions {int},
	deletions {int},
	at {int} NOT NULL,
	body TEXT NOT NULL,
	body_key {int}
) {strict};
CREATE INDEX checkpoints_workspace ON checkpoints (workspace, n);

CREATE TABLE checkpoint_windows (
	workspace TEXT NOT NULL,
	owner TEXT NOT NULL,
	from_n {int} NOT NULL,
	to_n {int},
	PRIMARY KEY (workspace, owner)
) {strict};

CREATE TABLE restores (
	id TEXT PRIMARY KEY,
	workspace TEXT NOT NULL,
	target TEXT NOT NULL,
	before TEXT NOT NULL,
	begun_at {int} NOT NULL,
	ended_at {int},
	body TEXT NOT NULL,
	body_key {int},
	due_at {int},
	claim TEXT,
	CHECK ((ended_at IS NULL) = (due_at IS NOT NULL))
) {strict};
CREATE INDEX restores_due ON restores (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX one_restore ON restores (workspace) WHERE due_at IS NOT NULL;
`;

/** Time ranges are found without reading other rows; and a token's messages belong to its principal. */
const TABLES_7 = `
INSERT INTO aliases (platform, alias, principal, created_at)
SELECT 'api_server', 'token:' || name, principal, created_at FROM tokens WHERE true
ON CONFLICT (platform, alias) DO UPDATE SET principal = excluded.principal;
CREATE INDEX turns_started ON turns (started_at);
CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;
`;

/** Side messages of one conversation, and reasons of failed turns, are found without reading other deliveries. */
const TABLES_8 = `
CREATE INDEX deliveries_beside ON deliveries (conversation, kind, n) WHERE kind IN ('notice', 'command');
CREATE INDEX turns_failed ON turns (conversation) WHERE state = 'failed';
`;

/**
 * I19: a delivery's lane is its destination. `first_at` is set for the one delivery of a lane that is being sent or next, and says from
 * when; those behind it have none. The unique index refuses a second one. A preview being sent when the store was last open has an
 * unknown outcome: the next owner finds it as one that was being sent.
 */
const TABLES_9 = `
ALTER TABLE deliveries ADD COLUMN lane TEXT NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN first_at {int};
CREATE INDEX deliveries_lane ON deliveries (lane, n) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX deliveries_first ON deliveries (lane) WHERE first_at IS NOT NULL;
CREATE INDEX deliveries_next ON deliveries (first_at) WHERE first_at IS NOT NULL;
DROP INDEX deliveries_due;
UPDATE deliveries SET state = 'sending', due_at = created_at, claim = '0:preview' WHERE state = 'open' AND receipt IS NULL;
`;

/** As `laneOf` computes it. Sent deliveries are never sent again, and need none. */
const lanesOfOld = (chat: string, thread: string) => `
UPDATE deliveries SET lane = platform || '\n' || account || '\n' || coalesce(${chat}, '') || '\n' || coalesce(${thread}, '') WHERE state <> 'sent';
UPDATE deliveries SET first_at = due_at WHERE due_at IS NOT NULL AND NOT EXISTS (
	SELECT 1 FROM deliveries e WHERE e.lane = deliveries.lane AND e.due_at IS NOT NULL AND e.n < deliveries.n);
`;

/**
 * Whom a turn speaks for, and with it what it starts and asks (I18). Older rows have none: their person counts with their current role. A
 * grant is for one person, and has an end: older ones get one, and the operator is told how many.
 */
const TABLES_10 = `
ALTER TABLE turns ADD COLUMN speakers TEXT NOT NULL DEFAULT '[]';
ALTER TABLE processes ADD COLUMN role TEXT CHECK (role IN ('owner', 'member', 'guest'));
ALTER TABLE grants ADD COLUMN principal TEXT;
`;

const GRANTS_10 = (now: string) => `
UPDATE grants SET until = ${now} + 2592000000 WHERE revoked_at IS NULL AND (until IS NULL OR until > ${now} + 2592000000);
INSERT INTO settings (name, value)
SELECT 'grants_dated', CAST(count(*) AS TEXT) FROM grants WHERE revoked_at IS NULL AND until > ${now} HAVING count(*) > 0;
`;

/**
 * A session's extension, separate from the limit itself, which is the policy's and may change while a session is open. Older sessions:
 * the part of the cap above the current limit was added. And how much of the model's input came from a cache.
 */
const TABLES_11 = `
ALTER TABLE sessions ADD COLUMN added {int};
ALTER TABLE model_calls ADD COLUMN cached_tokens {int} NOT NULL DEFAULT 0;
`;

/**
 * Who resolved a confirmation, and when, is kept whatever follows. Unused approvals had lost both: the audit still has them. Approvals of
 * the compat port, whose clients never report using one, no longer expire.
 */
const APPROVALS_11 = (grant: string) => `
UPDATE confirmations SET resolved_at = a.at, resolved_by = CASE WHEN a.kind = 'approved' THEN a.who ELSE 'grant:' || (${grant}) END
FROM audit a WHERE a.confirmation = confirmations.id AND a.kind IN ('approved', 'auto_approved') AND a.body_key IS NULL
	AND confirmations.status = 'expired' AND confirmations.use_by IS NOT NULL;
UPDATE confirmations SET use_by = NULL, due_at = NULL
WHERE asked_by = 'compat' AND status IN ('approved', 'auto_approved');
`;

const KEPT = `OLD.status <> 'pending'
	AND (NEW.resolved_by IS DISTINCT FROM OLD.resolved_by OR NEW.resolved_at IS DISTINCT FROM OLD.resolved_at)`;

/** The allowed steps. Everything else is refused. */
const STEPS = `(OLD.status = 'pending' AND NEW.status IN ('approved', 'denied', 'expired', 'cancelled'))
	OR (OLD.status IN ('approved', 'auto_approved') AND NEW.status IN ('consumed', 'expired'))`;

const TRIGGERS_4 = {
	sqlite: `
CREATE TRIGGER confirmations_steps BEFORE UPDATE ON confirmations
WHEN NOT (${STEPS}) BEGIN
	SELECT RAISE(ABORT, 'a confirmation is resolved once and used once');
END;
CREATE TRIGGER confirmations_bound BEFORE UPDATE OF action, asked_by, session_key ON confirmations BEGIN
	SELECT RAISE(ABORT, 'what a confirmation asks about does not change');
END;
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN
	SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN
	SELECT RAISE(ABORT, 'the audit is append-only');
END;
`,
	postgres: `
CREATE FUNCTION confirmations_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a confirmation is resolved once and used once'; END $$;
CREATE TRIGGER confirmations_steps BEFORE UPDATE ON confirmations
FOR EACH ROW WHEN (NOT (${STEPS})) EXECUTE FUNCTION confirmations_steps();
CREATE FUNCTION confirmations_bound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'what a confirmation asks about does not change'; END $$;
CREATE TRIGGER confirmations_bound BEFORE UPDATE OF action, asked_by, session_key ON confirmations
FOR EACH ROW EXECUTE FUNCTION confirmations_bound();
CREATE FUNCTION audit_unchanged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit is append-only'; END $$;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_unchanged();
`,
};

/** The repair takes steps the trigger forbids, so the trigger is removed for it. */
const TRIGGERS_11 = {
	sqlite: `
DROP TRIGGER confirmations_steps;
${APPROVALS_11("a.body ->> 'grant'")}
CREATE TRIGGER confirmations_steps BEFORE UPDATE ON confirmations
WHEN NOT (${STEPS}) BEGIN
	SELECT RAISE(ABORT, 'a confirmation is resolved once and used once');
END;
CREATE TRIGGER confirmations_resolver BEFORE UPDATE ON confirmations
WHEN ${KEPT} BEGIN
	SELECT RAISE(ABORT, 'who resolved a confirmation does not change');
END;
`,
	postgres: `
ALTER TABLE confirmations DISABLE TRIGGER confirmations_steps;
${APPROVALS_11("a.body::json ->> 'grant'")}
ALTER TABLE confirmations ENABLE TRIGGER confirmations_steps;
CREATE FUNCTION confirmations_resolver() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'who resolved a confirmation does not change'; END $$;
CREATE TRIGGER confirmations_resolver BEFORE UPDATE ON confirmations
FOR EACH ROW WHEN (${KEPT}) EXECUTE FUNCTION confirmations_resolver();
`,
};

/**
 * A separate row says whether there is an audit, in every store from here on: `none` until the first entry, then `begun`, and `begun
 * again` if a first entry came once more. A store without that row had it removed. The head and the marks stay, as entries do.
 */
const AUDIT_12 = `
INSERT INTO settings (name, value)
SELECT 'audit', CASE WHEN EXISTS (SELECT 1 FROM audit) OR EXISTS (SELECT 1 FROM audit_head) THEN 'begun' ELSE 'none' END;
`;

const SHRINKS = "NEW.count <= OLD.count";
const IS_MARK = "OLD.name IN ('audit', 'audit_witness')";
const UNMARKS = `${IS_MARK} AND (NEW.name <> OLD.name OR (OLD.name = 'audit_witness' AND NEW.value <> OLD.value)
	OR (OLD.name = 'audit' AND OLD.value <> 'none' AND NEW.value NOT IN ('begun', 'begun again')))`;
const BEGIN =
	"UPDATE settings SET value = CASE value WHEN 'none' THEN 'begun' ELSE 'begun again' END WHERE name = 'audit'";

const TRIGGERS_12 = {
	sqlite: `
CREATE TRIGGER audit_begun AFTER INSERT ON audit WHEN NEW.n = 1 BEGIN
	${BEGIN};
END;
CREATE TRIGGER audit_head_kept BEFORE DELETE ON audit_head BEGIN
	SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER audit_head_grows BEFORE UPDATE ON audit_head WHEN ${SHRINKS} BEGIN
	SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER audit_marks_kept BEFORE DELETE ON settings WHEN ${IS_MARK} BEGIN
	SELECT RAISE(ABORT, 'that there is the audit does not change');
END;
CREATE TRIGGER audit_marks_unchanged BEFORE UPDATE ON settings WHEN ${UNMARKS} BEGIN
	SELECT RAISE(ABORT, 'that there is the audit does not change');
END;
`,
	postgres: `
CREATE FUNCTION audit_begun() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN ${BEGIN}; RETURN NULL; END $$;
CREATE TRIGGER audit_begun AFTER INSERT ON audit FOR EACH ROW WHEN (NEW.n = 1) EXECUTE FUNCTION audit_begun();
CREATE TRIGGER audit_head_kept BEFORE DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION audit_unchanged();
CREATE TRIGGER audit_head_grows BEFORE UPDATE ON audit_head
FOR EACH ROW WHEN (${SHRINKS}) EXECUTE FUNCTION audit_unchanged();
CREATE TRIGGER audit_marks_kept BEFORE DELETE ON settings
FOR EACH ROW WHEN (${IS_MARK}) EXECUTE FUNCTION audit_unchanged();
CREATE TRIGGER audit_marks_unchanged BEFORE UPDATE ON settings
FOR EACH ROW WHEN (${UNMARKS}) EXECUTE FUNCTION audit_unchanged();
`,
};

/**
 * What channels report besides messages. A message changed after a turn took it (amendments: the newest text, until the agent's next turn
 * has been told). A chat that moved, cannot be written to, or where only bots speak (chats). A platform's home channel as set in a chat.
 * Strangers' requests for access (pairings). Buttons of a delivery.
 */
const TABLES_13 = `
CREATE TABLE amendments (
	inbox {int} PRIMARY KEY,
	conversation TEXT NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN ('edited', 'deleted')),
	digest TEXT NOT NULL,
	at {int} NOT NULL,
	body TEXT,
	body_key {int}
) {strict};
CREATE INDEX amendments_untold ON amendments (conversation, inbox) WHERE body IS NOT NULL;
CREATE INDEX amendments_conversation ON amendments (conversation);

CREATE TABLE chats (
	platform TEXT NOT NULL,
	account TEXT NOT NULL,
	chat TEXT NOT NULL,
	moved_to TEXT,
	gone_reason TEXT,
	gone_at {int},
	bot_turns {int} NOT NULL DEFAULT 0,
	PRIMARY KEY (platform, account, chat),
	CHECK ((gone_reason IS NULL) = (gone_at IS NULL))
) {strict};
CREATE INDEX chats_moved ON chats (platform, account, moved_to) WHERE moved_to IS NOT NULL;

CREATE TABLE home_channels (
	platform TEXT PRIMARY KEY,
	account TEXT NOT NULL,
	chat TEXT NOT NULL,
	thread TEXT,
	set_at {int} NOT NULL,
	set_by TEXT,
	body TEXT NOT NULL,
	body_key {int}
) {strict};

CREATE TABLE pairings (
	n {ever},
	platform TEXT NOT NULL,
	account TEXT NOT NULL,
	alias TEXT NOT NULL,
	digest TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'denied', 'expired', 'revoked')),
	role TEXT CHECK (role IN ('owner', 'member', 'guest')),
	principal TEXT,
	destination TEXT NOT NULL,
	asked_at {int} NOT NULL,
	expires_at {int} NOT NULL,
	decided_at {int},
	decided_by TEXT,
	body TEXT NOT NULL,
	body_key {int},
	CHECK ((state = 'open') = (decided_at IS NULL)),
	CHECK (state <> 'approved' OR (role IS NOT NULL AND principal IS NOT NULL))
) {strict};
CREATE UNIQUE INDEX pairings_open ON pairings (platform, alias) WHERE state = 'open';
CREATE INDEX pairings_code ON pairings (platform, digest) WHERE state = 'open';
CREATE INDEX pairings_asked ON pairings (platform, alias, asked_at);
CREATE UNIQUE INDEX pairings_let_in ON pairings (platform, principal) WHERE state = 'approved';

CREATE TABLE pairing_guesses (
	platform TEXT PRIMARY KEY,
	wrong {int} NOT NULL,
	locked_until {int}
) {strict};

CREATE TABLE buttons (
	id TEXT PRIMARY KEY,
	delivery TEXT NOT NULL,
	conversation TEXT NOT NULL,
	platform TEXT NOT NULL,
	account TEXT NOT NULL,
	chat TEXT NOT NULL,
	confirmation TEXT,
	principal TEXT,
	until {int} NOT NULL,
	pressed_at {int},
	ended_at {int},
	body TEXT NOT NULL,
	body_key {int}
) {strict};
CREATE INDEX buttons_conversation ON buttons (conversation);
CREATE INDEX buttons_open ON buttons (confirmation) WHERE confirmation IS NOT NULL AND ended_at IS NULL;
CREATE INDEX buttons_until ON buttons (until);
`;

/** A button is pressed once, and its effect never changes. */
const PRESSED_ONCE = `(OLD.pressed_at IS NOT NULL AND NEW.pressed_at IS DISTINCT FROM OLD.pressed_at)
	OR NEW.body <> OLD.body OR NEW.principal IS DISTINCT FROM OLD.principal`;

const TRIGGERS_13 = {
	sqlite: `
CREATE TRIGGER buttons_once BEFORE UPDATE ON buttons WHEN ${PRESSED_ONCE} BEGIN
	SELECT RAISE(ABORT, 'a button is pressed once');
END;
`,
	postgres: `
CREATE FUNCTION buttons_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a button is pressed once'; END $$;
CREATE TRIGGER buttons_once BEFORE UPDATE ON buttons
FOR EACH ROW WHEN (${PRESSED_ONCE}) EXECUTE FUNCTION buttons_once();
`,
};

/**
 * A conversation's name and state. A generated title never replaces a person's. An archived or deleted conversation keeps all its rows:
 * only retention removes them.
 */
const TABLES_14 = `
ALTER TABLE conversations ADD COLUMN title_source TEXT CHECK (title_source IN ('model', 'user'));
ALTER TABLE conversations ADD COLUMN title_body TEXT;
ALTER TABLE conversations ADD COLUMN state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'archived', 'deleted'));
ALTER TABLE conversations ADD COLUMN state_at {int};
ALTER TABLE conversations ADD COLUMN pinned_at {int};
CREATE INDEX conversations_put_away ON conversations (state, last_activity_at, id) WHERE state <> 'open';
CREATE INDEX conversations_pinned ON conversations (last_activity_at, id) WHERE pinned_at IS NOT NULL;
CREATE INDEX checkpoints_conversation ON checkpoints (conversation) WHERE conversation IS NOT NULL;
`;

/**
 * Unprompted messages, once by id: where each went, its row in the target's transcript, and its text while there is no such row.
 * `sends_seen`: up to which of its chat's sends a conversation has them.
 */
const TABLES_SENDS = `
CREATE TABLE sends (
	n {serial},
	id TEXT NOT NULL UNIQUE,
	at {int} NOT NULL,
	target TEXT NOT NULL,
	lane TEXT,
	conversation TEXT,
	session {int},
	message {int},
	turn TEXT,
	sent_by TEXT NOT NULL,
	parts {int} NOT NULL,
	file TEXT UNIQUE,
	body TEXT,
	body_key {int},
	CHECK ((lane IS NULL) = (file IS NOT NULL)),
	CHECK ((conversation IS NULL) = (message IS NULL)),
	CHECK (lane IS NULL OR (body IS NULL) = (message IS NOT NULL))
) {strict};
CREATE INDEX sends_lane ON sends (lane, n) WHERE lane IS NOT NULL;
CREATE INDEX sends_turn ON sends (turn) WHERE turn IS NOT NULL;
CREATE INDEX sends_conversation ON sends (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX deliveries_receipt ON deliveries (receipt) WHERE kind = 'reply' AND turn IS NULL AND id LIKE 'send:%';
CREATE INDEX addresses_chat ON addresses (platform, account, chat);
ALTER TABLE conversations ADD COLUMN sends_seen {int} NOT NULL DEFAULT 0;
`;

/**
 * Jobs and their runs. `due_at` is an active job's next instant; `open_run` the instant of an unfinished run: a job runs once at a time.
 * A run is identified by its job and instant, which the primary key makes unique. Its result is its state; `settled_at` is set when the
 * result of its delivery is known, too.
 */
const TABLES_SCHEDULES = `
CREATE TABLE schedules (
	n {ever},
	id TEXT NOT NULL UNIQUE,
	principal TEXT,
	speaker TEXT NOT NULL,
	timing TEXT NOT NULL,
	zone TEXT NOT NULL,
	catch_up TEXT NOT NULL CHECK (catch_up IN ('none', 'once', 'all')),
	max_delay_seconds {int},
	conversation TEXT,
	state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'ended')),
	paused_because TEXT CHECK (paused_because IN ('user', 'failures', 'owner')),
	failures {int} NOT NULL DEFAULT 0,
	open_run {int},
	created_at {int} NOT NULL,
	updated_at {int} NOT NULL,
	body TEXT NOT NULL,
	body_key {int},
	due_at {int},
	CHECK ((state = 'active') = (due_at IS NOT NULL)),
	CHECK ((state = 'paused') = (paused_because IS NOT NULL))
) {strict};
CREATE INDEX schedules_principal ON schedules (principal, n);
CREATE INDEX schedules_conversation ON schedules (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX schedules_ready ON schedules (due_at) WHERE due_at IS NOT NULL AND open_run IS NULL;

CREATE TABLE schedule_runs (
	job TEXT NOT NULL,
	scheduled_at {int} NOT NULL,
	begun_by TEXT NOT NULL CHECK (begun_by IN ('schedule', 'person')),
	state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'asked', 'failed', 'expired', 'stopped', 'missed', 'refused')),
	reason TEXT,
	inbox {int},
	delivery TEXT NOT NULL CHECK (delivery IN ('none', 'chat', 'target', 'by_agent', 'refused')),
	delivery_reason TEXT,
	begun_at {int} NOT NULL,
	ended_at {int},
	settled_at {int},
	PRIMARY KEY (job, scheduled_at),
	CHECK ((state = 'open') = (ended_at IS NULL)),
	CHECK (settled_at IS NULL OR ended_at IS NOT NULL)
) {strict};
CREATE INDEX schedule_runs_unsettled ON schedule_runs (begun_at) WHERE settled_at IS NULL;
CREATE INDEX schedule_runs_inbox ON schedule_runs (inbox) WHERE inbox IS NOT NULL;
CREATE INDEX schedule_runs_settled ON schedule_runs (settled_at) WHERE settled_at IS NOT NULL;
`;

/** Tokens of bridge programs: a new role, and each one's channel. */
const TABLES_CHANNEL_TOKENS = `
CREATE TABLE tokens_next (
	name TEXT PRIMARY KEY,
	digest TEXT NOT NULL UNIQUE,
	role TEXT NOT NULL CHECK (role IN ('operator', 'approver', 'agent', 'reader', 'channel')),
	principal TEXT NOT NULL REFERENCES principals (id),
	session_key TEXT,
	channel TEXT,
	created_at {int} NOT NULL,
	created_by TEXT NOT NULL,
	expires_at {int},
	revoked_at {int},
	CHECK ((role = 'channel') = (channel IS NOT NULL))
) {strict};
INSERT INTO tokens_next (name, digest, role, principal, session_key, created_at, created_by, expires_at, revoked_at)
	SELECT name, digest, role, principal, session_key, created_at, created_by, expires_at, revoked_at FROM tokens;
DROP TABLE tokens;
ALTER TABLE tokens_next RENAME TO tokens;
`;

/**
 * The store's owners, by epoch. An ended one is dead: its unfinished work is taken over. `expires_at` is by the server's clock, and null
 * if a file lock is the proof. `writers` (PostgreSQL): what each of the owner's writers committed last, under its id.
 */
const TABLES_NODES = `
CREATE TABLE nodes (
	epoch {int} PRIMARY KEY,
	name TEXT NOT NULL,
	started_at {int} NOT NULL,
	expires_at {int},
	ended_at {int}
) {strict};
CREATE INDEX nodes_live ON nodes (epoch) WHERE ended_at IS NULL;
`;

/**
 * PostgreSQL's search: the words of each row (ASCII text is split here, other text before), and the same with tags as a set with an
 * index. A word counts by its first 500 characters, and of a text with too many different words only the first 200,000 characters count.
 */
const NODES_OWN = {
	sqlite: "",
	postgres: `
CREATE FUNCTION search_words(given TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN octet_length(given) = char_length(given)
		THEN btrim(regexp_replace(lower(given COLLATE "C"), '[^a-z0-9]+', ' ', 'g')) ELSE given END $$;
CREATE FUNCTION search_set(words TEXT, tags TEXT) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
	SELECT array_to_tsvector(ARRAY(SELECT DISTINCT left(w, 500) FROM unnest(string_to_array(words || ' ' || tags, ' ')) AS w WHERE w <> '')) $$;
CREATE FUNCTION search_tokens(words TEXT, tags TEXT) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN search_set(words, tags);
EXCEPTION WHEN program_limit_exceeded THEN
	RETURN search_set(left(words, 200000), tags);
END $$;
CREATE FUNCTION search_matches(words TEXT, tokens tsvector, alternatives json) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT EXISTS (SELECT 1 FROM json_array_elements(alternatives) AS a (v) WHERE tokens @@ (v ->> 'q')::tsquery
		AND NOT EXISTS (SELECT 1 FROM json_array_elements_text(v -> 'p') AS p (phrase) WHERE strpos(' ' || words || ' ', phrase) = 0)) $$;
ALTER TABLE search RENAME COLUMN text TO words;
ALTER TABLE search ALTER COLUMN words TYPE TEXT COLLATE "C";
ALTER TABLE search ADD COLUMN tokens tsvector;
UPDATE search SET words = search_words(words), tokens = search_tokens(search_words(words), tags);
ALTER TABLE search ALTER COLUMN tokens SET NOT NULL;
CREATE INDEX search_tokens ON search USING gin (tokens) WITH (fastupdate = off);
CREATE TABLE writers (
	epoch BIGINT NOT NULL,
	slot BIGINT NOT NULL,
	last TEXT NOT NULL,
	PRIMARY KEY (epoch, slot)
) WITH (fillfactor = 10);
`,
};

/** People who log in to the page. A person's role is read with each login, so that a change applies to all of them at once. */
const TABLES_PEOPLE = `
CREATE TABLE people (
	name TEXT PRIMARY KEY,
	role TEXT NOT NULL CHECK (role IN ('owner', 'member', 'guest')),
	created_at {int} NOT NULL,
	round {int} NOT NULL DEFAULT 0,
	revoked_at {int}
) {strict};

CREATE TABLE logins (
	id TEXT PRIMARY KEY,
	digest TEXT NOT NULL UNIQUE,
	person TEXT NOT NULL REFERENCES people (name),
	created_at {int} NOT NULL,
	expires_at {int} NOT NULL,
	revoked_at {int}
) {strict};
CREATE INDEX logins_person ON logins (person);
`;

/**
 * Results of an agent's unprompted messages. `untold_to`: the conversation whose agent must be told about a dead message. `sent_as`: the
 * sends with which a run's agent delivered its result, as a JSON array of ids.
 */
const TABLES_SEND_ENDS = `
ALTER TABLE sends ADD COLUMN untold_to TEXT;
CREATE INDEX sends_untold ON sends (untold_to) WHERE untold_to IS NOT NULL;
ALTER TABLE schedule_runs ADD COLUMN sent_as TEXT;
`;

/**
 * Several gateways on one store. `inbox.node`: who accepted a message, and starts its turn while alive. A duty is work that one node does
 * for all, such as the connection to a platform's account; a dead node's duty is free.
 */
const TABLES_CLUSTER = `
ALTER TABLE inbox ADD COLUMN node {int};
CREATE TABLE duties (
	name TEXT PRIMARY KEY,
	node {int} NOT NULL
) {strict};
`;

/**
 * SQLite: what happened in one conversation, found stretch by stretch of the log (1,024 events each). An index by conversation alone has a
 * page for each one that speaks, and every commit would write as many. Four characters of the id are enough: in one stretch few
 * conversations share them, and the statement compares the whole id.
 */
const EVENTS_BY_STRETCH = {
	sqlite: `
DROP INDEX events_conversation;
CREATE INDEX events_stretch ON events (id >> 10, substr(conversation, -4));
`,
	postgres: "",
};

/**
 * SQLite: for a CHECK with a list of more than two values, every statement that writes the column makes a table in memory and drops it,
 * which costs as much as writing the row. Comparing one by one allows the same values. Only the text of the constraint changes: no row is
 * read or written, however large the store. It needs `unsafeMode` of better-sqlite3. The last two statements tell other connections.
 */
const CHECKS_ONE_BY_ONE = {
	sqlite: `
PRAGMA writable_schema = ON;
${[
	oneByOne("turns", "state", "running interrupted completed failed stopped expired"),
	oneByOne("messages", "role", "system user assistant tool meta"),
	oneByOne("inbox", "kind", "person confirmation process schedule"),
	oneByOne(
		"inbox",
		"disposition",
		"answered merged command observed refused dropped_by_user stopped expired failed",
	),
	oneByOne("deliveries", "kind", "reply notice command"),
	oneByOne("deliveries", "state", "open pending sending sent unknown dead"),
	oneByOne("sessions", "cost_status", "none known partial unknown"),
].join("\n")}
PRAGMA writable_schema = RESET;
CREATE TABLE checks_changed (n INTEGER);
DROP TABLE checks_changed;
`,
	postgres: "",
};

function oneByOne(table: string, column: string, values: string): string {
	const names = values.split(" ").map((value) => `''${value}''`);
	const chain = names.map((name) => `${column} = ${name}`).join(" OR ");
	return `UPDATE sqlite_schema SET sql = replace(sql, '${column} IN (${names.join(", ")})', '${chain}') WHERE type = 'table' AND name = '${table}';`;
}

/** Columns that nothing has read since nodes took the place of claims. A gateway of the version before names them nowhere. */
const WITHOUT_CLAIMS = ["turns", "inbox", "processes", "restores"]
	.map((table) => `ALTER TABLE ${table} DROP COLUMN claim;`)
	.join("\n");

export type Dialect = "sqlite" | "postgres";

/** Forward only: a landed step is never edited; add the next one. */
const MIGRATIONS: readonly { readonly tables: string; readonly own: Record<Dialect, string> }[] = [
	{ tables: TABLES_1, own: TRIGGERS_1 },
	{ tables: TABLES_2, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_3, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_4, own: TRIGGERS_4 },
	{ tables: TABLES_5, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_6, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_7, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_8, own: { sqlite: "", postgres: "" } },
	{
		tables: TABLES_9,
		own: {
			sqlite: lanesOfOld("destination ->> 'chatId'", "destination ->> 'threadId'"),
			postgres: lanesOfOld("destination::json ->> 'chatId'", "destination::json ->> 'threadId'"),
		},
	},
	{
		tables: TABLES_10,
		own: {
			sqlite: GRANTS_10("CAST(unixepoch('subsec') * 1000 AS INTEGER)"),
			postgres: GRANTS_10("CAST(extract(epoch FROM now()) * 1000 AS BIGINT)"),
		},
	},
	{ tables: TABLES_11, own: TRIGGERS_11 },
	{ tables: AUDIT_12, own: TRIGGERS_12 },
	{ tables: TABLES_13, own: TRIGGERS_13 },
	{ tables: TABLES_14, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_SENDS, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_SCHEDULES, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_CHANNEL_TOKENS, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_NODES, own: NODES_OWN },
	{ tables: TABLES_PEOPLE, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_SEND_ENDS, own: { sqlite: "", postgres: "" } },
	{ tables: TABLES_CLUSTER, own: { sqlite: "", postgres: "" } },
	{ tables: "", own: EVENTS_BY_STRETCH },
	{ tables: "", own: CHECKS_ONE_BY_ONE },
	{ tables: WITHOUT_CLAIMS, own: { sqlite: "", postgres: "" } },
];

export const SCHEMA_VERSION = MIGRATIONS.length;

const WORDS: Record<Dialect, Record<string, string>> = {
	sqlite: {
		serial: "INTEGER PRIMARY KEY",
		ever: "INTEGER PRIMARY KEY AUTOINCREMENT",
		int: "INTEGER",
		bytes: "BLOB",
		strict: "STRICT",
	},
	postgres: {
		serial: "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
		ever: "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
		int: "BIGINT",
		bytes: "BYTEA",
		strict: "",
	},
};

/** Text is compared byte by byte, as SQLite does, whatever the database's language. */
const TEXT_COLUMN = /(^\t\w+ |ADD COLUMN \w+ )TEXT\b/gm;

/** The statements that migrate a store from a version (0: empty) to the next. */
export function migration(from: number, dialect: Dialect): string {
	const step = MIGRATIONS[from];
	if (!step) throw new RangeError(`no migration from version ${from}`);
	const tables = step.tables.replace(/\{(\w+)\}/g, (_, word: string) => WORDS[dialect][word] as string);
	return (
		(dialect === "postgres" ? tables.replace(TEXT_COLUMN, '$1TEXT COLLATE "C"') : tables) + step.own[dialect]
	);
}
