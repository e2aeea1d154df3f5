// Slack, as far as an app can tell: a workspace with people who write, press and leave, the Web API, Socket Mode or events over HTTP,
// and a network that fails as told.
import { type Clock, systemClock } from "../../../src/time/index.ts";
import { verify } from "./requests.ts";
import { type CallRecord, type Fault, serveSlack } from "./server.ts";
import { type Envelope, Sockets } from "./sockets.ts";
import {
	type ChannelRecord,
	type Person,
	readable,
	type Saying,
	type SlackFile,
	type SlackMessage,
	World,
} from "./world.ts";

export type { CallRecord, Fault } from "./server.ts";
export type { Envelope } from "./sockets.ts";
export type { ChannelRecord, Person } from "./world.ts";
export { readable } from "./world.ts";

/** A message as the people in a channel see it. */
export interface Shown {
	readonly ts: string;
	readonly by: string;
	readonly isApp: boolean;
	readonly text: string;
	/** As it stands on the wire. */
	readonly raw: string;
	readonly thread: string | undefined;
	readonly files: readonly SlackFile[];
	readonly buttons: readonly { readonly id: string; readonly label: string }[];
	readonly edits: number;
}

export interface SlackPeerOptions {
	readonly clock?: Clock;
	/** Left out: a free one. */
	readonly port?: number;
	readonly ackMs?: number;
	/** Slack's own: at once, after a minute, after five. */
	readonly retryMs?: readonly number[];
}

export interface Limit {
	readonly calls: number;
	readonly ms: number;
}

export type SlackPeer = Awaited<ReturnType<typeof createSlackPeer>>;

export async function createSlackPeer(options: SlackPeerOptions = {}) {
	const { clock = systemClock, ackMs = 3000, retryMs = [0, 60_000, 300_000] } = options;
	const world = new World(clock);
	const { app } = world;
	const listeners = new Set<() => void>();
	const changed = () => {
		for (const listener of listeners) listener();
	};
	const sockets = new Sockets({ clock, ackMs, retryMs, onChange: changed });
	const planned: { readonly method: string | undefined; readonly fault: Fault }[] = [];
	const handle = {
		botToken: "xoxb-1001-keryx-secret",
		appToken: "xapp-1-A0001-1001-secret",
		signingSecret: "8f742231b10e8888abcd99yyyzzz85a5",
		isRevoked: false,
		/** The word for a token that is not the right one. */
		refusal: "invalid_auth",
		/** Asked about each call that nothing was planned for. */
		faults: (_: CallRecord): Fault | undefined => undefined,
		/** How many calls of a method are taken in so much time. */
		limits: new Map<string, Limit>(),
	};
	const faultOf = (call: CallRecord): Fault | undefined => {
		const at = planned.findIndex(({ method }) => method === undefined || method === call.method);
		return at < 0 ? handle.faults(call) : planned.splice(at, 1)[0]?.fault;
	};
	const limitOf = ({ method, at }: CallRecord): number | undefined => {
		const limit = handle.limits.get(method);
		if (!limit) return undefined;
		const recent = server.calls.filter((call) => call.method === method && at - call.at < limit.ms);
		return recent.length > limit.calls ? 30 : undefined;
	};
	const ephemeral: { readonly channel: string; readonly user: string; readonly text: string }[] = [];
	const server = await serveSlack({
		shelf: { world, sockets, uploads: new Map(), ephemeral, onChange: changed },
		...(options.port !== undefined && { port: options.port }),
		faultOf,
		limitOf,
		tokens: () => ({
			bot: handle.isRevoked ? "" : handle.botToken,
			app: handle.appToken,
			refusal: handle.refusal,
		}),
		onCall: changed,
	});
	world.root = server.root;
	const envelopeOf = (event: Readonly<Record<string, unknown>>) => ({
		token: "verification",
		team_id: world.team.id,
		api_app_id: app.id,
		event,
		type: "event_callback",
		event_id: world.nextId("Ev"),
		event_time: Math.floor(clock.now() / 1000),
		authorizations: [{ team_id: world.team.id, user_id: app.userId, is_bot: true }],
	});
	const tell = (event: Readonly<Record<string, unknown>>) => {
		const envelope = sockets.deliver("events_api", envelopeOf(event));
		changed();
		return envelope;
	};
	world.onEvent = tell;
	const who = ({ id, name }: Person) => ({ id, username: name.toLowerCase(), name, team_id: world.team.id });
	const nameOf = (id: string) => world.people.get(id)?.name ?? id;
	const shownOf = (message: SlackMessage): Shown => ({
		ts: message.ts,
		by: nameOf(message.user),
		isApp: message.user === app.userId,
		text: readable(textOf(message), nameOf),
		raw: message.text,
		thread: message.thread_ts,
		files: message.files ?? [],
		buttons: (message.blocks ?? []).flatMap(({ elements = [] }) =>
			elements.map(({ value = "", text }) => ({ id: value, label: text?.text ?? "" })),
		),
		edits: message.edits,
	});
	/** What only this person is shown next in the channel. */
	const shownTo = (user: string, channel: string): Promise<string> => {
		const before = ephemeral.length;
		return new Promise((resolve) => {
			const look = () => {
				const found = ephemeral.slice(before).find((one) => one.user === user && one.channel === channel);
				if (!found) return;
				listeners.delete(look);
				resolve(found.text);
			};
			listeners.add(look);
		});
	};

	return Object.assign(handle, {
		url: server.root,
		apiRoot: `${server.root}/api/`,
		calls: server.calls,
		sockets,
		team: world.team,
		app,
		/** How people write the app's name. */
		mention: `<@${app.userId}>`,
		viaProxy: (url: string) => server.setRoot(url),
		/** Sends what happens to this address from now on. False where it does not answer the challenge. */
		subscribe: async (url: string): Promise<boolean> => {
			const to = { url, signingSecret: handle.signingSecret };
			if (!(await verify(to, clock))) return false;
			sockets.requestUrl = to;
			return true;
		},

		user: (name: string) => world.person(name),
		bot: (name: string) => world.person(name, true),
		dm: (user: Person) => world.channel("im", "", [user.id, app.userId]),
		channel: (name: string) => world.channel("channel", name, [app.userId]),
		/** So many chats are listed at once from now on. */
		mostListed: (chats: number) => {
			world.mostListed = chats;
		},
		privateChannel: (name: string) => world.channel("group", name, [app.userId]),
		groupDm: (...people: readonly Person[]) =>
			world.channel("mpim", `mpdm-${people.map(({ name }) => name.toLowerCase()).join("--")}`, [
				...people.map(({ id }) => id),
				app.userId,
			]),

		/** Answers the message's ts. */
		say: (by: Person, channel: ChannelRecord, text: string, saying?: Saying) =>
			world.say(by, channel, text, saying),
		/** Forwards a message: it is told, and stands in no history. */
		share: (by: Person, from: ChannelRecord, ts: string, to: ChannelRecord) => {
			const message = world.message(from, ts);
			const { text, files } = world.wire(from, message) as Record<string, unknown>;
			const shared = { is_share: true, author_name: nameOf(message.user ?? ""), text, files };
			const at = world.nextTs();
			const said = { type: "message", user: by.id, ts: at, event_ts: at, text: "", attachments: [shared] };
			tell({ ...said, channel: to.id, channel_type: to.kind });
		},
		edit: (channel: ChannelRecord, ts: string, text: string) => world.edit(channel, ts, text),
		/** A link is unfurled: the message changes, its words do not. */
		unfurl: (channel: ChannelRecord, ts: string) => world.edit(channel, ts, world.message(channel, ts).text),
		remove: (channel: ChannelRecord, ts: string) => world.remove(channel, ts),
		react: (by: Person, channel: ChannelRecord, ts: string, reaction: string) => {
			const event_ts = world.nextTs();
			tell({
				type: "reaction_added",
				user: by.id,
				reaction,
				item_user: world.message(channel, ts).user,
				item: { type: "message", channel: channel.id, ts },
				event_ts,
			});
		},
		/** Presses a button; resolves with what the person is shown. */
		press: (by: Person, channel: ChannelRecord, ts: string, value: string): Promise<string> => {
			const message = world.message(channel, ts);
			const shown = shownTo(by.id, channel.id);
			sockets.deliver("interactive", {
				type: "block_actions",
				user: who(by),
				api_app_id: app.id,
				container: { type: "message", message_ts: ts, channel_id: channel.id },
				trigger_id: world.nextId("trigger-"),
				team: { id: world.team.id, domain: world.team.domain },
				channel: { id: channel.id, name: channel.kind === "im" ? "directmessage" : channel.name },
				message: world.wire(channel, message),
				actions: [
					{
						type: "button",
						action_id: value,
						block_id: "b1",
						value,
						text: { type: "plain_text", text: "" },
						action_ts: world.nextTs(),
					},
				],
			});
			return shown;
		},
		/** Uses a slash command. */
		command: (by: Person, channel: ChannelRecord, command: string, text: string): Envelope => {
			const names = { im: "directmessage", mpim: "privategroup", group: "privategroup" } as const;
			return sockets.deliver("slash_commands", {
				token: "verification",
				team_id: world.team.id,
				team_domain: world.team.domain,
				channel_id: channel.id,
				channel_name: channel.kind === "channel" ? channel.name : names[channel.kind],
				user_id: by.id,
				user_name: by.name.toLowerCase(),
				command,
				text,
				api_app_id: app.id,
				trigger_id: world.nextId("trigger-"),
			});
		},
		/** Takes the app out of a channel. */
		kick: (channel: ChannelRecord) => {
			channel.members.delete(app.userId);
			const type = channel.kind === "channel" ? "channel_left" : "group_left";
			tell({ type, channel: channel.id, event_ts: world.nextTs() });
		},
		invite: (channel: ChannelRecord) => {
			channel.members.add(app.userId);
		},
		archive: (channel: ChannelRecord) => {
			channel.isArchived = true;
			tell({ type: "channel_archive", channel: channel.id, user: "U1", event_ts: world.nextTs() });
		},
		tell,

		/** What stands in the channel, oldest first. */
		shown: (channel: ChannelRecord): Shown[] => [...channel.messages.values()].map(shownOf),
		/** The same of the app alone. */
		answers: (channel: ChannelRecord): Shown[] =>
			[...channel.messages.values()].map(shownOf).filter(({ isApp }) => isApp),
		ephemeral,
		/** Whether the event of this message was acknowledged. */
		isTaken: (channel: ChannelRecord, ts: string): boolean =>
			sockets.envelopes.some(
				({ payload, state }) => state === "acknowledged" && isOf(payload, channel.id, ts),
			),

		/** What happens to the next call (of this method). */
		next: (fault: Fault, method?: string) => {
			planned.push({ method, fault });
		},
		/** Delivers the event of a message once more. */
		redeliver: (channel: ChannelRecord, ts: string) => {
			const found = sockets.envelopes.find(({ payload }) => isOf(payload, channel.id, ts));
			if (found) sockets.deliver("events_api", found.payload);
		},
		/** The bot's token is refused from now on. */
		revokeToken: (refusal = "token_revoked") => {
			handle.refusal = refusal;
			handle.isRevoked = true;
		},
		onChange: (listener: () => void) => {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
		disconnect: () => server.disconnect(),
		close: () => server.close(),
	});
}

/** Blocks are shown in the place of the text. */
function textOf({ text, blocks = [] }: SlackMessage): string {
	const sections = blocks.flatMap((block) => block.text?.text ?? []);
	return sections.length > 0 ? sections.join("") : text;
}

function isOf({ event }: Readonly<Record<string, unknown>>, channel: string, ts: string): boolean {
	// A press has no event.
	const { type, subtype, channel: in_, ts: of } = (event ?? {}) as Record<string, unknown>;
	return type === "message" && subtype !== "message_changed" && in_ === channel && of === ts;
}
