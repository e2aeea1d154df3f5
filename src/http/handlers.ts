// The handlers of the calls: a store or gateway operation, and its answer on the wire.
import {
	type ConversationId,
	conversationId,
	pageSource,
	sessionId,
	toWireLimitInfo,
} from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { commandList, type Gateway, tellStory } from "../gateway/index.ts";
import type { ConversationRef, InboxItem } from "../store/index.ts";
import { checkpointHandlers, toWireRestored } from "./agent/checkpoints.ts";
import { mcpServerHandlers } from "./agent/mcp-servers.ts";
import { processHandlers } from "./agent/processes.ts";
import { profileHandlers } from "./agent/profiles.ts";
import { scheduleHandlers } from "./agent/schedules.ts";
import { turnHandlers } from "./agent/turns.ts";
import { partsOf } from "./attachments.ts";
import { bridgeHandlers } from "./bridge/bridges.ts";
import { type Call, type HandlersOf, nextCommit, operator, running } from "./call.ts";
import { channelHandlers } from "./channels.ts";
import type { Endpoints } from "./endpoints.ts";
import { posterOf } from "./entry/auth.ts";
import { loginHandlers } from "./entry/login.ts";
import { standingOf } from "./entry/scope.ts";
import { variablesFor } from "./entry/secret-names.ts";
import { namelessSoFar } from "./events/nameless.ts";
import { insightsHandlers } from "./insights.ts";
import { archiveHandlers } from "./keeping/archives.ts";
import { backupHandlers } from "./keeping/backups.ts";
import { managingHandlers } from "./managing.ts";
import { pairingHandlers } from "./pairings.ts";
import { sendHandlers } from "./sends.ts";
import { channelSetupHandlers } from "./setup/channel-setup.ts";
import { configHandlers } from "./setup/config.ts";
import { modelSetupHandlers } from "./setup/model-setup.ts";
import { settingsHandlers } from "./setup/settings.ts";
import { setupHandlers } from "./setup/setup.ts";
import { sideMessageHandlers } from "./side-messages.ts";
import {
	toWireAdmitted,
	toWireChannel,
	toWireConversation,
	toWireDelivery,
	toWireEvent,
	toWireHit,
	toWireInbound,
	toWireMessage,
	toWireSession,
	toWireToken,
} from "./wire.ts";

export const handlers: HandlersOf<Endpoints> = {
	conversations: async ({ limit, after, platform, profile, active_since, list }, { host, scope }) => {
		const found = await host.store.conversations({
			scope,
			list,
			limit: limit + 1,
			...(after !== undefined && { after: parseAfter(after) }),
			...(platform !== undefined && { platform }),
			...(profile !== undefined && { profile }),
			...(active_since !== undefined && { activeSince: Date.parse(active_since) }),
		});
		const page = found.slice(0, limit);
		const last = page.at(-1);
		return {
			conversations: page.map(toWireConversation),
			next: found.length > limit && last ? `${last.lastActivityAt}.${last.id}` : null,
		};
	},
	findConversation: async ({ id, key, session, message, platform, account = "", chat }, { host, scope }) => {
		const given = [id, key, session, message].filter((value) => value !== undefined);
		if (given.length !== 1)
			throw new KeryxError("argument.invalid", "use one of id, key, session and message", { field: "id" });
		if (message !== undefined && (platform === undefined || chat === undefined))
			throw new KeryxError("argument.invalid", "a message needs its platform and chat", {
				field: platform === undefined ? "platform" : "chat",
			});
		const ref: ConversationRef =
			id !== undefined
				? { id: conversationId(id) }
				: key !== undefined
					? { key }
					: session !== undefined
						? { session: sessionId(session) }
						: { platform: platform ?? "", account, chat: chat ?? "", platformMessage: message ?? "" };
		return toWireConversation(await host.store.conversation({ scope, ref }));
	},
	conversation: async ({ conversation }, { host, scope }) =>
		toWireConversation(await host.store.conversation({ scope, ref: { id: conversation } })),
	sessions: async ({ conversation, limit, before }, { host, scope }) => ({
		sessions: (
			await host.store.sessions({ scope, conversation, limit, ...(before !== undefined && { before }) })
		).map(toWireSession),
	}),
	partial: async ({ conversation }, { host, scope, visitor }) => {
		await host.store.conversation({ scope, ref: { id: conversation } });
		const partial = host.gateway?.partial(conversation) ?? null;
		if (!partial) return { partial };
		// As the stream continues it for this caller.
		const text = visitor.role === "operator" ? partial.text : namelessSoFar(partial.text);
		return { partial: { ...partial, conversation, offset: 0, text } };
	},
	limit: async ({ conversation }, { host, scope }) => {
		await host.store.conversation({ scope, ref: { id: conversation } });
		return toWireLimitInfo(await host.store.limits({ scope, conversation }));
	},
	...managingHandlers,
	...sideMessageHandlers,
	session: async ({ session }, { host, scope }) =>
		toWireSession(await host.store.session({ scope, id: session })),
	messages: async ({ session, limit, after, before, hidden }, { host, scope }) => {
		const rows = await host.store.messages({
			scope,
			session,
			limit,
			hidden,
			...(after !== undefined && { after }),
			...(before !== undefined && { before }),
		});
		return { messages: rows.map(toWireMessage) };
	},
	transcript: async ({ session, limit }, { host, scope }) => {
		const { messages, more } = await host.store.transcriptEnd({ scope, session, limit });
		return { messages: messages.map(toWireMessage), more };
	},
	search: async ({ q, limit, conversation, platform, role, from, to, cursor }, { host, scope }) => {
		const { hits, total, next } = await host.store.search({
			scope,
			query: q,
			limit,
			...(conversation !== undefined && { conversation }),
			...(platform !== undefined && { platform }),
			...(role !== undefined && { role }),
			...(from !== undefined && { from: Date.parse(from) }),
			...(to !== undefined && { to: Date.parse(to) }),
			...(cursor !== undefined && { cursor }),
		});
		return { hits: hits.map(toWireHit), total: { ...total }, next };
	},
	send: async ({ text, client_message_id, source, conversation, attachments }, call) => {
		const { host, scope, visitor, profile } = call;
		const gateway = running(host);
		if (text === "" && attachments.length === 0)
			throw new KeryxError("argument.invalid", "text must not be empty without attachments", {
				field: "text",
			});
		if (conversation !== undefined) await host.store.conversation({ scope, ref: { id: conversation } });
		const { parts, blobs } = await partsOf(host, visitor, attachments);
		const { person } = visitor;
		const from = person ? pageSource(person, source) : source;
		const admission = await gateway.accept({
			source: profile === null ? from : { ...from, profile },
			platformMessage: client_message_id,
			content:
				parts.length === 0 ? text : [...(text === "" ? [] : [{ type: "text", text } as const]), ...parts],
			blobs,
			transport: {
				mayChooseProfile: scope.kind === "operator",
				poster: posterOf(visitor),
				...(person && { role: person.role }),
			},
			...(conversation !== undefined && { conversation }),
		});
		const { id, duplicate, refused } = admission;
		// The operator sees everything; what others see is for the store to say.
		const isKnown = scope.kind === "operator" && !duplicate;
		const inbound = isKnown
			? toWireAdmitted(admission, host.store.secrets.hide(client_message_id))
			: toWireInbound(await host.store.inboxItem({ scope, id }));
		return { id, conversation: admission.conversation, duplicate, refused, inbound };
	},
	inbound: async ({ id, wait }, call) => toWireInbound(await whenEnded(id, wait, call)),
	why: async ({ id }, { host, scope }) => {
		const story = await host.store.story({ scope, id });
		return {
			text: tellStory(story),
			inbound: toWireInbound(story.item),
			events: story.events.map(toWireEvent),
		};
	},
	...turnHandlers,
	...sendHandlers,
	...bridgeHandlers,
	...archiveHandlers,
	...backupHandlers,
	deliveries: async ({ which, after, limit }, { host, scope }) => ({
		deliveries: (
			await host.store.deliveries({
				scope: operator(scope),
				which,
				limit,
				...(after !== undefined && { after }),
			})
		).map(toWireDelivery),
	}),
	delivery: async ({ delivery }, { host, scope }) =>
		toWireDelivery(await host.store.delivery({ scope, id: delivery })),
	resolveDelivery: async ({ delivery, as }, { host, scope }) => {
		operator(scope);
		running(host);
		if (as === "drop") await host.store.dropDelivery({ id: delivery });
		else
			await host.store.resolveDelivery({
				id: delivery,
				settlement:
					as === "retry"
						? { kind: "retry", at: host.now(), reason: "sent again by a person" }
						: { kind: "sent", receipt: "confirmed by a person" },
			});
		return toWireDelivery(await host.store.delivery({ scope, id: delivery }));
	},
	eventsAfter: async ({ after, conversation, limit }, { feed, scope }) => {
		const page = await feed.page({
			scope,
			after,
			limit,
			...(conversation !== undefined && { conversation }),
		});
		if (page.kind === "resync") return { events: [], cursor: page.cursor, resync: true };
		return { events: [...page.events], cursor: page.cursor, resync: false };
	},
	newSession: async (input, call) =>
		changing(call, input.conversation, (actions) => actions.newSession(input)),
	continueSession: async (input, call) =>
		changing(call, input.conversation, (actions) => actions.continueSession(input)),
	switchSession: async (input, call) => {
		await call.host.store.session({ scope: call.scope, id: input.target });
		return changing(call, input.conversation, (actions) => actions.switchSession(input));
	},
	branchSession: async (input, call) =>
		changing(call, input.conversation, (actions) => actions.branchSession(input)),
	extendSession: async (input, call) =>
		changing(call, input.conversation, (actions) => actions.extendSession(input)),
	undo: async (input, call) => {
		const { restored, ...undone } = await changing(call, input.conversation, (actions) =>
			actions.undo(input),
		);
		return { ...undone, restored: restored && toWireRestored(restored) };
	},
	redo: async (input, call) => changing(call, input.conversation, (actions) => actions.redo(input)),
	retry: async (input, call) =>
		changing(call, input.conversation, (actions) =>
			actions.retry({ ...input, by: call.visitor.speaker ?? null }),
		),
	compress: async (input, call) =>
		changing(call, input.conversation, (actions) =>
			actions.compress({ ...input, by: call.visitor.speaker ?? null }),
		),
	setModel: async (input, call) => {
		// The provider's key would be sent there.
		if (call.scope.kind !== "operator" && input.override?.base_url !== undefined)
			throw new KeryxError("argument.invalid", "only an owner can choose the address of a model", {
				field: "override.base_url",
			});
		return changing(call, input.conversation, (actions) => actions.setModelOverride(input));
	},
	setBusy: async (input, call) => {
		await changing(call, input.conversation, (actions) => actions.setBusyMode(input));
		return { busy: input.busy };
	},
	stop: async (input, call) =>
		changing(call, input.conversation, (actions) =>
			actions.stop({
				...input,
				...(call.scope.kind !== "operator" && { standing: standingOf(call.visitor) }),
			}),
		),
	...checkpointHandlers,
	...processHandlers,
	...channelHandlers,
	...channelSetupHandlers,
	...mcpServerHandlers,
	...modelSetupHandlers,
	...pairingHandlers,
	...scheduleHandlers,
	...configHandlers,
	...settingsHandlers,
	...setupHandlers,
	...profileHandlers,
	...loginHandlers,
	...insightsHandlers,
	setTitle: async ({ session, title }, { host, scope }) => {
		await host.store.session({ scope, id: session });
		return running(host).actions.setTitle({ session, title });
	},
	integrity: async (_input, { host, scope }) => {
		const { problems } = await host.store.checkIntegrity({ scope: operator(scope) });
		return { problems: [...problems] };
	},
	rebuildSearch: async ({ cursor, wipe }, { host, scope }) => {
		operator(scope);
		running(host);
		return host.store.rebuildSearch({ wipe, ...(cursor !== undefined && { cursor }) });
	},
	commands: (_input, { host }) => {
		const commands = host.gateway?.commands ?? commandList;
		return { commands: commands.map(({ name, usage, about }) => ({ name, usage, about })) };
	},
	tokens: async (_input, { host, scope }) => ({
		tokens: (await host.store.tokens({ scope: operator(scope) })).map(toWireToken),
	}),
	createToken: async ({ name, role, session_key, principal, channel, days }, { access, visitor }) => {
		if (session_key !== undefined && role !== "agent")
			throw new KeryxError("argument.invalid", `session_key binds a token of role agent, not ${role}`, {
				field: "session_key",
				hint: "leave it out: this role is for all conversations",
			});
		const { secret, token } = await access.createToken(
			{
				name,
				role,
				...(session_key !== undefined && { sessionKey: session_key }),
				...(principal !== undefined && { principal }),
				...(channel !== undefined && { channel }),
				...(days !== undefined && { days }),
			},
			visitor,
		);
		return { token: secret, ...toWireToken(token) };
	},
	revokeToken: async ({ name }, { access, visitor }) => ({
		name,
		revoked: await access.revokeToken(name, visitor),
	}),
	linkPrincipals: async ({ of, and }, { host }) => host.store.link({ a: of, b: and }),
	health: async (_input, { host, health, visitor }) => ({
		...(await health.read()),
		version: host.version,
		pid: process.pid,
		started_at: new Date(host.startedAt).toISOString(),
		node: process.version,
		agent: host.agent,
		channels: (host.gateway?.health() ?? []).map((one) => toWireChannel(one, variablesFor(visitor, host))),
		walls: (await host.walls?.()) ?? null,
		problem: host.storeTrouble?.()?.message ?? null,
	}),
};

/** What the caller may not see is not found. */
async function changing<Result>(
	{ host, scope }: Call,
	conversation: ConversationId,
	change: (actions: Gateway["actions"]) => Promise<Result>,
): Promise<Result> {
	await host.store.conversation({ scope, ref: { id: conversation } });
	return change(running(host).actions);
}

function parseAfter(after: string): { lastActivityAt: number; id: ConversationId } {
	const [, at, id] = /^(\d{1,16})\.(.{1,64})$/.exec(after) ?? [];
	if (at === undefined || id === undefined)
		throw new KeryxError("argument.invalid", "after must be the next of an earlier page", { field: "after" });
	return { lastActivityAt: Number(at), id: conversationId(id) };
}

/** A command that has taken effect ends only when it is answered. */
function hasEnded(item: InboxItem): boolean {
	return item.disposition !== null && item.command === null;
}

async function whenEnded(id: number, seconds: number, { host, scope, signal }: Call): Promise<InboxItem> {
	const timeout = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(seconds * 1000))]);
	for (;;) {
		const committed = nextCommit(host.store, timeout);
		const item = await host.store.inboxItem({ scope, id });
		if (seconds === 0 || hasEnded(item) || timeout.aborted) return item;
		await committed;
	}
}
