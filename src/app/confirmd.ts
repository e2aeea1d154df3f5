// Confirmations with their own store, and that part of the API. Nothing else: no gateway, no conversations.
import { type Environment, keryxHome, type LoadedConfig } from "../config/index.ts";
import {
	type ConfirmationSettings,
	type Confirmations,
	confirmationSettings,
	createConfirmations,
	type Webhook,
} from "../confirmations/index.ts";
import { KeryxError } from "../errors.ts";
import { type Api, createApi } from "../http/index.ts";
import { openStore, systemIds } from "../store/index.ts";
import { systemClock } from "../time/index.ts";
import { auditKeyAt, openHome, operatorSecret } from "./home.ts";
import { type Listening, type ListenOptions, listen, withoutAddress } from "./listen.ts";
import type { Report } from "./report/report.ts";
import { tellMigration } from "./report/store-migration.ts";
import { hearTrouble } from "./report/store-trouble.ts";
import { warnOfAudit } from "./report/warn-of-audit.ts";
import { version } from "./version.ts";

export interface ConfirmdHostOptions {
	readonly context: { readonly env: Environment; readonly now: () => number };
	readonly config: LoadedConfig;
	readonly output: Report;
	readonly dbPath: string;
	/** read: nothing can be changed. change: owns the database. run: the same, and people can be notified. */
	readonly as: "read" | "change" | "run";
	readonly rateLimit?: number | undefined;
	readonly webhook?: Webhook | undefined;
}

export interface ConfirmdHost {
	readonly api: Api;
	readonly confirmations: Confirmations;
	close(): Promise<void>;
}

export async function openConfirmd(options: ConfirmdHostOptions): Promise<ConfirmdHost> {
	const { context, config, output, dbPath } = options;
	const home = openHome(keryxHome(context.env));
	const ids = systemIds(systemClock);
	const trouble = hearTrouble(output, context.now);
	const store = await openStore({
		url: `sqlite:${dbPath}`,
		clock: systemClock,
		ids,
		secrets: config.secrets,
		access: options.as === "read" ? "read" : "own",
		auditKey: auditKeyAt(`${dbPath}.audit.key`, ids.bytes),
		onTrouble: trouble.hear,
		onMigration: tellMigration(output),
		auditWitness: `${dbPath}.audit.witness`,
	});
	trouble.record(store);
	try {
		if (options.as === "run") await warnOfAudit(store, output, dbPath);
		const settings = settingsOf(options);
		const confirmations = createConfirmations({
			store,
			clock: systemClock,
			settings: () => settings,
			log: (message, error) => output.warn(`${message}: ${error instanceof Error ? error.message : error}`),
		});
		const api = createApi({
			store,
			storeTrouble: trouble.current,
			gateway: null,
			confirmations,
			operatorSecret: operatorSecret(home, ids.bytes),
			ratePerMinute: config.values.http.rate_per_minute,
			version: version(),
			agent: "none",
			startedAt: context.now(),
			now: context.now,
		});
		return {
			api: confirmationsOnly(api),
			confirmations,
			close: async () => {
				await confirmations.stop();
				api.close();
				await store.close();
			},
		};
	} catch (error) {
		await store.close();
		throw error;
	}
}

/** Only for the owner of the database. */
export function serveConfirmd(
	{ api, confirmations }: ConfirmdHost,
	at: Pick<ListenOptions, "socketPath" | "ports">,
	output: Report,
): Promise<Listening> {
	return listen({
		api,
		...at,
		ready: () => confirmations.start(),
		missing: (address) => output.note(withoutAddress(address)),
	});
}

const SERVED = /^\/(?:(?:confirm|grants|audit)(?:\/|$)|health$|api\/tokens(?:\/|$))/;

function confirmationsOnly(api: Api): Api {
	return {
		...api,
		fetch: async (request, entrance) => {
			const { pathname } = new URL(request.url);
			if (SERVED.test(pathname)) return api.fetch(request, entrance);
			const error = new KeryxError("http.no_route", `there is no ${request.method} ${pathname}`, {
				hint: "a confirmd only has /confirm, /grants, /audit, /health and /api/tokens",
			});
			return Response.json({ error }, { status: 404 });
		},
	};
}

/** Read once: restart a confirmd to apply changes. */
function settingsOf(options: ConfirmdHostOptions): ConfirmationSettings {
	const { context, config, output, as, rateLimit, webhook } = options;
	const { problems, chats, webhooks, ...settings } = confirmationSettings(config.values, context.env);
	if (as === "run") {
		for (const problem of problems) output.warn(`confirmations.notify: ${problem}`);
		for (const { platform, chatId } of chats)
			output.warn(`confirmations.notify: ${platform} ${chatId} is not notified: a confirmd has no chats`);
	}
	return {
		...settings,
		...(rateLimit !== undefined && { rateLimit }),
		chats: [],
		unreachable: [
			...(settings.unreachable ?? []).filter((url) => url !== webhook?.url),
			...chats.map(({ platform, chatId }) => `${platform}:${chatId}`),
		],
		webhooks: [...webhooks.filter(({ url }) => url !== webhook?.url), ...(webhook ? [webhook] : [])],
	};
}
