// People with logins of their own on the page: what is theirs they see, what is not theirs is not there, by every call there is.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { configSchema } from "../../src/config/schema.ts";
import type { ConversationId, SessionId } from "../../src/domain/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { serveOnPort } from "../../src/http/index.ts";
import { createProcesses, type Processes, processSettings } from "../../src/processes/index.ts";
import { createSchedules, scheduleSettings } from "../../src/schedules/index.ts";
import { OPERATOR, systemIds } from "../../src/store/index.ts";
import { dangerTool } from "../gateway/support.ts";
import { ProcessHome } from "../support/process-home.ts";
import { until } from "../support/until.ts";
import { type Answer, exchange, loginOf, type Sent } from "./port.ts";
import { SECRET, type Served, serve } from "./support.ts";

const MARK = "zanzibar";
const values = configSchema.parse({});

interface Person {
	readonly headers: Readonly<Record<string, string>>;
	call(method: string, path: string, sent?: Sent): Promise<Answer>;
	/** Writes on the page, and answers the conversation once that has been answered. */
	say(text: string, chat?: string, more?: object): Promise<string>;
}

let home: ProcessHome;
let keryx: Served;
let processes: Processes;
/** In the command of a program behind a wider wall. */
const WIDER = "wider";
let served: Awaited<ReturnType<typeof serveOnPort>>;
let owner: Person;
let ana: Person;
let gast: Person;
/** Ids of what is the owner's, by the names that parameters have. */
let things: Record<string, string>;

const call = (method: string, path: string, sent: Sent = {}) =>
	exchange({ host: "127.0.0.1", port: served.port }, method, path, sent);

async function link(person: string, role: string): Promise<string> {
	const { status, body } = await call("POST", "/api/logins", { bearer: SECRET, body: { person, role } });
	expect(status).toBe(200);
	return body.path as string;
}

async function loggedIn(person: string, role: string): Promise<Person> {
	return withLogin(await call("GET", await link(person, role)));
}

function withLogin(answer: Answer): Person {
	const headers = { ...loginOf(answer), origin: `http://127.0.0.1:${served.port}` };
	const asked: Person["call"] = (method, path, sent = {}) =>
		call(method, path, { ...sent, headers: { ...headers, ...sent.headers } });
	return {
		headers,
		call: asked,
		say: async (text, chat = "c1", more = {}) => {
			const source = { platform: "web", chat_type: "dm", chat_id: chat, user_id: "operator" };
			const {
				status,
				body,
				text: said,
			} = await asked("POST", "/api/inbound", {
				body: { text, client_message_id: randomUUID(), source, ...more },
			});
			expect(status, said).toBe(202);
			await asked("GET", `/api/inbound/${body.id}?wait=30`);
			return body.conversation as string;
		},
	};
}

beforeAll(async () => {
	home = new ProcessHome();
	const ids = systemIds(systemClock);
	keryx = await serve(
		{
			rules: [
				{ when: "danger", steps: [{ tools: [{ name: "danger", input: { what: "salt" } }] }, { text: "ok" }] },
			],
			otherwise: [{ text: "you said {{input}}" }],
		},
		{},
		{},
		async (store) => {
			processes = createProcesses({
				store,
				machine: home.place,
				clock: systemClock,
				ids,
				settings: () => processSettings(values),
			});
			const schedules = createSchedules({
				store,
				clock: systemClock,
				settings: () => scheduleSettings(values),
			});
			const isBehindWider = ({ command }: { command: string }) => Promise.resolve(command.includes(WIDER));
			return { processes, schedules, isBehindWider };
		},
		{ home: home.path, tools: [dangerTool([])], web: true },
	);
	await processes.open();
	served = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
	owner = withLogin(await call("GET", keryx.api.loginPath()));
	ana = await loggedIn("ana", "member");
	gast = await loggedIn("gast", "guest");
	things = await thingsOf(owner);
}, 60_000);
afterAll(async () => {
	await served.close();
	await processes.close();
	await keryx.close();
	await home.end();
});

/** One of everything there is, with the mark in it. */
async function thingsOf(person: Person): Promise<Record<string, string>> {
	const conversation = await person.say(`hello ${MARK}`);
	await person.say(`danger ${MARK}`);
	const read = async (path: string) => (await person.call("GET", path)).body as Record<string, unknown>;
	const { live_session: session = "", key = "" } = await read(`/api/conversations/${conversation}`);
	const { sessions } = await read(`/api/conversations/${conversation}/sessions`);
	const [{ id: first = "" } = {}] = sessions as readonly { id: string }[];
	const { messages } = await read(`/api/sessions/${first}/messages`);
	const [message] = messages as readonly { id: number; turn: string }[];
	const { id: processId } = await processes.start(
		{
			command: `echo ${MARK}; sleep 600`,
			argv: ["/bin/sh", "-c", `echo ${MARK}; sleep 600`],
			cwd: home.path,
			env: { PATH: process.env.PATH ?? "" },
			background: true,
			pty: null,
			notify: "none",
		},
		{
			conversation: conversation as ConversationId,
			principal: null,
			turn: null,
			role: "owner",
			destination: { platform: "web", account: "", chatId: "c1" },
		},
	);
	const job = await keryx.host.schedules?.create({
		name: MARK,
		task: { kind: "text", text: MARK },
		when: "every 5h",
		zone: "UTC",
		catchUp: "once",
		maxDelaySeconds: null,
		conversation: null,
		deliver: { target: { kind: "local" }, shown: "a file", approved: true },
		failure: null,
		profile: "",
		tools: null,
		owner: { principal: null, role: "owner", platform: "local" },
	});
	const taken = await person.call("POST", `/api/conversations/${conversation}/checkpoints`, {
		body: { label: MARK },
	});
	const { confirmations } = await read("/confirm");
	const [asked] = confirmations as readonly { id: string }[];
	const { deliveries } = await read(`/api/turns/${message?.turn}`);
	const inbound = await keryx.store.inboxItem({ scope: OPERATOR, id: 1 });
	return {
		conversation,
		session: first,
		live: String(session),
		key: String(key),
		message: String(message?.id),
		turn: String(message?.turn),
		inbound: String(inbound.id),
		process: processId,
		job: String(job?.id),
		checkpoint: String((taken.body.checkpoint as { id?: string } | undefined)?.id ?? taken.text),
		confirmation: String(asked?.id),
		delivery: String((deliveries as readonly { id: string }[])[0]?.id),
	};
}

test("a person's messages come in as that person, with their role, whatever the browser says", async () => {
	const conversation = await ana.say("good day");
	const { body } = await ana.call("GET", `/api/conversations/${conversation}`);
	expect(body).toMatchObject({
		source: { platform: "web", user_id: "person:ana", user_name: "ana", chat_id: "person:ana/c1" },
	});
	const { items } = await speakersOf(conversation);
	expect(items).toEqual([{ role: "member", platform: "web" }]);
	// The owner's chat has the same name, and is another one.
	expect(conversation).not.toBe(things.conversation);
	expect((await ana.call("GET", "/api/me")).body).toEqual({
		who: "person:ana",
		person: "ana",
		role: "member",
	});
});

async function speakersOf(conversation: string) {
	const page = await keryx.store.events({
		scope: OPERATOR,
		after: "",
		limit: 1000,
		conversation: conversation as ConversationId,
	});
	const turn = page.kind === "events" ? page.events.find(({ turn }) => turn !== null)?.turn : null;
	const { speakers } = await keryx.store.turn({ scope: OPERATOR, id: turn as string });
	return { items: speakers.map(({ role, platform }) => ({ role, platform })) };
}

test("a member lists, reads, finds and exports their own, and nothing of anybody else", async () => {
	const conversation = await ana.say("my own words: mango");
	const listed = (await ana.call("GET", "/api/conversations")).body as { conversations: { id: string }[] };
	expect(listed.conversations.map(({ id }) => id)).toEqual([conversation]);
	const hits = async (person: Person, q: string) =>
		((await person.call("GET", `/api/search?q=${q}`)).body.hits as readonly unknown[]).length;
	expect(await hits(ana, "mango")).toBeGreaterThan(0);
	expect(await hits(ana, MARK)).toBe(0);
	expect(await hits(gast, "mango")).toBe(0);
	expect(await hits(owner, "mango")).toBeGreaterThan(0);
	const exported = await fetch(`http://127.0.0.1:${served.port}/api/export`, { headers: ana.headers });
	expect(exported.status).toBe(200);
	const lines = await exported.text();
	expect(lines).toContain("mango");
	expect(lines).not.toContain(MARK);
	expect((await gast.call("GET", "/api/export")).status).toBe(403);
});

test("a member decides about what their own turn asks, and never for longer than the session", async () => {
	const conversation = await ana.say("danger please", "c2");
	const { body } = await ana.call("GET", "/confirm?status=pending");
	const [asked] = body.confirmations as readonly { id: string; conversation: string }[];
	expect(body.count).toBe(1);
	expect(asked?.conversation).toBe(conversation);
	const decide = (person: Person, scope?: string) =>
		person.call("POST", `/confirm/${asked?.id}/approve`, {
			body: scope === undefined ? {} : { grant: { scope } },
		});
	expect((await decide(ana, "always")).status).toBe(403);
	expect((await decide(gast)).status).toBe(403);
	expect((await ana.call("POST", `/confirm/${things.confirmation}/approve`, { body: {} })).status).toBe(404);
	expect((await decide(ana)).status).toBe(200);
});

test("the stream of a member carries their own events and texts, also those of later conversations", async () => {
	const stop = new AbortController();
	const seen: string[] = [];
	const following = follow(ana, (text) => seen.push(text), stop.signal);
	await following.begun;
	await owner.say(`secret ${MARK}`, "c9");
	await gast.say("guest words: papaya", "c9");
	const conversation = await ana.say("stream words: guava", "c9");
	await until(() => seen.join("").includes("guava") && seen.join("").includes("turn.ended"));
	stop.abort();
	const text = seen.join("");
	expect(text).toContain("guava");
	expect(text).not.toContain(MARK);
	expect(text).not.toContain("papaya");
	const listed = (await ana.call("GET", "/api/conversations")).body as { conversations: { id: string }[] };
	const own = new Set(listed.conversations.map(({ id }) => id));
	expect(own).toContain(conversation);
	for (const [, id = ""] of text.matchAll(/"conversation":"([^"]+)"/g)) expect(own).toContain(id);
	const refused = await ana.call("GET", `/events?conversation=${things.conversation}`);
	expect(refused.text).not.toContain(MARK);
	expect(refused.text).toContain("not_found");
});

/** A program that waits for input. The command is what is shown. */
async function startIn(
	conversation: string,
	command: string,
	role: "owner" | "member" = "member",
): Promise<string> {
	const { id } = await processes.start(
		{
			command,
			argv: ["/bin/cat"],
			cwd: home.path,
			env: { PATH: process.env.PATH ?? "" },
			background: true,
			pty: null,
			notify: "none",
		},
		{
			conversation: conversation as ConversationId,
			principal: null,
			turn: null,
			role,
			destination: { platform: "web", account: "", chatId: "c1" },
		},
	);
	return id;
}

function terminalOf({ headers }: Person, id: string): WebSocket {
	return new WebSocket(
		`ws://127.0.0.1:${served.port}/api/processes/${id}/terminal`,
		["keryx", `page.${headers["x-keryx-page"]}`],
		{ headers: { cookie: headers.cookie as string, origin: headers.origin as string } },
	);
}

function follow(person: Person, on: (text: string) => void, signal: AbortSignal) {
	const begun = Promise.withResolvers<void>();
	const ended = fetch(`http://127.0.0.1:${served.port}/events`, { headers: person.headers, signal }).then(
		async (response) => {
			for await (const chunk of response.body as ReadableStream<Uint8Array>) {
				on(Buffer.from(chunk).toString());
				begun.resolve();
			}
			return "ended" as const;
		},
	);
	ended.catch(() => {});
	return { begun: begun.promise, ended };
}

test.each([
	["a plain yes", "ana", "approve", {}, ["owner"]],
	["an edit", "ana", "approve", { edited_details: { what: "pepper" } }, ["owner", "member"]],
	["a yes with a reason", "ana", "approve", { reason: "and show me more" }, ["owner", "member"]],
	["a no with a reason", "ana", "deny", { reason: "rather show me more" }, ["owner", "member"]],
	["a token's plain yes", "token", "approve", {}, ["owner"]],
	["a token's edit", "token", "approve", { edited_details: { what: "pepper" } }, ["owner", "member"]],
	["a token's no with a reason", "token", "deny", { reason: "rather show me more" }, ["owner", "member"]],
])(
	"I18: %s, by another than the owner, to what the owner's turn asked speaks for whoever's words it has",
	async (what, who, how, body, roles) => {
		const conversation = await ana.say("hello", what);
		expect(await owner.say("danger", what, { conversation })).toBe(conversation);
		const { body: asked } = await ana.call("GET", "/confirm?status=pending");
		const path = `/confirm/${(asked.confirmations as readonly { id: string }[])[0]?.id}/${how}`;
		const answer =
			who === "ana"
				? await ana.call("POST", path, { body })
				: await call("POST", path, { body, bearer: await approverToken(what) });
		expect(answer.status).toBe(200);
		await until(async () => (await turnsIn(conversation)).length === 3);
		expect(await rolesOf((await turnsIn(conversation)).at(-1))).toEqual(roles);
	},
);

test("I18: who lets an answer be given again, or the conversation summed up, is one of the people it speaks for", async () => {
	const conversation = await ana.say("hello", "again");
	await owner.say("more", "again", { conversation });
	const again = async (person: Person, how: string) => {
		const { body } = await person.call("POST", `/api/conversations/${conversation}/${how}`, { body: {} });
		return rolesOf(body.turn as string);
	};
	expect(await again(owner, "retry")).toEqual(["owner"]);
	expect(await again(ana, "retry")).toEqual(["owner", "member"]);
	expect(await again(ana, "compress")).toEqual(["member"]);
});

async function approverToken(name: string): Promise<string> {
	const body = { name: name.replaceAll(/\W/g, "-"), role: "approver" };
	return (await call("POST", "/api/tokens", { bearer: SECRET, body })).body.token as string;
}

async function turnsIn(conversation: string): Promise<readonly (string | null)[]> {
	const ref = { id: conversation as ConversationId };
	const { liveSession } = await keryx.store.conversation({ scope: OPERATOR, ref });
	const rows = await keryx.store.transcript({ scope: OPERATOR, session: liveSession as SessionId });
	return [...new Set(rows.map(({ turn }) => turn))];
}

async function rolesOf(turn: string | null | undefined): Promise<readonly string[]> {
	const { speakers } = await keryx.store.turn({ scope: OPERATOR, id: turn ?? "" });
	return speakers.map(({ role }) => role);
}

test("a member types into a program of theirs, but not into one behind a wider wall, over HTTP or in a terminal", async () => {
	const conversation = await ana.say("hello");
	const [usual, wider] = [await startIn(conversation, "cat"), await startIn(conversation, `cat ${WIDER}`)];
	const typed = { data: "a line\n" };
	expect((await ana.call("POST", `/api/processes/${usual}/input`, { body: typed })).status).toBe(200);
	const answered = await ana.call("POST", `/api/processes/${wider}/input`, { body: typed });
	expect(answered.body).toMatchObject({
		error: { code: "process.refused", hint: "ask the owner to type it" },
	});
	const socket = terminalOf(ana, wider);
	const said = new Promise<string>((resolve, reject) => {
		socket.on("message", (data) => {
			if (String(data).includes("you can watch")) resolve(String(data));
		});
		socket.once("error", reject);
	});
	socket.once("open", () => socket.send(JSON.stringify({ type: "input", ...typed })));
	expect(await said).toContain("you can watch, but not type");
	socket.close();
	// It is the owner's, and may print what only the owner may see.
	const owners = await startIn(conversation, "cat", "owner");
	const refused = terminalOf(ana, owners);
	const heard: string[] = [];
	refused.on("message", (data) => heard.push(String(data)));
	expect(await new Promise((resolve) => refused.once("close", resolve))).toBe(1008);
	expect(heard).toEqual([expect.stringContaining("you cannot watch it")]);
	expect((await owner.call("POST", `/api/processes/${wider}/input`, { body: typed })).status).toBe(200);
	for (const id of [usual, wider, owners]) await processes.kill(OPERATOR, id);
});

test("revoking somebody ends their open stream and their terminal at once, and the login with them", async () => {
	const ben = await loggedIn("ben", "member");
	const conversation = await ben.say("hello");
	const id = await startIn(conversation, "cat");
	const stream = follow(ben, () => {}, new AbortController().signal);
	await stream.begun;
	const socket = terminalOf(ben, id);
	const closed = new Promise<number>((resolve) => socket.once("close", resolve));
	await new Promise((resolve, reject) => {
		socket.once("open", resolve);
		socket.once("error", reject);
	});
	const unused = await link("ben", "member");
	// A link that changes nothing about the role still closes what was open with the old one.
	expect(await stream.ended).toBe("ended");
	const again = follow(ben, () => {}, new AbortController().signal);
	await again.begun;
	const { body } = await call("POST", "/api/logins/revoke", { bearer: SECRET, body: { person: "ben" } });
	expect(body).toEqual({ person: "ben", ended: 1 });
	expect(await again.ended).toBe("ended");
	expect(await closed).toBe(1008);
	expect((await ben.call("GET", "/api/conversations")).status).toBe(401);
	expect((await call("GET", unused)).status).toBe(401);
	const rows = (await call("GET", "/audit/log?newest=true&limit=50", { bearer: SECRET })).body
		.entries as readonly { kind: string; who: string }[];
	expect(rows.map(({ kind, who }) => `${kind} ${who}`)).toEqual(
		expect.arrayContaining(["login_revoked operator", "login_made person:ben", "login_offered operator"]),
	);
});

test("a role that is taken away holds for logins that are open already, and for what runs later", async () => {
	const eva = await loggedIn("eva", "owner");
	expect((await eva.call("GET", `/api/conversations/${things.conversation}`)).status).toBe(200);
	await link("eva", "guest");
	expect((await eva.call("GET", `/api/conversations/${things.conversation}`)).status).toBe(404);
	expect((await eva.call("GET", "/api/settings")).status).toBe(403);
	expect((await eva.call("GET", "/api/me")).body.role).toBe("guest");
});

test("a login is no token, and a cookie without its page's key is nothing", async () => {
	const [, secret = ""] = /=(kl_[^;]+)/.exec(ana.headers.cookie as string) ?? [];
	expect((await call("GET", "/api/conversations", { bearer: secret })).status).toBe(401);
	expect(
		(await call("GET", "/api/conversations", { headers: { cookie: ana.headers.cookie as string } })).status,
	).toBe(401);
	expect((await call("POST", "/mcp", { headers: ana.headers, body: {} })).status).not.toBe(200);
});

test("a link works once, and a changed one never", async () => {
	const path = await link("cem", "guest");
	expect((await call("GET", path.replace(".cem.", ".ana."))).status).toBe(401);
	expect((await call("GET", path.replace(/\.0\.cem\./, ".1.cem."))).status).toBe(401);
	expect((await call("GET", path)).status).toBe(303);
	expect((await call("GET", path)).status).toBe(401);
});

interface Operation {
	readonly operationId: string;
	readonly parameters?: readonly { readonly name: string; readonly in: string }[];
	readonly requestBody?: {
		readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
	};
}
interface Schema {
	readonly type?: string | readonly string[];
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
	readonly enum?: readonly unknown[];
	readonly items?: Schema;
	readonly anyOf?: readonly Schema[];
	readonly $ref?: string;
}

/** Every id of the owner's things that fits a parameter of this name. */
function valuesFor(name: string): readonly string[] {
	const t = things as Record<string, string>;
	const by: Record<string, readonly string[]> = {
		conversation: [t.conversation ?? ""],
		conversations: [t.conversation ?? ""],
		session: [t.session ?? ""],
		target: [t.session ?? ""],
		message: [t.message ?? ""],
		turn: [t.turn ?? ""],
		delivery: [t.delivery ?? ""],
		job: [t.job ?? ""],
		key: [t.key ?? ""],
		q: [MARK],
		after: [""],
		id: [t.process, t.confirmation, t.checkpoint, t.inbound, t.conversation].map((id) => id ?? ""),
	};
	return by[name] ?? [];
}

function sample(
	schema: Schema,
	name: string,
	document: { components: { schemas: Record<string, Schema> } },
): unknown {
	if (schema.$ref)
		return sample(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, name, document);
	if (schema.enum) return schema.enum[0];
	if (schema.anyOf) return sample(schema.anyOf[0] ?? {}, name, document);
	const [given] = valuesFor(name);
	const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
	if (type === "array") return schema.items ? [sample(schema.items, name, document)] : [];
	if (type === "object")
		return Object.fromEntries(
			Object.entries(schema.properties ?? {})
				.filter(([key]) => schema.required?.includes(key) || valuesFor(key).length > 0)
				.map(([key, value]) => [key, sample(value, key, document)]),
		);
	if (type === "integer" || type === "number") return Number(given ?? 1) || 1;
	if (type === "boolean") return true;
	return given ?? (name === "client_message_id" ? randomUUID() : "x");
}

/** What the owner's things look like from the owner's side. */
async function state(): Promise<string> {
	const t = things as Record<string, string>;
	const paths = [
		`/api/conversations/${t.conversation}`,
		`/api/conversations/${t.conversation}/sessions`,
		`/api/sessions/${t.session}/messages?hidden=true`,
		`/api/processes/${t.process}`,
		`/api/schedules/${t.job}/runs`,
		`/api/conversations/${t.conversation}/checkpoints`,
		`/confirm/${t.confirmation}`,
		"/grants",
		"/api/tokens",
		"/api/logins",
	];
	const answers = await Promise.all(paths.map((path) => call("GET", path, { bearer: SECRET })));
	const { jobs } = await keryx.store.jobs({ scope: OPERATOR, limit: 100 });
	return [
		...answers.map(({ status, text }, index) => `${paths[index]} ${status} ${text}`),
		JSON.stringify(jobs),
	].join("\n");
}

test("attack: no call of the whole API shows or changes anything of the owner's to a member or a guest", async () => {
	const document = JSON.parse((await call("GET", "/openapi.json", { bearer: SECRET })).text) as {
		paths: Record<string, Record<string, Operation>>;
		components: { schemas: Record<string, Schema> };
	};
	for (const value of Object.values(things)) expect(value).toMatch(/^[^{]+$/);
	const before = await state();
	const found: string[] = [];
	let tried = 0;
	let answered = 0;
	for (const person of [ana, gast])
		for (const [path, methods] of Object.entries(document.paths))
			for (const [method, operation] of Object.entries(methods))
				for (const url of urlsOf(path, operation))
					for (const body of bodiesOf(operation, document)) {
						const stop = AbortSignal.timeout(20_000);
						const response = await fetch(`http://127.0.0.1:${served.port}${url}`, {
							method: method.toUpperCase(),
							headers: { ...person.headers, ...(body !== null && { "content-type": "application/json" }) },
							...(body !== null && { body: JSON.stringify(body) }),
							redirect: "manual",
							signal: stop,
						});
						tried++;
						const text = path === "/events" ? await firstChunk(response) : await response.text();
						if (response.ok) answered++;
						const sent = JSON.stringify(body ?? {}) + url;
						if (text.includes(MARK) && !sent.includes(MARK))
							found.push(`${method} ${url}: ${text.slice(0, 200)}`);
						// A stream has begun before it can say that there is nothing: it names what was asked for, and ends.
						const isError = text.includes("event: error") && text.includes("store.not_found");
						if (response.ok && !isError && isTheOwners(path, text))
							found.push(`${method} ${url} ${text.slice(0, 200)}`);
					}
	expect(found).toEqual([]);
	expect(await state()).toBe(before);
	expect(tried).toBeGreaterThan(300);
	process.stderr.write(
		`attack: ${tried} calls, ${answered} answered within the person's own, nothing of the owner's\n`,
	);
}, 120_000);

test("a file can be named by the person who uploaded it alone", async () => {
	const upload = async (person: Person) =>
		(
			await person.call("POST", "/api/attachments", {
				body: "notes",
				headers: { "content-type": "text/plain" },
			})
		).body.id as string;
	const names = async (person: Person, id: string) => {
		const source = { platform: "web", chat_type: "dm", chat_id: "files", user_id: "operator" };
		const attachments = [{ id, media_type: "text/plain", name: "notes.txt" }];
		const body = { text: "", client_message_id: randomUUID(), source, attachments };
		return (await person.call("POST", "/api/inbound", { body })).status;
	};
	const theirs = await upload(owner);
	expect(await names(ana, theirs)).toBe(404);
	expect(await names(ana, theirs.split(".")[0] ?? "")).toBe(404);
	expect(await names(owner, theirs)).toBe(202);
	expect(await names(ana, await upload(ana))).toBe(202);
});

/** An id of the owner's in an answer that is no error. What was sent may be named again by nothing that succeeds. */
function isTheOwners(path: string, text: string): boolean {
	if (path === "/openapi.json" || path === "/docs") return false;
	const t = things as Record<string, string>;
	return [t.conversation, t.session, t.turn, t.process, t.job, t.confirmation, t.checkpoint].some(
		(id) => id !== undefined && text.includes(id),
	);
}

function urlsOf(path: string, { parameters = [] }: Operation): string[] {
	let urls = [path];
	for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) {
		const values = name === "digest" ? ["a".repeat(64)] : name === "name" ? ["x"] : valuesFor(name);
		urls = urls.flatMap((url) => values.map((value) => url.replace(`{${name}}`, encodeURIComponent(value))));
	}
	const named = parameters.filter(({ in: where, name }) => where === "query" && valuesFor(name).length > 0);
	const single = named.flatMap(({ name }) =>
		valuesFor(name).map((value) => `${name}=${encodeURIComponent(value)}`),
	);
	return urls.flatMap((url) => [url, ...single.map((query) => `${url}?${query}`)]);
}

function bodiesOf(
	operation: Operation,
	document: { components: { schemas: Record<string, Schema> } },
): readonly unknown[] {
	const schema = operation.requestBody?.content["application/json"]?.schema;
	if (!schema) return operation.requestBody ? [{}] : [null];
	const whole = sample(schema, "", document);
	return operation.operationId === "send"
		? [
				whole,
				{
					text: "mine",
					client_message_id: randomUUID(),
					source: { platform: "web", chat_type: "dm", chat_id: "c1", user_id: "operator" },
				},
			]
		: [{}, whole];
}

async function firstChunk(response: Response): Promise<string> {
	const reader = response.body?.getReader();
	const { value } = (await reader?.read()) ?? {};
	await reader?.cancel();
	return value ? Buffer.from(value).toString() : "";
}
