// The same calls on any homeserver, and what came of them: our own server is true as far as this is the same on Synapse.
type Json = Record<string, unknown>;

export interface Stage {
	readonly url: string;
	readonly register: (user: string, password: string) => Promise<void>;
}

/** Outcomes by what was tried, without ids that differ. */
export async function play({ url, register }: Stage): Promise<Readonly<Record<string, unknown>>> {
	const out: Record<string, unknown> = {};
	await register("ada", "sesame");
	await register("bob", "sesame");
	const raw = async (
		method: string,
		path: string,
		token: string,
		body?: unknown,
		type = "application/json",
	) => {
		const response = await fetch(`${url}/_matrix/${path}`, {
			method,
			headers: { "content-type": type, ...(token !== "" && { authorization: `Bearer ${token}` }) },
			...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
		});
		const bytes = Buffer.from(await response.arrayBuffer());
		let json: Json = {};
		try {
			json = JSON.parse(bytes.toString()) as Json;
		} catch {
			// A file.
		}
		return { status: response.status, code: json.errcode, json, bytes };
	};
	const logIn = async (user: string) => {
		const body = { type: "m.login.password", identifier: { type: "m.id.user", user }, password: "sesame" };
		const { json } = await raw("POST", "client/v3/login", "", body);
		return { token: String(json.access_token), id: String(json.user_id), device: String(json.device_id) };
	};
	const outcome = ({ status, code }: { status: number; code: unknown }) => [status, code];
	const wrong = { type: "m.login.password", identifier: { type: "m.id.user", user: "ada" }, password: "no" };
	out["a wrong password"] = outcome(await raw("POST", "client/v3/login", "", wrong));
	out["an unknown token"] = outcome(await raw("GET", "client/v3/account/whoami", "nonsense"));
	const ada = await logIn("ada");
	const bob = await logIn("bob");
	const who = await raw("GET", "client/v3/account/whoami", ada.token);
	out.whoami = [who.json.user_id === ada.id, who.json.device_id === ada.device];

	const client = (method: string, path: string, token: string, body?: unknown) =>
		raw(method, `client/v3/${path}`, token, body);
	// Synapse answers the very same question for two minutes as it did before: another timeout makes it another question.
	const sync = async (token: string, since?: string, limit = 50, timeout = 0) => {
		const filter = encodeURIComponent(JSON.stringify({ room: { timeline: { limit } } }));
		const place = since === undefined ? "" : `&since=${since}`;
		return (await client("GET", `sync?timeout=${timeout}&filter=${filter}${place}`, token)).json as {
			next_batch: string;
			rooms?: {
				join?: Record<string, { timeline: { events: Json[]; limited?: boolean; prev_batch?: string } }>;
				invite?: Record<string, { invite_state: { events: Json[] } }>;
				leave?: Record<string, { timeline: { events: Json[] } }>;
			};
			to_device?: { events: Json[] };
			device_lists?: { changed?: string[] };
			device_one_time_keys_count?: Record<string, number>;
		};
	};
	const start = await sync(bob.token);
	const created = await client("POST", "createRoom", ada.token, {
		invite: [bob.id],
		is_direct: true,
		name: "Garden",
	});
	const room = String(created.json.room_id);
	const at = `rooms/${encodeURIComponent(room)}`;
	const invited = await sync(bob.token, start.next_batch);
	const invitation = invited.rooms?.invite?.[room]?.invite_state.events.find(
		({ type, state_key: key }) => type === "m.room.member" && key === bob.id,
	);
	out["an invitation"] = [
		invitation?.sender === ada.id,
		(invitation?.content as Json | undefined)?.is_direct,
	];
	out["sending before joining"] = outcome(
		await client("PUT", `${at}/send/m.room.message/t0`, bob.token, { msgtype: "m.text", body: "x" }),
	);
	const stranger = await client("POST", "createRoom", ada.token, {});
	out["joining uninvited"] = outcome(
		await client("POST", `rooms/${encodeURIComponent(String(stranger.json.room_id))}/join`, bob.token, {}),
	);
	out.joining = outcome(await client("POST", `${at}/join`, bob.token, {}));
	const joined = await sync(bob.token, invited.next_batch);
	out["the first sync of a room has how it came to be"] = joined.rooms?.join?.[room]?.timeline.events.some(
		({ type }) => type === "m.room.member",
	);

	const say = (token: string, transaction: string, body: string, more: Json = {}) =>
		client("PUT", `${at}/send/m.room.message/${transaction}`, token, { msgtype: "m.text", body, ...more });
	const first = await say(ada.token, "t1", "one");
	const again = await say(ada.token, "t1", "one");
	out["a repeated transaction"] = [again.status, first.json.event_id === again.json.event_id];
	const news = await sync(bob.token, joined.next_batch);
	const seen = news.rooms?.join?.[room]?.timeline.events ?? [];
	out["an event for others"] = seen.map(({ type, content, unsigned }) => [
		type,
		(content as Json).body,
		(unsigned as Json | undefined)?.transaction_id,
	]);
	const own = await client("GET", `${at}/messages?dir=b&limit=1`, ada.token);
	const [newest] = own.json.chunk as readonly Json[];
	out["an event for its sender"] = [
		(newest?.content as Json | undefined)?.body,
		(newest?.unsigned as Json | undefined)?.transaction_id,
	];
	for (let n = 2; n <= 6; n++) await say(ada.token, `t${n}`, `message ${n}`);
	const limited = (await sync(bob.token, news.next_batch, 2)).rooms?.join?.[room]?.timeline;
	out["a limited timeline"] = [
		limited?.limited,
		limited?.events.map(({ content }) => (content as Json).body),
	];
	const missed: unknown[] = [];
	let from = limited?.prev_batch ?? "";
	for (let page = 0; page < 10 && from !== ""; page++) {
		const { json } = await client(
			"GET",
			`${at}/messages?dir=b&limit=2&from=${from}&to=${news.next_batch}`,
			bob.token,
		);
		const chunk = json.chunk as readonly Json[];
		missed.push(...chunk.map(({ content }) => (content as Json).body));
		from = chunk.length === 0 ? "" : String(json.end ?? "");
	}
	out["what a limited timeline left out"] = missed;
	out["an old place of the sync"] = (await sync(bob.token, joined.next_batch, 50, 1)).rooms?.join?.[
		room
	]?.timeline.events.map(({ content }) => (content as Json).body);
	out["a place that is none"] = (await client("GET", "sync?since=nonsense", bob.token)).status;
	const replaced = {
		"m.new_content": { msgtype: "m.text", body: "two" },
		"m.relates_to": { rel_type: "m.replace", event_id: first.json.event_id },
	};
	out["an edit"] = outcome(await say(ada.token, "t7", "* two", replaced));
	out["a reaction"] = outcome(
		await client("PUT", `${at}/send/m.reaction/t8`, bob.token, {
			"m.relates_to": { rel_type: "m.annotation", event_id: first.json.event_id, key: "👍" },
		}),
	);
	const event = await client(
		"GET",
		`${at}/event/${encodeURIComponent(String(first.json.event_id))}`,
		bob.token,
	);
	out["one event"] = [event.status, event.json.sender === ada.id];
	out["an event that is not there"] = outcome(await client("GET", `${at}/event/%24nothing`, bob.token));
	const state = (await client("GET", `${at}/state`, bob.token)).json as unknown as readonly Json[];
	out.state = state.filter(({ type }) => type === "m.room.name" || type === "m.room.member").length;
	const redacted = await client(
		"PUT",
		`${at}/redact/${encodeURIComponent(String(first.json.event_id))}/t9`,
		ada.token,
		{},
	);
	const gone = await client(
		"GET",
		`${at}/event/${encodeURIComponent(String(first.json.event_id))}`,
		bob.token,
	);
	out["a deleted message"] = [redacted.status, gone.json.content];
	out["an event that is too large"] = outcome(await say(ada.token, "t10", "x".repeat(70_000)));
	out["a receipt"] = outcome(
		await client(
			"POST",
			`${at}/receipt/m.read/${encodeURIComponent(String(newest?.event_id))}`,
			bob.token,
			{},
		),
	);
	out.typing = outcome(
		await client("PUT", `${at}/typing/${encodeURIComponent(bob.id)}`, bob.token, {
			typing: true,
			timeout: 1000,
		}),
	);

	const upload = await raw("POST", "media/v3/upload?filename=notes.txt", ada.token, "hello", "text/plain");
	const uri = String(upload.json.content_uri);
	const file = await raw("GET", `client/v1/media/download/${uri.slice("mxc://".length)}`, bob.token);
	out["a file"] = [upload.status, file.status, file.bytes.toString()];
	const [server] = uri.slice("mxc://".length).split("/");
	out["a file that is not there"] = outcome(
		await raw("GET", `client/v1/media/download/${server}/nothing`, bob.token),
	);

	const body = { one_time_keys: {}, device_keys: deviceKeys(ada.id, ada.device) };
	const uploaded = await client("POST", "keys/upload", ada.token, body);
	out["keys uploaded"] = uploaded.status;
	const before = await sync(bob.token);
	const queried = await client("POST", "keys/query", bob.token, { device_keys: { [ada.id]: [] } });
	out["keys queried"] = Object.keys(((queried.json.device_keys as Json)[ada.id] ?? {}) as Json).includes(
		ada.device,
	);
	await client("POST", "keys/upload", bob.token, { device_keys: deviceKeys(bob.id, bob.device) });
	await client("PUT", "sendToDevice/m.test/d1", ada.token, {
		messages: { [bob.id]: { [bob.device]: { hello: 1 } } },
	});
	await client("PUT", "sendToDevice/m.test/d1", ada.token, {
		messages: { [bob.id]: { [bob.device]: { hello: 1 } } },
	});
	const told = await sync(bob.token, before.next_batch, 50, 1000);
	const same = await sync(bob.token, before.next_batch, 50, 999);
	const after = await sync(bob.token, told.next_batch);
	out["a message to a device"] = [told, same, after].map(({ to_device: inbox }) => inbox?.events.length ?? 0);
	const identity = {
		master_key: signingKey(bob.id, "master"),
		self_signing_key: signingKey(bob.id, "self_signing"),
	};
	out["keys that are not signed as they should be"] =
		(await client("POST", "keys/device_signing/upload", bob.token, identity)).status < 500;

	const last = await sync(bob.token, after.next_batch, 50, 2);
	await client("POST", `${at}/kick`, ada.token, { user_id: bob.id, reason: "enough" });
	const kicked = (await sync(bob.token, last.next_batch)).rooms?.leave?.[room]?.timeline.events.at(-1);
	out["a removal"] = [kicked?.sender === ada.id, kicked?.content];
	const refused = await say(bob.token, "t11", "still here?");
	out["sending after a removal"] = [
		...outcome(refused),
		/not in room|not a member/i.test(String(refused.json.error)),
	];
	await client("POST", "logout", bob.token, {});
	out["after a logout"] = outcome(await client("GET", "sync", bob.token));
	return out;
}

/** Not signed: a server keeps them as they are. */
function deviceKeys(user: string, device: string): Json {
	return {
		user_id: user,
		device_id: device,
		algorithms: ["m.olm.v1.curve25519-aes-sha2"],
		keys: { [`curve25519:${device}`]: "c".repeat(43), [`ed25519:${device}`]: "e".repeat(43) },
		signatures: { [user]: { [`ed25519:${device}`]: "s".repeat(86) } },
	};
}

function signingKey(user: string, usage: string): Json {
	return { user_id: user, usage: [usage], keys: { "ed25519:key": "key" } };
}
