// The command line's help and output in one place, so that it can be read and translated together.
// Grouped by command.
// Never here: chat texts (src/gateway), remedies of errors (src/errors.ts).
import { KERYX } from "../called.ts";

/** An inserted value; null if the caller knows it is not missing. */
type Shown = string | number | null;

export const texts = {
	program: {
		about: "The session gateway for AI agents. Without a command, Keryx starts.",
		help: "show help for a command",
		json: "print JSON, including errors",
		timeout: "stop waiting after this many seconds of silence (30)",
		examples: `
Examples:
  $ keryx                              run Keryx; on a terminal, talk to it
  $ echo hello | keryx chat            one message over a pipe
  $ keryx send "what is new?"          one message and its answer
  $ keryx sessions list                all sessions, newest first
  $ keryx sessions search tulips       search what was said
  $ keryx outbox                       answers that have not arrived
  $ keryx why 12                       what happened to message 12
  $ keryx ps                           the programs the agent started
  $ keryx attach 4f2a                  use one of them in this terminal
  $ keryx checkpoints list             snapshots of its files
  $ keryx confirm list                 requests waiting for your approval
  $ keryx token create ci --role agent a token for a program
  $ keryx doctor                       find problems and how to fix them
  $ keryx explain message.json         which conversation a message belongs to
  $ keryx backup keryx.backup          write everything to one file
  $ keryx config check                 find every problem in the configuration
  $ keryx config show --json           the current values and where each comes from

Exit codes: 0 done, 1 failure, 2 wrong usage or bad input. More: docs/reference/cli.md`,
		helpOption: "show help",
	},
	chat: {
		about: "talk to the agent in this terminal or over a pipe",
		new: "start a new session",
		session: "continue this session",
		join: "talk in another conversation, by its id or key",
		help: `
Examples:
  $ keryx chat                          continue where you left off
  $ keryx chat --new                    start a new session
  $ echo hello | keryx chat             one message per line, answers on stdout
  $ echo hello | keryx chat --json      everything that happens, one JSON object per line`,
		keys: "/help lists commands, Tab completes them, Alt-Enter adds a line, Ctrl-C twice leaves",
		running: "Keryx is running. Write a message to start.",
		sessionLine: (session: Shown, where: Shown) => `session ${session}${where}`,
		nothingToUndo: "There is nothing to undo.",
		lastExchange: "The last exchange",
		lastExchanges: (turns: Shown) => `The last ${turns} exchanges`,
		undone: (what: Shown, rows: Shown, was: Shown, it: Shown) =>
			`${what} (${rows} messages) ${was} undone. Your text is back in the box; /redo brings ${it} back.`,
		unreachable: (reason: Shown) => `Keryx cannot be reached: ${reason}`,
		gap: "Some of what happened is no longer stored; /status shows the current state.",
		quit: "leave; everything is kept",
		denied: (action: Shown) => `Denied: ${action}. It was not done.`,
		approved: (action: Shown) => `Approved: ${action}.`,
		moreWaiting: (count: Shown) => `, and ${count} more after it`,
		waiting: (action: Shown, others: Shown) => `${action} needs your approval: y approves, n denies${others}`,
		newOrSession: "use --new or --session, not both",
		noSession: (session: Shown) => `there is no session ${session}`,
		refused: (reason: Shown) => `the message was refused: ${reason}`,
	},
	send: {
		about: "send one message and print the answer",
		text: "the message; - reads it from stdin",
		conversation: "write in this conversation instead of the terminal's own",
		to: "send it to a chat instead, and ask nobody: local, a platform, platform:chat or conversation:id",
		noWait: "do not wait for the answer, or with --to for the platform",
		id: "your own id for the message: the same id again is not sent twice, but prints the result",
		help: `
The answer is printed on stdout as the agent wrote it; notices go to stderr. Commands such as /status also work.
Put words that start with a dash after --.

Examples:
  $ keryx send what did we say about tulips
  $ git diff | keryx send -
  $ keryx send --id backup-2026-03-10 "the backup is done" --no-wait
  $ keryx send /status
  $ keryx send --to telegram "the backup is done"
  $ keryx send --to telegram:-1001234:7 - < report.md

Exit codes: 0 answered, or sent; 1 not answered, or not known to have arrived (says why); 2 wrong usage.`,
		empty: "the message has no text",
		toAndConversation: "--to and --conversation cannot be used together",
		notRunning: "Keryx is not running, so nothing can be sent to a chat",
		notRunningHint: "start Keryx, then send it again",
		toAccepted: (to: Shown) => `The message to ${to} is on its way.`,
		sentTo: (to: Shown) => `Sent to ${to}.`,
		savedAs: (file: Shown) => `Saved as output/${file} in Keryx's home.`,
		sending: "waiting for the platform",
		notSent: (to: Shown, state: Shown, why: Shown) => `the message to ${to} is ${state}${why}`,
		notSentHint: `\`${KERYX} outbox\` lists it, and sends it again if you say so`,
		accepted: (id: Shown, id2: Shown) =>
			`Message ${id} was accepted. \`${KERYX} why ${id2}\` shows what happens to it.`,
		waiting: "waiting for the answer",
		maybe: (problem: Shown) => `${problem}, and may have accepted the message`,
		maybeHint: (hint: Shown, id: Shown) => `${hint}; send it again with --id ${id}: it is accepted only once`,
		endedBefore: "Keryx stopped before it said whether it accepted the message",
		endedBeforeHint: (id: Shown) => `start Keryx and send it again with --id ${id}: it is accepted only once`,
		endedWaiting: (id: Shown) => `Keryx stopped before message ${id} was answered`,
		endedWaitingHint: (id: Shown) =>
			`the message is saved: start Keryx, and it continues; \`${KERYX} why ${id}\` shows what happened`,
		ends: {
			stopped: "its answer was stopped",
			dropped: "it was dropped from the queue",
			refused: "it was refused",
			expired: "it became too old",
			failed: "it could not be answered",
		},
		noAnswer: (id: Shown, what: Shown, why: Shown) => `message ${id} has no answer: ${what}${why}`,
		noAnswerHint: (id: Shown) =>
			`\`${KERYX} why ${id}\` shows what happened; send it again with another --id, or none`,
	},
	sessions: {
		about: "list, read, search, export, import, resume, name, archive, delete",
		export: {
			about: "export one session, one conversation or everything",
			session: "only this session",
			conversation: "only this conversation",
			format: "jsonl, which can be imported again, or markdown",
			output: "write to this file instead of stdout",
			help: `
The file is private (0600) and appears only when it is complete.

Examples:
  $ keryx sessions export -o keryx.jsonl
  $ keryx sessions export --session 20260310_120000_1f3a90bc --format markdown | less
  $ keryx sessions export | gzip > keryx.jsonl.gz

Exit codes: 0 done, 1 failure (no such session, no space), 2 wrong usage.`,
			either: "use --session or --conversation, not both",
			jsonMarkdown: "--json and --format markdown cannot be combined without -o",
			progress: (size: Shown) => `exported ${size}`,
			failed: (file: Shown, problem: Shown) => `${file} cannot be written: ${problem}`,
		},
		import: {
			about: "import an export; what is already there is skipped",
			file: `a file from \`${KERYX} sessions export\`; - reads stdin`,
			origin: "where it comes from, in one word; stored with the import",
			help: `
If an import is interrupted, run it again. It stops at the first wrong line and names it; the
conversations before it are imported.

Examples:
  $ keryx sessions import keryx.jsonl
  $ gunzip < keryx.jsonl.gz | keryx sessions import - --origin laptop

Exit codes: 0 done, 1 failure, 2 wrong usage, an unreadable file, or a wrong line.`,
			progress: (size: Shown, of: Shown) => `imported ${size}${of}`,
			of: (size: Shown) => ` of ${size}`,
			present: (messages: Shown) => `Already there: ${messages}.`,
			leftOut: (messages: Shown) => `Skipped, because their sessions have continued here: ${messages}.`,
		},
		list: {
			about: "list the sessions of all conversations, newest activity first",
			conversation: "only those of this conversation",
			platform: "only those of this platform",
			archived: "those of archived conversations",
			deleted: `those of deleted conversations, which \`${KERYX} sessions restore\` brings back`,
			limit: (most: Shown) => `at most this many, 1 to ${most}`,
			help: `
Examples:
  $ keryx sessions list
  $ keryx sessions list --platform telegram --limit 5
  $ keryx sessions list --conversation agent:main:local:dm:cli --json
  $ keryx sessions list | cut -f2          only the ids

Columns: conversation, session, title or first words, messages, last active (a time when piped).
Exit codes: 0 done, 1 failure (no such conversation), 2 wrong usage.`,
			either: "use --archived or --deleted, not both",
			none: `There are no sessions yet. \`${KERYX} chat\` or \`${KERYX} send\` starts one.`,
			noneOfThese: "There are no such sessions.",
		},
		rename: {
			about: "name a conversation",
			title: "the title, at most 100 characters",
			done: (name: Shown) => `It is now named ${name}.`,
		},
		conversation: "its id or its key",
		pin: {
			about: "pin a conversation to the top of the page's list",
			done: (name: Shown, pinned: Shown) => `${name} is ${pinned}.`,
		},
		unpin: {
			about: "unpin a conversation",
		},
		conversations: "ids or keys",
		archive: {
			about: "archive conversations; the next message brings one back",
		},
		delete: {
			about: "hide conversations; they can be restored until retention removes them",
			done: `deleted; \`${KERYX} sessions restore\` brings them back`,
		},
		restore: {
			about: "restore archived or deleted conversations",
		},
		putAwayHelp: `
Examples:
  $ keryx sessions rename agent:main:telegram:dm:100 "Ada, holidays"
  $ keryx sessions archive 0198c0de-0000-7000-8000-000000000001
  $ keryx sessions list --deleted
  $ keryx sessions restore agent:main:telegram:dm:100

Exit codes: 0 done, 1 failure (no such conversation), 2 wrong usage.`,
		resume: {
			about: "switch to a session in this terminal's conversation",
			name: "its id or its title",
			help: `
The session becomes the live one in this terminal's conversation, so the next message continues it. A session from
another of your conversations is copied here, if routing.resume_scope allows it.

Examples:
  $ keryx sessions resume 20260310_120000_1f3a90bc
  $ keryx sessions resume holiday plans && keryx chat

Exit codes: 0 done, 1 failure (no such session, or not one you can use), 2 wrong usage.`,
			nothing: "nothing has been said in this terminal yet, so there is nothing to go back to",
			nothingHint: `\`${KERYX} chat\` or \`${KERYX} send\` starts a conversation`,
			notFound: (name: Shown) => `there is no session ${name} that this terminal can switch to`,
			notFoundHint: `\`${KERYX} sessions list\` shows ids and titles; routing.resume_scope says whose you can use`,
			done: (name: Shown, messages: Shown) =>
				`Session ${name} is now live in this terminal, with ${messages}.`,
			stopped: "The current answer was stopped first.",
			back: (ended: Shown) => `\`${KERYX} sessions resume ${ended}\` goes back.`,
			next: `\`${KERYX} chat\` continues it.`,
		},
		search: {
			about: "search what was said, best matches first",
			words: 'words that must all occur; "a phrase"; the start of a word: tul*',
			conversation: "only in this conversation",
			role: (roles: Shown) => `only messages from: ${roles}`,
			limit: (most: Shown) => `at most this many, 1 to ${most}`,
			help: `
Examples:
  $ keryx sessions search tulips
  $ keryx sessions search '"before the frost"' --role user
  $ keryx sessions search 'tul*' --json

When piped, one hit per line: session, seq, role, time, text.
Exit codes: 0 done, also when nothing is found, 1 failure, 2 wrong usage.`,
			nothing: (query: Shown) => `Nothing found for ${query}. Try fewer words, or tul* for tulips.`,
			more: (count: Shown, all: Shown) => `The best ${count} of ${all}; --limit shows more.`,
		},
		show: {
			about: "show what was said in a session, the newest part first",
			all: "from the beginning",
			limit: (most: Shown) => `the last rows, 1 to ${most}`,
			help: `
Tool calls are shown as one line each. Undone messages are left out. A session that continues another
one also shows that one's messages.

Examples:
  $ keryx sessions show 20260310_120000_1f3a90bc
  $ keryx sessions show 20260310_120000_1f3a90bc --all | less
  $ keryx sessions show 20260310_120000_1f3a90bc --json

Exit codes: 0 done, 1 failure (no such session), 2 wrong usage.`,
			earlier: "(earlier messages are left out: --all shows them)",
		},
		session: "its id",
		title: {
			about: "name a session",
			title: "the title, at most 100 characters",
			help: `
If another session in the conversation already has this title, a number is added.

Examples:
  $ keryx sessions title 20260310_120000_1f3a90bc holiday plans

Exit codes: 0 done, 1 failure (no such session), 2 wrong usage or a title without a visible character.`,
			done: (session: Shown, title: Shown, before: Shown) =>
				`Session ${session} is now named ${title}${before}.`,
			before: (before: Shown) => `; it was ${before}`,
		},
	},
	status: {
		about: "show whether Keryx is running, and how its channels are",
		help: `
Examples:
  $ keryx status
  $ keryx status --json

Exit codes: 0 running, 1 not running, or running with a problem. \`${KERYX} doctor\` checks more.`,
		running: (version: Shown, pid: Shown, ago: Shown) =>
			`Keryx ${version} is running (process ${pid}, started ${ago}).`,
		noneWaiting: "none waiting",
		waiting: (count: Shown) => `${count} waiting`,
		failing: (problem: Shown) => `Keryx cannot accept messages: ${problem}`,
		notRunning: (home: Shown) => `Keryx is not running in ${home}.`,
		inUse: (owner: Shown) => `Its store is in use by ${owner}.`,
		channel: (name: Shown) => `Channel ${name}`,
	},
	stop: {
		about: "stop the Keryx that is running here",
		help: `
Keryx finishes the answers it is working on first (setting: shutdown.drain_seconds). Nothing is lost: whatever is left
continues at the next start.

Examples:
  $ keryx stop
  $ keryx stop --timeout 120

Exit codes: 0 stopped, also if it was not running, 1 failure.`,
		notRunning: "Keryx is not running.",
		notYet: (pid: Shown) => `Keryx (process ${pid}) has not stopped yet`,
		notYetHint: (pid: Shown) =>
			`wait a little longer; if it hangs, end it with \`kill -9 ${pid}\`: nothing is lost`,
		done: (pid: Shown) => `Keryx has stopped (process ${pid}).`,
		refused: (pid: Shown, problem: Shown) => `process ${pid} cannot be stopped: ${problem}`,
		refusedHint: "stop it as the user who started it",
	},
	channels: {
		about: "connect and manage chat platforms",
		add: {
			about: "connect a platform: asks for the bot's token, tries it and saves it",
			name: "the entry's name in config.yaml (default: the platform)",
			account: "a name to tell this bot from another on the same platform",
			tokenEnv: "the environment variable with the token, instead of a key file",
			appTokenEnv: "the same for the app-level token, which Slack also needs",
			signingSecretFlag:
				"Slack posts events to your address: asks for the signing secret, not the app-level token",
			signingSecretEnv: "the same, with the environment variable that holds the signing secret",
			webhookUrl: "Telegram posts messages to this address, such as https://bot.example.org",
			apiRoot: "another server that speaks the platform's protocol",
			serverPasswordFlag: "IRC: the server has a password: asks for it",
			serverPasswordEnv: "the same, with the environment variable that holds it",
			install: "agree to install the packages that the platform needs",
			mayInstall: (packages: Shown, megabytes: Shown) =>
				`This platform needs packages that do not come with Keryx: ${packages} (about ${megabytes} MB).\nInstall them into Keryx's home? (y/n) `,
			networkNeeds: (platform: Shown, option: Shown) => `${platform} needs ${option}`,
			networkExample: (option: Shown, example: Shown) => `for example ${option} ${example}`,
			help: `
The token is saved in a file in Keryx's home that only you can read. A running Keryx connects at once.

Examples:
  $ keryx channels add telegram
  $ keryx channels add telegram < token.txt
  $ keryx channels add telegram --token-env TELEGRAM_TOKEN
  $ keryx channels add telegram --name second --account second
  $ keryx channels add slack
  $ printf '%s\\n%s\\n' "$BOT_TOKEN" "$APP_TOKEN" | keryx channels add slack
  $ keryx channels add slack --signing-secret
  $ keryx channels add telegram --webhook-url https://bot.example.org
  $ keryx channels add irc --server irc.libera.chat --nick keryx --login keryx --join '#keryx'
  $ keryx channels add xmpp --jid keryx@example.org --join team@rooms.example.org

Exit codes: 0 connected, 1 the platform refused the token, 2 wrong usage.`,
			done: (who: Shown, name: Shown) => `${who} is connected as channels.${name}.`,
			startKeryx: `Start Keryx with \`${KERYX}\`, and it answers there.`,
			nobodyYet: (platform: Shown) =>
				`Nobody can talk to it yet. Send it a message, and it replies with a code. Then run \`${KERYX} pair approve ${platform} <code> --role owner\`.`,
			token: (platform: Shown) => `Token of the ${platform} bot`,
			appToken: "App-level token (xapp-)",
			signingSecret: "Signing secret",
			notShown: (what: Shown) => `${what} (not shown): `,
		},
		install: {
			about: "install the packages that a platform needs into Keryx's home",
			nothing: (platform: Shown) => `Nothing to install for ${platform}.`,
			done: (packages: Shown) => `Installed ${packages}.`,
		},
		list: {
			about: "show each connection, its state and what is waiting to be sent",
			help: `
States: connected, starting, degraded, down (no sign of life), needs_attention (says what to do), stopped.

Examples:
  $ keryx channels list
  $ keryx channels list --json

Exit codes: 0 done, 1 failure.`,
			notRunning: "not running",
			notConnected: "not connected",
			none: `No chat platform is connected. To connect one, run \`${KERYX} channels add telegram\`.`,
		},
		test: {
			about: "ask the platform who the bot is, with the current token",
			done: (who: Shown, name: Shown) => `${who} answers: the token of channels.${name} works.`,
		},
		entry: "the entry's name in config.yaml",
		remove: {
			about: "remove a connection from config.yaml and delete its key file",
			done: (name: Shown) =>
				`Removed channels.${name}. Messages for it wait until a channel for that platform is back.`,
		},
	},
	mcp: {
		about: "serve MCP on stdin and stdout; below it, the MCP servers your agent uses",
		help: `
Without a command, Keryx is an MCP server for the program that starts it: put \`keryx mcp\` into that program's settings.

Examples:
  $ keryx mcp list
  $ keryx mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  $ keryx mcp test files

Exit codes: 0 done, 1 failure, 2 wrong usage.`,
		entry: "the entry's name in config.yaml",
		list: {
			about: "show each MCP server, its state, and who can use its tools",
			notRunning: "not running",
			none: `There are no MCP servers. To add one, run \`${KERYX} mcp add <name> <command>\`.`,
			nobody: "nobody",
		},
		test: {
			about: "connect to an MCP server and show what it offers",
			done: (name: Shown, tools: Shown, who: Shown) =>
				`${name} is connected, ${tools} tools, visible to ${who}:`,
			asks: " (asks first)",
			failed: (name: Shown, state: Shown, why: Shown) => `${name} is not connected (${state}): ${why}`,
		},
		add: {
			about: "add an MCP server to config.yaml; a running Keryx connects at once",
			name: "a name of your choice; its tools are called <name>__<tool>",
			command: "the program and its arguments, for a server on stdin and stdout",
			url: "the address, for a server over HTTP",
			header: "a header and the variable that holds its value, such as Authorization=FILES_KEY",
			env: "variables of Keryx's environment that the program may see",
			role: "who may use it: owner (default), member, guest",
			profile: "profiles that see it (default: all)",
			confirm: "which calls ask a person first: always, writes (default), never",
			help: `
Options of the program itself go behind --.

Examples:
  $ keryx mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  $ keryx mcp add notes --env NOTES_KEY -- notes-server --stdio
  $ keryx mcp add wiki --url https://wiki.example.org/mcp --header Authorization=WIKI_KEY

Exit codes: 0 added, 1 failure, 2 wrong usage.`,
			done: (name: Shown) => `Added mcp.servers.${name}.`,
			next: (name: Shown) => `\`${KERYX} mcp test ${name}\` shows what it offers.`,
			badHeader: (given: Shown) =>
				`--header must be <header>=<variable>, such as Authorization=FILES_KEY; this is ${given}`,
		},
		remove: {
			about: "remove an MCP server from config.yaml, with its login",
			done: (name: Shown) => `Removed mcp.servers.${name}.`,
		},
		login: {
			about: "log in at an MCP server over HTTP, in your browser",
			open: "Open this address in a browser on this machine, and allow Keryx in:",
			done: (name: Shown) => `Logged in at ${name}.`,
			notHttp: (name: Shown) => `mcp.servers.${name} has no url, so there is nothing to log in to`,
			notNeeded: (name: Shown) => `${name} lets Keryx in already.`,
			page: "Keryx is logged in. You can close this page.",
			refused: (why: Shown) => `the login was refused: ${why}`,
		},
	},
	outbox: {
		about: "answers that are waiting, may not have arrived, or failed",
		all: (count: Shown) => `all of them, not only the newest ${count} of each`,
		list: `the same as \`${KERYX} outbox\``,
		retry: {
			about: "send it again, although it may arrive twice",
			done: (when: Shown) => `is sent again ${when}`,
		},
		sent: {
			about: "mark it as arrived, because you have seen it",
			done: "is marked as arrived",
		},
		drop: {
			about: "give it up: it is not sent and no longer listed",
			done: "is dropped",
		},
		help: `
States: pending (waiting), sending, unknown (it may have arrived, so it is not sent again automatically), dead (given up).

Examples:
  $ keryx outbox
  $ keryx outbox --json
  $ keryx outbox retry 0198c5d2-...:1      send it again
  $ keryx outbox sent 0198c5d2-...:1       mark it as arrived
  $ keryx outbox drop 0198c5d2-...:1       give it up

When piped, one per line: id, state, to, since, attempts, why, text.
Exit codes: 0 done, 1 failure (no such delivery, or nothing to decide), 2 wrong usage.`,
		id: (which: Shown) => `the delivery's id, as shown by \`${KERYX} outbox\`; ${which}`,
		notSending: "not one that is being sent",
		onlyEnded: "only unknown and dead ones",
		later: "when Keryx runs again",
		empty: "Nothing is waiting, unknown or given up.",
		more: (count: Shown) => `${count} not shown: --all shows all of them.`,
		howTo: `\`${KERYX} outbox retry <id>\` sends one again, \`${KERYX} outbox sent <id>\` marks it as arrived, \`${KERYX} outbox drop <id>\` gives it up.`,
		notTried: "not tried yet",
		tried: (times: Shown) => `tried ${times}`,
		times: (count: Shown) => `${count} times`,
		line: (platform: Shown, chat: Shown, ago: Shown, tried: Shown, why: Shown) =>
			`  to ${platform} ${chat}, ${ago}, ${tried}${why}`,
	},
	nodes: {
		about: "the gateways that use this store",
		heading: ["number", "name", "since", "turns", "duties"],
		none: "No gateway runs on this store.",
		help: `
A store in a file has one gateway at most. On PostgreSQL several can share it: docs/guides/running-several.md.

Examples:
  $ keryx nodes
  $ keryx nodes --json

When piped, one per line: number, name, since, running turns, duties (what it does for all gateways).
Exit codes: 0 done, 1 failure, 2 wrong usage.`,
	},
	why: {
		about: "what happened to a message, step by step",
		number: (given: Shown) => `message must be a number, not ${given}`,
	},
	processes: {
		ps: {
			about: "list the programs the agent started",
			all: "also those that have ended, as long as they are kept",
			conversation: "only those of this conversation",
			help: `
Works with and without a running Keryx. Also lists what an ended process left running, processes whose host died, and processes
that only the store or only the host knows.

Examples:
  $ keryx ps
  $ keryx ps --all --conversation agent:main:local:dm:cli
  $ keryx ps --json
  $ keryx ps | cut -f1                 only the ids

When piped, one per line: id, state, pid, started, ended, exit code or signal, conversation, remarks, command.
Exit codes: 0 done, 1 failure (no such conversation, unreadable store), 2 wrong usage.`,
			none: "There are no processes.",
			noneRunning: "Nothing is running: --all also shows what has ended.",
		},
		logs: {
			about: "show the output of a program, or Keryx's own log",
			follow: "keep showing new output until it ends or you press Ctrl-C",
			lines: "how many of the last lines; all: from the beginning",
			raw: "also on a terminal, show the output unchanged, with colours and everything else",
			help: `
On a terminal, escape sequences are left out and other control characters are shown as escapes. When piped, the output is unchanged.
If part of the log was removed, a line says how many bytes are missing.

Examples:
  $ keryx logs 4f2a
  $ keryx logs 4f2a -f -n 0            only new output
  $ keryx logs 4f2a -n all > build.log
  $ keryx logs 4f2a --json
  $ keryx logs gateway -f              Keryx's own log

Exit codes: 0 done, 1 failure (no such process, or with -f its host died), 2 wrong usage.`,
			nothing: (id: Shown) => `${id} has printed nothing, or its log is gone.`,
		},
		attach: {
			about: "use a program in this terminal and leave it running",
			detachKey: "the key that leaves it running: ctrl- and a letter, \\, ], ^ or _",
			help: `
A process in a terminal (pty) uses this one: every key except the detach key, its size and its screen. When you leave, it gets its
own size back. A process on pipes gets lines; Ctrl-D closes its input, and Ctrl-C also leaves.

Examples:
  $ keryx attach 4f2a
  $ keryx attach 4f2a --detach-key ctrl-a

Exit codes: 0 if you left, otherwise the process's own exit code, or 128 plus the number of the signal that ended it; 1 if its host
died or there is no such process, 2 wrong usage, or no terminal.`,
			needsTerminal: "attach needs a terminal for input and output",
			needsTerminalHint: (id: Shown) => `\`${KERYX} logs -f ${id}\` follows the output without one`,
			attached: (id: Shown, command: Shown) => `Attached to ${id}: ${command}`,
			leaves: (key: Shown) => `${key} leaves it running.`,
			elsewhere: (id: Shown) => `${id} does not run on this machine`,
			elsewhereHint: `\`${KERYX} ps --all\` shows what is known about it`,
			printed: (id: Shown) => `\`${KERYX} logs ${id}\` shows its output`,
			left: (id: Shown, id2: Shown) =>
				`Left ${id}, which keeps running. \`${KERYX} attach ${id2}\` comes back to it.`,
			hostDied: (id: Shown) => `The host of ${id} died. \`${KERYX} ps\` shows what is still running.`,
			badKey: (given: Shown) =>
				`--detach-key must be ctrl- and a letter, \\, ], ^ or _, but not ctrl-i, ctrl-j or ctrl-m; it is ${given}`,
		},
		kill: {
			about: "stop programs and everything they started",
			ids: "their ids, or at least four characters of the start of each",
			signal: "sent first; whatever is still running after five seconds gets SIGKILL",
			conversation: "with --all: those of this conversation",
			all: "everything running in the conversation",
			help: `
Waits until everything has ended, including whatever the process started, even if its host died. Anything that is still running is
listed by its pid.

Examples:
  $ keryx kill 4f2a
  $ keryx kill 4f2a 77aa --signal INT
  $ keryx kill --conversation agent:main:local:dm:cli --all

If an id does not exist or is ambiguous, nothing is killed.
Exit codes: 0 everything has ended, 1 something is still running, or failure, 2 wrong usage or an ambiguous id.`,
			usage: "give ids, or --conversation and --all",
			badSignal: (given: Shown) => `--signal must be a signal such as TERM, INT or HUP; it is ${given}`,
			nothing: "Nothing is running there.",
			killed: "was killed, with everything it started.",
			ended: "had already ended.",
			survived: (pids: Shown) => `is not gone: pid ${pids} still running.`,
			failed: (problem: Shown) => `could not be killed: ${problem}`,
		},
		remarks: {
			unreachable: "its host does not answer, so this may be out of date",
			hostDied: "its host died; nothing of it is running",
			hostDiedLeft: (pids: Shown) => `its host died; still running: pid ${pids}`,
			left: (pids: Shown) => `still running: pid ${pids}`,
			notStored: "not in the store",
			unknown: "nothing on this machine knows about it",
			notRecorded: "not recorded yet: a running Keryx will do it",
			ended: (status: Shown) => `ended according to the store: ${status}`,
		},
		id: "its id, or at least four characters of its start; proc_ can be left out",
		hostDied: "its host died, so what happened to it is unknown",
		tooShort: (given: Shown) => `${given} is too short for an id`,
		tooShortHint: (least: Shown) => `use at least ${least} characters; \`${KERYX} ps --all\` shows the ids`,
		notFound: (given: Shown) => `no process has an id that starts with ${given}`,
		listHint: `\`${KERYX} ps --all\` shows the ids`,
		storeUnreadable: (problem: Shown) => `the store cannot be read: ${problem}`,
		cut: (bytes: Shown) => `[${bytes} bytes were removed here]`,
	},
	checkpoints: {
		take: {
			about: "save a snapshot of the agent's files",
			label: "a label for it",
			help: `
If no files have changed since the last checkpoint, no new one is saved, and the last one is shown.

Examples:
  $ keryx checkpoint
  $ keryx checkpoint before the big change
  $ keryx checkpoint --conversation agent:main:telegram:dm:100 --json

\`${KERYX} checkpoints list\` lists them, \`${KERYX} checkpoints restore <id>\` restores one.
Exit codes: 0 done, 1 failure (it could not be saved, or no such conversation), 2 wrong usage.`,
			unchanged: (id: Shown) => `No files have changed since checkpoint ${id}.`,
			done: (id: Shown, files: Shown) => `Saved checkpoint ${id} with ${files}.`,
		},
		about: "list, compare and restore snapshots of the agent's files",
		diff: {
			about: "show what changed since a checkpoint",
			id: "its id, or at least the first 7 digits; default: the newest",
			to: "compare with this checkpoint instead of now",
			stat: "only which files changed, and how much",
			help: `
Examples:
  $ keryx checkpoints diff                          since the newest
  $ keryx checkpoints diff 1f3a90b src/main.ts
  $ keryx checkpoints diff 1f3a90b --to 77aa01d --stat
  $ keryx checkpoints diff 1f3a90b > changes.patch
  $ keryx checkpoints diff 1f3a90b --json

Exit codes: 0 done, with or without differences, 1 failure (no such checkpoint), 2 wrong usage, a bad id or path.`,
			nothing: "Nothing differs.",
			cut: (path: Shown) => `The rest of ${path} is left out because it is too long.`,
		},
		path: "only this file or folder, relative to the workspace",
		none: `There are no checkpoints yet. \`${KERYX} checkpoint\` saves one.`,
		looking: "reading the files",
		list: {
			about: "list the checkpoints, newest first",
			help: `
Examples:
  $ keryx checkpoints list
  $ keryx checkpoints list --conversation agent:main:telegram:dm:100
  $ keryx checkpoints list | head -1 | cut -f1      the full id of the newest
  $ keryx checkpoints list --json

Columns: id, when, kind, label, files, changes since the one before. When piped, the changes are three columns (files,
insertions, deletions), followed by session and turn.
Exit codes: 0 done, 1 failure (no such conversation), 2 wrong usage.`,
			none: (workspace: Shown) =>
				`There are no checkpoints of ${workspace} yet. \`${KERYX} checkpoint\` saves one.`,
			of: (workspace: Shown, notSaved: Shown) => `Workspace: ${workspace}. ${notSaved}`,
			allSaved: "All of its files are saved.",
		},
		restore: {
			about: "undo what the agent changed since a checkpoint, but not what you changed",
			dryRun: "show what would be done, and change nothing",
			force: "also undo what you or others changed since",
			help: `
A checkpoint of the current files is saved first, so that you can undo the restore. Files that are not in the checkpoint are not
touched.

Examples:
  $ keryx checkpoints restore 1f3a90b --dry-run
  $ keryx checkpoints restore 1f3a90b
  $ keryx checkpoints restore 1f3a90b src/main.ts --force
  $ keryx checkpoints restore 1f3a90b --json

Exit codes: 0 done, even if files changed by others were kept; 1 failure (no such checkpoint, or a file could not be
restored), 2 wrong usage, a bad id or path.`,
			nothingWould: (id: Shown) => `Restoring ${id} would change nothing.`,
			would: "This is what would be done; nothing was changed. Run it again without --dry-run to do it.",
			nothing: (id: Shown) => `The files already match ${id}. Nothing was changed.`,
			undo: (id: Shown, where: Shown) => `To undo this: ${KERYX} checkpoints restore ${id}${where}`,
			keptBecause: {
				changedSince: "someone other than the agent changed it",
				changing: "it changed during the restore",
				inTheWay: "another file that is kept is in the way",
				refused: "the system did not allow the change",
				lost: "the checkpoint no longer has its content",
			},
			notSaved: "it is not in the checkpoint",
			forceHint: "--force also undoes changes made by others.",
		},
		id: "its id, or at least the first 7 digits",
		notSaved: {
			never: "never saved",
			ignored: "listed in .gitignore",
			tooLarge: "too large",
			noFiles: "not regular files",
			list: (reasons: Shown) => `Not saved: ${reasons}.`,
		},
		conversation: "use the folder of this conversation instead of the terminal's own",
		noFolder: "this terminal has no conversation yet, so it has no folder",
		noFolderHint: `talk to Keryx first (\`${KERYX} chat\`), or name a conversation with --conversation`,
	},
	confirm: {
		about: "list and answer requests for confirmation, and check the audit",
		notYes: "nothing was changed, because you did not say yes",
		audit: {
			about: "show every change and whether the record is complete",
			limit: (most: Shown) => `the last entries, 1 to ${most}`,
			of: "only entries for this confirmation",
			verify: "check the whole chain instead",
			accept: "after restoring a backup: accept the audit as it is now",
			yes: "with --accept: do not ask; required in scripts",
			help: `
Every entry has a code made from itself and the one before, with a key that is not in the store. So a changed
entry, a missing one or a cut-off end is detected. A witness next to the key (audit.witness) holds the number of
entries and the last code, so that deleting or replacing the whole audit is detected, too. Store the head that
--verify prints somewhere else: it proves later that nothing before it was replaced, even by someone with the key.

After you restore an older backup, the witness has seen more entries than the store has. --accept confirms that
this is intended, and adds an entry.

Examples:
  $ keryx confirm audit
  $ keryx confirm audit --of 1f3a90bc77aa
  $ keryx confirm audit --verify
  $ keryx confirm audit --verify --json
  $ keryx confirm audit --accept

Columns: number, time, what, confirmation, who, from where, details.
Exit codes: 0 done, 1 failure, or with --verify: an entry is wrong, 2 wrong usage.`,
			none: "Nothing has happened yet.",
			wrong: (n: Shown, problem: Shown, count: Shown) =>
				`WRONG: entry ${n}: ${problem}. The ${count} entries before it are unchanged.`,
			whole: (entries: Shown, head: Shown) => `The audit is complete: ${entries}${head}.`,
			head: (head: Shown) => `, head ${head}`,
			yesHint: `check it with \`${KERYX} confirm audit --verify\`, then add --yes`,
			entry: (n: Shown, problem: Shown) => `Entry ${n}: ${problem}.`,
			question: "Accept the audit as it is?",
			kept: "the audit was not accepted, and the warning stays",
			accepted: (entries: Shown) => `Accepted the audit: ${entries}, including this one.`,
		},
		yesRequired: "--yes is required when there is nobody to ask",
		approve: {
			about: "approve exactly this request",
			reason: "why; stored in the audit",
			grant: (scopes: Shown) => `approve the same action from now on: ${scopes}`,
			until: "how long the grant is valid: 30m, 2h, 7d, or an ISO 8601 time",
			edit: "approve these arguments instead, as a JSON object; - reads stdin",
			yes: "do not ask; required in scripts",
			help: `
On a terminal it shows the exact arguments and asks. In a script, with --json or with --edit -, nobody can be
asked, so --yes is required.

A grant with scope session is valid for the same caller until the conversation's session ends, conversation for
the same caller in the same conversation, always for the same caller everywhere. Actions in
confirmations.always_confirm are asked about every time.

Examples:
  $ keryx confirm approve 1f3a90bc77aa
  $ keryx confirm approve 1f3 --reason "after the backup" --yes
  $ keryx confirm approve 1f3 --grant conversation --until 2h
  $ keryx confirm approve 1f3 --edit smaller.json

Exit codes: 0 approved, 1 failure (no such confirmation, already decided, expired, you said no),
2 wrong usage.`,
			yesHint: `look at it with \`${KERYX} confirm show\`, then add --yes`,
			edited: "arguments to approve instead",
			question: "Approve exactly this?",
			stillWaiting: (id: Shown, id2: Shown) =>
				`${id} is still waiting; to deny it, run \`${KERYX} confirm deny ${id2}\``,
			untilNeedsGrant: "--until says how long a grant is valid: add --grant",
			untilPast: "--until must be in the future",
			notObject: (name: Shown) => `${name} must contain a JSON object with the arguments`,
			notObjectHint: `start from \`details\` in \`${KERYX} confirm show <id> --json\``,
			notJson: (name: Shown, problem: Shown) => `${name} is not JSON: ${problem}`,
		},
		id: "its id, or the start of it",
		deny: {
			about: "deny a request",
			reason: "why; shown to the caller",
			help: `
Examples:
  $ keryx confirm deny 1f3a90bc77aa
  $ keryx confirm deny 1f3 --reason "use the staging system"

Exit codes: 0 denied, 1 failure (no such confirmation, already decided, expired), 2 wrong usage.`,
		},
		decided: (id: Shown, action: Shown, status: Shown, who: Shown) =>
			`${id} (${action}) was ${status} by ${who}.`,
		notRunning: "Keryx is not running: the agent is told when it runs again.",
		noneWaiting: "no waiting confirmation",
		none: "no confirmation",
		listHint: `\`${KERYX} confirm list\` shows the ids`,
		grants: {
			about: "list standing approvals, newest first",
			revoke: "revoke one; the start of its id is enough",
			help: `
Examples:
  $ keryx confirm grants
  $ keryx confirm grants --json
  $ keryx confirm grants --revoke 0198c5d231aa

Columns: id, state (valid, expired, revoked), scope, action, for whom, conversation, until, given by.
Exit codes: 0 done, 1 failure (no such grant), 2 wrong usage.`,
			none: "There are no grants: every action is asked about.",
			notFound: (start: Shown) => `no grant has an id that starts with ${start}`,
			listHint: `\`${KERYX} confirm grants\` shows the ids`,
			already: (id: Shown) => `grant ${id} was already revoked`,
			done: (id: Shown, action: Shown) => `Revoked grant ${id}: ${action} is asked about again.`,
		},
		list: {
			about: "list waiting requests first, then the others, newest first",
			status: (statuses: Shown) => `only those that are ${statuses}`,
			limit: (most: Shown) => `at most this many, 1 to ${most}`,
			help: `
Examples:
  $ keryx confirm list
  $ keryx confirm list --status denied --limit 5
  $ keryx confirm list --status pending --json
  $ keryx confirm list --status pending | cut -f1      only the ids

Columns: id, state, action, asked by, conversation, description. When piped, the state is followed by the deadline.
Exit codes: 0 done, 1 failure, 2 wrong usage.`,
			nothing: "Nothing has been asked yet.",
			noneWith: (status: Shown) => `There are none that are ${status}.`,
			howTo: `\`${KERYX} confirm show <id>\` shows the arguments. Answer with \`${KERYX} confirm approve <id>\` or \`${KERYX} confirm deny <id>\`.`,
		},
		show: {
			about: "show one request: its arguments, who was notified and the result",
			help: `
An approval is only valid for exactly these arguments: other arguments need another confirmation.

Examples:
  $ keryx confirm show 1f3a90bc77aa
  $ keryx confirm show 1f3 --json

Exit codes: 0 done, 1 failure (no such confirmation), 2 wrong usage or an ambiguous id.`,
			label: (label: Shown) => `, who uses the name ${label}`,
			unused: "not used by",
			nobody: "nobody: no chat and no webhook is configured",
			couldNot: "could not be notified",
			requester: (who: Shown, name: Shown) => `${who}, under the name ${name}`,
			arguments: "requested arguments",
			changed: "changed by the approver to",
		},
	},
	confirmd: {
		about: "run only the confirmation service, for other agents",
		noDatabaseHint: `check the path; \`${KERYX} confirmd\` and \`${KERYX} token create\` make one`,
		socketTooLong: "choose a shorter --db-path, or another folder: the socket is created next to it",
		portTaken: (field: Shown) => `choose another ${field} or --host, or stop the program that uses this one`,
		host: (usual: Shown) => `the address to listen on; ${usual}, or CONFIRMATION_HOST`,
		port: (usual: Shown) => `${usual}, or CONFIRMATION_PORT; 0 is any free port`,
		dbPath: "its database; default: confirmations.db in Keryx's home",
		rateLimit: "requests per token and action in an hour, or CONFIRMATION_RATE_LIMIT",
		webhook: "notify this address of every request, signed",
		webhookSecret: "the environment variable with the signing secret",
		compatPort: "a second port, on loopback, that accepts requests and tells their status without a token",
		help: `
Options override the variables. The rest (actions that are always asked about, deadlines, webhooks) is set in the
section confirmations of config.yaml. It stops on SIGTERM and SIGINT; requests that are waiting are kept.

Commands find it by its database, whether it is running or not:
  $ keryx token create ci --role agent --db-path ~/.keryx/confirmations.db
  $ keryx confirm list --db-path ~/.keryx/confirmations.db

Examples:
  $ keryx confirmd
  $ keryx confirmd --port 8080 --db-path ./confirmations.db --rate-limit 30
  $ HOOK_SECRET=... keryx confirmd --webhook https://example.org/asked --webhook-secret-env HOOK_SECRET
  $ keryx confirmd --compat-port 6000

Exit codes: 0 stopped, 1 failure (the port or the database is in use), 2 wrong usage.`,
		listening: (url: Shown, dbPath: Shown) => `confirmd listens on ${url}; its database is ${dbPath}`,
		compat: (url: Shown) => `Without a token, only requests and their status: ${url}`,
		tokenHint: (dbPath: Shown) =>
			`To make a token for an agent: ${KERYX} token create <name> --role agent --db-path ${dbPath}`,
		webhookTogether: "--webhook and --webhook-secret-env must be used together",
		webhookAddress: (url: Shown) => `--webhook must be an http or https address, not ${url}`,
		secretHint: "make one with `openssl rand -hex 32`, and give it to the receiver",
		secretMissing: (name: Shown) => `${name} is not set: it must contain the webhook's secret`,
		dbPathOption: "use the confirmd with this database instead of Keryx",
		otherStore: (path: Shown) => `A confirmd has its own: look there with --db-path ${path}.`,
		otherStoreHint: (hint: Shown, path: Shown) =>
			`${hint}; a confirmd has its own: look there with --db-path ${path}`,
	},
	token: {
		about: "manage API tokens for programs and people",
		create: {
			about: "make a token; it is printed only once",
			name: "its name, never reused: the audit shows it",
			role: (roles: Shown) => `what it allows: ${roles}`,
			conversation: "the only conversation it can be used for",
			channel: "with --role channel: the channel it speaks for, as named in config.yaml",
			days: (most: Shown) => `how many days it is valid, 1 to ${most}; default: forever`,
			help: `
  operator   can do everything, including tokens
  approver   a person who answers confirmations
  agent      a program that asks for confirmations, but cannot answer them
  reader     can read everything and change nothing

When piped, stdout contains only the token.

Examples:
  $ keryx token create ci --role agent --days 90
  $ keryx token create ann-phone --role approver
  $ keryx token create shop --role agent --conversation agent:main:telegram:dm:42
  $ keryx token create ci --role agent > ci.token

Exit codes: 0 done, 1 failure (the name is or was in use), 2 wrong usage.`,
			done: (name: Shown, role: Shown, until: Shown) =>
				`This is the token ${name} with the role ${role}${until}. It is not shown again. Send it as "Authorization: Bearer <token>".`,
			until: (until: Shown) => `, valid until ${until}`,
		},
		list: {
			about: "list all tokens, also ended ones, oldest first; never the token itself",
			help: `
Examples:
  $ keryx token list
  $ keryx token list --json

Columns: name, state (valid, expired, revoked), role, conversation, created, by, until.
Exit codes: 0 done, 1 failure, 2 wrong usage.`,
			none: `There are no tokens. \`${KERYX} token create\` makes one.`,
		},
		revoke: {
			about: "revoke a token at once",
			name: "its name",
			help: `
Requests made with it stay; its name cannot be used again.

Examples:
  $ keryx token revoke ci

Exit codes: 0 done, 1 failure (no such token, or already revoked), 2 wrong usage.`,
			already: (name: Shown) => `the token ${name} was already revoked`,
			done: (name: Shown) => `Revoked the token ${name}. It no longer works.`,
		},
	},
	pair: {
		about: "let in people who asked in a chat",
		list: {
			about: "show who has asked and who was let in, newest first; never a code",
			help: `
Examples:
  $ keryx pair list
  $ keryx pair list --json

Columns: number, platform, id, name, state (open, approved), role, asked, code valid until.
Exit codes: 0 done, 1 failure, 2 wrong usage.`,
			none: "Nobody has asked. With `pairing: true` under auth.<platform>, strangers who write get a code.",
		},
		approve: {
			about: "let someone in and tell them",
			done: (name: Shown, platform: Shown, role: Shown) =>
				`${name} on ${platform} is now ${role === "owner" ? "an" : "a"} ${role}.`,
			help: `
A stranger who writes to the bot gets a code of 8 characters, which is valid for an hour. After five wrong codes, no code is
accepted on that platform for an hour.

Examples:
  $ keryx pair approve telegram K7MPQ2XA
  $ keryx pair approve telegram K7MPQ2XA --role guest
  $ keryx pair approve telegram 3

Exit codes: 0 done, 1 failure (wrong code, expired), 2 wrong usage.`,
		},
		platform: "where they wrote",
		code: `the code they were sent, or the number from \`${KERYX} pair list\``,
		role: (roles: Shown) => `their role: ${roles}`,
		deny: {
			about: "refuse a request, or remove someone who was let in",
			done: (name: Shown, platform: Shown) =>
				`Denied the request from ${name} on ${platform}. They are not notified.`,
			removed: (name: Shown, platform: Shown) => `${name} on ${platform} can no longer write here.`,
			help: `
Examples:
  $ keryx pair deny telegram K7MPQ2XA
  $ keryx pair deny telegram 3

Exit codes: 0 done, 1 failure (wrong code, already decided), 2 wrong usage.`,
		},
	},
	schedule: {
		about: "jobs that run later, or repeatedly",
		job: `the id of a job, as \`${KERYX} schedule list\` shows it`,
		list: {
			about: "show all jobs, newest first",
			none: `There are no jobs. \`${KERYX} schedule add\` makes one.`,
			help: `
Examples:
  $ keryx schedule list
  $ keryx schedule list --json

Columns: id, name, task (prompt, text, command), when, state (active, paused, ended), next run.
Exit codes: 0 done, 1 failure, 2 wrong usage.`,
		},
		add: {
			about: "create a job; a time in words is shown as an exact time first",
			when: "in words (tomorrow at 9), or exactly (2026-11-17T09:00, every 30m, 0 9 * * 1-5)",
			ask: "what to ask the agent in each run",
			say: "a text to send as it is",
			run: "a command to run; needs approval like any other",
			to: "where the result goes, such as telegram, telegram:123 or local",
			failure: "where to report failures (default: the home channels)",
			model: "the model for its runs, as model or provider:model (default: the configured one)",
			zone: "the time zone (default: the configured one)",
			name: "what the job is called",
			yes: "accept the time as understood, without showing it first",
			one: "give exactly one of --ask, --say and --run",
			understood: (shown: Shown) => `Understood: ${shown}. The next runs:`,
			notYet: (exact: Shown) =>
				`Nothing is scheduled yet. Run the command again with ${JSON.stringify(exact)} as the time, or with --yes.`,
			done: (id: Shown, shown: Shown) => `Created ${id}: ${shown}.`,
			help: `
Keryx reads a time in English words and shows the exact time. The job is created only when you give the exact form, or --yes.

Examples:
  $ keryx schedule add "every weekday at 9" --ask "summarise what is new" --to telegram
  $ keryx schedule add 2026-11-17T09:00 --say "call the dentist" --to telegram:123
  $ keryx schedule add "0 3 * * *" --run "pg_dump app > backup.sql" --zone Europe/Berlin

Exit codes: 0 done, 1 failure, 2 wrong usage.`,
		},
		show: {
			about: "show a job with its next runs and its history",
			model: (name: Shown) => `Model: ${name}`,
			limit: "at most this many runs, 1 to 200",
			help: `
Each run shows two results: of the run itself, and of the delivery of its answer.

Examples:
  $ keryx schedule show job_1a2b3c4d5e
  $ keryx schedule show job_1a2b3c4d5e --limit 100 --json

Columns: scheduled, run, why, delivery.
Exit codes: 0 done, 1 failure (no such job), 2 wrong usage.`,
		},
		pause: {
			about: "pause a job",
			done: (id: Shown) => `Paused ${id}.`,
			help: `
Examples:
  $ keryx schedule pause job_1a2b3c4d5e

Exit codes: 0 done, 1 failure (no such job), 2 wrong usage.`,
		},
		resume: {
			about: "resume a paused job; runs missed meanwhile are skipped",
			done: (id: Shown) => `Resumed ${id}.`,
			help: `
Examples:
  $ keryx schedule resume job_1a2b3c4d5e

Exit codes: 0 done, 1 failure (no such job), 2 wrong usage.`,
		},
		run: {
			about: "run a job now, in addition to its schedule",
			done: (id: Shown) => `${id} runs now.`,
			help: `
Examples:
  $ keryx schedule run job_1a2b3c4d5e

Exit codes: 0 done, 1 failure (no such job, already running), 2 wrong usage.`,
		},
		delete: {
			about: "delete a job with its history",
			done: (id: Shown) => `Deleted ${id}.`,
			help: `
Examples:
  $ keryx schedule delete job_1a2b3c4d5e

Exit codes: 0 done, 1 failure (no such job), 2 wrong usage.`,
		},
	},
	gatewayLog: {
		none: (path: Shown) => `There is no log yet: ${path} is written while Keryx runs.`,
	},
	login: {
		about: "log people in to the page, each with their own role",
		for: "the person's name here: lowercase letters, digits, _ and -",
		role: (roles: Shown) => `what they may do: ${roles}`,
		who: "say whom the link is for: --for <person>",
		help: `
Prints a link that logs one browser in as this person, once, within ten minutes. A member sees and reaches only their own
conversations; a guest can talk and read, but change nothing; an owner can do everything. The role also applies to the logins this
person already has. For yourself, use \`keryx link\`.

Examples:
  $ keryx login --for ana
  $ keryx login --for ana --role guest
  $ keryx link telegram:12345 web:person:ana

The last one makes ana and that Telegram account the same person, who then sees both kinds of conversations on the page.

Exit codes: 0 done, 1 failure, 2 wrong usage.`,
		open: (person: Shown, role: Shown) =>
			`Send it to ${person}, who is a ${role} here. It works once, within ten minutes.`,
		list: {
			about: "show which browsers were logged in, newest first",
			none: "Nobody has logged in yet.",
			operator: "operator",
			help: `
Examples:
  $ keryx login list
  $ keryx login list --json

Columns: id, person, role, state (valid, expired, revoked), made, until.
Exit codes: 0 done, 1 failure, 2 wrong usage.`,
		},
		revoke: {
			about: "log someone out, at once",
			which: "a person, for all their logins and unused links, or the id of one login",
			done: (which: Shown, ended: number) =>
				ended === 1 ? `Ended 1 login of ${which}.` : `Ended ${ended} logins of ${which}.`,
			help: `
Open pages and terminals of these logins close at once.

Examples:
  $ keryx login revoke ana
  $ keryx login revoke Zx81kQ0vLw_m

Exit codes: 0 done, 1 failure, 2 wrong usage.`,
		},
	},
	link: {
		about: "log in a browser, or link two platform ids to one person",
		of: "an id that Keryx already knows",
		and: "another id of the same person",
		two: "give two ids of the same person, or none for a login link",
		help: `
Without ids, it prints a link to Keryx's page. The link logs in one browser, once, within ten minutes.

With two ids, it tells Keryx that they are the same person, who can then continue sessions from one platform on the other
(\`/resume\`), unless routing.resume_scope is conversation. Conversations stay separate. This cannot be undone.

Examples:
  $ keryx link
  $ keryx link telegram:12345 discord:6789
  $ keryx link signal:+4915112345678 telegram:12345

Exit codes: 0 done, even if they already were one person, 1 failure, 2 wrong usage.`,
		notRunning: "Keryx is not running in this home, so there is no page to log in to",
		notRunningHint: "start Keryx: it prints a login link",
		noPort: "the running Keryx has no port open, so it has no page",
		noPortHint: "start it with `keryx` or `npm start`",
		open: "Open it in your browser. It works once, within ten minutes.",
		done: (first: Shown, second: Shown) => `${first} and ${second} are now one person.`,
		already: (first: Shown, second: Shown) => `${first} and ${second} were already one person.`,
		invalid: (given: Shown) =>
			`${given} must be a platform and an id separated by a colon, such as telegram:12345`,
		unknownPlatform: (platform: Shown, near: Shown) => `Keryx has no platform ${platform}${near}`,
	},
	explain: {
		about: "show which conversation a message belongs to and what it would do",
		first: (end: Shown) => `The message opens the conversation's first session. ${end}`,
		notified: "The user is told",
		notNotified: "The user is not told",
		carried: "the last exchange is carried over",
		notCarried: "nothing is carried over",
		newSession: (reason: Shown, fact: Shown, notified: Shown, kept: Shown) =>
			`A new session starts (${reason}): ${fact}. ${notified}; ${kept}.`,
		heldOpen: (reason: Shown, fact: Shown) =>
			`The session continues, because a background process keeps it open. Without it, a new one would start (${reason}): ${fact}.`,
		held: " A background process keeps it open as long as it runs.",
		goesOn: (reasons: Shown, end: Shown, held: Shown) => `The session continues: ${reasons}. ${end}${held}`,
		idleLimit: (active: Shown, limit: Shown) => `${active}, idle limit ${limit}`,
		noIdleLimit: (active: Shown, mode: Shown) => `${active}, no idle limit in mode ${mode}`,
		ofMessages: (count: Shown, most: Shown) => `${count} of ${most} messages`,
		messages: (count: Shown) => `${count} messages, no limit`,
		lastActive: (ago: Shown) => `last active ${ago}`,
		clockBack: (active: Shown) => `${active} (a clock that jumped back ends nothing)`,
		interrupted: (ago: Shown) => `a turn was interrupted ${ago}`,
		freshness: (ago: Shown, limit: Shown) => `${ago}, limit for resuming it ${limit}`,
		alwaysFresh: (ago: Shown) => `${ago}, never too long ago`,
		boundary: (time: Shown) => `the daily boundary at ${time}`,
		boundaryAfter: (name: Shown, duration: Shown) => `${name} came ${duration} after the last activity`,
		boundaryAt: (name: Shown) => `${name} was at the same moment`,
		boundaryBefore: (name: Shown, duration: Shown) => `${name} was ${duration} before that activity`,
		noEnd: "It does not end by time.",
		endsAt: (time: Shown) => `If nobody writes again, the session ends at ${time}.`,
		ago: (duration: Shown) => `${duration} ago`,
		fromNow: (duration: Shown) => `${duration} from now`,
		source: "a source, an array of sources, or one per line; - reads stdin",
		now: "when the message arrives (default: now)",
		lastActivity: "the session's last activity",
		count: "how many messages the session has",
		process: "a background process is running",
		suspended: "the session was suspended",
		interruptedAt: "when one of its turns was interrupted",
		prompt: "also print the context block of the system prompt",
		help: `
Times are ISO 8601 with an offset, such as 2026-03-10T12:00:00Z. Without options about
the session, the message is the first in its conversation. With one of them, the others default to
last active now and 0 messages.

Examples:
  $ keryx explain message.json
  $ echo '{"platform": "telegram", "chat_id": "42", "user_name": "Ann"}' | keryx explain -
  $ keryx explain message.json --now 2026-03-10T12:00:00Z --last-activity 2026-03-09T11:00:00Z --messages 12`,
		refused: (n: Shown, problem: Shown) => `source ${n} is refused: ${problem}`,
		refusedHint: (hint: Shown) => `  what to do: ${hint}`,
		shared: "yes: everyone in the chat talks in one conversation",
		private: "no: one person's own conversation",
		wholeNumber: (option: Shown, given: Shown) =>
			`${option} must be a whole number, 0 or more; it is ${given}`,
		noSource: (name: Shown) => `${name} contains no source`,
		notJson: (name: Shown, problem: Shown) => `${name} is not JSON: ${problem}`,
		lineNotJson: (name: Shown, line: Shown, problem: Shown) =>
			`${name}, line ${line}, is not JSON: ${problem}`,
	},
	doctor: {
		about: "find problems and how to fix them",
		backup: {
			onServer: "the store is on a server, and is backed up there",
			none: "no backup was made yet",
			noneRemedy: `run \`${KERYX} backup <file>\`, or let Keryx do it: \`${KERYX} config set backup.every 1d\``,
			notYet: "the first scheduled backup is still to come",
			made: (path: Shown, when: Shown) => `the last one is ${path}, ${when}`,
			gone: (found: Shown) => `${found}; it is no longer there`,
			late: (found: Shown, when: Shown) => `${found}; the scheduled ones are late: the last was made ${when}`,
			lateRemedy: `a schedule needs a running Keryx; \`${KERYX} logs gateway\` says what went wrong`,
			failed: (when: Shown, reason: Shown) => `the last attempt failed ${when}: ${reason}`,
			failedRemedy: `correct that, then run \`${KERYX} backup <file>\``,
		},
		audit: {
			remedy: `\`${KERYX} confirm audit --verify\` says more. If you restored a backup, \`${KERYX} confirm audit --accept\` accepts it as it is; otherwise someone changed it: compare with a backup`,
			none: "nothing has been asked yet",
			noKey: "its key, audit.key, is missing",
			noKeyRemedy: "restore it from a backup",
			wrong: (n: Shown, problem: Shown) => `entry ${n}: ${problem}`,
			fine: (entries: Shown) => `${entries}, all unchanged`,
		},
		node: {
			old: (node: Shown) => `Node ${node} is too old`,
			remedy: (needed: Shown) => `install Node ${needed} or newer`,
			fine: (node: Shown, needed: Shown) => `Node ${node}; ${needed} or newer is needed`,
		},
		config: {
			remedy: `correct it; \`${KERYX} config check\` lists every problem`,
			none: "there is no config.yaml, so the defaults apply",
			unreached: "remove the entry from config.yaml, or connect a program that posts for that platform",
		},
		home: {
			none: (home: Shown) => `${home} does not exist yet: the first start creates it`,
			notFolder: (home: Shown) => `${home} is not a folder`,
			notFolderRemedy: "move it away, or set KERYX_HOME to another path",
			notWritableRemedy: "give it to the user who runs Keryx: chown -R, or set KERYX_HOME to another path",
			notWritable: (home: Shown) => `this user cannot write to ${home}`,
			fine: (home: Shown) => `${home}, private to this user`,
			open: (home: Shown) => `other users can look into ${home}`,
			openRemedy: (home: Shown) => `chmod 700 ${home}, or \`${KERYX} doctor --fix\``,
			fixed: (home: Shown) => `${home} is now private to this user`,
			mends: (home: Shown) => `make ${home} private to this user (chmod 700)`,
		},
		files: {
			fine: "store, keys and socket are private to this user",
			open: (files: Shown) => `other users can open ${files}`,
			openRemedy: `chmod 600 each of them, or run \`${KERYX} doctor --fix\``,
			fixed: (files: Shown) => `${files}: now private to this user`,
			mends: (files: Shown) => `make ${files} private to this user (chmod 600)`,
		},
		leftovers: {
			none: "no command has left anything behind",
			found: (count: Shown, size: Shown, paths: Shown) =>
				`${count} of commands that were killed (${size}): ${paths}`,
			remedy: `\`${KERYX} doctor --fix\` removes them`,
			mends: "remove them",
			fixed: (what: Shown) => `removed ${what}`,
		},
		workspaces: (root: Shown) => `the agent's files are in ${root}`,
		disk: {
			free: (free: Shown, home: Shown) => `${free} free on the disk with ${home}`,
			full: "free up some: without space no message can be accepted",
			low: "free up some before it runs out",
		},
		git: {
			notNeeded: "not needed: checkpoints.enabled is false",
			fine: (version: Shown) => `git ${version}, for checkpoints of files`,
			old: (version: Shown) => `git ${version} also reads your own git configuration`,
			oldRemedy: (oldest: Shown) => `install git ${oldest} or newer`,
			missing: (hint: Shown) => `${hint}; or set checkpoints.enabled to false`,
		},
		fix: "fix what can be fixed safely: permissions, the search index, what killed commands left behind",
		dryRun: "with --fix: say what would be fixed, and change nothing",
		wouldFix: (indent: Shown, what: Shown) => `${indent}--fix would: ${what}`,
		log: {
			none: "nothing was logged yet",
			fine: (path: Shown, files: Shown, size: Shown, level: Shown) =>
				`${path}: ${files}, ${size}, from level ${level} up`,
			debugRemedy: `\`${KERYX} config set log.level info\` once you have seen what you were looking for`,
		},
		retention: {
			off: "conversations are kept forever (retention.days is 0)",
			on: (days: Shown) => `conversations nobody has used for ${days} days are archived and deleted`,
		},
		logins: {
			fine: (logins: Shown, people: Shown) => `${logins} to the page, by ${people}`,
			expired: (found: Shown, who: Shown) => `${found}; the last login of ${who} has expired`,
			remedy: `\`${KERYX} login --for <person>\` makes a new link, \`${KERYX} link\` one for yourself`,
		},
		proxy: {
			none: "no proxy; only this machine reaches the page",
			fine: (url: Shown, proxies: Shown) => `people use ${url}; forwarded headers count from ${proxies}`,
			everybody: (network: Shown) => `http.trusted_proxies names ${network}, which is everyone`,
			everybodyRemedy: "name only your proxy's address: otherwise anyone can pretend to be another client",
			unused: "http.trusted_proxies has no effect without http.public_url",
			unusedRemedy: "set http.public_url to the address people use: docs/guides/behind-tls.md",
			open: (host: Shown) => `Keryx listens on ${host} without TLS`,
			openRemedy: "put TLS in front of it: docs/guides/behind-tls.md",
			plain: (url: Shown) => `http.public_url is ${url}, which is not encrypted`,
			untrusted: (url: Shown) =>
				`people use ${url}, but no proxy is trusted: all requests count as one client's`,
			untrustedRemedy: "name your proxy in http.trusted_proxies, such as 127.0.0.1",
		},
		containers: {
			fine: (where: Shown) => `commands run in a ${where}, which is available`,
		},
		quick: "do not call the model or check every row of the store",
		rebuild: "rebuild the search index, whatever its state",
		help: `
Works with and without a running Keryx. Nothing is changed without --fix or --rebuild-search.

Examples:
  $ keryx doctor
  $ keryx doctor --quick --json
  $ keryx doctor --fix --dry-run
  $ keryx doctor --fix

Exit codes: 0 if everything is fine or was fixed, 1 if there is a problem, 2 wrong usage.`,
		remedy: (indent: Shown, remedy: Shown) => `${indent}what to do: ${remedy}`,
		allFine: "Everything is fine.",
		someWrong: (bad: Shown, all: Shown) => `${bad} of ${all} checks found a problem.`,
		model: {
			of: (name: Shown) => `model of ${name}`,
			none: `no model is connected, so the offline agent answers; \`${KERYX} setup\` connects one`,
			agent: (kind: Shown) => `the agent is ${kind}`,
			fine: (name: Shown, ms: Shown) => `${name} answered in ${ms} ms`,
			failed: (name: Shown, kind: Shown, detail: Shown) => `${name} did not answer: ${kind}, ${detail}`,
			remedy: `check the model's name, the API key and the network; \`${KERYX} setup\` asks for all of them`,
		},
		processes: {
			unreadable: (reason: Shown) => `cannot be checked: ${reason}`,
			unreadableRemedy: (folder: Shown) =>
				`look at ${folder}: its files must belong to the user who runs Keryx`,
			none: "none is running",
			logs: (size: Shown) => `${size} of logs`,
			left: (found: Shown, others: Shown) => `${found}; ${others} left something running`,
			leftRemedy: `\`${KERYX} ps\` names it, \`${KERYX} kill <id>\` stops it`,
			logsTitle: "process logs",
			logsTake: (size: Shown) => `they take up ${size}`,
			logsRemedy: "processes.max_log_mb limits the size of each, processes.keep_days how long they are kept",
			zombies: (dead: Shown, name: Shown) =>
				`${dead} waiting for process 1 (${name}), which does not collect them`,
		},
		packages: {
			fine: (platform: Shown) => `${platform} has the packages it needs`,
			missing: (platform: Shown, names: Shown) => `${platform} needs ${names}`,
			remedy: (platform: Shown) => `run \`${KERYX} channels install ${platform}\``,
		},
		initRemedy: "give the container an init, for example with `docker run --init`",
		mcp: {
			fine: (name: Shown, tools: Shown, who: Shown) =>
				`${name}: connected, ${tools} tools, visible to ${who}`,
			nothing: (name: Shown) => `${name}: connected, but your agent sees none of its tools`,
			nothingRemedy: "check tools, roles and profiles of this server in config.yaml, and tools.enabled",
			wrong: (name: Shown, state: Shown, why: Shown) => `${name}: ${state}: ${why}`,
			remedy: (name: Shown) => `\`${KERYX} mcp test ${name}\` tries it again and says more`,
		},
		running: {
			fine: (version: Shown, pid: Shown, since: Shown, agent: Shown, platforms: Shown) =>
				`version ${version} is running as process ${pid} since ${since}; agent ${agent}; ${platforms}`,
			otherVersion: (found: Shown, version: Shown) => `${found}; this command is version ${version}`,
			otherVersionRemedy: "restart Keryx, so that both are the same",
			failing: (problem: Shown) => `it cannot accept messages: ${problem}`,
			needsYou: (name: Shown, why: Shown) => `${name} needs your attention${why}`,
			needsYouRemedy: "do what it says; Keryx then connects automatically",
			channel: (name: Shown, state: Shown, why: Shown) => `${name} is ${state}${why}`,
			channelRemedy:
				"check its token and the network, and whether its bridge program runs if it has one; Keryx keeps trying",
			failingRemedy: "put the file back, or restart Keryx; docs/errors.md describes each case",
			silent: (socket: Shown, owner: Shown) => `the Keryx on ${socket} does not answer${owner}`,
			silentRemedy: "end that process and start Keryx again; nothing is lost",
			socket: (socket: Shown, problem: Shown) => `${socket} cannot be used: ${problem}`,
			socketRemedy: "check who owns it",
			owned: (owner: Shown) => `not running, but the store is in use by ${owner}`,
			ownedRemedy: "wait until that has ended, or stop it",
			crashed:
				"not running; the last one did not stop cleanly, and the next start continues where it left off",
			none: "not running; commands open the store themselves",
			pid1: "Keryx is process 1, so nothing collects dead background processes",
			systemd: (unit: Shown) => `systemd runs it as ${unit}`,
			killMode: (unit: Shown, mode: Shown) =>
				`systemd runs it as ${unit}${mode}, which stops background processes together with it`,
			killModeRemedy: (unit: Shown) => `set KillMode=process in ${unit}`,
		},
		server: {
			found: (version: Shown, schema: Shown) => `PostgreSQL ${version}, tables of version ${schema}`,
			older: (version: Shown, schema: Shown, own: Shown) =>
				`PostgreSQL ${version}; the tables have version ${schema}, and this Keryx writes version ${own}`,
			migrate: `run \`${KERYX} store migrate\` once`,
			together: (seconds: Shown) => `the server's clock differs by ${seconds} s`,
			apart: (seconds: Shown) => `the server's clock differs from this machine's by ${seconds} s`,
			setClocks: "set the clocks of both machines by NTP",
			connections: (used: Shown, most: Shown) => `${used} of ${most} connections are in use`,
			raiseConnections: "raise max_connections on the server, or give Keryx another server",
			nodes: (names: Shown) => `gateways on this store: ${names}`,
			none: "none",
			silent: (names: Shown) => `the lease of ${names} has run out: another gateway will take over`,
		},
		store: {
			none: "there is none yet: the first start creates it",
			fine: (path: Shown, size: Shown, version: Shown) => `${path}, ${size}, schema version ${version}`,
			onServer: (url: Shown, version: Shown) => `${url}, schema version ${version}`,
			looking: "checking the store",
			whole: "all rows are consistent",
			more: (count: Shown) => `; and ${count} more`,
			remedy: `export what there is (\`${KERYX} sessions export -o all.jsonl\`), restore a backup, and report this`,
			search: "it works",
			searchWhole: "it works and includes every message and title",
			mends: "rebuild the search index from the messages",
			searchRemedy: `\`${KERYX} doctor --fix\` rebuilds the search index`,
			rebuilt: (rows: Shown) => `rebuilt: ${rows}`,
			rebuilding: (rows: Shown) => `rebuilding the search index: ${rows}`,
		},
		walls: {
			off: "remove walls.mode from config.yaml, or set it to auto or required",
			split: ". What to do: ",
			noCommands: "no commands can run",
			ownerOnly: "only the owner has a terminal, and each command is asked about",
			remedy: "run Keryx where bubblewrap can make walls",
			noNetwork: "a box has no network",
			boxHosts: (hosts: Shown) => `a box reaches ${hosts} and nothing else`,
			ownNetwork: "pasta gives a box its own network; this machine's loopback is not in it",
			noOwnNetwork: (reason: Shown) => `a box has no network, although walls.box_network is on: ${reason}`,
			noLimits: "no limits per process are set",
			limits: (limits: Shown) => `limits per process: ${limits}`,
			rootAdmin:
				"Keryx runs as root, and the owner's commands can administer this machine (walls.root: admin)",
			root: "Keryx runs as root: a separate ordinary user is safer, because a command behind a mask can plant files that root runs later",
			hardLinks: "hard links",
			linked: (files: Shown, has: Shown, it: Shown) =>
				`${files} ${has} another name, through which a command can read ${it}`,
			linkedRemedy: (file: Shown) => `find the other name with \`find / -samefile ${file}\` and remove it`,
			unseen: (names: Shown) => `commands do not see ${names}`,
			unseenRemedy: (names: Shown) => `name those they need: walls.env_pass: [${names}]`,
		},
	},
	setup: {
		about: "connect a model: asks, tries it and saves it",
		provider: (providers: Shown) => `one of ${providers}`,
		model: "the model's name, as its provider writes it",
		baseUrl: "the address of the provider's API, for openai-compatible and ollama",
		apiKeyEnv: "the environment variable with the API key",
		noTest: "do not call the model",
		help: `
On a terminal you can paste the key. It is saved in a file that only you can read, never in config.yaml. Or name the environment
variable with the key. A running Keryx uses the new model from the next message.

Examples:
  $ keryx setup
  $ keryx setup --provider anthropic --model claude-sonnet-4-5
  $ keryx setup --provider ollama --model llama3.1
  $ keryx setup --provider openai-compatible --base-url http://127.0.0.1:8080/v1 --model any

Exit codes: 0 saved, 1 the model did not answer, 2 wrong usage.`,
		answered: (model: Shown, ms: Shown) => `${model} answered in ${ms} ms.`,
		saved: (file: Shown) => `Saved in ${file}. A running Keryx uses it from the next message.`,
		again: "Try again with other answers? (y/n)",
		askAddress: "Address of its API, such as http://127.0.0.1:8080/v1",
		askKey: (provider: Shown, variable: Shown) =>
			`API key (saved in keys/${provider}.key; leave empty to use ${variable})`,
		askServerKey: (provider: Shown) =>
			`API key (saved in keys/${provider}.key; leave empty if the server needs none)`,
		orUntried: (hint: Shown) => `${hint}; --no-test saves it anyway`,
		noList: (problem: Shown) => `Could not get the list of models: ${problem}`,
		askModelOrNumber: "Model (name or number)",
		required: (option: Shown) => `--${option} is required when there is nobody to ask`,
		badAddress: (given: Shown) => `--base-url must be an address, not ${given}`,
		badVariable: "--api-key-env must be the name of a variable, not the key itself",
		badProvider: (providers: Shown, near: Shown) => `--provider must be one of ${providers}${near}`,
		notSet: (variable: Shown) => `${variable} is not set here: set it where Keryx is started.`,
	},
	config: {
		about: "check, show and change the configuration",
		check: {
			about: "find every problem in the configuration, with file, line and column",
			file: "check this file instead of config.yaml in Keryx's home",
			help: `
Examples:
  $ keryx config check
  $ keryx config check ./config.yaml --json

Exit codes: 0 if the configuration is valid, 2 if it is not.`,
			none: (file: Shown) => `${file} has no problems`,
			noFile: "no problems: there is no config.yaml, so the defaults apply",
		},
		show: {
			about: "show the current values and where each comes from",
			help: `
Anything that looks like a key, token or password is shown as •••.

Examples:
  $ keryx config show
  $ KERYX_SESSION_RESET_IDLE_MINUTES=60 keryx config show --json`,
		},
		file: "read this file instead of config.yaml in Keryx's home",
		set: {
			about: "change one setting in config.yaml",
			key: `its name with dots, as in \`${KERYX} config show\``,
			value: "the new value; write a list as [a, b]; null removes the setting",
			help: `
Comments and the order of the file are kept. A value that Keryx would refuse is not written.

Examples:
  $ keryx config set session_reset.idle_minutes 60
  $ keryx config set agent.model claude-sonnet-4-5
  $ keryx config set privacy.redact_pii true
  $ keryx config set walls.env_pass '[HTTPS_PROXY, JAVA_HOME]'
  $ keryx config set agent.temperature null

Exit codes: 0 done, 1 failure, 2 an unknown key or a wrong value.`,
			same: (key: Shown) => `${key} already has this value. Nothing was changed.`,
			saved: (key: Shown, file: Shown) => `Saved ${key} in ${file}.`,
			overridden: (variable: Shown) => `${variable} is set and overrides it`,
			atStart: "Keryx is not running; it takes effect at the next start.",
			afterRestart: "It takes effect after you restart Keryx.",
			live: "The running Keryx uses it now.",
		},
	},
	completion: {
		about: "print a script that completes commands in your shell",
		shell: "your shell",
		help: `
Examples:
  $ source <(keryx completion bash)                         for this terminal
  $ keryx completion bash >> ~/.bashrc                      for every new one
  $ keryx completion zsh > ~/.zfunc/_keryx                  with ~/.zfunc in fpath
  $ keryx completion fish > ~/.config/fish/completions/keryx.fish

Exit codes: 0 done, 2 wrong usage.`,
	},
	find: {
		ambiguous: (start: Shown, ids: Shown) => `${start} could be ${ids}`,
		longer: "use more of the id",
		none: (which: Shown, start: Shown) => `${which} has an id that starts with ${start}`,
	},
	nothingToDo: "there is nothing left to do",
	didYouMean: (near: Shown) => `; did you mean ${near}?`,
	conversation: {
		notFound: (name: Shown) => `there is no conversation ${name}`,
		notFoundHint: `use its id or its key; \`${KERYX} sessions list --json\` shows both`,
	},
	firstStart: {
		welcome:
			"Welcome to Keryx. Up to three questions; leave an answer empty to skip it. You can do all of this later, too.",
		answer: "the answer",
		model: (providers: Shown) => `Which provider's model should answer? (${providers})`,
		laterModel: `Keryx starts without a model. \`${KERYX} setup\` connects one.`,
		platform: (platforms: Shown) => `Which chat platform should it connect to? (${platforms})`,
		laterPlatform: `Keryx starts without it. \`${KERYX} channels add\` connects it.`,
		service: "Should Keryx run as a service, and start with this machine? (y/N)",
		laterService: `Keryx runs in this terminal instead. \`${KERYX} service install\` tries it again.`,
		served: `\`${KERYX} link\` prints the link to the page, \`${KERYX} chat\` talks to it here.`,
	},
	run: {
		running: (socket: Shown) => `Keryx is running. Its socket is ${socket}`,
		page: (url: Shown) => `Open Keryx in your browser: ${url}`,
		noPage: (url: Shown) => `Keryx listens on ${url}. Its page is not built: \`npm start\` builds it.`,
		updating: "Stopping for an update.",
		lost: "another gateway has taken over, because this one lost its lease: it stops now and can be started again",
		notClosed: "not everything could be closed in time. Stopping anyway; nothing is lost",
		linkHint: `To log in a browser, run \`${KERYX} link\`.`,
		link: `Open this link to log in. It works once, within ten minutes. \`${KERYX} link\` prints a new one.`,
	},
	connect: {
		silent: (who: Shown, seconds: Shown) => `${who} has not responded for ${seconds} s`,
		listening: "the Keryx listening here",
		running: (owner: Shown) => `the running Keryx (${owner})`,
	},
	inside: (where: Shown) => `this runs in ${where}, which Keryx started, so it cannot decide anything`,
	arguments: {
		wholeNumber: (option: Shown, least: Shown, most: Shown, given: Shown) =>
			`${option} must be a whole number from ${least} to ${most}; it is ${given}`,
		oneOf: (option: Shown, words: Shown, given: Shown) => `${option} must be one of ${words}; it is ${given}`,
		time: (option: Shown, given: Shown) =>
			`${option} must be an ISO 8601 time with an offset, such as 2026-03-10T12:00:00Z; it is ${given}`,
		noFile: "there is no such file",
		unreadable: (path: Shown, reason: Shown) => `${path} cannot be read: ${reason}`,
		notText: (name: Shown) => `${name} is not UTF-8 text`,
	},
	group: {
		takes: (name: Shown, names: Shown) => `${name} needs a command: ${names}`,
		unknown: (word: Shown, near: Shown) => `unknown command ${word}${near}`,
	},
	store: {
		about: "the database: upgrade it on a server, or move it elsewhere",
		none: "none",
		help: `
A store is sqlite: (the file in Keryx's home), sqlite:<path> or postgres://<user>@<host>/<database>.

Examples:
  $ keryx store migrate
  $ keryx store move sqlite: postgres://keryx@db.example.org/keryx
  $ keryx store move postgres://keryx@db.example.org/keryx sqlite:/var/backups/keryx.db

Exit codes: 0 done, 1 failure (in use, not reachable), 2 wrong usage.`,
		migrate: {
			about: "bring the tables of a store on a server up to date",
			file: "The store is a file: Keryx upgrades it when it starts. Nothing to do.",
			current: (version: Shown) => `The store already has version ${version}.`,
			done: (from: Shown, to: Shown) => `The store was upgraded: version ${from} before, ${to} now.`,
		},
		move: {
			about: "copy a whole store elsewhere and compare the two",
			from: "the store to read; no Keryx may be using it",
			to: "an empty target; an interrupted move continues",
			progress: (step: Shown, table: Shown, rows: Shown, of: Shown) => `${step} ${table}: ${rows} of ${of}`,
			search: (rows: Shown) => `building the search index: ${rows}`,
			done: (rows: Shown, tables: Shown, to: Shown) =>
				`Moved ${rows} in ${tables} to ${to}; both sides are equal. Set store.url to use it.`,
		},
	},
	archive: {
		about: "old conversations that retention moved into files: list, read, restore",
		run: {
			about: "archive and delete conversations that nobody has used for this long",
			dry: "only say what would be archived",
			days: "instead of retention.days",
			planned: (what: Shown, since: Shown) =>
				`${what} without activity since ${since} would be archived and deleted.`,
			next: (id: Shown) => `  ${id}`,
			more: (count: Shown) => `  and ${count} more`,
			progress: (count: Shown) => `archived ${count}`,
			done: (what: Shown) => `Archived and deleted: ${what}.`,
			ended: (what: Shown) =>
				`${what} still had a live session. It was ended; a running Keryx archives them within minutes.`,
			kept: (what: Shown) => `${what} could not be archived yet, because something is still running there.`,
			failed: (what: Shown, why: Shown) => `${what} could not be archived: ${why}`,
		},
		list: {
			about: "archived conversations, the newest month first",
			after: "only those after this one, by its name",
			none: "Nothing has been archived yet.",
			damaged: `(damaged: \`${KERYX} archive show\` says why)`,
			more: (name: Shown) => `There are more: --after ${name}`,
		},
		show: {
			about: "what was said in an archived conversation",
			name: "its conversation's id, or its name",
			more: "There is more: `keryx archive restore` brings all of it back.",
		},
		restore: {
			about: "bring a conversation back from its archive",
			done: (id: Shown, what: Shown) => `The conversation ${id} is back, with ${what}.`,
			present: (id: Shown) => `The conversation ${id} was already there.`,
		},
		help: `
Examples:
  $ keryx config set retention.days 365    archive what nobody has used for a year
  $ keryx archive run --dry-run            what would be archived now
  $ keryx archive list                     what has been archived
  $ keryx archive restore <conversation>   bring one back`,
	},
	service: {
		about: "run Keryx as a service: at every boot, and again after a failure",
		unsupported: (platform: Shown) => `Keryx knows no service manager for ${platform}`,
		byHand: "start `keryx` with the service manager you use; docs/guides/service.md says what matters",
		missing: (command: Shown) => `\`${command}\` cannot be run: there is no such program`,
		failed: (command: Shown, code: Shown) => `\`${command}\` failed with code ${code}`,
		npx: "npx keeps Keryx only temporarily, so a service cannot rely on it",
		npxHint: "install it permanently: npm install --global keryx",
		environment: `# Environment variables for the service, one NAME=value per line. Only you can read this file.
# ANTHROPIC_API_KEY=
`,
		install: {
			about: "install the service and start it",
			print: "only print the definition",
			noStart: "do not start it yet",
			done: (file: Shown) => `Keryx runs as a service from now on: ${file}`,
			environment: (file: Shown) =>
				`A service does not see the variables of your shell. Put keys and tokens into ${file}.`,
			running: (home: Shown, pid: Shown) => `Keryx is already running in ${home}, as process ${pid}`,
			runningHint: `stop it with \`${KERYX} stop\`, then run this again; or add --no-start`,
			linger:
				"It runs while you are logged in. To keep it running always, run this once: loginctl enable-linger",
		},
		uninstall: {
			about: "stop the service and remove its definition; nothing else is deleted",
			none: "The service is not installed.",
			done: (file: Shown) => `The service is removed: ${file}`,
		},
		status: { about: "show whether the service is running" },
		logs: {
			about: "show the service's output",
			lines: "how many of the last lines",
			follow: "keep showing new output",
		},
		help: `
Examples:
  $ keryx service install             run Keryx from now on
  $ keryx service install --print     see the definition first
  $ keryx service logs -f             what it prints`,
	},
	update: {
		about: "update Keryx to another version",
		check: "only say whether there is a newer version, and what an update needs",
		to: "a version, a tag, or a package file (default: the newest version)",
		same: (version: Shown) => `You already have Keryx ${version}.`,
		available: (version: Shown, from: Shown) => `Keryx ${version} is available; you have ${from}.`,
		file: (file: Shown) => `${file} can be installed.`,
		room: (needed: Shown, free: Shown) => `It needs ${needed} on the disk; ${free} are free.`,
		steps: {
			fetching: (version: Shown) => `Fetching ${version} ...`,
			trying: (version: Shown) => `Trying ${version} on a copy of your data ...`,
			stopping: () => "Waiting until running answers are finished ...",
			saving: () => "Saving a copy of the store ...",
			starting: (version: Shown) => `Starting ${version} ...`,
			waiting: (version: Shown) => `Waiting until ${version} is ready ...`,
		},
		done: (to: Shown, from: Shown) => `Updated Keryx from ${from} to ${to}.`,
		away: (seconds: Shown) => `Keryx was away for ${seconds} s.`,
		starts: "The next start uses it.",
		kept: "The previous store is kept until the new version has run for a day.",
		clone: "this Keryx runs from a clone of its repository, which is updated with git",
		cloneHint: "run `keryx stop`, then `git pull`, then `npm start`",
		image: "this Keryx runs from a container image",
		imageHint: "build or pull the new image and start it again: docker compose up --build --detach",
		help: `
Examples:
  $ keryx update --check              is there a newer version?
  $ keryx update                      update to it
  $ keryx update --to ./keryx.tgz     update from a file, without a network`,
	},
	backup: {
		about: "write everything Keryx knows to one file, even while it runs",
		file: "a file that does not exist yet",
		passphrase: "encrypt it with the passphrase in this file; - reads stdin",
		shortPassphrase: (least: Shown) => `a passphrase must have at least ${least} characters`,
		waiting: "making the backup",
		done: (path: Shown, size: Shown, what: Shown, how: Shown) => `${path}: ${size}, ${what}${how}.`,
		encrypted: ", encrypted",
		without:
			"API keys, tokens of chats and the agent's files are not in it: docs/guides/back-up.md says how to keep them.",
		help: `
Examples:
  $ keryx backup keryx.backup                                a new file, only you can read it
  $ keryx backup keryx.backup --passphrase-file secret.txt   the same, encrypted
  $ keryx config set backup.every 1d                         let Keryx do it every day`,
	},
	restore: {
		about: "replace the store with a backup; the current store is kept",
		file: "a backup made by keryx backup",
		check: "only check the backup; change nothing",
		passphrase: "the file with the passphrase of an encrypted backup; - reads stdin",
		yes: "do not ask first",
		ask: (home: Shown, file: Shown) => `Replace the store in ${home} with ${file}?`,
		notAsked: "add --yes to replace the store without being asked",
		waiting: "checking the backup",
		whole: (file: Shown, what: Shown, when: Shown, version: Shown, schema: Shown) =>
			`${file} is complete: ${what}, made ${when} by Keryx ${version} (schema ${schema}).`,
		done: (what: Shown, when: Shown) => `Restored: ${what}, as of ${when}.`,
		kept: (path: Shown) => `The store that was there is now ${path}. Delete it when you no longer need it.`,
		files: (names: Shown) => `Also put back: ${names}.`,
		doubted: (count: Shown) =>
			`${count} were waiting to be sent when the backup was made, and may have been sent since. \`${KERYX} outbox\` lists them; nothing is sent until you decide.`,
		missed: (count: Shown) =>
			`Since the backup was made, ${count} came due and may have run. Each is recorded as missed and continues with its next run.`,
		rights: `Tokens, logins, roles and standing approvals are as they were then. Revoke again what you have revoked since: \`${KERYX} token list\`, \`${KERYX} login list\`, \`${KERYX} confirm grants\`.`,
		audit: `The audit may have continued after the backup. If the next start says so, run \`${KERYX} confirm audit --accept\`.`,
		help: `
Examples:
  $ keryx restore keryx.backup --check     is it whole, and what is in it?
  $ keryx stop && keryx restore keryx.backup`,
	},
} as const;
