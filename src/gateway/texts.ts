// What commands, buttons and refusals say in a chat, in one place, so that it can be read and translated together. Values are inserted
// unchanged; callers must make people's text harmless first (commands/words.ts, I11). Notices are in sentences.ts.
import { KERYX } from "../called.ts";

/** An inserted value; null if the caller knows it is not missing. */
type Shown = string | number | null;

export const texts = {
	errors: {
		filesByTurns: "files can only be restored by a number of turns, not from a message",
		retryNeedsRunning: "Keryx must be running to answer again",
		compressNeedsRunning: "Keryx must be running to summarise, because it asks the model",
		wholeNumber: (command: Shown, what: Shown, least: Shown, most: Shown) =>
			`${command} takes a whole number of ${what} from ${least} to ${most}`,
		wrongArgument: (takes: Shown, given: Shown) => `${takes}, not ${given}`,
		example: (example: Shown) => `for example: ${example}`,
		ownerOnlyShared: (name: Shown) =>
			`Nothing was changed. In a shared conversation, only the owner can use /${name}.`,
		ownerOnly: (name: Shown) =>
			`Nothing was changed. Only the owner and the person this conversation belongs to can use /${name}.`,
		notForYou: (name: Shown) => `You cannot use /${name} here. /help lists the commands you can use.`,
	},
	checkpoint: {
		about: "save the files now",
		failed: (reason: Shown) => `no checkpoint was saved: ${reason}`,
		elsewhere: (machine: Shown) =>
			`commands and file tools of this profile run on ${machine}, and checkpoints do not cover files there`,
		unchanged: (id: Shown, ago: Shown) =>
			`No files have changed since checkpoint ${id} (${ago}), so no new one was saved.`,
		first: " From now on, Keryx saves one before and after every turn that changes files here.",
		saved: (id: Shown, files: Shown, shortId: Shown, first: Shown) =>
			`Checkpoint saved: ${id}, ${files}. /rollback ${shortId} restores it.${first}`,
		none: "There are no checkpoints of these files yet. Keryx saves one before the agent changes a file, or when you send /checkpoint.",
		noneYet: "there are no checkpoints here yet",
		takeOne: "send /checkpoint to save one",
		aCheckpoint: "A checkpoint",
		theList: "the list",
		howNamed: "name a checkpoint by its number in /rollback, or by its id",
		ambiguous: (count: Shown, which: Shown) => `${count} checkpoints start with ${which}`,
		notFound: (which: Shown) => `there is no checkpoint ${which} here`,
		listHint: "send /rollback to list them",
		off: "checkpoints are off",
		notAgreed: "this folder existed before Keryx, so no checkpoints are saved yet",
	},
	rollback: {
		about: "restore saved files",
		heading: "Checkpoints, newest first, with what changed since the one before:",
		older: (count: Shown) => `and ${count}`,
		howTo:
			"To restore the files, send /rollback and a number. To see what changed since, send /diff and a number.",
		restored: (count: Shown) => `${count} restored`,
		removed: (count: Shown) => `${count} removed`,
		done: (id: Shown, did: Shown, back: Shown) =>
			`Restored checkpoint ${id}: ${did}. /rollback ${back} undoes this.`,
		nothingToDo: (id: Shown) => `The files already match checkpoint ${id}. Nothing was changed.`,
		restoredList: "Restored",
		removedList: "Removed",
		force: (id: Shown) => `/rollback ${id} --force also undoes changes made by others.`,
		untouched: "Not in the checkpoint, so not restored",
		keptBecause: {
			changedSince: "someone other than the agent changed it",
			changing: "it changed during the restore",
			inTheWay: "another file that is kept is in the way",
			refused: "the system did not allow the change",
			lost: "the checkpoint no longer has its content",
		},
		kept: (files: Shown) => `Not changed: ${files}`,
	},
	diff: {
		about: "show file changes",
		lastTurn: "Changes made by the last turn that changed files",
		since: (id: Shown, ago: Shown) => `Since checkpoint ${id} (${ago})`,
		nothing: (what: Shown) => `${what}: no files changed.`,
		cut: "The rest is not shown.",
		binary: ", not text",
	},
	more: (count: Shown) => ` and ${count} more`,
	moreLine: (count: Shown) => `- and ${count} more`,
	ago: (duration: Shown) => `${duration} ago`,
	compress: {
		about: "summarise older messages",
		begun: (stopped: Shown) =>
			`${stopped}Summarising earlier messages. This may take a while; anything you send meanwhile is answered afterwards.`,
	},
	approve: {
		about: "approve a request",
		takes: "/approve takes an id, then once, session, conversation or always",
		programMay: "The program that asked may do it once.",
		doneNow: "Keryx does it now, once.",
		lasts: (action: Shown, scope: Shown) =>
			` From now on, ${action} is approved automatically ${scope}. To list or revoke this, run \`${KERYX} confirm grants\`.`,
		done: (action: Shown, follows: Shown, lasts: Shown) => `Approved: ${action}. ${follows}${lasts}`,
		scope: {
			session: "in this session",
			conversation: "in this conversation",
			always: "everywhere",
		},
		expired: "Too late: the request expired, so nothing was done. Ask again if you still want it.",
		settled: (status: Shown) => `This was already ${status}. Nothing was changed.`,
		ownerOnlyLonger: "only the owner can approve for longer than a session",
		onceOrSession: "use once or session",
		ownerOnlySend: "only the owner can approve a message to someone else",
		ownerOnlyWall: "only the owner can approve a wider wall",
		ownerOnlyWallHint: `the owner can answer with \`${KERYX} confirm list\` or on the page`,
		notYours: "you cannot approve this for longer, because someone else asked for it",
		useOnce: "use once",
		off: "confirmations are off here",
		nothingWaits: "nothing is waiting for confirmation here",
		notWaiting: (id: Shown) => `confirmation ${id} is not waiting here`,
		listHint: `run \`${KERYX} confirm list\` to see everything that is waiting`,
		several: (count: Shown, list: Shown) => `${count} requests are waiting: ${list}`,
		pickOne: (id: Shown) => `write the id of one of them after the command, such as ${id}`,
		mayNot: "only the owner or a member can decide this",
		react: "Or react to this message: 👍 for yes, 👎 for no.",
	},
	deny: {
		about: "deny a request",
		done: (action: Shown) => `Denied: ${action}. It was not done.`,
	},
	stop: {
		about: "stop the answer, or all",
		takes: (given: Shown) => `/stop takes nothing or all, not ${given}`,
		example: "send /stop or /stop all",
		nothing: "Nothing was running.",
		done: "Stopped. The text so far is kept.",
		dropped: (messages: Shown) => `Dropped ${messages}.`,
		cancelled: (confirmations: Shown) => `Cancelled ${confirmations}.`,
	},
	busy: {
		about: "queue, interrupt or steer",
		now: (meaning: Shown, mode: Shown) =>
			`While Keryx is answering, a new message ${meaning} (${mode}). To change this, send /busy queue, /busy interrupt or /busy steer.`,
		takes: "/busy takes queue, interrupt or steer",
		example: "/busy steer",
		changed: (meaning: Shown, before: Shown) =>
			`From now on, a new message ${meaning}. /busy ${before} undoes this.`,
		queue: "waits for its turn",
		interrupt: "stops the current answer and is answered instead",
		steer: "joins the current answer at its next step",
	},
	verbose: {
		about: "how much tool use to show",
		now: (shown: Shown, mode: Shown, unseen: Shown) =>
			`While tools run, you see ${shown} (${mode}). To change this, send /verbose all, /verbose new or /verbose off; /verbose default goes back to the setting.${unseen}`,
		takes: "/verbose takes all, new, off or default",
		example: "/verbose all",
		changed: (shown: Shown, before: Shown, unseen: Shown) =>
			`From now on, you see ${shown} while tools run. /verbose ${before} undoes this.${unseen}`,
		all: "every call with its arguments",
		new: "the current call",
		off: "nothing",
		unseen: " Answers are not streamed here (setting: display.streaming), so none of this is shown.",
	},
	model: {
		about: "show or change the model",
		now: (model: Shown, ignored: Shown) =>
			`This conversation uses ${model}. To choose another, send /model provider:model; /model default goes back.${ignored}`,
		takes: "/model takes provider:model or default",
		example: "/model anthropic:claude-sonnet",
		changed: (model: Shown, before: Shown, ignored: Shown) =>
			`From now on, ${model} answers here, until /new. /model ${before} undoes this.${ignored}`,
		ignored: (kind: Shown) =>
			` The current agent (${kind}) does not use a model, so this takes effect with one that does (setting: agent.kind).`,
		configured: "the configured model",
	},
	setHome: {
		about: "make this the home channel",
		takes: "/sethome takes nothing or off",
		done: (platform: Shown, undo: Shown) =>
			`This is now the home channel for ${platform}. /sethome off ${undo}.`,
		undoToConfig: "goes back to the one in config.yaml",
		undo: "undoes this",
		none: (platform: Shown) => `No home channel for ${platform} was set from a chat, so nothing was changed.`,
		backToConfig: (platform: Shown) =>
			`The home channel for ${platform} is the one in config.yaml again. /sethome makes it this chat.`,
		gone: (platform: Shown) => `${platform} no longer has a home channel. /sethome makes it this chat.`,
	},
	undo: {
		about: "undo the last n turns (1)",
		nothing: (stopped: Shown) => `${stopped}There is nothing to undo.`,
		noFiles: " No files were changed in it, so no files were restored.",
		done: (stopped: Shown, takenBack: Shown, files: Shown, hadWritten: Shown) =>
			`${stopped}${takenBack} /redo brings it back, as long as you have not written anything new.${files}${hadWritten}`,
		messagesStay:
			"The messages were kept, because the conversation continued before the files were restored.",
		doneWithFiles: (takenBack: Shown, hadWritten: Shown) =>
			`${takenBack} /redo brings the messages back, as long as you have not written anything new.${hadWritten}`,
		takenBack: (turns: Shown, messages: Shown) => `Undone: your last ${turns} (${messages}).`,
		turns: (count: Shown) => `${count} turns`,
		hadWritten: (text: Shown) => ` You wrote: ${text}`,
		busy: "Keryx is working on an answer that may change files",
		busyHint: "send /stop, then try again",
		thatTurn: "that turn",
		theseTurns: "these turns",
		noCheckpoint: (turns: Shown) =>
			`nothing was changed: ${turns} may have changed files, and there is no checkpoint from before`,
	},
	redo: {
		about: "undo the last /undo",
		nothing: "There is nothing to bring back. /redo works right after /undo, before you write anything new.",
		done: (stopped: Shown, messages: Shown) =>
			`${stopped}Brought back ${messages}. /undo removes them again.`,
	},
	retry: {
		about: "try the last answer again",
		nothing: (stopped: Shown) => `${stopped}There is no message to answer again.`,
		done: (stopped: Shown, hidden: Shown) => `${stopped}Answering again${hidden}.`,
		hidden: "; the previous answer no longer counts",
	},
	status: {
		about: "current session and activity",
		conversation: (key: Shown) => `Conversation ${key}`,
		noSession: "No session is open. Your next message opens one.",
		answeredBy: (model: Shown) => `Model: ${model}`,
		idle: "Keryx is idle.",
		working: "Keryx is working on an answer. /stop ends it.",
		waiting: (count: Shown) => `${count} waiting.`,
		reset: (when: Shown) => `Starts a new session: ${when}.`,
		continues: (session: Shown) => `, continued from ${session}`,
		session: (id: Shown, title: Shown, base: Shown, suspended: Shown, ago: Shown) =>
			`Session ${id}${title}${base}${suspended}, last active ${ago} ago`,
		noLimit: (messages: Shown) => `${messages}, no limit.`,
		limit: (used: Shown, limit: Shown, left: Shown, nearLimit: Shown) =>
			`${used} of ${limit} used, ${left} left${nearLimit}.`,
		nearLimit: "; /extend allows more",
		resetIdle: (duration: Shown) => `after ${duration} without a message`,
		resetDaily: (hour: Shown, timezone: Shown) => `daily at ${hour}:00 (${timezone})`,
		resetNever: "never automatically",
		resetBoth: (idle: Shown, daily: Shown) => `${idle}, and ${daily}`,
	},
	usage: {
		about: "tokens and cost",
		session: (spent: Shown) => `This session: ${spent}`,
		noSession: "No session is open.",
		today: (timezone: Shown, spent: Shown) => `This conversation today (${timezone}): ${spent}`,
		none: "no model calls.",
		noPrice: "price unknown",
		cost: (cost: Shown) => `cost ${cost}`,
		unpriced: (count: Shown) => `, plus ${count} with no known price`,
		cached: (tokens: Shown) => ` (${tokens} cached)`,
		line: (
			calls: Shown,
			inputTokens: Shown,
			cached: Shown,
			outputTokens: Shown,
			price: Shown,
			unpriced: Shown,
		) => `${calls}, ${inputTokens} tokens in${cached}, ${outputTokens} out, ${price}${unpriced}.`,
	},
	insights: {
		about: "statistics for all chats",
		failed: (percent: Shown) => `, ${percent}% failed`,
		heading: (days: Shown, conversations: Shown) => `The last ${days}, in ${conversations}:`,
		messages: (count: Shown) => `Messages: ${count}`,
		turns: (count: Shown) => `Turns: ${count}`,
		toolCalls: (count: Shown, failed: Shown) => `Tool calls: ${count}${failed}`,
		ended: (count: Shown) => `Sessions ended: ${count}`,
	},
	whoami: {
		about: "your role and identity",
		every: "You can use every command.",
		some: (commands: Shown) => `You can use ${commands}.`,
		name: (name: Shown, platform: Shown) => `You are ${name} on ${platform}.`,
		noName: "someone without a name",
		noId: "The platform does not say who you are.",
		ids: (ids: Shown) => `Your ids there: ${ids}`,
		principal: (principal: Shown) => `Your id in Keryx: ${principal}`,
		role: (role: Shown, may: Shown) => `Your role here is ${role}. ${may}`,
	},
	why: {
		about: "what happened to a message",
		takes: "/why takes a message's number, or how many messages back",
		example: "/why 2, for your second-to-last message",
		none: "There is no answered message in this conversation yet.",
		tooFew: (count: Shown) => `This conversation has fewer than ${count} messages.`,
		arrived: (time: Shown) => `${time} It arrived.`,
		message: (id: Shown) => `Message ${id}:`,
		waiting: "It is waiting for its turn.",
		working: "Keryx is working on it.",
		result: (result: Shown) => `Result: ${result}.`,
		answered: "it was answered",
		merged: "it was answered together with other messages",
		command: (name: Shown) => `it was the command /${name}`,
		observed: "it was read, but not addressed to Keryx",
		refused: (reason: Shown) => `it was refused: ${reason}`,
		dropped: "the user dropped it",
		stopped: "the user stopped the answer",
		expired: (reason: Shown) => `it was too old to answer: ${reason}`,
		failed: (reason: Shown) => `it could not be answered: ${reason}`,
	},
	help: {
		about: "this list",
		didYouMean: (name: Shown, like: Shown) =>
			`There is no command /${name}. Did you mean /${like}? /help lists them all.`,
		unknown: (name: Shown) => `There is no command /${name}. /help lists them all.`,
	},
	pair: {
		about: "let in people who asked",
		takes: "/pair takes approve or deny and a number, and optionally guest",
		nothing: "Nothing was changed.",
		approved: (who: Shown, role: Shown, n: Shown) =>
			`${who} can now write here as a ${role}. /pair deny ${n} undoes this.`,
		denied: (who: Shown) => `The request from ${who} was denied. They are not notified.`,
		revoked: (who: Shown) => `${who} can no longer write here.`,
		nobody: "Nobody is waiting to be let in.",
		heading: (people: Shown) => `${people} waiting to be let in:`,
		more: `\`${KERYX} pair list\` shows everyone.`,
		howTo:
			"Anyone can choose any name, so compare the code before you approve. Answer with /pair approve or /pair deny and the number.",
		who: (name: Shown, id: Shown, platform: Shown) => `${name} (${id} on ${platform})`,
		someone: "someone",
		buttons: {
			approve: "Let in",
			guest: "Let in as a guest",
			deny: "Deny",
		},
	},
	schedule: {
		about: "jobs that run later",
		takes:
			"/schedule takes a time and what to do, with | between them; or pause, resume, run or delete and an id",
		understood: (shown: Shown, next: Shown, change: Shown, command: Shown) =>
			`I understood: ${shown}.\nNext: ${next}.${change === "" ? "" : `\n${change}`}\n\nNothing is scheduled yet. Send this to create the job:\n${command}`,
		yes: "Create the job",
		created: (name: Shown, shown: Shown, next: Shown, id: Shown) =>
			`Scheduled ${name}: ${shown}. First run: ${next}. /schedule delete ${id} removes it.`,
		done: {
			pause: (name: Shown, id: Shown) => `Paused ${name}. /schedule resume ${id} starts it again.`,
			resume: (name: Shown, id: Shown) => `Resumed ${name}. /schedule pause ${id} stops it again.`,
			run: (name: Shown, _id: Shown) => `${name} runs now. Its result is delivered as usual.`,
			delete: (name: Shown, _id: Shown) => `Deleted ${name}, with its history.`,
		},
		none: "There are no jobs. For example: /schedule every weekday at 9 | summarise what is new",
		howTo: "/schedule pause, resume, run or delete with an id.",
	},
	processes: {
		about: "running programs",
		noneLately: "No programs have run in this conversation recently.",
		noneNow: "No programs are running here.",
		heading: (programs: Shown) => `${programs} running here:`,
		howTo: "/kill and an id stops one, /stop all stops all of them.",
		runningFor: (duration: Shown) => `running for ${duration}`,
		unreachable: "; its host does not answer, so this may be out of date",
		lost: (node: Shown) => `lost (node ${node}); found again when that gateway is back`,
		at: (node: Shown) => ` (node ${node})`,
		left: (pids: Shown) => `; still running: pid ${pids}`,
		off: "this Keryx cannot run programs",
		offHint: "the terminal and process tools are not enabled",
	},
	kill: {
		about: "stop a running program",
		takes: "/kill takes the id of a process, or the start of it",
		alreadyEnded: (id: Shown) => `${id} has already ended. Nothing was changed.`,
		done: (id: Shown, command: Shown) => `Killed ${id} (${command}) and everything it started.`,
		several: (programs: Shown) => `${programs} killed.`,
		failed: (id: Shown, processes: Shown, pids: Shown) =>
			`${id} could not be killed: ${processes} still running (pid ${pids}).`,
	},
	sessions: {
		about: "list or search past sessions",
		none: "There are no earlier sessions. /new starts one and keeps this one.",
		heading: "Earlier sessions, newest first:",
		howTo: "To go back to one, send /resume and its number. To search, send /sessions and some words.",
		elsewhere: (name: Shown) => `, in ${name}`,
		ended: {
			open: "still open",
			idle: "ended after no activity",
			daily: "ended by the daily reset",
			messageLimit: "reached its message limit",
			userNew: "ended by /new",
			userSwitch: "you switched to another",
			resumeExpired: "interrupted",
		},
		nothingFound: (query: Shown) =>
			`Nothing found for ${query}. Try fewer words, or the start of a word: "tul*".`,
		thisSession: "this session",
		found: (sessions: Shown) => `Found in ${sessions}, best matches first:`,
	},
	resume: {
		about: "switch to a past session",
		back: (ended: Shown) => ` /resume ${ended} goes back.`,
		done: (stopped: Shown, name: Shown, messages: Shown, back: Shown) =>
			`${stopped}You are now in session ${name}, with ${messages}.${back}`,
		notFound: (name: Shown) => `there is no session ${name}`,
		notFoundHint: "/sessions lists the sessions you can go back to",
	},
	new: {
		about: "start a new session",
		done: (stopped: Shown) => `${stopped}Started a new session.`,
		kept: (begun: Shown) => `${begun} The previous one is kept: /continue goes back to it.`,
	},
	continue: {
		about: "continue the previous session",
		done: (stopped: Shown, session: Shown) =>
			`${stopped}This session now continues ${session}, including everything said there. /new undoes this.`,
	},
	branch: {
		about: "branch off from here",
		done: (stopped: Shown, session: Shown) =>
			`${stopped}You are now on a branch that knows everything said so far. The original session stays as it is: /resume ${session} goes back to it.`,
	},
	title: {
		about: "name this session",
		none: "there is no session to name yet",
		unnamed: "This session has no name yet. To name it, send /title and a few words.",
		now: (title: Shown) => `This session is named ${title}. To rename it, send /title and a new name.`,
		done: (title: Shown, before: Shown) => `This session is now named ${title}.${before}`,
		before: (before: Shown) => ` It was ${before} before; /title with that name undoes this.`,
	},
	extend: {
		about: "allow n more messages (100)",
		noLimit: "This session has no limit, so there is nothing to extend.",
		done: (cap: Shown, used: Shown) =>
			`This session can now have ${cap}; ${used} are used. The limit cannot be lowered again, but /new starts a new session.`,
	},
	stoppedFirst: "The current answer was stopped. ",
	press: {
		unknown: "This button no longer works.",
		over: "Too late: this was already decided, or it has expired. Nothing was done.",
		used: "This button was already used. Nothing more was done.",
		notTheirs: "Only the person who was asked can answer this. Nothing was done.",
		underWay: "Working on it. The answer follows here.",
	},
	proof: {
		bot: "bots cannot decide anything, whatever their role",
		botHint: "a person has to send this",
		unproven: "this network does not say who you are, so you cannot decide anything here",
		unprovenHint: `log in to your account on the network, or use \`${KERYX} confirm\`, \`${KERYX} chat\` or the page`,
		noIdentity: "this connection does not say who you are",
		noIdentityHint: `use \`${KERYX} chat\`, the page, or an operator's token`,
		posted: "a program posted this in your name, so it cannot decide anything",
		postedHint: `send it from your chat, or use \`${KERYX} confirm\`, \`${KERYX} chat\` or the page`,
	},
} as const;
